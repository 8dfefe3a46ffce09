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
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..trace.model import MISSING, Event, Trace
from .kept import told_rows
from .nodes import Lane, Nodes, nodes, row_of, thread_of
from .streams import scoped


class Edge(NamedTuple):
    """One node causes another, on another lane."""

    kind: str
    cause: int
    effect: int


@dataclass(frozen=True)
class Causes:
    """Nodes by number, as ``nodes`` has them, and the edges as columns; ``edges`` makes rows of them.

    ``host[row]`` is a trace event's node, ``device[row]`` that of what it put into a stream, ``spans[row]`` a span's
    (-1: none).
    """

    lanes: list[Lane]
    drawn: list[Lane]
    kinds: list[str]
    causes: np.ndarray
    effects: np.ndarray
    host: np.ndarray
    device: np.ndarray
    spans: np.ndarray

    @property
    def edges(self) -> list[Edge]:
        """The edges as rows."""
        return list(map(Edge, self.kinds, self.causes.tolist(), self.effects.tolist()))


def causes(trace: Trace) -> Causes:
    """The nodes and edges of a trace.

    >>> [edge.kind for edge in causes(trace).edges][:2]  # doctest: +SKIP
    ['launch -> kernel', 'create -> start']
    """
    return _Walk(trace, nodes(trace)).result()


class _Flag:
    """A host event: the set that put it up, and who waits for one."""

    def __init__(self) -> None:
        self.up: int | None = None  # the node of that set; None while it is down
        self.last: int | None = None
        self.parked: dict[Lane, int | None] = {}  # thread -> the set that wakes it


class _Walk:
    """One pass over the trace events that join lanes; a launch, of which there are many, is taken as a column."""

    def __init__(self, trace: Trace, numbered: Nodes) -> None:
        self._trace, self._nodes = trace, numbered
        self.kinds: list[str] = []
        self.causes: list[int] = []
        self.effects: list[int] = []
        self._created: dict[Lane, int] = {}
        self._ended: dict[Lane, int] = {}
        self._arrived: dict[Hashable, list[int]] = defaultdict(list)
        self._flags: dict[Hashable, _Flag] = defaultdict(_Flag)
        self._records: dict[Hashable, int] = {}
        self._newest: dict[Hashable, int] = {}  # event -> its newest record
        self._replayed: dict[Hashable, int] = {}  # graph -> its last replay

    def result(self) -> Causes:
        numbered = self._nodes
        place = np.empty(len(numbered.rows), dtype=np.int64)
        place[numbered.rows] = np.arange(len(place))
        told = [*told_rows(self._trace, *_HANDLERS)]
        if self._trace.events.mask(kind="thread.join").any():
            told.sort(key=lambda each: place[each[0]])
        host, device = numbered.host.tolist(), numbered.device.tolist()
        for row, event in told:
            _HANDLERS[event.kind](self, host[row], device[row], event)
        self._returns()
        spans = self._place_spans()
        self._transfers(spans)
        launched = np.flatnonzero(numbered.device >= 0)
        return Causes(
            numbered.lanes, numbered.drawn, ["launch -> kernel"] * len(launched) + self.kinds,
            np.concatenate([numbered.host[launched], np.array(self.causes, dtype=np.int64)]),
            np.concatenate([numbered.device[launched], np.array(self.effects, dtype=np.int64)]),
            numbered.host, numbered.device, spans,
        )  # fmt: skip

    def _edge(self, kind: str, cause: int | None, effect: int) -> None:
        if cause is not None:
            self.kinds.append(kind)
            self.causes.append(cause)
            self.effects.append(effect)

    # ---- threads

    def _create(self, node: int, _made: int, event: Event) -> None:
        self._created[event.rank, event.args.get("thread")] = node

    def _start(self, node: int, _made: int, event: Event) -> None:
        self._edge("create -> start", self._created.get((event.rank, event.args.get("thread"))), node)

    def _end(self, node: int, _made: int, event: Event) -> None:
        self._ended[event.rank, event.args.get("thread")] = node

    def _join(self, node: int, _made: int, event: Event) -> None:
        if event.until_ns is not None:
            self._edge("end -> join", self._ended.get((event.rank, event.args.get("thread"))), node)

    def _arrive(self, node: int, _made: int, event: Event) -> None:
        self._arrived[_generation(event)].append(node)

    def _release(self, node: int, _made: int, event: Event) -> None:
        for cause in self._arrived[_generation(event)]:
            if self._nodes.lanes[cause] != self._nodes.lanes[node]:
                self._edge("arrive -> release", cause, node)

    def _set(self, node: int, _made: int, event: Event) -> None:
        flag = self._flags[scoped(event, "host_event")]
        if flag.up is not None and event.args.get("was"):
            return
        flag.up = flag.last = node
        for thread, by in flag.parked.items():
            if by is None:
                flag.parked[thread] = node

    def _clear(self, _node: int, _made: int, event: Event) -> None:
        self._flags[scoped(event, "host_event")].up = None

    def _wait(self, _node: int, _made: int, event: Event) -> None:
        flag = self._flags[scoped(event, "host_event")]
        flag.parked[thread_of(event)] = flag.up

    def _wake(self, node: int, _made: int, event: Event) -> None:
        flag = self._flags[scoped(event, "host_event")]
        by = flag.parked.pop(thread_of(event), None)
        self._edge("set -> wake", flag.last if by is None else by, node)

    # ---- streams

    def _record(self, _node: int, made: int, event: Event) -> None:
        name = (event.rank, event.args.get("event"))
        self._newest[name] = self._records[(*name, event.args.get("record"))] = made

    def _wait_event(self, _node: int, made: int, event: Event) -> None:
        args = event.args
        if made >= 0:
            self._edge(
                "record -> wait", self._records.get((event.rank, args.get("event"), args["record"])), made
            )

    def _replay(self, _node: int, made: int, event: Event) -> None:
        if made >= 0:
            graph = (event.rank, event.args.get("graph"))
            self._edge("replay -> replay", self._replayed.get(graph), made)
            self._replayed[graph] = made

    def _until_stream(self, node: int, _made: int, event: Event) -> None:
        """The host waits for what the stream was last given."""
        given = self._nodes.of_stream.get((event.rank, "stream", event.args.get("stream")))
        if given is not None and event.until_ns is not None:
            at = int(np.searchsorted(given, node))
            self._edge("done -> host", int(given[at - 1]) if at else None, node)

    def _until_event(self, node: int, _made: int, event: Event) -> None:
        if event.until_ns is not None or event.args.get("done"):
            self._edge("done -> host", self._newest.get((event.rank, event.args.get("event"))), node)

    def _returns(self) -> None:
        """After a launch that waits for the host, its thread goes on when the kernel has run."""
        events, numbered = self._trace.events, self._nodes
        codes, pool = events.codes("args")
        waits = np.array([bool(args.get("host_wait")) for args in pool], dtype=bool)
        rows = np.flatnonzero((events["until_ns"] != MISSING) & events.mask(kind="kernel.launch"))
        rows = rows[waits[codes[rows]]] if len(rows) else rows
        following = _following(numbered) if len(rows) else {}
        for node, made in zip(numbered.host[rows].tolist(), numbered.device[rows].tolist(), strict=True):
            if node in following:
                self._edge("done -> host", made, following[node])

    # ---- spans

    def _place_spans(self) -> np.ndarray:
        """The node of each span: that of the trace event which it shows, or of what that put into a stream."""
        events, spans, numbered = self._trace.events, self._trace.spans, self._nodes
        found = row_of(spans, events, np.arange(len(spans)))
        told = (found >= 0) & ~spans.mask(cat="thread") & ~spans.mask(cat="operation")
        blocked = told & spans.mask(cat="blocked")
        out = numbered.spans.copy()
        out[told] = numbered.device[found[told]]
        out[blocked] = numbered.host[found[blocked]]
        return out

    def _transfers(self, spans: np.ndarray) -> None:
        """Flows between kernels that lie in the order of the nodes."""
        flows, lanes = self._trace.flows, self._nodes.lanes
        chosen = flows.mask(kind="send -> receive", from_table="spans", to_table="spans")
        pairs = zip(
            spans[flows["from_row"][chosen]].tolist(), spans[flows["to_row"][chosen]].tolist(), strict=True
        )
        for cause, effect in pairs:
            if 0 <= cause < effect and lanes[cause] != lanes[effect]:
                self._edge("send -> receive", cause, effect)


def _following(numbered: Nodes) -> dict[int, int]:
    """Node of a trace event -> that of the next one of its thread."""
    last: dict[Lane, int] = {}
    out: dict[int, int] = {}
    for node in numbered.host[numbered.rows].tolist():
        lane = numbered.lanes[node]
        if lane in last:
            out[last[lane]] = node
        last[lane] = node
    return out


def _generation(event: Event) -> Hashable:
    return event.rank, event.args.get("barrier"), event.args.get("generation")


_HANDLERS: dict[str, Callable[[_Walk, int, int, Event], None]] = {
    "thread.create": _Walk._create, "thread.start": _Walk._start, "thread.end": _Walk._end,
    "thread.join": _Walk._join, "barrier.arrive": _Walk._arrive, "barrier.release": _Walk._release,
    "host_event.set": _Walk._set, "host_event.clear": _Walk._clear, "host_event.wait": _Walk._wait,
    "host_event.wake": _Walk._wake, "event.record": _Walk._record,
    "event.wait": _Walk._wait_event, "graph.replay": _Walk._replay,
    "stream.synchronize": _Walk._until_stream, "host.read": _Walk._until_stream,
    "event.synchronize": _Walk._until_event, "event.query": _Walk._until_event,
}  # fmt: skip
