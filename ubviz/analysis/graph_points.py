"""The points of the dependency graph, and the kinds of its edges; ``graph`` says what they mean."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..trace.model import MISSING, Trace

EDGES = (
    "program",  # a thread is awake from one trace event to the next
    "run",  # a kernel runs; a record or a wait passes
    "flight",  # data in flight
    "blocked",  # a call that blocks has been entered: it returns no sooner
    "launch",  # host -> kernel
    "enqueue",  # host -> a stream's record or wait
    "stream",  # first in, first out
    "stall",  # a stream has come to its wait: it goes on no sooner
    "event",  # record -> wait
    "wake",  # host event set -> wake
    "arrive",  # an arrival -> its barrier opens
    "barrier",  # it opens -> who came last is released
    "release",  # it opens -> who slept there is released
    "create",  # thread.create -> thread.start
    "join",  # thread.end -> thread.join returns
    "done",  # the device has come so far -> a host call returns
    "send",  # the sending kernel has run -> its data is under way
    "arrival",  # data has arrived -> its receive ends
    "link",  # one transfer at a time
)
"""What an edge is."""

CODE = {name: code for code, name in enumerate(EDGES)}
FIXED = tuple(CODE[name] for name in ("program", "run", "flight", "arrival"))
"""Kinds with a duration of their own."""

PARKED = ("host_event.wait", "barrier.arrive")
"""Calls whose return is a trace event of its own, the next one of their thread."""


class Edges(NamedTuple):
    """Points and edges as drawn, before their lags are known; ``own_ns`` is the duration of those that have one."""

    time_ns: np.ndarray
    event_point: np.ndarray
    return_point: np.ndarray
    start_point: np.ndarray
    end_point: np.ndarray
    source: np.ndarray
    target: np.ndarray
    kind: np.ndarray
    own_ns: np.ndarray


class Points:
    """The points of a trace's rows, and the edges drawn so far."""

    def __init__(self, trace: Trace, step: int | None) -> None:
        self.trace = trace
        events, spans = trace.events, trace.spans
        chosen = events.mask() if step is None else events.mask(step=step)
        lasting = np.zeros(len(spans), dtype=bool)
        for cat in ("kernel", "wait", "record", "transfer"):
            lasting |= spans.mask(cat=cat)
        if step is not None:
            lasting &= spans.mask(step=step)
        kinds, pool = events.codes("kind")
        parked = np.isin(kinds, [i for i, kind in enumerate(pool) if kind in PARKED])
        self.parked = chosen & parked
        returns = chosen & ~parked & (events["until_ns"] != MISSING)
        self.time: list[np.ndarray] = []
        self._count = 0
        self.event = self._number(chosen, events["t_ns"])
        self.returned = self._number(returns, events["until_ns"])
        self.start = self._number(lasting, spans["start_ns"])
        self.end = self._number(lasting, spans["end_ns"])
        self.drawn: list[tuple[np.ndarray, np.ndarray, int, np.ndarray]] = []
        self.row_of = self._rows_by_seq(chosen)

    def _number(self, mask: np.ndarray, times: np.ndarray) -> np.ndarray:
        out = np.full(len(mask), -1, dtype=np.int64)
        out[mask] = np.arange(self._count, self._count + int(mask.sum()))
        self.time.append(times[mask])
        self._count += int(mask.sum())
        return out

    def _rows_by_seq(self, chosen: np.ndarray) -> dict[tuple[int, int], int]:
        rows = np.flatnonzero(chosen)
        keys = zip(
            self.trace.events["rank"][rows].tolist(), self.trace.events["seq"][rows].tolist(), strict=True
        )
        return dict(zip(keys, rows.tolist(), strict=True))

    def extra(self, time_ns: int) -> int:
        """A point of no row."""
        self.time.append(np.array([time_ns], dtype=np.int64))
        self._count += 1
        return self._count - 1

    def edges(self, name: str, source: Any, target: Any, own_ns: Any = 0) -> None:
        """Edges of one kind; those from or to no point (-1) are left out."""
        a, b = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
        own = np.broadcast_to(np.asarray(own_ns, dtype=np.int64), a.shape)
        keep = (a >= 0) & (b >= 0)
        self.drawn.append((a[keep], b[keep], CODE[name], own[keep]))

    def finish(self) -> Edges:
        """All of it as columns."""
        source, target, own = (np.concatenate([d[i] for d in self.drawn]) for i in (0, 1, 3))
        kind = np.repeat([d[2] for d in self.drawn], [len(d[0]) for d in self.drawn])
        time = np.concatenate(self.time)
        return Edges(time, self.event, self.returned, self.start, self.end, source, target, kind, own)
