"""Put a picture together: what is shown, how high it is, its parts from top to bottom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from ...errors import BadArgument
from ...trace.model import Trace
from ..palette import Theme
from .canvas import Canvas
from .errors import errors_in_words
from .frame import Frame, frame_of
from .layout import PAD, TITLE_SIZE, Heights, Layout, gutter, lay_out
from .legend import ROW, paint_legend, paint_numbers, rows_of
from .numbers import Numbers, in_words, numbers_of, percent
from .ticks import duration
from .wall import paint_wall, stream_blocks

DPI = 100
SPARE = 400.0
"""Points for the lines under the picture, until it is known how many these are."""
PRESSED = tuple(k / 100 for k in range(150, 34, -5))
"""How high rows may be, as a part of what they like to be."""
NOTHING = "This recording holds nothing that could be drawn."


@dataclass
class Made:
    """A finished picture: where it is, and what it says in words."""

    figure: Figure | SubFigure
    axes: Axes
    alt: str
    words: str


@dataclass(frozen=True)
class Sheet:
    """What the parts of a picture need to know of the whole."""

    theme: Theme
    axes: Axes | None
    width: float
    title: str | None
    numbers: bool
    legend: bool

    @property
    def head(self) -> float:
        return PAD + (TITLE_SIZE + 10 if self.title else 0.0)


Choice = tuple[int | None, tuple[int, int] | None, Sequence[str | int] | None]


def compose(
    trace: Trace,
    axes: Axes | None,
    width: float,
    order: str,
    theme: Theme,
    choice: Choice,
    options: Mapping[str, Any],
) -> Made:
    """Draw a trace; see ``ubviz.view.picture`` for what the arguments mean."""
    if axes is not None:
        width = axes.get_window_extent().width * 72 / axes.figure.dpi
    sheet = Sheet(theme, axes, width, **options)
    frame = frame_of(trace, *choice)
    with matplotlib.rc_context({"path.sketch": None, "text.usetex": False, "axes.unicode_minus": True}):
        if not frame.spans and not frame.events:
            return _say(sheet)
        if order == "logical":
            from .logical import compose_logical

            return compose_logical(sheet, frame)
        return _compose_wall(sheet, frame)


def start(sheet: Sheet, high: float, left: float, ns: int | None) -> tuple[Canvas, Figure | SubFigure]:
    """Axes of the right size, and a canvas on them; without a time, x is points."""
    axes = sheet.axes
    if axes is None:
        figure = Figure(figsize=(sheet.width / 72, high / 72), dpi=DPI, facecolor=sheet.theme.background)
        axes = figure.add_axes((0, 0, 1, 1))
    size = size_of(axes)
    right = size[0] - PAD - 8
    canvas = Canvas(axes, sheet.theme, size, left, right, right - left if ns is None else ns)
    canvas.open()
    if sheet.title:
        canvas.text(PAD, PAD + 6, sheet.title, TITLE_SIZE, sheet.theme.ink, weight=600, force=True)
    return canvas, axes.figure


def size_of(axes: Axes) -> tuple[float, float]:
    """The size of axes, in points."""
    box, dpi = axes.get_window_extent(), axes.figure.dpi
    return box.width * 72 / dpi, box.height * 72 / dpi


def _say(sheet: Sheet) -> Made:
    """A picture of nothing says so."""
    canvas, figure = start(sheet, sheet.head + 60, 60, None)
    canvas.text(canvas.width / 2, sheet.head + (canvas.height - sheet.head - PAD) / 2, NOTHING, 10.0,
                sheet.theme.soft, at="centre", force=True)  # fmt: skip
    canvas.flush()
    return Made(figure, canvas.axes, NOTHING, "nothing to draw")


def _compose_wall(sheet: Sheet, frame: Frame) -> Made:
    done = stream_blocks(frame)
    subs = {lane: max(rows, default=0) + 1 for lane, (_, rows) in done.items()}
    sheet, layout = _fitting(sheet, frame, subs)
    canvas, figure = start(sheet, layout.bottom + SPARE, gutter(layout), frame.length_ns)
    paint_wall(canvas, frame, layout, done)
    numbers = numbers_of(frame)
    first, rest = in_words(numbers)
    if canvas.missing:
        rest.append(f"{canvas.missing} arrows or marks not drawn")
    if frame.step is not None and len(frame.trace.steps) > 1:
        rest.append(f"step {frame.step}")
    finish(canvas, sheet, layout.bottom, first, rest)
    operations = sum(len(made) for made, _ in done.values())
    return Made(figure, canvas.axes, alt_of(frame, numbers), _words(frame, operations, numbers))


def _fitting(sheet: Sheet, frame: Frame, subs: Mapping[int, int]) -> tuple[Sheet, Layout]:
    """Rows as they like to be; into axes that are given they are pressed, without a legend if need be."""
    layout = lay_out(frame.lanes, Heights(), sheet.head, subs)
    if sheet.axes is None:
        return sheet, layout
    high, foot = size_of(sheet.axes)[1], _foot(sheet, frame, layout)
    bare = replace(sheet, legend=False)
    least = layout
    for k, chosen in [*((k, sheet) for k in PRESSED if k >= 0.6), *((k, bare) for k in PRESSED)]:
        least = lay_out(frame.lanes, Heights().stretched(k), sheet.head, subs)
        if least.bottom + (foot if chosen.legend else ROW * chosen.numbers + 12) <= high:
            return chosen, least
    lanes = f"{counted(len(frame.lanes), 'lane')}, which need{'s' if len(frame.lanes) == 1 else ''}"
    raise BadArgument(
        f"these axes are {high / 72:.1f} inches high, too low for {lanes} "
        f"{(least.bottom + 2 * ROW) / 72:.1f}; make them higher or choose some lanes"
    )


def _foot(sheet: Sheet, frame: Frame, layout: Layout) -> float:
    """How much room the lines under the picture need: it is known once they are drawn, so draw a trial."""
    return float(_compose_wall(replace(sheet, axes=None), frame).axes.get_ylim()[0]) - layout.bottom


def finish(canvas: Canvas, sheet: Sheet, bottom: float, first: str, rest: list[str]) -> None:
    """The legend and the numbers, then the height of a figure of ours; what does not fit given axes is left out."""
    y = bottom + 13
    needed = len(rows_of(canvas, canvas.right - canvas.left + 8)) * ROW + (ROW if sheet.numbers else 0)
    if sheet.legend and (sheet.axes is None or y + needed - ROW / 2 <= canvas.height):
        y = paint_legend(canvas, y) + 2
    if sheet.numbers:
        paint_numbers(canvas, y, first, rest)
        y += ROW
    if sheet.axes is None:
        canvas.cut(y - ROW / 2 + PAD * 0.7)
    canvas.flush()


def alt_of(frame: Frame, numbers: Numbers) -> str:
    """What a timeline shows, in words: lanes, makespan, what is hidden, what fails."""
    step = "" if frame.step is None else f" of step {frame.step}"
    first, _ = in_words(numbers)
    sentences = [f"Timeline{step} with the {lanes_in_words(frame)}; {first}."]
    if numbers.hidden is not None:
        what, hidden, busy = numbers.hidden
        amount = f"{percent(hidden, busy)} of {what} ({duration(hidden)} of {duration(busy)})"
        sentences.append(f"{amount} is hidden behind computation.")
    return " ".join([*sentences, *(f"{text}." for text in errors_in_words(frame))])


def lanes_in_words(frame: Frame) -> str:
    """The lanes by name: ``lanes main, compute and comm``."""
    names = [lane.role for lane in frame.lanes]
    return f"lanes {', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else f"lane {''.join(names)}"


def counted(n: int, word: str) -> str:
    """A number of things.

    >>> counted(1, "lane"), counted(5, "lane")
    ('1 lane', '5 lanes')
    """
    return f"{n} {word}{'' if n == 1 else 's'}"


def _words(frame: Frame, operations: int, numbers: Numbers) -> str:
    step = "" if frame.step is None else f"step {frame.step}, "
    lanes, work = counted(len(frame.lanes), "lane"), counted(operations, "operation")
    return f"{step}{lanes}, {work}, {in_words(numbers)[0]}"
