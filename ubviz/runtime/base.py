"""What every runtime offers, and what it means: the contract of the three implementations.

The mechanism (``ubviz.ubatch``, ``ubviz.engine``) is written once against these protocols, never against
``torch.cuda``. Semantics are CUDA's; ``tests/contract`` runs one suite over every runtime:

- A stream is first in, first out. A launch returns at once unless it waits for the host by nature.
- The current stream belongs to a thread.
- ``record`` places the event at the stream's tail; a later record replaces it. A wait binds to the record
  that is current *when wait is called*. Waiting on an event never recorded does nothing.
- ``wait_event`` never blocks Python; ``synchronize`` does.
- An error in queued work surfaces at the next synchronize, and is never lost.
- ``elapsed_time`` before completion, or on an event without timing, is an error.
- Capturing is a state of a stream, and spreads to streams that wait for an event recorded in the capture; who was
  forked and never joined is an error that names it. Host reads and whatever waits for the device are errors in a
  capture (on host, random numbers too); an event recorded in one is an edge of the graph and has no time. A replay
  is one piece of work of the current stream.

Source: CUDA runtime API, stream and event management; ``torch.cuda.Stream``, ``torch.cuda.Event``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from .hooks import Hooks

CLASSES = ("compute", "comm", "copy", "other")
"""What a kernel does: computes, communicates, copies, or nobody said."""


class HostEvent(Protocol):
    """A ``threading.Event`` that announces set, clear, wait and wake."""

    def set(self) -> None: ...
    def clear(self) -> None: ...
    def is_set(self) -> bool: ...
    def wait(self, timeout: float | None = None) -> bool: ...


class Barrier(Protocol):
    """A ``threading.Barrier`` that announces arrivals and releases."""

    @property
    def parties(self) -> int: ...
    @property
    def broken(self) -> bool: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def abort(self) -> None: ...
    def reset(self) -> None: ...


class Thread(Protocol):
    """A ``threading.Thread`` that enters the device context by itself."""

    name: str

    def start(self) -> None: ...
    def join(self, timeout: float | None = None) -> None: ...
    def is_alive(self) -> bool: ...


class Event(Protocol):
    """A stream synchronization object: recorded on one stream, waited for by another."""

    name: str | None

    def record(self, stream: Stream | None = None) -> None: ...
    def wait(self, stream: Stream | None = None) -> None: ...
    def synchronize(self) -> None: ...
    def query(self) -> bool: ...
    def elapsed_time(self, end: Event) -> float: ...


class Stream(Protocol):
    """A first-in, first-out queue of device work."""

    name: str | None

    @property
    def runtime(self) -> Runtime: ...
    def wait_event(self, event: Event) -> None: ...
    def record_event(self, event: Event | None = None) -> Event: ...
    def wait_stream(self, stream: Stream) -> None: ...
    def synchronize(self) -> None: ...
    def query(self) -> bool: ...


class Operation(AbstractContextManager["Operation"], Protocol):
    """A named piece of work; the launches inside it belong to it."""

    name: str
    cls: str
    layer: int | None


class Flight(Protocol):
    """Data under way between a sending and a receiving launch."""

    duration_ns: int
    nbytes: int


class Link(Protocol):
    """A modelled wire: one transfer at a time, each with a duration, on no stream."""

    name: str

    def flight(self, duration_ns: int, nbytes: int = 0) -> Flight: ...


class Graph(Protocol):
    """Work that is captured once and replayed as one piece.

    ``key`` is what its owner knows it by, ``edges`` what its owner saw at capture (plain data); both are told
    with its facts.
    """

    name: str | None
    key: Any
    edges: list[dict[str, Any]] | None
    kernels: tuple[Launch, ...]

    def capture(
        self, stream: Stream | None = None, capture_error_mode: str = "global"
    ) -> AbstractContextManager[Any]: ...
    def capture_begin(self, stream: Stream | None = None, capture_error_mode: str = "global") -> None: ...
    def capture_end(self) -> None: ...
    def replay(self) -> None: ...


class Parking(Protocol):
    """Who waits for what among a runtime's threads, by their identifiers, and how to end it."""

    @property
    def waiting(self) -> dict[int, Any]: ...
    def interrupt(self, report: str) -> None: ...
    def resume(self) -> None: ...


@dataclass(slots=True, eq=False)
class Launch:
    """One launch as it is announced: what was queued, for whom, and what it touches.

    ``reads`` and ``writes`` are buffer numbers of the runtime's own counter; None means unknown.
    """

    correlation: int
    name: str
    cls: str
    operation: Operation | None = None
    reads: tuple[int, ...] | None = None
    writes: tuple[int, ...] | None = None
    host_wait: bool = False
    sends: Flight | None = None
    receives: Flight | None = None
    duration_ns: int | None = None
    node: int | None = None  # its number in the graph that it was captured into
    ubatch: int | None = None  # of a captured launch: the microbatch that made it


_Stream = Stream  # inside Runtime the name is the method's


class Runtime(Protocol):
    """One implementation of threads, streams and events; see the module's text for what they mean."""

    name: str
    hooks: Hooks
    threads: set[Any]

    @property
    def device(self) -> Any: ...  # where tensors live, as torch names it
    @property
    def parking(self) -> Parking: ...
    def Thread(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        name: str | None = None,
        failed: Callable[[BaseException], Any] | None = None,
    ) -> Thread: ...
    def Barrier(self, parties: int, name: str | None = None) -> Barrier: ...
    def HostEvent(self, name: str | None = None) -> HostEvent: ...
    def Stream(self, name: str | None = None) -> Stream: ...
    def Event(self, name: str | None = None, enable_timing: bool = False) -> Event: ...
    def Link(self, name: str = "network") -> Link: ...
    def graph(self, name: str | None = None) -> Graph: ...
    def warm_up(self) -> None: ...
    def current_stream(self) -> _Stream: ...
    def set_stream(self, stream: _Stream) -> None: ...
    def stream(self, stream: _Stream | None) -> AbstractContextManager[Any]: ...
    def synchronize(self) -> None: ...
    def device_context(self) -> AbstractContextManager[Any]: ...
    def launch(
        self,
        name: str,
        fn: Callable[..., Any] | None = None,
        *args: Any,
        cls: str = "other",
        duration_ns: int | None = None,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
        stream: Any = None,
        host_wait: bool = False,
        sends: Any = None,
        receives: Any = None,
    ) -> None: ...
    def op(
        self,
        name: str,
        cls: str = "compute",
        layer: int | None = None,
        duration_ns: int | None = None,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
    ) -> Operation: ...
    def now_ns(self) -> int: ...
    def describe(self) -> dict[str, Any]: ...
    def snapshot(self) -> list[tuple[Any, Any]]: ...
    def idle(self) -> bool: ...
    def close(self) -> None: ...
