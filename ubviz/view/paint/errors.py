"""Where something fails: a cross in a ring on the lane of the thread, and the exception's type beside it."""

from __future__ import annotations

from ...trace.model import Event
from .canvas import Canvas, Style
from .fonts import clean, width
from .frame import Frame
from .layout import SMALL_SIZE, Layout, Row
from .shapes import line, rectangle, ring

CROSS = 5.0
"""Points: the radius of its ring."""


def errors(frame: Frame) -> list[Event]:
    """The errors on the lanes that are shown, in the order recorded."""
    found = [e for e in frame.events.values() if e.kind == "error" and e.t_ns >= frame.start_ns]
    return sorted(found, key=lambda event: event.seq)


def errors_in_words(frame: Frame) -> list[str]:
    """Who fails with what, each once: ``["ubatch 1 fails with ValueError"]``."""
    roles = {lane.id: lane.role for lane in frame.lanes}
    ranks = {lane.id: f" of rank {lane.rank}" if frame.several_ranks else "" for lane in frame.lanes}
    texts = (f"{roles[e.lane]}{ranks[e.lane]} fails with {kind_of(e)}" for e in errors(frame))
    return list(dict.fromkeys(texts))


def kind_of(event: Event) -> str:
    """The exception's type."""
    return str(event.args.get("type") or "an error")


def paint_errors(canvas: Canvas, frame: Frame, layout: Layout) -> None:
    """All crosses first, so that no text lies on one."""
    placed = [(layout.rows[event.lane], event) for event in errors(frame) if event.lane in layout.rows]
    for row, event in placed:
        canvas.seen.add("fails")
        x = canvas.x(event.t_ns - frame.start_ns)
        cross(canvas, x, row.y)
        canvas.take((x - CROSS, row.y - CROSS, x + CROSS, row.y + CROSS))
    for row, event in placed:
        _paint_type(canvas, row, canvas.x(event.t_ns - frame.start_ns), clean(kind_of(event)))


def cross(canvas: Canvas, x: float, y: float) -> None:
    """A cross in a ring, on ground of its own: it is seen on a bar as well as beside one."""
    theme, arm = canvas.theme, CROSS * 0.48
    canvas.add(Style(z=8.4, fill=theme.background, stroke=theme.fails, width=1.3), ring(x, y, CROSS))
    arms = [line((x - arm, y - arm * way), (x + arm, y + arm * way)) for way in (1, -1)]
    canvas.add(Style(z=8.5, stroke=theme.fails, width=1.7), *arms)


def _paint_type(canvas: Canvas, row: Row, x: float, text: str) -> None:
    """To the right of the cross, or to its left, where that is free."""
    wide, theme = width(text, SMALL_SIZE, 600) + 8, canvas.theme
    for x0 in (x + CROSS + 2, x - CROSS - 2 - wide):
        box = (x0, row.y - 6, x0 + wide, row.y + 6)
        if x0 >= canvas.left and canvas.free(box):
            style = Style(z=8.2, fill=theme.background, stroke=theme.fails, width=0.8)
            canvas.add(style, rectangle(box, 3.0))
            canvas.text(
                x0 + wide / 2, row.y, text, SMALL_SIZE, theme.fails, weight=600, at="centre", force=True
            )
            canvas.take(box)
            return
