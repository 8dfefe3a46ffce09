"""The events of a picture in logical order: one column each, in the order recorded.

Not every trace event has a column. A thread that begins to wait, clears its host event or restores its context
does so within the column before it: the lane shows when it is awake and when it waits. Of an operation's launches
the first has a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...trace.model import Event
from . import fonts
from .frame import Frame

CHIP_SIZE, NOTE_SIZE = 7.8, 7.0
GAP = 6.0
MOST_SPREAD = 1.6
BLOCKS = ("host_event.wait", "barrier.arrive", "thread.join")


@dataclass
class Column:
    """One event: on which lane its sign is, which one, and what it says; x in points of one endless row."""

    row: int
    event: Event
    lane: int
    sign: str
    text: str
    x0: float = 0.0
    x1: float = 0.0
    cls: str = "compute"
    half: float = 0.0

    @property
    def x(self) -> float:
        return (self.x0 + self.x1) / 2


def columns(frame: Frame) -> list[Column]:
    """The columns, side by side from 0 on."""
    found: list[Column] = []
    x = 0.0
    for column in ordered(frame):
        wide = _wide(column)
        column.x0, column.x1, column.half = x, x + wide + GAP, wide / 2
        x = column.x1
        found.append(column)
    return found


def _wide(column: Column) -> float:
    text = fonts.clean(column.text)
    if column.sign in ("chip", "outline", "launch"):
        return max(fonts.width(text, CHIP_SIZE, 600) + (17 if column.cls == "comm" else 11), 24.0)
    return 12.0 if column.sign == "gate" else max(fonts.width(text, NOTE_SIZE), 12.0)


def ordered(frame: Frame) -> list[Column]:
    """The columns in the order recorded; where they stand is not known yet."""
    return list(_columns(frame))


def _columns(frame: Frame) -> Iterator[Column]:
    streams = {(lane.rank, lane.role): lane.id for lane in frame.lanes if lane.group != "threads"}
    launched: dict[int, tuple[object, ...]] = {}
    opened: set[tuple[object, ...]] = set()
    for row, event in sorted(frame.events.items(), key=lambda item: item[1].seq):
        if event.t_ns < frame.start_ns:
            continue
        column = _column(row, event, streams)
        if column is None:
            continue
        key = _once(event)
        if event.kind == "kernel.launch":
            if launched.get(event.lane) == key:
                continue
            launched[event.lane] = key
        else:
            launched.pop(event.lane, None)
        if event.kind == "barrier.release":
            if key in opened:
                continue
            opened.add(key)
        yield column


def _once(event: Event) -> tuple[object, ...]:
    """What is shown once: an operation's launches, a barrier's releases."""
    args = event.args
    if event.kind == "kernel.launch":
        return (
            event.ubatch,
            args.get("layer"),
            args.get("operation") or args.get("name"),
            args.get("stream"),
        )
    return (event.rank, event.step, args.get("barrier"), args.get("generation"))


def _column(row: int, event: Event, streams: dict[tuple[int, str], int]) -> Column | None:
    args = event.args
    lane = streams.get((event.rank, str(args.get("stream"))), event.lane)
    match event.kind:
        case "barrier.arrive":
            return Column(
                row, event, event.lane, "ring", f"{args.get('n', '?')} of {args.get('parties', '?')}"
            )
        case "barrier.release":
            return Column(row, event, event.lane, "gate", "barrier opens")
        case "kernel.launch":
            name = str(args.get("operation") or args.get("name") or "launch")
            return Column(row, event, lane, "launch", name, cls=str(args.get("cls") or "other"))
        case "event.record":
            return Column(row, event, lane, "record", "record")
        case "event.wait":
            return Column(row, event, lane, "wait", "wait")
    words = chip_words(event.kind, args)
    return None if words is None else Column(row, event, event.lane, *words)


def chip_words(kind: str, args: Mapping[str, Any]) -> tuple[str, str] | None:
    """The kind of chip and the verb on it; None for what has no column.

    >>> chip_words("host_event.set", {"host_event": "cpu_event[1]", "was": False})
    ('chip', 'set 1')
    """
    match kind:
        case "host_event.set":
            number = re.search(r"\[(\d+)\]$", str(args.get("host_event", "")))
            return "chip", f"set {number[1]}" if number else "set"
        case "host_event.clear":
            number = re.search(r"\[(\d+)\]$", str(args.get("host_event", "")))
            return "outline", f"clear {number[1]}" if number else "clear"
        case "host_event.wake":
            return "chip", "wakes"
        case "stream.switch":
            return "outline", f"to {args.get('to', '?')}"
        case "hook.register":
            return "outline", f"hook for {args.get('to_ubatch', '?')}"
        case "hook.run":
            return "outline", "runs hook"
        case "error":
            return "chip", str(args.get("type", "error"))
        case "mark":
            return "outline", str(args.get("text", "mark"))[:24]
    return _PLAIN.get(kind)


_PLAIN = {
    "thread.start": ("chip", "starts"),
    "thread.end": ("chip", "ends"),
    "thread.join": ("chip", "joins"),
    "stream.synchronize": ("outline", "synchronize"),
    "event.synchronize": ("outline", "synchronize"),
    "barrier.abort": ("chip", "aborts"),
    "graph.capture_begin": ("outline", "capture"),
    "graph.capture_end": ("outline", "captured"),
    "graph.replay": ("outline", "replay"),
}


@dataclass(frozen=True)
class System:
    """One row of columns, as in a score: ``[v0, v1)`` of the endless row."""

    columns: tuple[Column, ...]
    v0: float
    v1: float
    k: float = 1.0

    def x(self, v: float) -> float:
        """How far from the left edge a place of the endless row is."""
        return (v - self.v0) * self.k


def systems(found: list[Column], room: float) -> list[System]:
    """The endless row, broken into rows about equally full, each spread to fill its room."""
    least = len(_broken(found, room))
    even = next(
        share for share in (n / 40 for n in range(12, 41)) if len(_broken(found, room * share)) <= least
    )
    return [System(tuple(row), row[0].x0, row[-1].x1, min(room / (row[-1].x1 - row[0].x0), MOST_SPREAD))
            for row in _broken(found, room * even)]  # fmt: skip


def _broken(found: list[Column], room: float) -> list[list[Column]]:
    rows: list[list[Column]] = []
    for column in found:
        if not rows or column.x1 - rows[-1][0].x0 > room:
            rows.append([])
        rows[-1].append(column)
    return rows


@dataclass(frozen=True)
class Stretch:
    """A thread awake or waiting, from v0 to v1 of the endless row."""

    lane: int
    v0: float
    v1: float
    awake: bool


class _Lives:
    """Threads as awake or waiting while one reads on from event to event."""

    def __init__(self, found: list[Column]) -> None:
        self.at = {column.row: column for column in found}
        self.gates = {_once(column.event): column.x for column in found if column.sign == "gate"}
        self.state: dict[int, tuple[float, bool]] = {}
        self.held: dict[int, float] = {}
        self.made: list[Stretch] = []
        self.last = 0.0

    def read(self, row: int, event: Event) -> None:
        """A thread emits only while it is awake: its event ends its waiting, and may begin it anew."""
        column, lane = self.at.get(row), event.lane
        if column is not None:
            self.last = column.x1
        held = self.held.get(lane, 0.0)
        if not self.state.get(lane, (0.0, False))[1]:
            begins = column.x0 if column and column.sign != "gate" else self.last
            self.change(lane, max(begins, held), True)
        if event.kind in BLOCKS:
            self.change(lane, column.x if column and column.sign == "ring" else max(self.last, held), False)
            if event.kind == "barrier.arrive":
                self.held[lane] = self.gates.get(_once(event), 0.0)
        elif event.kind == "thread.end":
            self.change(lane, self.last, True)
            self.state.pop(lane)

    def change(self, lane: int, v: float, awake: bool) -> None:
        begun = self.state.get(lane)
        if begun and v > begun[0]:
            self.made.append(Stretch(lane, begun[0], v, begun[1]))
        self.state[lane] = (v, awake)


def stretches(frame: Frame, found: list[Column]) -> list[Stretch]:
    """When each thread is awake and when it waits, between the columns."""
    lives = _Lives(found)
    ids = {lane.id for lane in frame.lanes if lane.group == "threads"}
    newest = max((column.event.seq for column in found), default=0)
    for row, event in sorted(frame.events.items(), key=lambda item: item[1].seq):
        if event.lane in ids and event.t_ns >= frame.start_ns and event.seq <= newest:
            lives.read(row, event)
    open_ends = [Stretch(lane, v, lives.last, awake) for lane, (v, awake) in lives.state.items()]
    return [stretch for stretch in (*lives.made, *open_ends) if stretch.v1 > stretch.v0]
