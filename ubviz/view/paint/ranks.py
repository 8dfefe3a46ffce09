"""The vote of all ranks as a still picture: the call path on the left, tokens, votes, the cut and the branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..palette import Theme
from .canvas import Canvas, Style
from .shapes import line, rectangle, ring, stripes
from .sheet import NAME, PAD, TEXT, lines, sheet

INDENT, GUTTER, ROW, GAP = 22.0, 58.0, 14.0, 6.0


@dataclass(frozen=True)
class Ranks:
    """All that is drawn."""

    tokens: Sequence[int]
    votes: Sequence[bool]
    threshold: int
    ubatches: int
    should_ubatch: bool
    why: str

    @property
    def unanimous(self) -> bool:
        """Only then somebody asks where a cut would be."""
        return all(self.votes)

    def cuts(self) -> list[int]:
        """The first token of each microbatch but the first."""
        return [max(self.tokens) // self.ubatches * i for i in range(1, self.ubatches)]


def paint_ranks(ranks: Ranks, theme: Theme, width: float) -> tuple[Figure, Axes]:
    """Draw it; as high as it needs."""
    figure, axes, canvas = sheet(theme, width)
    stops = []
    y = PAD + NAME / 2
    for name, draw in (
        ("check_ubatch_thresholds: each rank for itself", _votes),
        ("_synchronize_dp_ranks: one all-reduce, every rank sees the same table", _table),
        ("maybe_create_ubatch_slices", _cut),
        ("UBatchWrapper.__call__: the same branch on every rank", _branch),
    ):
        stops.append(y)
        canvas.text(PAD + INDENT, y, name, NAME, theme.ink, weight=600, force=True)
        y = draw(canvas, ranks, y + NAME + 6) + 10
    canvas.add(Style(1, None, theme.soft, 1.0), line((PAD + 5, stops[0]), (PAD + 5, stops[-1])))
    for stop in stops:
        canvas.add(Style(2, theme.background, theme.soft, 1.6), ring(PAD + 5, stop, 4))
    canvas.flush()
    canvas.cut(y + PAD - 10)
    return figure, axes


# ---- one stop each; returns where the next one begins


def _votes(canvas: Canvas, ranks: Ranks, y: float) -> float:
    for rank, (tokens, vote) in enumerate(zip(ranks.tokens, ranks.votes, strict=True)):
        colour = canvas.theme.ink if vote else canvas.theme.fails
        canvas.text(PAD + INDENT, y, f"rank {rank}", TEXT, canvas.theme.soft, force=True)
        said = f"{tokens} tokens, threshold {ranks.threshold}"
        canvas.text(PAD + INDENT + GUTTER, y, said, TEXT, canvas.theme.ink, force=True)
        canvas.text(
            PAD + INDENT + GUTTER + 190, y, "yes" if vote else "no", TEXT, colour, weight=600, force=True
        )
        y += TEXT * 1.6
    return y


def _table(canvas: Canvas, ranks: Ranks, y: float) -> float:
    table = {
        "tokens": [str(n) for n in ranks.tokens],
        "vote": ["yes" if vote else "no" for vote in ranks.votes],
    }
    for name, cells in table.items():
        canvas.text(PAD + INDENT, y, name, TEXT, canvas.theme.soft, force=True)
        for rank, cell in enumerate(cells):
            canvas.text(
                PAD + INDENT + GUTTER + 62 * rank, y, cell, TEXT, canvas.theme.ink, weight=600, force=True
            )
        y += TEXT * 1.6
    return y


def _cut(canvas: Canvas, ranks: Ranks, y: float) -> float:
    theme, largest = canvas.theme, max(1, *ranks.tokens)
    left = PAD + INDENT + GUTTER
    scale = (canvas.width - PAD - left) / largest
    cuts = ranks.cuts() if ranks.unanimous else []
    if cuts:
        for cut in cuts:
            canvas.text(left + cut * scale, y, str(cut), TEXT, theme.ink, at="centre", force=True)
        y += TEXT + 2
    top = y
    for rank, tokens in enumerate(ranks.tokens):
        canvas.text(PAD + INDENT, y + ROW / 2, f"rank {rank}", TEXT, theme.soft, force=True)
        for number, (start, end) in enumerate(_shares(tokens, cuts)):
            colour = theme.ubatch(number) if cuts else theme.main
            fill = colour if ranks.should_ubatch else theme.tint(colour, 0.55)
            canvas.add(Style(2, fill), rectangle((left + start * scale, y, left + end * scale, y + ROW)))
        if cuts and tokens < largest:
            box = (left + tokens * scale, y, left + largest * scale, y + ROW)
            canvas.add(Style(2, theme.waiting), *stripes(box, 6, 1.2))
            canvas.add(Style(3, None, theme.waiting, 0.8), rectangle(box))
        if cuts and tokens <= cuts[-1]:
            canvas.add(
                Style(5, None, theme.fails, 1.6),
                rectangle((left + cuts[-1] * scale, y - 2, left + largest * scale, y + ROW + 2)),
            )
        y += ROW + GAP
    for cut in cuts:
        x = left + cut * scale
        canvas.add(Style(4, None, theme.ink, 1.0, (3.0, 3.0)), line((x, top - 3), (x, y - GAP + 3)))
    if not ranks.unanimous:
        said = "not reached: nobody pads, nobody is cut"
    elif ranks.should_ubatch:
        said = f"all pad to {largest} tokens; padding is hatched"
    else:
        said = f"padded to {largest}, a last microbatch would hold padding only: nobody is cut"
    return lines(canvas, PAD + INDENT, y + 4, canvas.width - 2 * PAD - INDENT, said, TEXT, theme.soft)


def _shares(tokens: int, cuts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The real tokens of a rank, by the microbatch that they go to."""
    edges = [0, *cuts]
    for start, end in zip(edges, [*cuts, tokens], strict=True):
        if min(end, tokens) > start:
            yield start, min(end, tokens)


def _branch(canvas: Canvas, ranks: Ranks, y: float) -> float:
    theme, room = canvas.theme, canvas.width - 2 * PAD - INDENT
    for said, taken in (
        (f"{ranks.ubatches} microbatches on every rank, a thread each", ranks.should_ubatch),
        ("one batch on every rank, no thread", not ranks.should_ubatch),
    ):
        colour = theme.ink if taken else theme.soft
        word = "taken" if taken else "not taken"
        canvas.text(PAD + INDENT, y, word, TEXT, colour, weight=600 if taken else 400, force=True)
        canvas.text(
            PAD + INDENT + GUTTER + 6, y, said, TEXT, colour, weight=600 if taken else 400, force=True
        )
        y += TEXT * 1.6
    return lines(
        canvas, PAD + INDENT, y + 2, room, f"{ranks.why[0].upper()}{ranks.why[1:]}.", TEXT, theme.ink
    )
