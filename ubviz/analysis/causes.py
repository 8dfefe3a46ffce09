"""What causes what: the nodes of a trace in an order in which causes come first, and the edges between their lanes.

A node is a trace event on its thread, or what it put into a stream: a kernel, a record, a wait, a replay. Kernels
of imported traces that have no launch are nodes too. Edges, as CUDA and ``threading`` define them:

- create -> start and end -> join of a thread; arrive -> release, each arrival of a generation with each release.
- set -> wake: the set that put the flag up. Who was parked was woken by the first one after it began to wait, who
  came later finds the flag up. A set of a flag that is up already causes nothing.
- launch -> kernel, and so for a record, a wait and a replay, which is one piece of the stream that is current.
- replay -> replay of one graph, which does not run beside itself, whatever the streams.
- record -> wait: the record that the wait is bound to, by its number; a wait bound to none orders nothing.
- done -> host: what the host waited for, by synchronizing, reading, asking (an event that is done), or a launch that
  returns only then. Also send -> receive.

Program order and stream order are not listed: nodes of one lane follow each other. What a capture notes is on lanes
of its own, ordered as in the graph: it runs in the replays only, each of them one node. Left out: streams that
synchronize with the default stream by nature (PyTorch's do not), and what lies before the recording.

Source: CUDA runtime API, stream and event management, ``cudaGraphLaunch``; Lamport 1978, "Time,
clocks, and the ordering of events in a distributed system".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..trace.model import Event, Trace
from .captures import captured_rows
from .streams import current_streams, scoped

Lane = tuple[Any, ...]
"""A thread as (rank, number), a stream as (rank, "stream", name)."""


class Edge(NamedTuple):
    """One node causes another, on another lane."""

    kind: str
    cause: int
    effect: int


@dataclass(frozen=True)
class Causes:
    """Nodes by number. ``lanes[n]`` is the thread or stream of node n, ``drawn[n]`` its lane in the trace.

    ``host[row]`` is a trace event's node, ``device[row]`` that of what it put into a stream, ``spans[row]`` a span's
    (-1: none).
    """

    lanes: list[Lane]
    drawn: list[Lane]
    edges: list[Edge]
    host: list[int]
    device: dict[int, int]
    spans: np.ndarray


def causes(trace: Trace) -> Causes:
    """The nodes and edges of a trace.

    >>> [edge.kind for edge in causes(trace).edges][:2]  # doctest: +SKIP
    ['launch -> kernel', 'create -> start']
    """
    return _Walk(trace).result()


class _Flag:
    """A host event: the set that put it up, and who waits for one."""

    def __init__(self) -> None:
        self.up: int | None = None  # the node of that set; None while it is down
        self.last: int | None = None
        self.parked: dict[Lane, int | None] = {}  # thread -> the set that wakes it


class _Walk:
    """One pass over the rows, causes first."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.lanes: list[Lane] = []
        self.drawn: list[Lane] = []
        self.edges: list[Edge] = []
        self.host = [-1] * len(trace.events)
        self.device: dict[int, int] = {}
        self.spans = np.full(len(trace.spans), -1, dtype=np.int64)
        self._streams = current_streams(trace)
        self._captured = captured_rows(trace)
        self._tails: dict[Lane, int] = {}
        self._created: dict[Lane, int] = {}
        self._ended: dict[Lane, int] = {}
        self._arrived: dict[Hashable, list[int]] = defaultdict(list)
        self._flags: dict[Hashable, _Flag] = defaultdict(_Flag)
        self._records: dict[Hashable, int] = {}
        self._newest: dict[Hashable, int] = {}  # event -> its newest record
        self._replayed: dict[Hashable, int] = {}  # graph -> its last replay
        self._returning: dict[Lane, int] = {}  # thread -> what its next event comes after

    def result(self) -> Causes:
        events = self._trace.events
        pairs = zip(events["rank"].tolist(), events["seq"].tolist(), strict=True)
        rows = {pair: row for row, pair in enumerate(pairs)}
        loose = self._loose(rows)
        for row, event in _joins_last(self._trace):
            while loose and loose[-1][0] <= event.t_ns:
                self._span(*loose.pop())
            self._event(row, event)
        while loose:
            self._span(*loose.pop())
        self._place_spans(rows)
        self._transfers()
        return Causes(self.lanes, self.drawn, self.edges, self.host, self.device, self.spans)

    def _node(self, lane: Lane, drawn: Lane) -> int:
        self.lanes.append(lane)
        self.drawn.append(drawn)
        return len(self.lanes) - 1

    def _edge(self, kind: str, cause: int | None, effect: int) -> None:
        if cause is not None:
            self.edges.append(Edge(kind, cause, effect))

    # ---- trace events

    def _event(self, row: int, event: Event) -> None:
        thread = thread_of(event)
        node = self.host[row] = self._node(thread, (event.rank, event.lane))
        self._edge("done -> host", self._returning.pop(thread, None), node)
        handle = _HANDLERS.get(event.kind)
        if handle is not None:
            handle(self, row, node, event)

    def _create(self, _row: int, node: int, event: Event) -> None:
        self._created[event.rank, event.args.get("thread")] = node

    def _start(self, _row: int, node: int, event: Event) -> None:
        self._edge("create -> start", self._created.get((event.rank, event.args.get("thread"))), node)

    def _end(self, _row: int, node: int, event: Event) -> None:
        self._ended[event.rank, event.args.get("thread")] = node

    def _join(self, _row: int, node: int, event: Event) -> None:
        if event.until_ns is not None:
            self._edge("end -> join", self._ended.get((event.rank, event.args.get("thread"))), node)

    def _arrive(self, _row: int, node: int, event: Event) -> None:
        self._arrived[_generation(event)].append(node)

    def _release(self, _row: int, node: int, event: Event) -> None:
        for cause in self._arrived[_generation(event)]:
            if self.lanes[cause] != self.lanes[node]:
                self._edge("arrive -> release", cause, node)

    def _set(self, _row: int, node: int, event: Event) -> None:
        flag = self._flags[scoped(event, "host_event")]
        if flag.up is not None and event.args.get("was"):
            return
        flag.up = flag.last = node
        flag.parked = {thread: node if by is None else by for thread, by in flag.parked.items()}

    def _clear(self, _row: int, _node: int, event: Event) -> None:
        self._flags[scoped(event, "host_event")].up = None

    def _wait(self, _row: int, _node: int, event: Event) -> None:
        flag = self._flags[scoped(event, "host_event")]
        flag.parked[thread_of(event)] = flag.up

    def _wake(self, _row: int, node: int, event: Event) -> None:
        flag = self._flags[scoped(event, "host_event")]
        by = flag.parked.pop(thread_of(event), None)
        self._edge("set -> wake", flag.last if by is None else by, node)

    # ---- streams

    def _put(self, row: int, node: int, event: Event, stream: str) -> int:
        """What a trace event puts at the tail of a stream."""
        graph = self._captured.get(row)
        lane = (event.rank, "stream", stream if graph is None else f"{stream} of {graph}")
        self._tails[lane] = made = self.device[row] = self._node(lane, lane)
        self._edge("launch -> kernel", node, made)
        return made

    def _launch(self, row: int, node: int, event: Event) -> None:
        made = self._put(row, node, event, event.args.get("stream", ""))
        if event.args.get("host_wait") and event.until_ns is not None:
            self._returning[thread_of(event)] = made

    def _record(self, row: int, node: int, event: Event) -> None:
        made = self._put(row, node, event, event.args.get("stream", ""))
        name = (event.rank, event.args.get("event"))
        self._newest[name] = self._records[(*name, event.args.get("record"))] = made

    def _wait_event(self, row: int, node: int, event: Event) -> None:
        args = event.args
        if args.get("record") is not None:
            made = self._put(row, node, event, args.get("stream", ""))
            self._edge(
                "record -> wait", self._records.get((event.rank, args.get("event"), args["record"])), made
            )

    def _replay(self, row: int, node: int, event: Event) -> None:
        stream = self._streams.get(row)
        if stream is not None:
            made, graph = self._put(row, node, event, stream), (event.rank, event.args.get("graph"))
            self._edge("replay -> replay", self._replayed.get(graph), made)
            self._replayed[graph] = made

    def _until_stream(self, _row: int, node: int, event: Event) -> None:
        if event.until_ns is not None:
            self._edge(
                "done -> host", self._tails.get((event.rank, "stream", event.args.get("stream"))), node
            )

    def _until_event(self, _row: int, node: int, event: Event) -> None:
        if event.until_ns is not None or event.args.get("done"):
            self._edge("done -> host", self._newest.get((event.rank, event.args.get("event"))), node)

    # ---- spans

    def _loose(self, rows: dict[tuple[int, int], int]) -> list[tuple[int, int, Lane]]:
        """Spans of streams that no trace event stands for, as start, row and stream; the first one last."""
        spans, roles = self._trace.spans, {lane.id: lane.role for lane in self._trace.lanes}
        chosen = np.flatnonzero(spans.mask(cat="kernel") | spans.mask(cat="wait") | spans.mask(cat="record"))
        told = (spans[name][chosen].tolist() for name in ("start_ns", "rank", "seq", "lane"))
        return sorted(
            (
                (start, row, (rank, "stream", roles.get(lane, lane)))
                for row, start, rank, seq, lane in zip(chosen.tolist(), *told, strict=True)
                if (rank, seq) not in rows
            ),
            key=lambda span: span[:2],
            reverse=True,
        )

    def _span(self, _start: int, row: int, stream: Lane) -> None:
        self._tails[stream] = self.spans[row] = self._node(stream, stream)

    def _place_spans(self, rows: dict[tuple[int, int], int]) -> None:
        spans = self._trace.spans
        told = zip(spans["rank"].tolist(), spans["seq"].tolist(), spans["cat"].tolist(), strict=True)
        for row, (rank, seq, cat) in enumerate(told):
            cause = rows.get((rank, seq))
            if cause is not None and cat == "blocked":
                self.spans[row] = self.host[cause]
            elif cause is not None and cat not in ("thread", "operation"):
                self.spans[row] = self.device.get(cause, -1)

    def _transfers(self) -> None:
        """Flows between kernels that lie in the order of the nodes."""
        flows = self._trace.flows
        chosen = flows.mask(kind="send -> receive", from_table="spans", to_table="spans")
        for flow in flows.rows(chosen):
            cause, effect = int(self.spans[flow.from_row]), int(self.spans[flow.to_row])
            if 0 <= cause < effect and self.lanes[cause] != self.lanes[effect]:
                self._edge("send -> receive", cause, effect)


def thread_of(event: Event) -> Lane:
    """The thread that told an event; its lane where no thread is known."""
    return (event.rank, event.thread) if event.thread is not None else (event.rank, "lane", event.lane)


def _generation(event: Event) -> Hashable:
    return event.rank, event.args.get("barrier"), event.args.get("generation")


def _joins_last(trace: Trace) -> Iterator[tuple[int, Event]]:
    """The rows in their order, but a join, which is told when it begins, where its thread goes on."""
    joining: dict[Lane, tuple[int, Event]] = {}
    for row, event in enumerate(trace.events):
        thread = thread_of(event)
        if thread in joining:
            yield joining.pop(thread)
        if event.kind == "thread.join":
            joining[thread] = row, event
        else:
            yield row, event
    yield from joining.values()


_HANDLERS: dict[str, Callable[[_Walk, int, int, Event], None]] = {
    "thread.create": _Walk._create, "thread.start": _Walk._start, "thread.end": _Walk._end,
    "thread.join": _Walk._join, "barrier.arrive": _Walk._arrive, "barrier.release": _Walk._release,
    "host_event.set": _Walk._set, "host_event.clear": _Walk._clear, "host_event.wait": _Walk._wait,
    "host_event.wake": _Walk._wake, "kernel.launch": _Walk._launch, "event.record": _Walk._record,
    "event.wait": _Walk._wait_event, "graph.replay": _Walk._replay,
    "stream.synchronize": _Walk._until_stream, "host.read": _Walk._until_stream,
    "event.synchronize": _Walk._until_event, "event.query": _Walk._until_event,
}  # fmt: skip
