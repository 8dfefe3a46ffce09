"""A state of a scheduler as a still picture: what is shared, how each thread stands, what was chosen so far.

As in the page awake is a bar and waiting a line. Text is set whole, wrapped to its column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..palette import Theme
from . import fonts
from .canvas import Canvas, Style
from .shapes import line, rectangle, ring

DPI = 100
PAD = 14.0
COLUMN, BETWEEN = 140.0, 16.0
"""The least width of a thread's column, and the room between two."""
TITLE, NAME, TEXT, SMALL = 13.0, 11.0, 10.5, 9.0
LINE = 1.45
TICK = 5.0


@dataclass(frozen=True)
class Thread:
    """How a thread stands: ``able`` (it can go on), ``waits`` or ``ended``, and what it is about to do."""

    name: str
    standing: str
    doing: str


@dataclass(frozen=True)
class State:
    """All that is drawn. ``report`` are the lines at the end; ``lights`` the host events, with their flags."""

    title: str
    wrong: bool
    report: Sequence[str]
    lights: Mapping[str, bool]
    notes: Sequence[str]
    threads: Sequence[Thread]
    way: Sequence[int]
    schedule: str


def paint_state(state: State, theme: Theme, width: float) -> tuple[Figure, Axes]:
    """Draw it; as high as it needs."""
    with matplotlib.rc_context({"path.sketch": None, "text.usetex": False}):
        figure = Figure(figsize=(width / 72, 10), dpi=DPI, facecolor=theme.background)
        axes = figure.add_axes((0, 0, 1, 1))
        canvas = Canvas(axes, theme, (width, 720.0), 0.0, width, width)
        canvas.open()
        y = PAD + TITLE / 2
        y = _lines(
            canvas,
            PAD,
            y,
            width - 2 * PAD,
            state.title,
            TITLE,
            theme.fails if state.wrong else theme.ink,
            600,
        )
        for report in state.report:
            y = _lines(canvas, PAD, y, width - 2 * PAD, report, TEXT, theme.ink)
        y = _shared(canvas, state, y + 4)
        y = _threads(canvas, state.threads, y + 8)
        y = _way(canvas, state, y + 8)
        canvas.flush()
        canvas.cut(y + PAD - TEXT)
    return figure, axes


def ubatch_of(name: str, thread: int) -> int | None:
    """The microbatch whose colour a thread has; threads that run none, but for main, are told apart by number."""
    found = re.fullmatch(r"ubatch (\d{1,4})", name)
    if found is not None:
        return int(found[1])
    return None if thread == 0 else thread - 1


# ---- parts, from top to bottom; each returns where the next one begins


def _shared(canvas: Canvas, state: State, y: float) -> float:
    theme, x = canvas.theme, PAD
    for name, up in state.lights.items():
        says = "up" if up else "down"
        wide = 16 + fonts.width(name, TEXT, 500) + 6 + fonts.width(says, TEXT, 400) + 22
        if x > PAD and x + wide > canvas.width - PAD:
            x, y = PAD, y + TEXT * 1.7
        owner = re.search(r"\[(\d{1,4})\]$", name)
        colour = theme.ubatch(int(owner[1]) if owner else None)
        fill = colour if up else None
        canvas.add(Style(3, fill, colour if up else theme.waiting, 1.2), ring(x + 5, y, 4.6))
        canvas.text(x + 16, y, name, TEXT, theme.ink, weight=500, force=True)
        canvas.text(x + 22 + fonts.width(name, TEXT, 500), y, says, TEXT, theme.soft, force=True)
        x += wide
    if state.lights:
        y += TEXT * 1.7
    for note in state.notes:
        y = _lines(canvas, PAD, y, canvas.width - 2 * PAD, note, TEXT, theme.soft)
    return y


def _threads(canvas: Canvas, threads: Sequence[Thread], y: float) -> float:
    room = canvas.width - 2 * PAD
    columns = max(1, min(len(threads), int((room + BETWEEN) // (COLUMN + BETWEEN))))
    wide = (room - (columns - 1) * BETWEEN) / columns
    for first in range(0, len(threads), columns):
        row = range(first, min(first + columns, len(threads)))
        y = 12 + max(
            _thread(canvas, threads[i], i, PAD + (i - first) * (wide + BETWEEN), y, wide) for i in row
        )
    return y - 12


def _thread(canvas: Canvas, thread: Thread, number: int, x: float, y: float, wide: float) -> float:
    theme = canvas.theme
    colour = theme.ubatch(ubatch_of(thread.name, number))
    if thread.standing == "able":
        canvas.add(Style(2, colour), rectangle((x, y, x + wide, y + 3.5)))
    else:
        dash = (1.5, 3.0) if thread.standing == "waits" else None
        canvas.add(Style(2, None, theme.waiting, 1.2, dash), line((x, y + 1.7), (x + wide, y + 1.7)))
    y += 15
    says = {"able": "can go on", "waits": "waits", "ended": ""}[thread.standing]
    canvas.add(Style(3, colour), rectangle((x, y - 4, x + 8, y + 4), 1.5))
    room = wide - 20 - fonts.width(says, SMALL, 400)
    name = next(iter(wrapped(thread.name, NAME, 600, room)))
    canvas.text(x + 14, y, name, NAME, theme.ink, weight=600, force=True)
    canvas.text(x + wide, y, says, SMALL, theme.soft, at="right", force=True)
    ink = theme.ink if thread.standing == "able" else theme.soft
    return _lines(canvas, x, y + NAME * LINE, wide, thread.doing, TEXT, ink)


def _way(canvas: Canvas, state: State, y: float) -> float:
    """A tick for each choice, in the colour of the thread; the replay string."""
    theme, names = canvas.theme, [thread.name for thread in state.threads]
    if not state.way:
        return y
    in_row = int((canvas.width - 2 * PAD) // (TICK + 1))
    for i, thread in enumerate(state.way):
        left, top = PAD + i % in_row * (TICK + 1), y + i // in_row * 12
        colour = theme.ubatch(ubatch_of(names[thread], thread))
        canvas.add(Style(2, colour), rectangle((left, top - 4, left + TICK, top + 4), 1))
    y += ((len(state.way) - 1) // in_row) * 12 + 16
    return _lines(canvas, PAD, y, canvas.width - 2 * PAD, f"replay string {state.schedule}", TEXT, theme.soft)


# ---- text


def _lines(
    canvas: Canvas, x: float, y: float, room: float, text: str, size: float, colour: str, weight: int = 400
) -> float:
    for part in wrapped(text, size, weight, room):
        left = x
        for piece in re.split(
            r"(?<=\d)(?=x\d)|(?<=\dx)(?=\d)", part
        ):  # Inter would make a times sign of 2x14
            canvas.text(left, y, piece, size, colour, weight=weight, force=True)
            left += fonts.width(piece, size, weight)
        y += size * LINE
    return y


def wrapped(text: str, size: float, weight: int, room: float) -> Iterator[str]:
    """A text in lines no wider than the room, broken after spaces and slashes, or anywhere if need be."""
    begun = ""
    for word in re.findall(r"[^\s/]*[/\s]?", fonts.clean(text)):
        if begun and fonts.width((begun + word).rstrip(), size, weight) > room:
            yield begun.rstrip()
            begun = ""
        begun += word
        while len(begun) > 1 and fonts.width(begun.rstrip(), size, weight) > room:
            fits = next(n for n in range(len(begun) - 1, 0, -1)
                        if n == 1 or fonts.width(begun[:n], size, weight) <= room)  # fmt: skip
            yield begun[:fits]
            begun = begun[fits:]
    if begun.strip():
        yield begun.rstrip()
