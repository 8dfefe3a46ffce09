"""Requests, their tokens and the cut as a still picture: all requests, then each microbatch in its colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..palette import Theme
from . import fonts
from .canvas import Canvas, Style
from .shapes import line, rectangle
from .sheet import PAD, TEXT, sheet

ROW, CAPTION, GAP = 17.0, 13.0, 8.0


@dataclass(frozen=True)
class Requests:
    """Lengths, and of each microbatch its requests and its tokens."""

    lengths: Sequence[int]
    parts: Sequence[tuple[tuple[int, int], tuple[int, int]]]


def paint_requests(requests: Requests, theme: Theme, width: float) -> tuple[Figure, Axes]:
    """Draw it; as high as it needs."""
    figure, axes, canvas = sheet(theme, width)
    starts = [0, *accumulate(requests.lengths)]
    scale = (width - 2 * PAD) / starts[-1]
    top = PAD + TEXT / 2
    y = top + TEXT
    y = _row(canvas, y, "requests")
    for number, (start, end) in enumerate(pairwise(starts)):
        _box(canvas, scale, y, start, end, str(number), theme.tint(theme.main, 0.18), theme.main)
    y += ROW + GAP
    for number, ((first, end), tokens) in enumerate(requests.parts):
        y = _row(canvas, y, f"microbatch {number}")
        if starts[first] < tokens[0]:
            _box(
                canvas, scale, y, starts[first], tokens[0], "KV cache", None, theme.ubatch(number), (2.0, 3.0)
            )
        for request in range(first, end):
            begin, stop = max(starts[request], tokens[0]), min(starts[request + 1], tokens[1])
            _box(canvas, scale, y, begin, stop, str(request), theme.ubatch(number), None)
        y += ROW + GAP
    for _, (cut, _) in requests.parts[1:]:
        x = PAD + cut * scale
        canvas.text(x, top, f"cut at {cut}", TEXT, theme.ink, weight=600, at="centre", force=True)
        canvas.add(Style(4, None, theme.ink, 1.0, (3.0, 3.0)), line((x, top + TEXT * 0.8), (x, y - GAP)))
    canvas.flush()
    canvas.cut(y - GAP + PAD)
    return figure, axes


def _row(canvas: Canvas, y: float, name: str) -> float:
    canvas.text(PAD, y + CAPTION / 2, name, TEXT, canvas.theme.soft, force=True)
    return y + CAPTION


def _box(
    canvas: Canvas, scale: float, y: float, start: int, end: int, said: str, fill: str | None, edge: str | None,
    dash: tuple[float, ...] | None = None,
) -> None:  # fmt: skip
    x0, x1 = PAD + start * scale + 0.4, PAD + end * scale - 0.4
    canvas.add(Style(2, fill, edge, 0.9 if edge else 0.0, dash), rectangle((x0, y, x1, y + ROW)))
    if fonts.width(said, TEXT, 600) + 4 <= x1 - x0:
        ink = canvas.theme.on(fill) if fill is not None and edge is None else canvas.theme.ink
        canvas.text((x0 + x1) / 2, y + ROW / 2, said, TEXT, ink, weight=600, at="centre", force=True)
