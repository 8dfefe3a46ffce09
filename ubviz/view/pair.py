"""Two recordings of the same work above one another, on one axis of time: how much sooner the second is done.

Both begin at 0 and an inch is as many nanoseconds in one as in the other; the shorter simply ends earlier. What a
makespan is, ``ubviz.analysis.overlap`` says. Not checked: that both did the same work.
"""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib

from ..errors import BadArgument
from ..trace.model import Trace
from .paint.blocks import Block
from .paint.canvas import Canvas, Style
from .paint.compose import SPARE, Sheet, alt_of, finish, start
from .paint.fonts import clean
from .paint.fonts import width as width_of
from .paint.frame import Frame, frame_of
from .paint.layout import PAD, SMALL_SIZE, Heights, Layout, gutter, lay_out
from .paint.legend import paint_rest
from .paint.marks import pill
from .paint.numbers import Numbers, in_words, numbers_of
from .paint.shapes import head, line
from .paint.ticks import duration, plain, round_3
from .paint.wall import Done, name_blocks, paint_lanes, paint_ruler, stream_blocks
from .palette import theme_of
from .picture import Picture, must_be_trace, points_of

NAME_SIZE, LEAST_NAME_SIZE = 13.0, 7.0
BETWEEN = 20.0
"""Points between the two recordings."""
TOP = PAD + NAME_SIZE + 12
"""Where the first recording begins, under its name."""
APART = 3.0
"""Points: ends that are nearer are not told apart."""


@dataclass(frozen=True)
class Part:
    """One of the two: its name, what is shown of it, and where."""

    name: str
    frame: Frame
    numbers: Numbers
    done: Done
    layout: Layout

    @property
    def top(self) -> float:
        return self.layout.titles[0][1] - 7

    @property
    def blocks(self) -> list[Block]:
        return [block for made, _ in self.done.values() for block in made]

    @property
    def end_ns(self) -> int:
        """The end of its makespan: of the last work on the device, counted from its beginning."""
        spans = self.frame.spans.values()
        ends = [span.end_ns for span in spans if span.cat in ("kernel", "transfer")]
        return max(ends, default=self.frame.end_ns) - self.frame.start_ns


def before_after(
    before: Trace,
    after: Trace,
    *,
    step_before: int | None = None,
    step_after: int | None = None,
    names: tuple[str, str] = ("before", "after"),
    theme: str = "light",
    width: float | None = None,
) -> Picture:
    """Draw one step of each of two recordings above one another, on one axis of time.

    >>> before_after(unsplit, overlapped)  # doctest: +SKIP
    <Picture: before: step 8, makespan 762 ms; after: step 20, makespan 476 ms, 1.6 times as fast>

    step_before, step_after: which step of each; the last complete one unless given. names: what each is called.
    width: in inches, 10 unless given. Raises BadArgument when an argument cannot be used.
    """
    names = _two(names)
    frames = [
        _frame(trace, step, name)
        for trace, step, name in zip((before, after), (step_before, step_after), names)
    ]
    sheet = Sheet(theme_of(theme), None, points_of(width), None, numbers=False, legend=True)
    with matplotlib.rc_context({"path.sketch": None, "text.usetex": False, "axes.unicode_minus": True}):
        return _compose(sheet, _parts(names, frames))


def _two(names: tuple[str, str]) -> tuple[str, str]:
    if isinstance(names, str) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise BadArgument(f"names must be two strings, not {names!r}")
    return names[0], names[1]


def _frame(trace: Trace, step: int | None, name: str) -> Frame:
    must_be_trace(trace, "before_after draws")
    try:
        frame = frame_of(trace, step)
    except BadArgument as error:
        raise BadArgument(f"{name}: {error}") from None
    if not frame.spans and not frame.events:
        raise BadArgument(f"{name}: this recording holds nothing that could be drawn")
    return frame


def _parts(names: tuple[str, str], frames: list[Frame]) -> tuple[Part, Part]:
    """Lay them out from top to bottom; under the first name comes the ruler."""
    found: list[Part] = []
    y, ruler = TOP, Heights().ruler
    for name, frame in zip(names, frames):
        done = stream_blocks(frame)
        subs = {lane: max(rows, default=0) + 1 for lane, (_, rows) in done.items()}
        layout = lay_out(frame.lanes, Heights(ruler=ruler), y, subs)
        found.append(Part(name, frame, numbers_of(frame), done, layout))
        y, ruler = layout.bottom + BETWEEN + NAME_SIZE, 0.0
    return found[0], found[1]


def _compose(sheet: Sheet, parts: tuple[Part, Part]) -> Picture:
    first, second = parts
    left = max(gutter(part.layout) for part in parts)
    longest = max(part.frame.length_ns for part in parts)
    canvas, figure = start(sheet, second.layout.bottom + SPARE, left, longest)
    name_blocks(canvas, [block for part in parts for block in part.blocks])
    ruler_y = first.layout.ruler_y
    paint_ruler(canvas, ruler_y, [(ruler_y + 8, first.layout.bottom), (second.top, second.layout.bottom)])
    missing = []
    for part in parts:
        canvas.missing = 0
        _paint_end(canvas, part)
        paint_lanes(canvas, part.frame, part.layout, part.done)
        missing.append(canvas.missing)
    for part in parts:
        if part.blocks and all(block.ubatch is None for block in part.blocks):
            by_main = any(lane.role == "main" for lane in part.frame.lanes)
            canvas.seen.add("by main" if by_main else "no ubatch")
    _paint_difference(canvas, *sorted(parts, key=lambda part: part.end_ns))
    _paint_heads(canvas, parts, missing)
    finish(canvas, sheet, second.layout.bottom, "", [])
    return Picture(figure, canvas.axes, _alt(parts), _words(parts))


def _paint_end(canvas: Canvas, part: Part) -> None:
    """A thin line where it ends, and when that is."""
    x, y = canvas.x(part.end_ns), part.layout.titles[0][1]
    style = Style(z=6.0, stroke=canvas.theme.ink, width=1.0)
    canvas.add(style, line((x, y), (x, part.layout.bottom)))
    pill(canvas, x, y, duration(part.numbers.makespan_ns))


def _paint_difference(canvas: Canvas, short: Part, long: Part) -> None:
    """From the end of the shorter to that of the longer, at the height of the shorter."""
    x0, x1 = canvas.x(short.end_ns), canvas.x(long.end_ns)
    if x1 - x0 < APART:
        return
    soft, layout = canvas.theme.soft, short.layout
    canvas.add(
        Style(z=1.5, stroke=soft, width=0.8, dash=(3.0, 2.5)), line((x1, short.top), (x1, layout.bottom))
    )
    rows = list(layout.rows.values())
    y = (rows[0].top + rows[-1].bottom) / 2
    text = f"{duration(long.numbers.makespan_ns - short.numbers.makespan_ns)} less"
    if width_of(text, SMALL_SIZE + 2, 600) + 12 <= x1 - x0:
        canvas.text((x0 + x1) / 2, y - 9, text, SMALL_SIZE + 2, canvas.theme.ink, weight=600, at="centre")
    if x1 - x0 > 16:
        canvas.add(Style(z=5.0, stroke=soft, width=1.0), line((x0 + 6, y), (x1 - 1, y)))
        canvas.add(Style(z=5.1, fill=soft), head(x0 + 2, y, -1, 0, 6.0))


def _paint_heads(canvas: Canvas, parts: tuple[Part, Part], missing: list[int]) -> None:
    """Over each its name, its makespan, and the other numbers as far as there is room."""
    firsts = [
        duration(parts[0].numbers.makespan_ns),
        f"{duration(parts[1].numbers.makespan_ns)} · {_compared(parts)[1]}",
    ]
    size, x = _name_size(canvas, [part.name for part in parts], firsts)
    for part, first, gone in zip(parts, firsts, missing):
        y = PAD + 5 if part is parts[0] else part.layout.titles[0][1] - 24
        canvas.text(PAD, y, part.name, size, canvas.theme.ink, weight=600, force=True)
        box = canvas.text(x, y, first, size, canvas.theme.ink, weight=600, force=True)
        rest = in_words(part.numbers)[1]
        rest += [f"{gone} arrows or marks not drawn"] if gone else []
        rest += (
            [f"step {part.frame.step}"]
            if part.frame.step is not None and len(part.frame.trace.steps) > 1
            else []
        )
        paint_rest(canvas, box[2] + 18 if box else x, y, rest)


def _name_size(canvas: Canvas, names: list[str], firsts: list[str]) -> tuple[float, float]:
    """How large names and makespans are set, and where makespans begin: at the lanes, or after the longer name."""
    size = NAME_SIZE
    while size >= LEAST_NAME_SIZE:
        x = max(canvas.left, *(PAD + width_of(clean(name), size, 600) + 14 for name in names))
        if all(x + width_of(first, size, 600) <= canvas.width - 6 for first in firsts):
            return size, x
        size -= 0.5
    raise BadArgument(f"the names {names[0]!r} and {names[1]!r} are too long for a picture of this width")


def _compared(parts: tuple[Part, Part]) -> tuple[str, str]:
    """How the second compares with the first: a verb, and the rest."""
    before, after = (max(part.numbers.makespan_ns, 1) for part in parts)
    ratio = plain(round_3(max(before, after) / min(before, after)))
    if ratio == "1":
        return "is", "as fast"
    return ("is", f"{ratio} times as fast") if after < before else ("takes", f"{ratio} times as long")


def _alt(parts: tuple[Part, Part]) -> str:
    texts = [f"{part.name}: {alt_of(part.frame, part.numbers)}" for part in parts]
    verb, words = _compared(parts)
    return f"Two recordings on one axis of time. {texts[0]} {texts[1]} {parts[1].name} {verb} {words}."


def _words(parts: tuple[Part, Part]) -> str:
    texts = []
    for part in parts:
        step = "" if part.frame.step is None else f"step {part.frame.step}, "
        texts.append(f"{part.name}: {step}{in_words(part.numbers)[0]}")
    return f"{texts[0]}; {texts[1]}, {_compared(parts)[1]}"
