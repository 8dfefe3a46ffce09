"""Streams and events of the host runtime: a stream is a worker thread with a queue.

In words:
1. A stream is a queue and one daemon thread, in inference mode, with one intra-op thread.
2. Recording an event makes a fresh marker (a held lock), queues "release it", and makes it the event's current.
3. Waiting takes the event's current marker now and queues "acquire, release". Only markers that are already
   queued can be waited for, so streams cannot deadlock one another.
4. An error in queued work sticks to the stream: later items are skipped, waits carry it to other streams, and
   the next synchronize raises it.
5. While a stream is captured (``host_capture``) what it is given is noted for a graph, and nothing is queued.

Transfers between launches are in ``host_wire``.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from ..errors import AsyncError, MixedRuntimes, StreamClosed, StreamStuck, TimingError
from .base import Launch
from .host_wire import Flight, LostFlight

if TYPE_CHECKING:
    from .host import HostRuntime
    from .host_capture import Capture

_now = time.perf_counter_ns
DEPTH = 1024  # items a stream may lag behind before launching blocks, as CUDA's launch queue does
STUCK_S = 120.0  # how long a synchronize waits before it says that the stream is stuck

unreported: dict[AsyncError, None] = {}
"""Errors of queued work that no synchronize has raised yet, oldest first; what is left is printed at exit."""


class Marker:
    """One recorded point of a stream. The lock is held until the worker reaches the point."""

    __slots__ = ("done", "error", "lock", "record", "stream", "t_ns")
    capture: Capture | None = None  # of a record inside a capture, which never fires

    def __init__(self, stream: Stream, record: int | None = None) -> None:
        self.lock = threading.Lock()
        self.lock.acquire()
        self.stream, self.record = stream, record
        self.done, self.t_ns = False, 0
        self.error: AsyncError | None = None

    def fire(self) -> None:
        self.done = True
        self.lock.release()

    def wait(self, timeout: float = -1) -> bool:
        if not self.done:
            if not self.lock.acquire(timeout=timeout):
                return False
            self.lock.release()  # let the next waiter through
        return True


class Event:
    """A point in a stream's work that another stream, or the host, can wait for."""

    def __init__(self, runtime: HostRuntime, name: str | None = None, enable_timing: bool = False) -> None:
        self.runtime, self.name, self.enable_timing = runtime, name, enable_timing
        self._marker: Marker | None = None
        self._records = itertools.count(1)

    def record(self, stream: Stream | None = None) -> None:
        stream = stream or self.runtime.current_stream()
        if getattr(stream, "runtime", None) is not self.runtime:
            raise MixedRuntimes(f"{self!r} cannot be recorded on {stream!r}: it belongs to another runtime")
        stream._check_open()
        if (capture := stream.capture) is not None:
            self._marker = capture.record(stream, self, next(self._records))  # type: ignore[assignment]
            return
        marker = Marker(stream, next(self._records))
        if (host := self.runtime.hooks.host) is not None:
            host("event.record", self, (stream, marker.record))
        stream._put(stream._fire, (marker, self))
        self._marker = marker

    def wait(self, stream: Stream | None = None) -> None:
        """Make ``stream`` (the current one) wait for the record that is current now."""
        stream = stream or self.runtime.current_stream()
        stream.wait_event(self)

    def query(self) -> bool:
        self._check_is_point("query")
        done = self._marker is None or self._marker.done
        if (host := self.runtime.hooks.host) is not None:
            host("event.query", self, done)
        return done

    def synchronize(self) -> None:
        """Block until the current record has been reached; raise what failed before it."""
        self._check_is_point("synchronize")
        host = self.runtime.hooks.host
        if host is not None:
            host("event.synchronize", self, None)
        try:
            if (marker := self._marker) is not None:
                marker.stream._join(marker)
        finally:
            if host is not None:
                host("returned", self, None)

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event's record to ``end``'s; both must have completed."""
        if getattr(end, "runtime", None) is not self.runtime:
            raise MixedRuntimes(f"no time goes from {self!r} to {end!r}: it belongs to another runtime")
        for event in (self, end):
            event._check_is_point("elapsed_time")
            if not event.enable_timing:
                raise TimingError(f"{event!r} was made without enable_timing=True: it has no time")
            if event._marker is None or not event._marker.done:
                raise TimingError(
                    f"{event!r} has not completed: record it and synchronize before asking for a time"
                )
        assert self._marker is not None
        assert end._marker is not None
        return (end._marker.t_ns - self._marker.t_ns) / 1e6

    def _check_is_point(self, what: str) -> None:
        """Refuse what asks for a time while a capture forbids it, or of a record that is an edge of a graph."""
        if (marker := self._marker) is not None and marker.capture is not None:
            raise marker.capture.no_point(self, what)
        for capture in self.runtime.captures:
            capture.check_may_wait(f"{what} of event {self.name or 'unnamed'}", None)

    def state(self) -> Any:
        """The number of the current record; None when never recorded."""
        return self._marker and self._marker.record

    def __repr__(self) -> str:
        state = "never recorded" if self._marker is None else "done" if self._marker.done else "pending"
        if self._marker is not None and self._marker.capture is not None:
            state = "an edge of a graph"
        return f"<event {self.name or 'unnamed'}: {state}>"


class Stream:
    """A first-in, first-out queue of device work, run by one worker thread."""

    def __init__(self, runtime: HostRuntime, name: str | None = None) -> None:
        self.runtime, self.name = runtime, name
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._launched = self._done = 0
        self._error: AsyncError | None = None  # sticky: later items are skipped until it is raised
        self._running: str | None = None
        self.capture: Capture | None = None  # what notes this stream's work, instead of queueing it
        self._closed = False
        self._thread = threading.Thread(
            target=_work, args=(self._queue,), name=f"stream {name or 'unnamed'}", daemon=True
        )
        self._thread.start()
        weakref.finalize(self, self._queue.put, None)  # a stream that nobody holds ends its worker
        self._number = next(runtime._numbers)
        runtime._streams[self._number] = self

    def record_event(self, event: Event | None = None) -> Event:
        """Record ``event`` (a new one) at this stream's tail, and return it."""
        event = event or Event(self.runtime)
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let this stream's later work wait for the record of ``event`` that is current now."""
        if getattr(event, "runtime", None) is not self.runtime:
            raise MixedRuntimes(f"{self!r} cannot wait for {event!r}: it belongs to another runtime")
        self._check_open()
        marker = event._marker
        capture = self.capture if marker is None else self.capture or marker.capture
        if capture is not None:
            capture.wait(self, event, marker)
            return
        if (host := self.runtime.hooks.host) is not None:
            host("event.wait", event, (self, marker and marker.record))
        if marker is not None:
            self._put(self._await, (marker, event))

    def wait_stream(self, stream: Stream) -> None:
        """Let this stream's later work wait for all that ``stream`` holds now."""
        if getattr(stream, "runtime", None) is not self.runtime:
            raise MixedRuntimes(f"{self!r} cannot wait for {stream!r}: it belongs to another runtime")
        self.wait_event(stream.record_event())

    def query(self) -> bool:
        """True when all queued work is done."""
        for capture in self.runtime.captures:
            capture.check_may_wait("query", self)
        return self.idle()

    def idle(self) -> bool:
        """``query``, for the runtime's own use: never refused."""
        return self._done >= self._launched

    def synchronize(self) -> None:
        """Block until all queued work is done; raise what failed in it."""
        self.drain("stream.synchronize", None)

    def drain(self, kind: str, arg: Any) -> None:
        """Synchronize, announced as ``kind``: a synchronize, or a host read that needs the values."""
        self._check_open()
        for capture in self.runtime.captures:
            capture.check_may_wait("synchronize" if arg is None else f"the host read {arg}", self)
        host = self.runtime.hooks.host
        if host is not None:
            host(kind, self, arg)
        try:
            marker = Marker(self)
            self._put(self._fire, (marker, None))
            self._join(marker)
        finally:
            if host is not None:
                host("returned", self, None)

    def close(self) -> None:
        """Let the queue drain, then end the worker; the stream takes no more work."""
        self.runtime._streams.pop(self._number, None)
        with self._lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)

    def submit(
        self, name: str, launch: Launch | None, fn: Callable[..., Any], args: tuple[Any, ...],
        sends: Flight | None = None,
    ) -> None:  # fmt: skip
        """Queue ``fn(*args)`` as a kernel; ``launch`` is None while nobody listens and nothing is captured."""
        if (capture := self.capture) is not None:
            capture.kernel(self, name, launch, fn, args, sends)
            return
        self._put(self._kernel, (name, launch, fn, args, sends))

    def _check_open(self) -> None:
        if self._closed:
            raise StreamClosed(f"{self!r} is closed and takes no more work")

    def _put(self, step: Callable[..., None], args: tuple[Any, ...]) -> None:
        with self._lock:
            if self._closed:
                self._check_open()
            number = self._launched + 1
            self._queue.put((step, number, args))
            self._launched = number  # last: an interrupt in between leaves counts that mend themselves
        if self._launched - self._done > DEPTH and threading.current_thread() is not self._thread:
            self._wait_for_room()

    def _wait_for_room(self) -> None:
        deadline = _now() + STUCK_S * 1e9
        while self._launched - self._done > DEPTH:
            if _now() > deadline:
                raise StreamStuck(self._stuck())
            time.sleep(2e-5)

    def _join(self, marker: Marker) -> None:
        if not marker.wait(STUCK_S):
            raise StreamStuck(self._stuck())
        if (error := marker.error) is not None:
            if self._error is error:
                self._error = None
            unreported.pop(error, None)
            raise AsyncError(str(error)) from error.__cause__

    def _stuck(self) -> str:
        return f"{self!r} has been in {self._running or 'its work'} for over {STUCK_S:.0f} s"

    # ---- the worker's side; none of these raises

    def _kernel(
        self, number: int, name: str, launch: Launch | None, fn: Callable[..., Any], args: tuple[Any, ...],
        sends: Flight | None,
    ) -> None:  # fmt: skip
        if self._error is None:
            self._running = name
            start = _now()
            try:
                fn(*args)
            except BaseException as cause:
                self._fail(name, cause)
            if launch is not None:
                self._tell("kernel", (launch, start, _now()))
            self._running = None
        if sends is not None and self._error is not None:
            sends.lose(self._error)
        self._done = number

    def _fail(self, name: str, cause: BaseException) -> None:
        if isinstance(cause, LostFlight):
            self._error = cause.error  # what depends on a failed stream fails with its error
            return
        error = AsyncError(
            f"{name} on stream {self.name or 'unnamed'} failed: {type(cause).__name__}: {cause}"
        )
        error.__cause__ = cause
        self._error = error
        unreported[error] = None

    def _tell(self, kind: str, arg: Any) -> None:
        if (device := self.runtime.hooks.device) is not None:
            try:
                device(kind, self, arg)
            except BaseException as cause:  # a listener's mistake must not end the worker
                self._fail(f"the listener to {kind!r}", cause)

    def _fire(self, number: int, marker: Marker, event: Event | None) -> None:
        marker.t_ns, marker.error = _now(), self._error
        if event is not None:
            self._tell("record", (event, marker.record, marker.t_ns))
        self._done = number  # before anyone is let through: a stream that was synchronized is idle
        marker.fire()

    def _await(self, number: int, marker: Marker, event: Event | None) -> None:
        self._running = (
            f"a wait for event {event.name or 'unnamed'}" if event is not None else "a graph's wait"
        )
        start = _now()
        marker.wait()
        if marker.error is not None and self._error is None:
            self._error = marker.error  # what depends on a failed stream fails with its error
        if event is not None:
            self._tell("wait", (event, marker.record, start, _now()))
        self._running = None
        self._done = number

    def __repr__(self) -> str:
        return f"<stream {self.name or 'unnamed'}: {self._launched - self._done} queued>"


def _work(items: queue.SimpleQueue[Any]) -> None:
    """A worker. It holds the queue only, so that a forgotten stream can be collected."""
    torch.set_num_threads(1)
    with torch.inference_mode():  # below autograd; writes to any tensor are allowed
        while (item := items.get()) is not None:
            step, number, args = item
            step(number, *args)
            del item, step, args  # drop tensors before blocking again
