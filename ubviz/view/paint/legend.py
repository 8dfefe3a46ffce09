"""Under the picture: what the marks mean (only those that appear), and one line of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from .canvas import Canvas, Style
from .errors import cross
from .fonts import clean, width
from .layout import KEY_SIZE, LABEL_SIZE
from .marks import RING, TICK, TIP
from .shapes import Box, diamond, head, line, rectangle, ring
from .streams import fill, outlined

SWATCH, TALL, ROW, NEXT = 17.0, 10.0, 17.0, 5.5
GAPS = (17.0, 13.0, 9.5)


class Entry(NamedTuple):
    """One entry: how its sign is drawn in a box, and what it means."""

    sign: Callable[[Canvas, Box], None]
    words: str
    letters: str = ""


def entries(canvas: Canvas) -> list[Entry]:
    """What appears in the picture, in the order in which one reads it."""
    seen = canvas.seen
    numbers = sorted(int(key.split()[1]) for key in seen if key.startswith("ubatch "))
    found = [Entry(_swatch(number), f"microbatch {number}") for number in numbers]
    if not found and {"main", "compute"} <= seen:
        found.append(Entry(_swatch(None), "computation"))
    elif "by main" in seen or "no ubatch" in seen:
        found.insert(0, Entry(_swatch(None), "launched by main" if "by main" in seen else "no microbatch"))
    found += [entry for key, entry in _ENTRIES.items() if key in seen]
    arrows = [words for key, words in _ARROWS.items() if key in seen]
    if arrows:
        found.append(Entry(_arrow, ", ".join(arrows)))
    return found + [entry for key, entry in _MARKS.items() if key in seen]


def keys(canvas: Canvas) -> list[Entry]:
    """The initials that stand in narrow blocks, and their operations."""
    return [
        Entry(_letters(short), clean(name), short)
        for name, short in canvas.short.items()
        if name in canvas.shortened and clean(name) != short  # a letter needs no key
    ]


def _letters(short: str) -> Callable[[Canvas, Box], None]:
    def sign(canvas: Canvas, box: Box) -> None:
        canvas.text(box[0], (box[1] + box[3]) / 2, short, KEY_SIZE, canvas.theme.ink, weight=600)

    return sign


def _colour(canvas: Canvas) -> str:
    first = min((int(key.split()[1]) for key in canvas.seen if key.startswith("ubatch ")), default=None)
    return canvas.theme.ubatch(first)


def _swatch(ubatch: int | None) -> Callable[[Canvas, Box], None]:
    return lambda canvas, box: canvas.add(Style(z=4.0, fill=canvas.theme.ubatch(ubatch)), rectangle(box, 2))


def _kind(cls: str) -> Callable[[Canvas, Box], None]:
    def sign(canvas: Canvas, box: Box) -> None:
        fill(canvas, cls, _colour(canvas), box)

    return sign


def _gap(canvas: Canvas, box: Box) -> None:
    x0, _, x1, _ = box
    third = (x1 - x0) / 3
    fill(canvas, "compute", _colour(canvas), box, [(x0, x0 + third), (x1 - third, x1)])


def _device(canvas: Canvas, box: Box) -> None:
    outlined(canvas, _colour(canvas), box, 0.14)


def _waiting(canvas: Canvas, box: Box) -> None:
    y = (box[1] + box[3]) / 2
    style = Style(z=3.0, stroke=canvas.theme.waiting, width=1.1, dash=(1.6, 1.6))
    canvas.add(style, line((box[0], y), (box[2], y)))


def _arrow(canvas: Canvas, box: Box) -> None:
    y, colour = (box[1] + box[3]) / 2, canvas.theme.arrow
    canvas.add(Style(z=5.0, stroke=colour, width=0.9), line((box[0], y), (box[2] - 3, y)))
    canvas.add(Style(z=5.1, fill=colour), head(box[2], y, 1, 0, 4.6))


def _hook(canvas: Canvas, box: Box) -> None:
    y, colour = (box[1] + box[3]) / 2, canvas.theme.arrow
    style = Style(z=5.0, stroke=colour, width=0.9, dash=(2.5, 1.6))
    canvas.add(style, line((box[0], y), (box[2] - 3, y)))
    canvas.add(Style(z=5.1, fill=colour), head(box[2], y, 1, 0, 4.6))


def _middle(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _diamond(filled: bool) -> Callable[[Canvas, Box], None]:
    def sign(canvas: Canvas, box: Box) -> None:
        theme = canvas.theme
        style = Style(z=7.0, fill=theme.ink if filled else theme.background, stroke=theme.ink, width=0.9)
        canvas.add(style, diamond(*_middle(box), TIP))

    return sign


def _ring(canvas: Canvas, box: Box) -> None:
    style = Style(z=7.0, fill=canvas.theme.background, stroke=canvas.theme.ink, width=1.1)
    canvas.add(style, ring(*_middle(box), RING))


def _tick(canvas: Canvas, box: Box) -> None:
    x, y = _middle(box)
    canvas.add(Style(z=5.0, stroke=canvas.theme.ink, width=0.9), line((x, y - TICK), (x, y + TICK)))


def _cross(canvas: Canvas, box: Box) -> None:
    cross(canvas, *_middle(box))


_ENTRIES = {
    "comm": Entry(_kind("comm"), "communication"),
    "copy": Entry(_kind("copy"), "copy"),
    "other": Entry(_kind("other"), "unclassified"),
    "transfer": Entry(_kind("transfer"), "in flight"),
    "gap": Entry(_gap, "gap between kernels"),
    "device": Entry(_device, "blocked by device"),
    "waiting": Entry(_waiting, "waiting"),
}
_ARROWS = {"set -> wake": "set wakes", "record -> wait": "record releases", "send -> receive": "data moves"}
_MARKS = {
    "register -> run": Entry(_hook, "hook runs"),
    "record": Entry(_diamond(True), "event recorded"),
    "released": Entry(_diamond(False), "wait ends"),
    "arrives": Entry(_ring, "arrives"),
    "clears": Entry(_tick, "clears its flag"),
    "fails": Entry(_cross, "fails"),
}
NARROW = {"event recorded", "wait ends", "arrives", "clears its flag", "fails"}


class Row(NamedTuple):
    """One row of the legend: its entries and how far apart they are."""

    entries: list[Entry]
    gap: float


def rows_of(canvas: Canvas, room: float) -> list[Row]:
    """The entries, broken into rows where one row is too wide, and closer together where that saves a row."""
    found: list[Row] = []
    for group in (entries(canvas), keys(canvas)):
        choices = [_wrapped(group, room, gap) for gap in GAPS]
        least = min(len(rows) for rows in choices)
        found += next(rows for rows in choices if len(rows) == least)
    return _joined(found, room)


_SPACE = Entry(lambda canvas, box: None, "")


def _joined(rows: list[Row], room: float) -> list[Row]:
    """The last two rows as one (the initials beside the last marks), where that has room."""
    if len(rows) < 2:
        return rows
    *others, above, last = rows
    one = Row([*above.entries, _SPACE, *last.entries], above.gap)
    return [*others, one] if len(_wrapped(one.entries, room, one.gap)) == 1 else rows


def _wrapped(group: list[Entry], room: float, gap: float) -> list[Row]:
    rows: list[Row] = []
    x = 0.0
    for entry in group:
        wide = _wide(entry)
        if not rows or x + wide > room:
            rows.append(Row([], gap))
            x = 0.0
        rows[-1].entries.append(entry)
        x += wide + gap
    return rows


def _sign_width(entry: Entry) -> float:
    if entry.letters:
        return width(entry.letters, KEY_SIZE, 600)
    return 8.0 if entry.words in NARROW else SWATCH


def _wide(entry: Entry) -> float:
    return _sign_width(entry) + NEXT + width(entry.words, KEY_SIZE)


def paint_legend(canvas: Canvas, y: float) -> float:
    """Draw the legend from y down; where it ends."""
    for row in rows_of(canvas, canvas.right - canvas.left + 8):
        x = canvas.left
        for entry in row.entries:
            wide = _sign_width(entry)
            entry.sign(canvas, (x, y - TALL / 2, x + wide, y + TALL / 2))
            canvas.text(x + wide + NEXT, y, entry.words, KEY_SIZE, canvas.theme.soft)
            x += _wide(entry) + row.gap
        y += ROW
    return y


def paint_numbers(canvas: Canvas, y: float, first: str, rest: list[str]) -> None:
    """The first number in bold, the rest after it, as many as there is room for."""
    box = canvas.text(canvas.left, y, first, LABEL_SIZE + 1, canvas.theme.ink, weight=600)
    paint_rest(canvas, (box[2] if box else canvas.left) + 18, y, rest)


def paint_rest(canvas: Canvas, x: float, y: float, rest: list[str]) -> None:
    """The other numbers from x on, as many as there is room for."""
    size, room = LABEL_SIZE + 0.5, canvas.width - 6 - x
    for shown in _shorter(rest):
        text = " · ".join(shown)
        if width(clean(text), size) <= room:
            canvas.text(x, y, text, size, canvas.theme.soft)
            return


def _shorter(rest: list[str]) -> Iterator[list[str]]:
    """The numbers, then fewer: what is hidden stays longest."""
    yield rest
    for n in range(len(rest) - 1, 1, -1):
        yield rest[:n]
    yield [text.replace(" busy", "") for text in rest[:2]]
    yield [text.replace(" busy", "") for text in rest[1:2]]
