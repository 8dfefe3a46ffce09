"""An empty sheet as wide as a cell, and text in lines on it: what small still pictures begin with."""

from __future__ import annotations

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..palette import Theme
from .canvas import Canvas
from .state import DPI, LINE, wrapped

PAD = 14.0
NAME, TEXT = 11.0, 10.0


def sheet(theme: Theme, width: float) -> tuple[Figure, Axes, Canvas]:
    """A sheet of so many points; ``canvas.cut`` gives it its height."""
    with matplotlib.rc_context({"path.sketch": None, "text.usetex": False}):
        figure = Figure(figsize=(width / 72, 10), dpi=DPI, facecolor=theme.background)
        axes = figure.add_axes((0, 0, 1, 1))
        canvas = Canvas(axes, theme, (width, 720.0), 0.0, width, width)
        canvas.open()
    return figure, axes, canvas


def lines(canvas: Canvas, x: float, y: float, room: float, text: str, size: float, colour: str) -> float:
    """A text in lines no wider than the room; where the next line would be."""
    for part in wrapped(text, size, 400, room):
        canvas.text(x, y, part, size, colour, force=True)
        y += size * LINE
    return y
