"""A trace with other times: the same rows, moved.

Kernels, transfers, waits and trace events have their own new times, and a blocked stretch its trace event's. What
else lies on a thread's lane (an operation, a thread's life) is moved with the thread's clock: between two trace
events of a lane, time is stretched evenly.
"""

from __future__ import annotations

import numpy as np

from ..trace.model import MISSING, Table, Trace


def moved(trace: Trace, starts: np.ndarray, ends: np.ndarray, times: np.ndarray, untils: np.ndarray) -> Trace:
    """The trace with ``starts``, ``ends`` [spans] and ``times``, ``untils`` [trace events].

    >>> moved(trace, spans["start_ns"], spans["end_ns"], events["t_ns"], events["until_ns"]) == trace
    ... # doctest: +SKIP
    True
    """
    order = np.lexsort((np.arange(len(starts)), -ends, starts))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    events = _with(trace.events, t_ns=times, until_ns=untils)
    spans = _with(trace.spans, start_ns=starts, end_ns=ends)
    ordered = Table(spans._row, {n: column[order] for n, column in spans._columns.items()}, spans._pools)
    return Trace(
        events, ordered, _flows(trace, place, starts, ends, times), trace.lanes, trace.meta, trace.notices
    )


def _with(table: Table, **columns: np.ndarray) -> Table:
    return Table(table._row, {**table._columns, **columns}, table._pools)


def on_threads(
    trace: Trace, starts: np.ndarray, ends: np.ndarray, times: np.ndarray, untils: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """``starts`` and ``ends`` of spans with those on the lanes of threads moved as the trace events around them."""
    spans, events = trace.spans, trace.events
    starts, ends = starts.copy(), ends.copy()
    soft = np.zeros(len(spans), dtype=bool)
    for cat in ("operation", "blocked", "thread"):
        soft |= spans.mask(cat=cat)
    returned = events["until_ns"] != MISSING
    for lane in np.unique(spans["lane"][soft]).tolist():
        here, of = soft & (spans["lane"] == lane), events["lane"] == lane
        old = np.concatenate([events["t_ns"][of], events["until_ns"][of & returned]])
        new = np.concatenate([times[of], untils[of & returned]])
        if len(old):
            order = np.lexsort((new, old))
            for column in (starts, ends):
                column[here] = _moved_clock(column[here], old[order], np.maximum.accumulate(new[order]))
    _follow(trace, starts, ends, times, untils)
    return starts, ends


def _follow(
    trace: Trace, starts: np.ndarray, ends: np.ndarray, times: np.ndarray, untils: np.ndarray
) -> None:
    """A blocked stretch is its trace event's, where that ended."""
    spans, events = trace.spans, trace.events
    keys = zip(events["rank"].tolist(), events["seq"].tolist(), strict=True)
    row_of = dict(zip(keys, range(len(events)), strict=True))
    rows = np.flatnonzero(spans.mask(cat="blocked"))
    of = zip(spans["rank"][rows].tolist(), spans["seq"][rows].tolist(), strict=True)
    causes = np.array([row_of.get(key, -1) for key in of], dtype=np.int64)
    if len(events):
        known = (causes >= 0) & (events["until_ns"][causes] == spans["end_ns"][rows])
        starts[rows[known]], ends[rows[known]] = times[causes[known]], untils[causes[known]]


def _moved_clock(at: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """``at`` on a clock that showed ``old`` and shows ``new``; outside, it is shifted."""
    shift = np.interp(at.astype(np.float64), old.astype(np.float64), (new - old).astype(np.float64))
    return at + np.rint(shift).astype(np.int64)


def _flows(trace: Trace, place: np.ndarray, starts: np.ndarray, ends: np.ndarray, times: np.ndarray) -> Table:
    """Arrows keep the moment of their row that they had: its beginning or its end."""
    flows, out = trace.flows, {}
    for side in ("from", "to"):
        rows, ns = flows[f"{side}_row"].copy(), flows[f"{side}_ns"].copy()
        spans, events = flows.mask(**{f"{side}_table": "spans"}), flows.mask(**{f"{side}_table": "events"})
        ns[events] = times[rows[events]]
        at_end = trace.spans["end_ns"][rows[spans]] == ns[spans]
        at_start = trace.spans["start_ns"][rows[spans]] == ns[spans]
        ns[spans] = np.where(at_end, ends[rows[spans]], np.where(at_start, starts[rows[spans]], ns[spans]))
        rows[spans] = place[rows[spans]]
        out[f"{side}_row"], out[f"{side}_ns"] = rows, ns
    return _with(flows, **out)
