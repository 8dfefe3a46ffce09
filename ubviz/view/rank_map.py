"""The call path of a step with the votes of all ranks, as a widget and as a file of its own.

Not here: the vote itself. Who makes the view hands over what ranks agree on (``ubviz.course.rank_map``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..errors import BadArgument
from .figure import FigureView, Values, listed, whole
from .paint.ranks import Ranks, paint_ranks
from .palette import Theme
from .picture import points_of
from .widget import STATIC

MOST_RANKS = 8
MOST_TOKENS = 1_000_000
UBATCHES = range(2, 9)


class Agreed(Protocol):
    """What ranks agree on."""

    @property
    def should_ubatch(self) -> bool: ...
    @property
    def num_tokens(self) -> Sequence[int]: ...
    @property
    def votes(self) -> Sequence[bool]: ...
    @property
    def why(self) -> str: ...


Agree = Callable[[Values], Agreed]


class RankMapView(FigureView):
    """Drag the tokens of each rank: how each votes, and which branch all of them take.

    ``values``: ``tokens`` and ``allowed`` (a list with one for each rank), ``threshold``, ``ubatches``.
    """

    SCRIPT = "rank_map"
    _esm = STATIC / "rank_map.js"
    _css = STATIC / "rank_map.css"

    def __init__(
        self, agree: Agree, values: Values, *, theme: str = "auto", title: str | None = None
    ) -> None:
        self._agree = agree
        super().__init__(values, theme=theme, title=title)

    def _checked(self, values: Values, given: Mapping[str, Any]) -> Values:
        tokens = [
            whole("tokens of a rank", n, 0, MOST_TOKENS)
            for n in listed("tokens", values["tokens"], 2, MOST_RANKS)
        ]
        allowed = values["allowed"]
        if "allowed" not in given:  # ranks have come or gone: who is new may
            allowed = [*allowed, *[True] * len(tokens)][: len(tokens)]
        may = listed("allowed", allowed, 2, MOST_RANKS)
        if len(may) != len(tokens) or not all(isinstance(each, bool) for each in may):
            raise BadArgument(
                f"allowed has True or False for each of the {len(tokens)} ranks, not {allowed!r}"
            )
        ubatches = whole("ubatches", values["ubatches"], UBATCHES[0], UBATCHES[-1])
        threshold = whole("threshold", values["threshold"], ubatches, MOST_TOKENS)
        return {"tokens": tokens, "allowed": may, "threshold": threshold, "ubatches": ubatches}

    @property
    def agreed(self) -> Agreed:
        """What the ranks agree on at the present values: ``should_ubatch``, ``num_tokens``, ``votes``, ``why``."""
        return self._agree(self.values)

    @property
    def _words(self) -> str:  # type: ignore[override]
        tokens = ", ".join(map(str, self.values["tokens"]))
        branch = f"{self.values['ubatches']} microbatches" if self.agreed.should_ubatch else "no microbatches"
        return f"ranks with {tokens} tokens, threshold {self.values['threshold']}: {branch} on every rank"

    @property
    def alt(self) -> str:
        """What it shows, in a few sentences."""
        agreed = self.agreed
        votes = ", ".join(f"rank {rank} {'yes' if vote else 'no'}" for rank, vote in enumerate(agreed.votes))
        padded = f" All pad to {agreed.num_tokens[0]} tokens." if agreed.should_ubatch else " Nobody pads."
        return f"Rank map, {self._words}. Votes: {votes}. {agreed.why[0].upper()}{agreed.why[1:]}.{padded}"

    def _painted(self, theme: Theme) -> tuple[Figure, Axes]:
        agreed, values = self.agreed, self.values
        ranks = Ranks(
            values["tokens"],
            agreed.votes,
            values["threshold"],
            values["ubatches"],
            agreed.should_ubatch,
            agreed.why,
        )
        return paint_ranks(ranks, theme, points_of(None))
