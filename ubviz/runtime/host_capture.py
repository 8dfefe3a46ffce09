"""Captures of the host and the virtual runtime: launches, records and waits are noted, and nothing runs.

The rules are CUDA's:

1. A capture begins on one stream, its origin. A stream that waits for an event recorded in the capture belongs
   to it from then on.
2. What a captured stream is given is noted in order. Nothing is queued, so whatever would wait for the device, or
   needs a value from it, is refused. An event recorded here is an edge of the graph: it has no time.
3. A captured stream cannot wait for work outside the capture, since a replay could not.
4. When the capture ends, all work of every stream that it spread to has been joined back into the origin.
5. A violation breaks the capture: its end fails too, with the first sentence, also where the error was swallowed.

Stricter than CUDA: random numbers are refused, since they are drawn at launch here and a replay would repeat them,
where CUDA draws new ones from the generator's registered state. Maybe stricter: a fork without work must be joined.

Source: CUDA programming guide, "Graphs: creating a graph using stream capture".
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import AsyncError
from .base import Launch
from .capture_rules import CaptureRules, named

if TYPE_CHECKING:
    from .captured import CapturedGraph
    from .host_streams import Event, Marker, Stream
    from .host_wire import Flight

_registry = threading.Lock()  # of the runtimes' captures under way


class Edge:
    """A record inside a capture, and what of each stream comes before it. It is no point in time."""

    __slots__ = ("capture", "clock", "record", "stream", "waited")
    done = False

    def __init__(self, capture: Capture, stream: Stream, record: int, clock: dict[Stream, int]) -> None:
        self.stream, self.record = stream, record
        self.capture, self.clock, self.waited = capture, clock, False

    def reached(self, now_ns: int) -> bool:
        return False


class Kernel(NamedTuple):
    """A noted launch, as ``Stream.submit`` was given it."""

    name: str
    launch: Launch
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    sends: Flight | None

    @property
    def receives(self) -> Flight | None:
        return self.launch.receives  # type: ignore[return-value]


class Record(NamedTuple):
    """A noted record."""

    edge: Edge


class Wait(NamedTuple):
    """A noted wait."""

    edge: Edge


Node = Kernel | Record | Wait


class Capture(CaptureRules):
    """One capture under way: its streams, what they were given, and whether a rule was broken."""

    def __init__(self, graph: CapturedGraph, origin: Stream, mode: str) -> None:
        # the graph by name only: what was noted goes with the graph, without waiting for a garbage collection
        super().__init__(str(graph), origin, mode)
        self.nodes: dict[Stream, list[Node]] = {}
        # what of each stream comes before a stream's next node, as the number of its kernels
        self._clocks: dict[Stream, dict[Stream, int]] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._take(origin)
        with _registry:
            origin.runtime.captures += (self,)

    def _take(self, stream: Stream) -> None:
        self.nodes[stream], self._clocks[stream] = [], {stream: 0}
        stream.capture = self

    def number(self) -> int:
        """The number of the next kernel."""
        return next(self._numbers)

    # ---- what a captured stream is given

    def kernel(
        self, stream: Stream, name: str, launch: Launch | None, fn: Callable[..., Any], args: tuple[Any, ...],
        sends: Flight | None,
    ) -> None:  # fmt: skip
        """Note a launch; its tensors are kept, and are the graph's memory."""
        assert launch is not None
        with self._lock:
            self.nodes[stream].append(Kernel(name, launch, fn, args, sends))
            self._clocks[stream][stream] += 1

    def record(self, stream: Stream, event: Event, number: int) -> Edge:
        """Note a record of ``event``, the ``number``-th."""
        if (host := stream.runtime.hooks.host) is not None:
            host("event.record", event, (stream, number))
        with self._lock:
            edge = Edge(self, stream, number, dict(self._clocks[stream]))
            self.nodes[stream].append(Record(edge))
        return edge

    def wait(self, stream: Stream, event: Event, marker: Marker | Edge | None) -> None:
        """Note that ``stream`` waits for ``event``; a stream from outside joins the capture by that."""
        self._check_inside(stream, event, marker)
        if (host := stream.runtime.hooks.host) is not None:
            host("event.wait", event, (stream, marker and marker.record))
        if not isinstance(marker, Edge):
            return  # never recorded
        with self._lock:
            if stream.capture is None:
                self._take(stream)
            if marker.stream is not stream:
                marker.waited = True
                self.nodes[stream].append(Wait(marker))
            clock = self._clocks[stream]
            for other, count in marker.clock.items():
                clock[other] = max(clock.get(other, 0), count)

    def _check_inside(self, stream: Stream, event: Event, marker: Marker | Edge | None) -> None:
        if isinstance(marker, Edge) and marker.capture is self and not self.over:
            return
        if self.over:
            raise self.no_point(event, "wait")
        if marker is not None:
            raise self.wait_from_outside(stream, event, marker)

    # ---- the end

    def end(self) -> dict[Stream, list[Node]]:
        """Let go of all streams and of what was noted, which is returned; nothing is captured any more."""
        self.over = True
        with _registry:
            self.origin.runtime.captures = tuple(c for c in self.origin.runtime.captures if c is not self)
        lost = AsyncError(f"the flight was sent inside the capture of {self.graph}; each replay has its own")
        for stream, nodes in self.nodes.items():
            stream.capture = None
            for node in nodes:
                if isinstance(node, Kernel) and node.sends is not None:
                    node.sends.lose(lost)  # a receive outside the graph fails instead of spinning for ever
        noted, self.nodes, self._clocks = self.nodes, {}, {}
        return noted

    def problem(self) -> str | None:
        """Why what was noted is no graph, if it is none."""
        if self.broken is not None:
            return f"the capture of {self.graph} was broken: {self.broken}"
        joined = self._clocks[self.origin]
        forked = [s for s in self.nodes if joined.get(s, -1) < self._clocks[s][s]]
        if forked:
            return self.unjoined(" and ".join(named(stream) for stream in forked))
        kernels = [n for nodes in self.nodes.values() for n in nodes if isinstance(n, Kernel)]
        sent = {kernel.sends for kernel in kernels}
        for kernel in kernels:
            if kernel.receives is not None and kernel.receives not in sent:
                return f"the launch {kernel.name} receives a flight that was sent outside the capture of {self.graph}"
        return None
