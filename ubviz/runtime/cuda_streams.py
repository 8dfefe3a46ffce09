"""Streams and events of the cuda runtime: PyTorch's, announced and timed.

Each holds its ``torch.cuda`` counterpart as ``raw``. The mechanism's events keep ``enable_timing=False``; what times
them are twins (``cuda_timing``). PyTorch hands out its streams from a pool of 32 a device, so that a process with
more of them has some twice: they are then ordered among each other without need, which is correct and slow.

Left out: ``record_stream`` and the allocator's buffers are not announced.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, Any

from ..errors import AsyncError, MixedRuntimes, StreamClosed, TimingError

if TYPE_CHECKING:
    from .cuda import CudaRuntime
    from .cuda_capture import Capture
    from .cuda_timing import Pending


class Event:
    """A point in a stream's work that another stream, or the host, can wait for."""

    def __init__(self, runtime: CudaRuntime, name: str | None = None, enable_timing: bool = False) -> None:
        self.runtime, self.name, self.enable_timing = runtime, name, enable_timing
        self.raw = runtime.cuda.Event(enable_timing=enable_timing)
        self._records = itertools.count(1)
        self._record: int | None = None
        self.stream: Stream | None = None  # where it was recorded last
        self.capture: Capture | None = None  # where it was recorded last: an edge of a graph, or None

    def record(self, stream: Stream | None = None) -> None:
        rt = self.runtime
        stream = stream or rt.current_stream()
        if getattr(stream, "runtime", None) is not rt:
            raise MixedRuntimes(f"{self!r} cannot be recorded on {stream!r}: it belongs to another runtime")
        stream._check_open()
        number = next(self._records)
        if (host := rt.hooks.host) is not None:
            host("event.record", self, (stream, number))
        rt.ask(self.raw.record, stream.raw)
        self._record, self.stream, self.capture = number, stream, stream.capture
        twin = rt.timing.twin(stream.raw)
        rt.timing.expect("record", stream, lambda _, at_ns: (self, number, at_ns), twin, twin)
        rt.timing.look()

    def wait(self, stream: Stream | None = None) -> None:
        """Make ``stream`` (the current one) wait for the record that is current now."""
        stream = stream or self.runtime.current_stream()
        stream.wait_event(self)

    def query(self) -> bool:
        self._check_is_point("query")
        done = self._done()
        if (host := self.runtime.hooks.host) is not None:
            host("event.query", self, done)
        return done

    def synchronize(self) -> None:
        """Block until the current record has been reached; raise what failed before it."""
        self._check_is_point("synchronize")
        self.runtime.wait_for(self.raw, "event.synchronize", self)

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event's record to ``end``'s; both must have completed."""
        if getattr(end, "runtime", None) is not self.runtime:
            raise MixedRuntimes(f"no time goes from {self!r} to {end!r}: it belongs to another runtime")
        for event in (self, end):
            event._check_is_point("elapsed_time")
            if not event.enable_timing:
                raise TimingError(f"{event!r} was made without enable_timing=True: it has no time")
            if event._record is None or not event._done():
                raise TimingError(
                    f"{event!r} has not completed: record it and synchronize before asking for a time"
                )
        return float(self.runtime.ask(self.raw.elapsed_time, end.raw))

    def _done(self) -> bool:
        return self._record is None or bool(self.runtime.ask(self.raw.query))

    def _check_is_point(self, what: str) -> None:
        """Refuse what asks for a time while a capture forbids it, or of a record that is an edge of a graph."""
        if self.capture is not None:
            raise self.capture.no_point(self, what)
        for capture in self.runtime.captures:
            capture.check_may_wait(f"{what} of event {self.name or 'unnamed'}", None)

    def state(self) -> Any:
        """The number of the current record; None when never recorded."""
        return self._record

    def __repr__(self) -> str:
        if self._record is None:
            state = "never recorded"
        elif self.capture is not None:
            state = "an edge of a graph"
        elif self.runtime.captures:
            state = "recorded"  # asking would break the capture
        else:
            state = "done" if self._done() else "pending"
        return f"<event {self.name or 'unnamed'}: {state}>"


class Stream:
    """A CUDA stream with a name; ``raw`` is PyTorch's."""

    def __init__(self, runtime: CudaRuntime, name: str | None = None, raw: Any = None) -> None:
        self.runtime, self.name = runtime, name
        self.raw = raw if raw is not None else runtime.cuda.Stream(device=runtime.index)
        self.capture: Capture | None = None  # what its work goes into, instead of being done
        self.pending: deque[Pending] = deque()
        self.told_ns = self.kernel_ns = 0
        self.error: AsyncError | None = None  # a listener's; raised by the next synchronize
        self._timer: Any = None
        self._closed = False
        runtime.remember(self)

    def record_event(self, event: Event | None = None) -> Event:
        """Record ``event`` (a new one) at this stream's tail, and return it."""
        event = event or Event(self.runtime)
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let this stream's later work wait for the record of ``event`` that is current now."""
        rt = self.runtime
        if getattr(event, "runtime", None) is not rt:
            raise MixedRuntimes(f"{self!r} cannot wait for {event!r}: it belongs to another runtime")
        self._check_open()
        capture = self.capture or event.capture
        if capture is not None:
            capture.check_wait(self, event)
        number = event.state()
        if (host := rt.hooks.host) is not None:
            host("event.wait", event, (self, number))
        if number is None:
            return  # never recorded: CUDA does nothing either
        start = rt.timing.twin(self.raw)
        rt.ask(self.raw.wait_event, event.raw)
        if capture is not None:
            capture.joins(self)
            return
        end = rt.timing.twin(self.raw)
        rt.timing.expect("wait", self, lambda *at: (event, number, *at), start, end)
        rt.timing.look()

    def wait_stream(self, stream: Stream) -> None:
        """Let this stream's later work wait for all that ``stream`` holds now."""
        if getattr(stream, "runtime", None) is not self.runtime:
            raise MixedRuntimes(f"{self!r} cannot wait for {stream!r}: it belongs to another runtime")
        self.wait_event(stream.record_event())

    def query(self) -> bool:
        """True when all queued work is done."""
        for capture in self.runtime.captures:
            capture.check_may_wait("query", self)
        return bool(self.runtime.ask(self.raw.query))

    def synchronize(self) -> None:
        """Block until all queued work is done; raise what failed in it."""
        self._check_open()
        for capture in self.runtime.captures:
            capture.check_may_wait("synchronize", self)
        self.runtime.wait_for(self.raw, "stream.synchronize", self)

    def close(self) -> None:
        """Take no more work; what is queued goes on. PyTorch keeps the CUDA stream for others."""
        self._closed = True
        self.runtime.forget(self)

    def timer(self) -> Any:
        """The CUDA stream that takes the time of this one's launches; see ``cuda_wire``."""
        if self._timer is None:
            self._timer = self.runtime.cuda.Stream(device=self.runtime.index)
        return self._timer

    def raise_error(self) -> None:
        """Raise what has gone wrong here beside the device, once."""
        if (error := self.error) is not None:
            self.error = None
            raise AsyncError(str(error)) from error.__cause__

    def _check_open(self) -> None:
        if self._closed:
            raise StreamClosed(f"{self!r} is closed and takes no more work")

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"CUDA stream {self.raw.stream_id}"
        return f"<stream {self.name or 'unnamed'}: {state}>"
