"""A CPU thread's lane: awake is a bar, waiting for others is a dotted line, blocked by the device is an outline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...trace.model import Span
from .blocks import Interval, minus, union
from .canvas import Canvas, Style, text_box
from .fonts import clean, width
from .frame import Frame
from .layout import SMALL_SIZE, Row
from .shapes import line, rectangle

WAITS_FOR_THREADS = ("host_event.wait", "barrier.arrive", "thread.join")
"""What blocks a thread until another thread comes; all else that blocks it is the device."""

LEAST_BAR = 1.2
"""Points: what is shorter is still seen."""


def life(frame: Frame, row: Row) -> list[Interval]:
    """When the thread lives; where that was not recorded, from its first trace event to its last."""
    lane = row.lane
    lives = frame.on(lane, "thread")
    if lives:
        return _within(frame, union((span.start_ns, span.end_ns) for span in lives))
    spans = frame.on(lane, "operation", "blocked")
    times = [t for span in spans for t in (span.start_ns, span.end_ns)]
    times += [event.t_ns for event in frame.events.values() if event.lane == lane.id]
    return _within(frame, [(min(times), max(times))]) if times else []


def _within(frame: Frame, intervals: list[Interval]) -> list[Interval]:
    clipped = ((max(a, frame.begins_ns), min(b, frame.ends_ns)) for a, b in intervals)
    return [(a - frame.start_ns, b - frame.start_ns) for a, b in clipped if b > a]


def by_device(span: Span) -> bool:
    """Whether a blocked thread waits for the device (and keeps the turn), not for another thread."""
    return span.name not in WAITS_FOR_THREADS


def _blocked(frame: Frame, row: Row, device: bool) -> list[Interval]:
    spans = (span for span in frame.on(row.lane, "blocked") if by_device(span) == device)
    return _within(frame, union((span.start_ns, span.end_ns) for span in spans))


def paint_thread(canvas: Canvas, frame: Frame, row: Row) -> None:
    """Bars and outlines (the dotted lines come with their texts, later)."""
    theme = canvas.theme
    ubatch = ubatch_of(row)
    colour = theme.ubatch(ubatch)
    canvas.seen.add("main" if ubatch is None else f"ubatch {ubatch}")
    waiting, device = _blocked(frame, row, device=False), _blocked(frame, row, device=True)
    awake = minus(minus(life(frame, row), waiting), device)
    for start, end in awake:
        canvas.add(Style(z=4.0, fill=colour), rectangle(bar(canvas, row, start, end), 1.6))
    for start, end in device:
        canvas.seen.add("device")
        x0, y0, x1, y1 = bar(canvas, row, start, end)
        inner = (x0 + 0.45, y0 + 0.45, max(x1 - 0.45, x0 + 0.9), y1 - 0.45)
        style = Style(z=3.9, fill=theme.tint(colour, 0.14), stroke=colour, width=0.9)
        canvas.add(style, rectangle(inner, 1.6))


def ubatch_of(row: Row) -> int | None:
    """The microbatch whose thread a lane is."""
    kind, _, number = row.lane.role.partition(" ")
    return int(number) if kind == "ubatch" and number.isdecimal() else None


def bar(canvas: Canvas, row: Row, start: int, end: int) -> tuple[float, float, float, float]:
    x0 = canvas.x(start)
    return x0, row.top, max(canvas.x(end), x0 + LEAST_BAR), row.bottom


def paint_thread_texts(canvas: Canvas, frame: Frame, row: Row) -> None:
    """Why it waits, once a lane and reason, where it waits longest; what blocks it, where there is room."""
    for start, end, texts in _by_length(frame, row):
        _paint_wait(canvas, row, canvas.x(start), canvas.x(end), texts)
    for span in frame.on(row.lane, "blocked"):
        if by_device(span):
            for start, end in _within(frame, [(span.start_ns, span.end_ns)]):
                _paint_device_text(canvas, row, canvas.x(start), canvas.x(end), span)


Stretch = tuple[int, int, tuple[str, ...]]
"""From, to, and why, in words: the longest first."""


def _by_length(frame: Frame, row: Row) -> Iterator[Stretch]:
    """The stretches of waiting, longest first; a reason only where it has not been said."""
    stretches: list[Stretch] = []
    for span in frame.on(row.lane, "blocked"):
        if not by_device(span):
            for start, end in _within(frame, [(span.start_ns, span.end_ns)]):
                stretches.append((start, end, waiting_words(span, ubatch_of(row))))
    said: set[tuple[str, ...]] = set()
    for start, end, texts in sorted(_joined(stretches, frame), key=lambda s: s[0] - s[1]):
        yield start, end, () if texts in said else texts
        said.add(texts)


def waiting_words(span: Span, ubatch: int | None) -> tuple[str, ...]:
    """Which other thread's doing a thread waits for: a microbatch's own host event is its turn."""
    if span.name == "thread.join":
        return ("joins",)
    if span.name == "barrier.arrive":
        barrier = span.args.get("barrier")
        return (*([f"waits at {barrier}"] if barrier else []), "waits at the barrier", "waits")
    event = span.args.get("host_event")
    if ubatch is not None and event == f"cpu_event[{ubatch}]":
        return ("waits for its turn",)
    return (*([f"waits for {event}"] if event else []), "waits")


def _joined(stretches: list[Stretch], frame: Frame) -> list[Stretch]:
    """Stretches of one reason that all but touch are one (main joins thread after thread)."""
    joined: list[Stretch] = []
    near = frame.length_ns // 1000
    for start, end, texts in stretches:
        if joined and joined[-1][2] == texts and start - joined[-1][1] <= near:
            joined[-1] = (joined[-1][0], end, texts)
        else:
            joined.append((start, end, texts))
    return joined


def _paint_wait(canvas: Canvas, row: Row, x0: float, x1: float, texts: Sequence[str]) -> None:
    style = Style(z=3.0, stroke=canvas.theme.waiting, width=1.1, dash=(1.6, 1.6))
    canvas.seen.add("waiting")
    dotted(canvas, style, row.y, x0, x1, texts)


def dotted(canvas: Canvas, style: Style, y: float, x0: float, x1: float, texts: Sequence[str]) -> None:
    """A dotted line that makes way for the first of some texts that has room on it."""
    gap = None
    for text in texts:
        gap = gap or _place(canvas, y, x0, x1, text)
    ends = [(x0, x1)] if gap is None else [(x0, gap[0] - 4), (gap[1] + 4, x1)]
    for a, b in ends:
        if b > a:
            canvas.add(style, line((a, y), (b, y)))


def _place(canvas: Canvas, y: float, x0: float, x1: float, text: str) -> tuple[float, float] | None:
    """Set a text on a line, in its middle or near it, clear of all else."""
    wide = width(clean(text), SMALL_SIZE)
    if wide + 28 > x1 - x0:
        return None
    for share in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8):
        x = x0 + (x1 - x0) * share
        if x - wide / 2 < x0 + 12 or x + wide / 2 > x1 - 12:
            continue
        box = text_box(x, y, text, SMALL_SIZE, 400, "centre")
        if canvas.free((box[0] - 3, box[1], box[2] + 3, box[3])):
            canvas.text(x, y, text, SMALL_SIZE, canvas.theme.soft, at="centre")
            return box[0], box[2]
    return None


def _paint_device_text(canvas: Canvas, row: Row, x0: float, x1: float, span: Span) -> None:
    if 2 * row.half < SMALL_SIZE + 1.5:
        return
    name = str(span.operation or span.args.get("operation") or "")
    for text in [*device_words(span), canvas.short.get(name, "")]:
        if text and width(clean(text), SMALL_SIZE) + 7 <= x1 - x0:
            set_there = canvas.text((x0 + x1) / 2, row.y, text, SMALL_SIZE, canvas.theme.ink, at="centre")
            if set_there and text == canvas.short.get(name):
                canvas.shortened.add(name)
            return


def device_words(span: Span) -> list[str]:
    """What blocks a thread, in words, the longest first."""
    args = span.args
    if span.name == "kernel.launch":
        name = str(span.operation or args.get("operation") or args.get("name") or "a launch")
        return [f"blocked in {name}", name]
    if span.name == "host.read":
        return [f"reads from {args.get('stream', 'the device')}", "reads"]
    if span.name.endswith(".synchronize"):
        what = str(args.get("stream") or args.get("event") or "the device")
        return [f"synchronizes {what}", "synchronizes"]
    return [span.name]
