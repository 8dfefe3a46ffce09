"""What lasts, as tracks: rows of spans that never lie over one another, in order of time.

A thread's lane has its bars (awake, blocked by the device, waiting) and, within, the operations that it opened; a
stream's has its kernels, in as many sub-rows as lie over one another, and its waits. The words and rules are those
of the still picture; here they are worked out for whole columns at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...analysis.intervals import difference, union
from ...trace.model import MISSING, Lane, Trace
from ..paint.threads import WAITS_FOR_THREADS, device_words, waiting_words
from .names import Names

STYLES = ("awake", "device", "waiting", "compute", "comm", "copy", "other", "transfer", "operation")
NEW_BLOCK = 128
"""Added to the style of a kernel with which an operation's block begins."""
NOT_A_ROW = -1


@dataclass(frozen=True)
class Bars:
    """The rows of one track; ``layer`` is "main", "waits" or "inner"."""

    layer: str
    sub: int
    columns: dict[str, np.ndarray]
    ends: np.ndarray


class Spans:
    """The columns of a trace's spans that bars are made of."""

    def __init__(self, trace: Trace, names: Names) -> None:
        self.trace = trace
        self.names = names
        spans = trace.spans
        self.start, self.end = spans["start_ns"], spans["end_ns"]
        self.lane, self.ubatch, self.layer = spans["lane"], spans["ubatch"], spans["layer"]
        self.step = spans["step"]
        self.cat, self.cats = spans.codes("cat")
        self.cls, self.classes = spans.codes("cls")
        self.name = names.column(spans, "name", absent=names.number(""))
        self.op = names.column(spans, "operation")
        self.args = spans.codes("args")[0]

    def rows(self, lane: Lane, *cats: str) -> np.ndarray:
        """The rows of some kinds on a lane, in order of time."""
        codes = [code for code, cat in enumerate(self.cats) if cat in cats]
        found = np.flatnonzero((self.lane == lane.id) & np.isin(self.cat, codes))
        return found[np.lexsort((self.end[found], self.start[found]))]

    def columns(self, rows: np.ndarray, style: np.ndarray, name: np.ndarray | None = None) -> dict[str, Any]:
        """The columns of a track for some rows."""
        return {
            "t": self.start[rows], "dur": self.end[rows] - self.start[rows], "style": style,
            "ubatch": shifted(self.ubatch[rows]), "name": self.name[rows] if name is None else name,
            "op": self.op[rows] + 1, "layer": shifted(self.layer[rows]), "row": rows,
        }  # fmt: skip


def shifted(values: np.ndarray) -> np.ndarray:
    """One more, so that 0 says that there is none."""
    return np.where(values == MISSING, 0, values + 1)


def bars_of(spans: Spans, lane: Lane) -> Iterator[Bars]:
    """The tracks of a lane that hold anything."""
    made = _thread(spans, lane) if lane.group == "threads" else _stream(spans, lane)
    return (bars for bars in made if len(bars.ends))


# ---- threads


def _thread(spans: Spans, lane: Lane) -> Iterator[Bars]:
    yield _blocked_and_awake(spans, lane)
    rows = spans.rows(lane, "operation")
    subs = sub_rows(spans.start[rows], spans.end[rows])
    for sub in range(int(subs.max(initial=-1)) + 1):
        mine = rows[subs == sub]
        style = np.full(len(mine), STYLES.index("operation"))
        yield Bars("inner", sub, spans.columns(mine, style), spans.end[mine])


def _blocked_and_awake(spans: Spans, lane: Lane) -> Bars:
    """Blocked as recorded, each cut off by the one before; awake is what is left of the thread's life."""
    rows = spans.rows(lane, "blocked")
    waits = np.isin(spans.trace.spans.codes("name")[0][rows], _waiting_codes(spans))
    style = np.where(waits, STYLES.index("waiting"), STYLES.index("device"))
    blocked = spans.columns(rows, style, _reasons(spans, rows, lane))
    ends = spans.end[rows]
    reach = np.concatenate([[MISSING], np.maximum.accumulate(ends)[:-1]]) if len(rows) else ends
    blocked["t"] = np.minimum(np.maximum(blocked["t"], reach), ends)
    blocked["dur"] = ends - blocked["t"]
    awake = _awake(spans, lane, np.stack([blocked["t"], ends], axis=1))
    columns = {name: np.concatenate([values, awake[name]]) for name, values in blocked.items()}
    order = np.lexsort((columns["dur"], columns["t"]))
    columns = {name: values[order] for name, values in columns.items()}
    return Bars("main", 0, columns, columns["t"] + columns["dur"])


def _waiting_codes(spans: Spans) -> list[int]:
    pool = spans.trace.spans.codes("name")[1]
    return [code for code, name in enumerate(pool) if name in WAITS_FOR_THREADS]


def _reasons(spans: Spans, rows: np.ndarray, lane: Lane) -> np.ndarray:
    """Why a thread is blocked, in words: asked once for every name and arguments."""
    ubatch = ubatch_of(lane)

    def say(row: int) -> int:
        span = spans.trace.spans[row]
        if span.name in WAITS_FOR_THREADS:
            return spans.names.number(waiting_words(span, ubatch)[0])
        return spans.names.number(device_words(span)[0])

    if not len(rows):
        return rows
    table = spans.trace.spans
    kinds = np.stack(
        [table.codes("name")[0][rows], table.codes("operation")[0][rows], spans.args[rows]], axis=1
    )
    _, first, place = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    return np.array([say(int(row)) for row in rows[first]])[place.ravel()]


def _awake(spans: Spans, lane: Lane, blocked: np.ndarray) -> dict[str, np.ndarray]:
    """The bars of a thread that is awake; their row is its life, where that was recorded."""
    lives = spans.rows(lane, "thread")
    life = np.stack([spans.start[lives], spans.end[lives]], axis=1) if len(lives) else _seen(spans, lane)
    awake = difference(union(life), union(blocked))
    place = np.searchsorted(spans.start[lives], awake[:, 0], "right") - 1
    rows = lives[np.maximum(place, 0)] if len(lives) else np.full(len(awake), NOT_A_ROW)
    count = len(awake)
    ubatch = ubatch_of(lane)
    return {
        "t": awake[:, 0], "dur": awake[:, 1] - awake[:, 0], "style": np.full(count, STYLES.index("awake")),
        "ubatch": np.full(count, 0 if ubatch is None else ubatch + 1),
        "name": np.full(count, spans.names.number("awake")), "op": np.zeros(count, np.int64),
        "layer": np.zeros(count, np.int64), "row": rows,
    }  # fmt: skip


def _seen(spans: Spans, lane: Lane) -> np.ndarray:
    """Where a thread's life was not recorded: from the first that it did to the last."""
    rows, events = spans.rows(lane, "operation", "blocked"), spans.trace.events
    times = np.concatenate([spans.start[rows], spans.end[rows], events["t_ns"][events["lane"] == lane.id]])
    return np.array([[times.min(), times.max()]]) if len(times) else np.empty((0, 2), np.int64)


def ubatch_of(lane: Lane) -> int | None:
    """The microbatch whose thread a lane is.

    >>> ubatch_of(Lane(3, 0, "ubatch 1", "threads")), ubatch_of(Lane(0, 0, "main", "threads"))
    (1, None)
    """
    kind, _, number = lane.role.partition(" ")
    return int(number) if kind == "ubatch" and number.isdecimal() else None


# ---- streams


def _stream(spans: Spans, lane: Lane) -> Iterator[Bars]:
    waits = spans.rows(lane, "wait")
    rows = spans.rows(lane, "kernel", "transfer")
    subs = sub_rows(spans.start[rows], spans.end[rows])
    breaks = spans.start[waits[spans.end[waits] > spans.start[waits]]]
    for sub in range(int(subs.max(initial=-1)) + 1):
        mine = rows[subs == sub]
        style = _styles(spans, mine) + NEW_BLOCK * _begins(spans, mine, breaks)
        yield Bars("main", sub, spans.columns(mine, style), spans.end[mine])
    yield Bars("waits", 0, *_cut(spans, waits))


def _cut(spans: Spans, waits: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Waits, each cut off by the one before."""
    columns = spans.columns(waits, np.full(len(waits), STYLES.index("waiting")))
    ends = spans.end[waits]
    if len(waits):
        reach = np.concatenate([[MISSING], np.maximum.accumulate(ends)[:-1]])
        columns["t"] = np.minimum(np.maximum(columns["t"], reach), ends)
        columns["dur"] = ends - columns["t"]
    return columns, ends


def _styles(spans: Spans, rows: np.ndarray) -> np.ndarray:
    known = [STYLES.index(cls) if cls in STYLES[3:7] else STYLES.index("other") for cls in spans.classes]
    style = np.array([*known, STYLES.index("other")])[spans.cls[rows]]
    return np.where(_flies(spans, rows), STYLES.index("transfer"), style)


def _flies(spans: Spans, rows: np.ndarray) -> np.ndarray:
    return np.isin(spans.cat[rows], [code for code, cat in enumerate(spans.cats) if cat == "transfer"])


def _begins(spans: Spans, rows: np.ndarray, breaks: np.ndarray) -> np.ndarray:
    """Whether another block begins: another operation, microbatch, layer or step, a wait in between, or a flight
    after nothing was on the way.
    """
    label = np.where(spans.op[rows] >= 0, spans.op[rows], spans.name[rows])
    passed = np.searchsorted(breaks, spans.start[rows], "right")
    keys = (label, spans.ubatch[rows], spans.layer[rows], spans.cls[rows], spans.step[rows], passed)
    other = np.zeros(len(rows), dtype=bool)
    other[:1] = True
    for key in keys:
        other[1:] |= key[1:] != key[:-1]
    other[1:] |= _flies(spans, rows[1:]) & (spans.start[rows[1:]] > spans.end[rows[:-1]])
    return other


def sub_rows(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The lowest sub-row that is free, for spans in order of their start.

    >>> sub_rows(np.array([0, 3, 5, 9]), np.array([5, 9, 6, 12])).tolist()
    [0, 1, 0, 0]
    """
    rows = np.zeros(len(starts), dtype=np.int64)
    if not len(starts):
        return rows
    reach = np.maximum.accumulate(ends)
    if (starts[1:] >= reach[:-1]).all():
        return rows
    free: list[int] = []
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist())):
        for row in range(len(free)):
            if free[row] <= start:
                break
        else:
            row = len(free)
            free.append(0)
        free[row] = end
        rows[i] = row
    return rows
