"""Requests and their tokens under a ruler, with the cut, as a widget and as a file of its own.

Not here: the cut itself. Who makes the view hands it over (``ubviz.course.cut_ruler``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..errors import BadArgument
from .figure import FigureView, Values, listed, whole
from .paint.requests import Requests, paint_requests
from .palette import Theme
from .picture import points_of
from .widget import STATIC

MOST_REQUESTS = 8
MOST_TOKENS = 1_000_000
UBATCHES = range(2, 9)

Range = tuple[int, int]
Cut = Callable[[Values], Sequence[tuple[Range, Range]]]
"""Of each microbatch its requests and its tokens, half-open."""


class CutRulerView(FigureView):
    """Drag the lengths of requests: where the cut falls, and who is in which microbatch.

    ``values``: ``lengths`` (the tokens of each request), ``ubatches``.
    """

    SCRIPT = "cut_ruler"
    _esm = STATIC / "cut_ruler.js"
    _css = STATIC / "cut_ruler.css"

    def __init__(self, cut: Cut, values: Values, *, theme: str = "auto", title: str | None = None) -> None:
        self._cut = cut
        super().__init__(values, theme=theme, title=title)

    def _checked(self, values: Values, given: Mapping[str, Any]) -> Values:
        lengths = [
            whole("the length of a request", n, 1, MOST_TOKENS)
            for n in listed("lengths", values["lengths"], 1, MOST_REQUESTS)
        ]
        ubatches = whole("ubatches", values["ubatches"], UBATCHES[0], UBATCHES[-1])
        if sum(lengths) < ubatches:
            raise BadArgument(f"{ubatches} microbatches need at least {ubatches} tokens, not {sum(lengths)}")
        return {"lengths": lengths, "ubatches": ubatches}

    @property
    def parts(self) -> list[tuple[Range, Range]]:
        """Of each microbatch its range of requests and its range of tokens, at the present values."""
        return list(self._cut(self.values))

    @property
    def _words(self) -> str:  # type: ignore[override]
        lengths = ", ".join(map(str, self.values["lengths"]))
        cuts = " and ".join(str(tokens[0]) for _, tokens in self.parts[1:])
        return f"requests of {lengths} tokens, cut at {cuts}"

    @property
    def alt(self) -> str:
        """What it shows, in a few sentences."""
        starts = [0, *accumulate(self.values["lengths"])]
        said = []
        for number, ((first, end), (a, b)) in enumerate(self.parts):
            past = a - starts[first]
            kept = f", and looks back on {past} tokens of request {first} in the KV cache" if past else ""
            said.append(f"Microbatch {number} has requests {first} to {end}, tokens {a} to {b}{kept}.")
        return f"Cut ruler, {self._words}. {' '.join(said)}"

    def _painted(self, theme: Theme) -> tuple[Figure, Axes]:
        return paint_requests(Requests(self.values["lengths"], self.parts), theme, points_of(None))
