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

from ..errors import AsyncError, BadArgument, CaptureError
from .base import Launch

if TYPE_CHECKING:
    from .captured import CapturedGraph
    from .host_streams import Event, Flight, Marker, Stream

MODES = ("global", "thread_local", "relaxed")
"""Who may wait for other streams meanwhile: nobody; any thread but the one that captures; everybody."""

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


class Capture:
    """One capture under way: its streams, what they were given, and whether a rule was broken."""

    def __init__(self, graph: CapturedGraph, origin: Stream, mode: str) -> None:
        if mode not in MODES:
            raise BadArgument(f"capture_error_mode is one of {', '.join(MODES)}, not {mode!r}")
        # the graph by name only: what was noted goes with the graph, without waiting for a garbage collection
        self.graph, self.origin, self.mode = str(graph), origin, mode
        self.thread = threading.current_thread()
        self.nodes: dict[Stream, list[Node]] = {}
        self.broken: CaptureError | None = None
        self.over = False
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
            where = "outside" if marker.capture is None else f"in the capture of {marker.capture.graph}"
            raise self.refuse(
                f"{_name(stream)}, which is captured into {self.graph}, cannot wait for event {_of(event)}: it was "
                f"recorded {where}, on {_name(marker.stream)}; record it in this capture, or wait before it begins"
            )

    # ---- what is refused

    def refuse(self, sentence: str) -> CaptureError:
        """The error to raise; the first one breaks the capture."""
        error = CaptureError(sentence)
        self.broken = self.broken or error
        return error

    def waits(self, what: str, stream: Stream) -> CaptureError:
        """``what`` needs the device to have run."""
        return self.refuse(
            f"{what} is not possible while {_name(stream)} is captured into {self.graph}: a capture runs nothing, so "
            "there is nothing to wait for; do it before or after the capture, which capture_end() ends"
        )

    def random(self, what: str, stream: Stream) -> CaptureError:
        """``what`` draws random numbers."""
        return self.refuse(
            f"the random operation {what} on {_name(stream)} cannot be captured into {self.graph}: its numbers are "
            "drawn at launch, and every replay would repeat them; draw them before, into a tensor that it reads"
        )

    def no_point(self, event: Event, what: str) -> CaptureError:
        """``event`` was recorded in this capture and is asked for a time."""
        sentence = (
            f"event {_of(event)} was recorded in the capture of {self.graph}: it is an edge of the graph, not a point "
            f"in time, so {what} has nothing to go by; record it again outside the capture"
        )
        return CaptureError(sentence) if self.over else self.refuse(sentence)

    def check_may_wait(self, what: str, stream: Stream | None) -> None:
        """Refuse ``what``, on a stream or on an event, as far as this capture forbids it."""
        on = f" on {_name(stream)}" if stream is not None else ""
        thread = threading.current_thread()
        if stream is not None and stream.capture is self:
            raise self.waits(what, stream)
        if self.mode == "global" or (self.mode == "thread_local" and thread is self.thread):
            raise self.refuse(
                f"{what}{on}, in thread {thread.name!r}, is not possible while {_name(self.origin)} is captured into "
                f'{self.graph} with capture_error_mode="{self.mode}": do it before or after the capture, which '
                'capture_end() ends, or from another thread with "thread_local"'
            )

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
            names = " and ".join(_name(stream) for stream in forked)
            return (
                f"unjoined: {names} was forked into the capture of {self.graph} and never joined back; let "
                f"{_name(self.origin)} wait for an event recorded there before the capture ends"
            )
        kernels = [n for nodes in self.nodes.values() for n in nodes if isinstance(n, Kernel)]
        sent = {kernel.sends for kernel in kernels}
        for kernel in kernels:
            if kernel.receives is not None and kernel.receives not in sent:
                return f"the launch {kernel.name} receives a flight that was sent outside the capture of {self.graph}"
        return None


def _name(stream: Stream) -> str:
    return f"stream {stream.name or 'unnamed'}"


def _of(event: Event) -> str:
    return event.name or "unnamed"
