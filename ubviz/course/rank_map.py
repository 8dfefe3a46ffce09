"""``RankMap``: the call path with the votes of all ranks, handed the engine's own vote.

Not here: how it is drawn (``ubviz.view.rank_map``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..view.figure import Values
from ..view.rank_map import RankMapView
from .ranks import Agreement, agreement


class RankMap(RankMapView):
    """Drag how many tokens each rank has; see each vote, the padding and the cut, and the branch that all take.

    >>> ranks = RankMap((600, 100), threshold=512)  # doctest: +SKIP
    >>> ranks  # doctest: +SKIP
    <RankMap: ranks with 600, 100 tokens, threshold 512: no microbatches on every rank>
    >>> ranks.values = {"tokens": [600, 640]}  # doctest: +SKIP
    >>> ranks.agreed.should_ubatch  # doctest: +SKIP
    True

    tokens: of each rank, two to eight of them. threshold: what a rank needs for a yes. ubatches: how many microbatches
    a batch would be cut into. allowed: of each rank whether its caller allows microbatches; all, unless given. theme:
    "auto" (the notebook's), "light" or "dark". title: a heading.

    Trait ``values``: all of these in a dict, both ways; setting some keeps the others. Raises BadArgument when an
    argument cannot be used.
    """

    def __init__(
        self, tokens: Sequence[int] = (600, 640), threshold: int = 512, ubatches: int = 2, *,
        allowed: Sequence[bool] | None = None, theme: str = "auto", title: str | None = None,
    ) -> None:  # fmt: skip
        begin = {"tokens": tokens, "threshold": threshold, "ubatches": ubatches}
        given = {} if allowed is None else {"allowed": allowed}
        values = self._checked({"allowed": (), **begin, **given}, given)
        super().__init__(_agree, values, theme=theme, title=title)


def _agree(values: Values) -> Agreement:
    return agreement(**values)
