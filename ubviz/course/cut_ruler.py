"""``CutRuler``: requests, tokens and the cut, handed the package's own cut.

Not here: how it is drawn (``ubviz.view.cut_ruler``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..view.cut_ruler import CutRulerView, Range
from ..view.figure import Values
from .exercises.e12_cut import expected_of


class CutRuler(CutRulerView):
    """Drag how long requests are; see where the cut falls, and which requests are in which microbatch.

    >>> ruler = CutRuler((42, 999))  # doctest: +SKIP
    >>> ruler  # doctest: +SKIP
    <CutRuler: requests of 42, 999 tokens, cut at 520>
    >>> ruler.values = {"ubatches": 3}  # doctest: +SKIP
    >>> ruler.parts[0]  # doctest: +SKIP
    ((0, 2), (0, 347))

    lengths: the tokens of each request, one to eight of them. ubatches: how many microbatches. theme: "auto" (the
    notebook's), "light" or "dark". title: a heading.

    Trait ``values``: both in a dict, both ways; setting one keeps the other. Raises BadArgument when an argument cannot
    be used.
    """

    def __init__(
        self, lengths: Sequence[int] = (5, 11, 3, 8), ubatches: int = 2, *,
        theme: str = "auto", title: str | None = None,
    ) -> None:  # fmt: skip
        values = self._checked({"lengths": lengths, "ubatches": ubatches}, {})
        super().__init__(_cut, values, theme=theme, title=title)


def _cut(values: Values) -> Sequence[tuple[Range, Range]]:
    return expected_of(values["lengths"], values["ubatches"])
