"""The picture by order: one column for each event, as in the diagrams that explain the mechanism, but complete."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...errors import BadArgument
from .canvas import Canvas, Style
from .columns import CHIP_SIZE, NOTE_SIZE, Column, Stretch, System, columns, stretches, systems
from .compose import SPARE, Made, Sheet, counted, finish, lanes_in_words, size_of, start
from .errors import errors_in_words
from .frame import Frame
from .layout import GROUP_SIZE, LANE_SIZE, PAD, Heights, Layout, gutter, lay_out
from .legend import ROW
from .marks import HEAD, RING, TIP, pill
from .shapes import diamond, head, line, rectangle, ring, swing, turn
from .streams import hatch
from .threads import ubatch_of

HEIGHTS = Heights(thread=7.5, stream=8.0, between_threads=14.0, between_streams=22.0, ruler=12.0)
MOST = 120
BETWEEN_SYSTEMS = -2.0


@dataclass(frozen=True)
class Score:
    """Where things are on the sheet: the endless row, broken into systems."""

    canvas: Canvas
    layout: Layout
    rows: tuple[System, ...]
    pitch: float

    def place(self, v: float) -> tuple[int, float]:
        """The system that holds a place of the endless row, and its x there."""
        number = next((i for i, row in enumerate(self.rows) if v < row.v1), len(self.rows) - 1)
        return number, self.canvas.left + self.rows[number].x(v)

    def y(self, lane: int, system: int) -> float:
        return self.layout.rows[lane].y + system * self.pitch


def compose_logical(sheet: Sheet, frame: Frame) -> Made:
    """Draw the events of a frame in the order in which they were recorded."""
    every = columns(frame)
    found = every[:MOST]
    used = {column.lane for column in found} | {column.event.lane for column in found}
    frame = replace(frame, lanes=tuple(lane for lane in frame.lanes if lane.id in used))
    layout = lay_out(frame.lanes, HEIGHTS, sheet.head, {})
    left = gutter(layout)
    rows = systems(found, sheet.width - left - PAD)
    pitch = layout.bottom - sheet.head + BETWEEN_SYSTEMS
    if sheet.axes is not None:
        rows = rows[: _fitting(sheet, pitch)]
        found = [column for row in rows for column in row.columns]
    canvas, figure = start(sheet, sheet.head + len(rows) * pitch + SPARE, left, None)
    score = Score(canvas, layout, tuple(rows), pitch)
    _paint_ground(score)
    for stretch in stretches(frame, found):
        _paint_stretch(score, stretch)
    for column in found:
        _paint_column(score, frame, column)
    _paint_arrows(score, frame, found)
    first, rest = _numbers(found, len(every))
    bottom = sheet.head + len(rows) * pitch
    finish(canvas, sheet, bottom + 8, first, rest)
    sentences = [f"{first} on the {lanes_in_words(frame)}: {', '.join(rest[:-1]) or rest[-1]}"]
    alt = " ".join(f"{text}." for text in sentences + errors_in_words(frame))
    return Made(figure, canvas.axes, alt, f"{first}, {counted(len(frame.lanes), 'lane')}")


def _fitting(sheet: Sheet, pitch: float) -> int:
    """How many systems the given axes hold."""
    assert sheet.axes is not None
    high = size_of(sheet.axes)[1]
    count = int((high - sheet.head - ROW) / pitch)
    if count < 1:
        raise BadArgument(
            f"these axes are {high / 72:.1f} inches high, too low for logical order, which needs "
            f"{(sheet.head + ROW + pitch) / 72:.1f}; make them higher or choose some lanes"
        )
    return count


def _numbers(found: list[Column], every: int) -> tuple[str, list[str]]:
    kinds = [column.event.kind for column in found]
    named = (("host_event.wake", "hand-over"), ("kernel.launch", "operation"), ("event.record", "record"),
               ("event.wait", "wait"), ("stream.switch", "switch"))  # fmt: skip
    rest = [f"{n} {word}{_plural(word, n)}" for kind, word in named if (n := kinds.count(kind))]
    if len(found) < every:
        rest.insert(1, f"the first {len(found)} of {every} columns; window=(start_ns, end_ns) chooses others")
    rest.append("one column an event, widths mean nothing")
    return f"{counted(len(found), 'event')} in the order recorded", rest


def _plural(word: str, n: int) -> str:
    return "" if n == 1 else "es" if word.endswith("ch") else "s"


def _paint_ground(score: Score) -> None:
    canvas, theme = score.canvas, score.canvas.theme
    for i, system in enumerate(score.rows):
        for title, y in score.layout.titles if i == 0 else ():
            canvas.text(PAD, y, title, GROUP_SIZE, theme.soft, weight=600, force=True)
        for row in score.layout.rows.values():
            y = row.y + i * score.pitch
            canvas.text(
                canvas.left - 10, y, row.name, LANE_SIZE, theme.ink, weight=500, at="right", force=True
            )
            end = canvas.left + system.x(system.v1)
            canvas.add(Style(z=1.0, stroke=theme.grid, width=0.8), line((canvas.left, y), (end, y)))


def _paint_stretch(score: Score, stretch: Stretch) -> None:
    """Awake is a pale bar, waiting a dotted line; cut at the ends of the systems."""
    theme = score.canvas.theme
    colour = theme.ubatch(ubatch_of(score.layout.rows[stretch.lane]))
    for i, system in enumerate(score.rows):
        v0, v1 = max(stretch.v0, system.v0), min(stretch.v1, system.v1)
        if v1 <= v0:
            continue
        x0, x1 = (score.canvas.left + system.x(v) for v in (v0, v1))
        y = score.y(stretch.lane, i)
        if stretch.awake:
            band = rectangle((x0, y - 8.5, x1, y + 8.5), 3.0)
            score.canvas.add(Style(z=2.0, fill=theme.tint(colour, 0.2)), band)
        else:
            score.canvas.seen.add("waiting")
            style = Style(z=2.1, stroke=theme.waiting, width=1.1, dash=(1.6, 1.6))
            score.canvas.add(style, line((x0, y), (x1, y)))


def _paint_column(score: Score, frame: Frame, column: Column) -> None:
    system, x = score.place(column.x)
    y = score.y(column.lane, system)
    sign = {"ring": _ring, "gate": _gate, "record": _diamond, "wait": _diamond}.get(column.sign, _chip)
    sign(score, column, x, y, system)


def _colour(score: Score, column: Column) -> str:
    row = score.layout.rows.get(column.event.lane)
    ubatch = column.event.ubatch
    if ubatch is None and row is not None:
        ubatch = ubatch_of(row)
    score.canvas.seen.add("main" if ubatch is None else f"ubatch {ubatch}")
    return score.canvas.theme.ubatch(ubatch)


def _tie(score: Score, column: Column, x: float, y: float, system: int) -> None:
    """A hairline from the thread that launches to the stream, with a dot on the thread."""
    if column.lane == column.event.lane or column.event.lane not in score.layout.rows:
        return
    theme, above = score.canvas.theme, score.y(column.event.lane, system)
    score.canvas.add(Style(z=2.5, stroke=theme.waiting, width=0.6), line((x, above), (x, y)))
    score.canvas.add(Style(z=6.0, fill=_colour(score, column)), ring(x, above, 1.9))


def _chip(score: Score, column: Column, x: float, y: float, system: int) -> None:
    canvas, theme = score.canvas, score.canvas.theme
    colour = _colour(score, column)
    _tie(score, column, x, y, system)
    box = (x - column.half, y - 7.0, x + column.half, y + 7.0)
    fill = colour
    if column.sign == "outline" or column.cls == "copy":
        fill = theme.tint(colour, 0.08)
        inner = (box[0] + 0.4, box[1] + 0.4, box[2] - 0.4, box[3] - 0.4)
        canvas.add(Style(z=6.0, fill=fill, stroke=colour, width=0.8), rectangle(inner, 2.5))
    else:
        canvas.add(Style(z=6.0, fill=colour), rectangle(box, 2.5))
    if column.cls == "comm":
        canvas.seen.add("comm")
        hatch(canvas, box, z=6.1)
        canvas.add(Style(z=6.2, fill=colour), rectangle((box[0] + 6, y - 5, box[2] - 6, y + 5), 2.0))
    canvas.text(x, y, column.text, CHIP_SIZE, theme.on(fill), weight=600, at="centre", force=True)


def _ring(score: Score, column: Column, x: float, y: float, system: int) -> None:
    theme = score.canvas.theme
    score.canvas.seen.add("arrives")
    score.canvas.add(Style(z=7.0, fill=theme.background, stroke=theme.ink, width=1.1), ring(x, y, RING))
    score.canvas.text(x, y - 13, column.text, NOTE_SIZE, theme.soft, at="centre")


def _gate(score: Score, column: Column, x: float, y: float, system: int) -> None:
    theme = score.canvas.theme
    threads = [row for row in score.layout.rows.values() if row.lane.group == "threads"]
    top = min(row.top for row in threads) + system * score.pitch - 5
    bottom = max(row.bottom for row in threads) + system * score.pitch + 5
    style = Style(z=5.0, stroke=theme.ink, width=1.1, dash=(3.0, 2.0))
    score.canvas.add(style, line((x, top), (x, bottom)))
    pill(score.canvas, x, top - 12.5, column.text)


def _diamond(score: Score, column: Column, x: float, y: float, system: int) -> None:
    theme, filled = score.canvas.theme, column.sign == "record"
    score.canvas.seen.add("record" if filled else "released")
    _tie(score, column, x, y, system)
    fill = theme.ink if filled else theme.background
    score.canvas.add(Style(z=7.0, fill=fill, stroke=theme.ink, width=1.0), diamond(x, y, TIP + 0.6))
    streams = [row for row in score.layout.rows.values() if row.lane.group != "threads"]
    below = bool(streams) and column.lane == streams[-1].lane.id
    beside = 12.0 if below else -12.0
    if below or column.lane == column.event.lane:
        score.canvas.text(x, y + beside, column.text, NOTE_SIZE, theme.soft, at="centre")
    else:
        box_x = x + 4
        score.canvas.text(box_x, y + beside, column.text, NOTE_SIZE, theme.soft)


def _paint_arrows(score: Score, frame: Frame, found: list[Column]) -> None:
    """set -> wake and hook -> run between threads, record -> wait between streams."""
    at = {column.row: column for column in found}
    ways = _Ways()
    for flow in frame.flows:
        if flow.kind in ("set -> wake", "register -> run"):
            a, b = at.get(flow.from_row), at.get(flow.to_row)
            if a and b and flow.from_table == flow.to_table == "events":
                _arrow(score, ways, a, b, 7.0, flow.kind == "register -> run")
    recorded: dict[tuple[object, ...], Column] = {}
    for column in found:
        args = column.event.args
        key = (column.event.rank, column.event.step, args.get("event"), args.get("record"))
        if column.sign == "record":
            recorded[key] = column
        elif column.sign == "wait" and key in recorded and args.get("record") is not None:
            _arrow(score, ways, recorded[key], column, TIP + 0.6, False)


class _Ways:
    """The level stretches of arrows that pass from one system to another: none lies on another."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, float, float, float]] = []

    def find(self, middle: float, *ends: tuple[int, float, float]) -> float:
        """How far from the middle between two lanes there is room at both ends: (system, x0, x1) each."""
        shift = next(shift for shift in _SHIFTS if all(self._free(middle + shift, end) for end in ends))
        self._taken += [(system, x0, x1, middle + shift) for system, x0, x1 in ends]
        return middle + shift

    def _free(self, y: float, end: tuple[int, float, float]) -> bool:
        system, x0, x1 = end
        return not any(
            system == at and x0 < b and a < x1 and abs(y - other) < WAY - 0.1
            for at, a, b, other in self._taken
        )


WAY = 3.0
_SHIFTS = [WAY * n for k in range(200) for n in ((-k, k) if k else (0,))]


def _arrow(score: Score, ways: _Ways, a: Column, b: Column, reach: float, dashed: bool) -> None:
    """From column to column; over the end of a system it leaves to the right and comes in from the left."""
    if a.lane == b.lane:
        return
    same = a.event.kind == "event.record"
    score.canvas.seen.add("register -> run" if dashed else "record -> wait" if same else "set -> wake")
    (i, x0), (j, x1) = score.place(a.x), score.place(b.x)
    y0, y1 = score.y(a.lane, i), score.y(b.lane, j)
    down = score.layout.rows[b.lane].y > score.layout.rows[a.lane].y
    y0, y1 = (y0 + reach, y1 - reach) if down else (y0 - reach, y1 + reach)
    if i == j:
        _curve(score, x0, y0, x1, y1, dashed)
        return
    left, end = score.canvas.left, score.canvas.left + score.rows[i].x(score.rows[i].v1)
    middle = ways.find(_gap(score, a.lane, b.lane), (i, x0, end + 5), (j, left - 5, x1))
    style = Style(z=5.0, stroke=score.canvas.theme.arrow, width=0.9, dash=(2.5, 1.6) if dashed else None)
    score.canvas.add(style, turn(x0, y0, end + 5, middle + i * score.pitch))
    size = HEAD * 0.9
    back = y1 - size * 0.8 if down else y1 + size * 0.8
    score.canvas.add(style, turn(x1, back, left - 5, middle + j * score.pitch))
    score.canvas.add(
        Style(z=5.1, fill=score.canvas.theme.arrow),
        head(x1, y1, 0, y1 - y0 if i == j else (1.0 if down else -1.0), size),
    )


def _gap(score: Score, a: int, b: int) -> float:
    """The middle of the gap that an arrow from lane a crosses last on its way to lane b."""
    rows = score.layout.rows
    on_the_way = [
        row.y for row in rows.values() if min(rows[a].y, rows[b].y) <= row.y <= max(rows[a].y, rows[b].y)
    ]
    nearest = sorted(on_the_way, key=lambda y: abs(y - rows[b].y))
    return (nearest[0] + nearest[1]) / 2


def _curve(score: Score, x0: float, y0: float, x1: float, y1: float, dashed: bool) -> None:
    canvas, colour = score.canvas, score.canvas.theme.arrow
    size = HEAD * 0.9
    back = y1 - size * 0.8 if y1 > y0 else y1 + size * 0.8
    style = Style(z=5.0, stroke=colour, width=0.9, dash=(2.5, 1.6) if dashed else None)
    canvas.add(style, swing(x0, y0, x1, back, 0.75))
    canvas.add(Style(z=5.1, fill=colour), head(x1, y1, 0, y1 - y0, size))
