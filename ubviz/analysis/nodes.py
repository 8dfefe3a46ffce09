"""The nodes of the happens-before order, numbered so that causes come first, and the lane of each.

A node is a trace event on its thread, followed by what it put into a stream: a kernel, a record, a wait, a replay.
Kernels of imported traces that have no launch are nodes too, at the time at which they ran. What a capture notes is
on lanes of its own. All of it as columns, since a recording is long; ``causes`` has the edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..trace.model import MISSING, Event, Table, Trace
from .captures import captured_rows
from .kept import of_kinds
from .streams import current_streams

Lane = tuple[Any, ...]
"""A thread as (rank, number), a stream as (rank, "stream", name)."""


@dataclass(frozen=True)
class Nodes:
    """Nodes by number: ``lanes[n]`` is the thread or stream of node n, ``drawn[n]`` its lane in the trace.

    ``rows`` are the trace events in the order of their nodes. ``host[row]`` is a trace event's node, ``device[row]``
    that of what it put into a stream, ``spans[row]`` that of a span without a launch (-1: none); ``of_stream`` has the
    nodes of each stream, in order.
    """

    lanes: list[Lane]
    drawn: list[Lane]
    rows: np.ndarray
    host: np.ndarray
    device: np.ndarray
    spans: np.ndarray
    of_stream: dict[Lane, np.ndarray]


def nodes(trace: Trace) -> Nodes:
    """Number the nodes of a trace.

    >>> nodes(trace).host[:3], nodes(trace).device[:3]  # doctest: +SKIP
    (array([0, 1, 3]), array([-1,  2, -1]))
    """
    events = trace.events
    lanes = _Lanes()
    thread, threads = threads_of(trace)
    put = _puts(trace, lanes)
    rows = _joins_last(trace, thread)
    loose, loose_lane = _loose(trace, lanes)
    start, puts = trace.spans["start_ns"][loose], np.concatenate([[0], np.cumsum(put[rows] >= 0)])
    reach = np.maximum.accumulate(events["t_ns"][rows]) if len(rows) else rows
    before = np.searchsorted(reach, start)  # how many trace events come before each loose span
    host, device = np.full(len(rows), -1), np.full(len(rows), -1)
    at = np.arange(len(rows))
    host[rows] = at + puts[:-1] + np.searchsorted(before, at, side="right")
    device[put >= 0] = host[put >= 0] + 1
    spans = np.full(len(trace.spans), -1)
    spans[loose] = before + puts[before] + np.arange(len(loose))
    return _named(trace, lanes, (thread, threads), put, loose_lane, rows, host, device, spans, loose)


def _named(
    trace: Trace, lanes: _Lanes, told: tuple[np.ndarray, list[Lane]], put: np.ndarray, loose_lane: np.ndarray,
    rows: np.ndarray, host: np.ndarray, device: np.ndarray, spans: np.ndarray, loose: np.ndarray,
) -> Nodes:  # fmt: skip
    """Lanes of the numbered nodes."""
    thread, threads = told
    pairs = np.stack([trace.events["rank"], trace.events["lane"]])
    drawn, drawn_of = np.unique(pairs, axis=1, return_inverse=True)
    table: list[Lane] = [*lanes.table, *threads]
    code, drawn_code = (
        np.zeros(len(rows) + len(loose) + int((put >= 0).sum()), dtype=np.int64) for _ in "ab"
    )
    code[host], drawn_code[host] = thread + len(lanes.table), drawn_of.ravel() + len(lanes.table)
    on = put >= 0
    code[device[on]] = drawn_code[device[on]] = put[on]
    code[spans[loose]] = drawn_code[spans[loose]] = loose_lane
    known = [*lanes.table, *((rank, lane) for rank, lane in drawn.T.tolist())]
    of_stream = {
        lane: np.sort(np.concatenate([device[put == i], spans[loose[loose_lane == i]]]))
        for i, lane in enumerate(lanes.table)
    }
    return Nodes(
        [table[i] for i in code.tolist()],
        [known[i] for i in drawn_code.tolist()],
        rows,
        host,
        device,
        spans,
        of_stream,
    )


class _Lanes:
    """Streams by number, in order of their first use."""

    def __init__(self) -> None:
        self.table: list[Lane] = []
        self._known: dict[Lane, int] = {}

    def number(self, lane: Lane) -> int:
        if lane not in self._known:
            self._known[lane] = len(self.table)
            self.table.append(lane)
        return self._known[lane]

    def numbers(self, ranks: np.ndarray, names: np.ndarray, table: list[Any]) -> np.ndarray:
        """The streams of many rows, of which rank and name (an index into ``table``) are given."""
        pairs, of = np.unique(np.stack([ranks, names]), axis=1, return_inverse=True)
        found = [self.number((rank, "stream", table[name])) for rank, name in pairs.T.tolist()]
        return np.array(found, dtype=np.int64)[of.ravel()]


def _puts(trace: Trace, lanes: _Lanes) -> np.ndarray:
    """For each trace event the stream that it puts something into, -1 where there is none."""
    events = trace.events
    put = np.full(len(events), -1)
    codes, pool = events.codes("args")
    names: dict[Any, int] = {}
    rows = of_kinds(trace, "kernel.launch", "event.record", "event.wait")
    if len(rows):
        stream = np.array([names.setdefault(_hashable(args.get("stream", "")), len(names)) for args in pool])
        unbound = np.array([args.get("record") is None for args in pool])
        rows = rows[~(unbound[codes[rows]] & np.isin(rows, of_kinds(trace, "event.wait")))]
        put[rows] = lanes.numbers(events["rank"][rows], stream[codes[rows]], list(names))
    for row, graph in captured_rows(trace).items():
        if put[row] >= 0:
            rank, _, name = lanes.table[put[row]]
            put[row] = lanes.number((rank, "stream", f"{name} of {graph}"))
    replays = of_kinds(trace, "graph.replay").tolist()
    for row, name in current_streams(trace).items():
        if row in replays:
            put[row] = lanes.number((int(events["rank"][row]), "stream", name))
    return put


def _hashable(name: Any) -> Any:
    """A stream's name, or its text where other kinds of trace events have something else under that word."""
    return str(name) if isinstance(name, (list, dict)) else name


def _loose(trace: Trace, lanes: _Lanes) -> tuple[np.ndarray, np.ndarray]:
    """Rows of spans on streams that no trace event stands for, in order of their start, and their streams."""
    events, spans, roles = trace.events, trace.spans, {lane.id: lane.role for lane in trace.lanes}
    rows = np.flatnonzero(spans.mask(cat="kernel") | spans.mask(cat="wait") | spans.mask(cat="record"))
    rows = rows[row_of(spans, events, rows) < 0]
    rows = rows[np.argsort(spans["start_ns"][rows], kind="stable")]
    if not len(rows):
        return rows, rows
    drawn, of = np.unique(spans["lane"][rows], return_inverse=True)
    names = [roles.get(lane, lane) for lane in drawn.tolist()]
    return rows, lanes.numbers(spans["rank"][rows], of.ravel(), names)


def row_of(spans: Table, events: Table, rows: np.ndarray) -> np.ndarray:
    """For rows of ``spans`` the row of the trace event of the same rank and number, the last of several; else -1."""
    out = np.full(len(rows), -1)
    rank, seq = spans["rank"][rows], spans["seq"][rows]
    for each in np.unique(rank).tolist():
        theirs, mine = np.flatnonzero(events["rank"] == each), np.flatnonzero(rank == each)
        numbers = events["seq"][theirs]
        order = np.argsort(numbers, kind="stable")
        at = np.searchsorted(numbers[order], seq[mine], side="right") - 1
        if len(theirs):
            found = theirs[order[np.maximum(at, 0)]]
            out[mine] = np.where((at >= 0) & (events["seq"][found] == seq[mine]), found, -1)
    return out


def threads_of(trace: Trace) -> tuple[np.ndarray, list[Lane]]:
    """For each trace event the number of its thread, and the threads."""
    events = trace.events
    told = events["thread"] != MISSING
    columns = np.stack([events["rank"], told, np.where(told, events["thread"], events["lane"])])
    found, of_row = np.unique(columns, axis=1, return_inverse=True)
    threads: list[Lane] = [
        (rank, number) if told else (rank, "lane", number) for rank, told, number in found.T.tolist()
    ]
    return of_row.ravel(), threads


def thread_of(event: Event) -> Lane:
    """The thread that told an event; its lane where no thread is known."""
    return (event.rank, event.thread) if event.thread is not None else (event.rank, "lane", event.lane)


def _joins_last(trace: Trace, thread: np.ndarray) -> np.ndarray:
    """The rows in their order, but a join, which is told when it begins, where its thread goes on."""
    joins = np.flatnonzero(trace.events.mask(kind="thread.join"))
    place = np.arange(len(thread), dtype=np.float64)
    order = np.argsort(thread, kind="stable")
    at = np.empty_like(order)
    at[order] = np.arange(len(order))
    for row in joins.tolist():
        after = at[row] + 1
        goes_on = after < len(order) and thread[order[after]] == thread[row]
        place[row] = place[order[after]] - 0.5 if goes_on else len(thread)
    return np.argsort(place, kind="stable")
