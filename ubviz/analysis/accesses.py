"""Which buffers the work on streams reads and writes, in the order in which it was given to the streams.

An access is a launch, or a replay, which touches whatever its graph's launches touched when they were captured. A
launch that does not say what it reads or writes is unknown: it is counted, and nothing is guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..trace.model import Event, Notice, Trace
from .captures import captured_rows
from .kept import of_kinds, told, told_rows
from .nodes import row_of
from .order import Order

Buffers = frozenset[Any]


class Access(NamedTuple):
    """One piece of device work: its trace event, node, stream, and what it touches (None: unknown)."""

    row: int
    node: int
    event: Event
    name: str
    stream: str
    reads: Buffers | None
    writes: Buffers | None
    graph: str | None = None  # of a launch that a capture noted: it runs in the graph's replays only

    @property
    def touches(self) -> Buffers:
        """All buffers that it is known to touch."""
        return (self.reads or frozenset()) | (self.writes or frozenset())


def accesses(trace: Trace, order: Order) -> list[Access]:
    """Every launch and replay, in the order of the trace.

    >>> [access.name for access in accesses(trace, order)]  # doctest: +SKIP
    ['experts', 'combine']
    """
    return list(_accesses(trace, order))


def unknown_accesses(trace: Trace, order: Order | None = None) -> list[Notice]:
    """A notice when kernels ran of which it is not known what they touch.

    >>> unknown_accesses(trace)[0].sentence  # doctest: +SKIP
    '3 of 40 launches and replays do not say what they read or write; races with them are not found'
    """
    order = order or Order(trace)
    unknown, count = _unknown(order)
    loose = _without_launch(order.trace)
    found = []
    if unknown:
        sentence = (
            f"{unknown:,} of {count:,} launches and replays do not say what they read or write; "
            "races with them are not found"
        )
        found.append(Notice("unknown_accesses", unknown, sentence))
    if loose:
        sentence = f"{loose:,} kernels have no launch in this trace; what they read and write is not known"
        found.append(Notice("kernels_without_launch", loose, sentence))
    return found


def _unknown(order: Order) -> tuple[int, int]:
    """Of how many launches and replays it is not known what they touch, and how many there are."""
    trace = order.trace
    if len(of_kinds(trace, "graph.replay")):
        given = accesses(trace, order)
        return sum(access.reads is None or access.writes is None for access in given), len(given)
    launches = [event.args for event in told(trace, "kernel.launch")]
    return sum(args.get("reads") is None or args.get("writes") is None for args in launches), len(launches)


def _without_launch(trace: Trace) -> int:
    rows = np.flatnonzero(trace.spans.mask(cat="kernel"))
    return int((row_of(trace.spans, trace.events, rows) < 0).sum())


def _accesses(trace: Trace, order: Order) -> Iterator[Access]:
    captured = captured_rows(trace)
    noted: dict[tuple[int, str], list[Access]] = defaultdict(list)
    for row, event in told_rows(trace, "kernel.launch", "graph.replay"):
        if event.kind == "kernel.launch":
            access = _launch(row, order.device(row), event, captured.get(row))
            if access.graph is not None:
                noted[event.rank, access.graph].append(access)
            yield access
        elif order.device(row) >= 0:
            yield _replay(row, order, event, noted.get((event.rank, event.args["graph"])))


def _launch(row: int, node: int, event: Event, graph: str | None) -> Access:
    args = event.args
    name = str(args.get("operation") or args.get("name") or "a kernel")
    reads, writes = _known(args.get("reads")), _known(args.get("writes"))
    return Access(row, node, event, name, str(args.get("stream")), reads, writes, graph)


def _known(buffers: Any) -> Buffers | None:
    return None if buffers is None else frozenset(buffers)


def _replay(row: int, order: Order, event: Event, noted: list[Access] | None) -> Access:
    node = order.device(row)
    stream = str(order.causes.lanes[node][2])
    reads, writes = _all([a.reads for a in noted or ()]), _all([a.writes for a in noted or ()])
    if not noted:
        reads = writes = None
    return Access(row, node, event, f"the replay of {event.args['graph']}", stream, reads, writes)


def _all(each: list[Buffers | None]) -> Buffers | None:
    known = [buffers for buffers in each if buffers is not None]
    return frozenset().union(*known) if len(known) == len(each) else None
