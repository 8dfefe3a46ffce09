"""Streams, events and links of the virtual runtime: a stream is a time at which it is free.

1. An item (a kernel, a record, a wait) is carried out when it is given, if everything that it needs is known: it
   starts when the thread has launched it and the stream is free, and moves that time on. Its function runs then.
2. Only a kernel that receives data whose sender has not been launched has to stay, and what comes behind it, and
   what waits for that. They are carried out when the sender is launched, at the times that follow.
3. Kernels, records, waits and transfers are told as they are carried out, with their times.
4. Whether a record has been reached is asked at the asking thread's time: an event may be done later than now.
5. An error in a kernel's function sticks to the stream as on the other runtimes: later items are skipped, waits carry
   it on, and the next synchronize raises it.

A link carries transfers in the order in which their senders are launched.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import AsyncError, MixedRuntimes, StreamClosed, TimingError
from .base import Launch
from .host_capture import Capture, Edge
from .schedule import Touch
from .virtual_baton import Pending, Runner
from .virtual_sync import object_id

if TYPE_CHECKING:
    from .virtual import VirtualRuntime


class Marker:
    """One recorded point of a stream; ``t_ns`` is None until it is known when it is reached."""

    __slots__ = ("error", "record", "stream", "t_ns", "waiters")
    capture: Capture | None = None

    def __init__(self, stream: Stream, record: int | None = None) -> None:
        self.stream, self.record = stream, record
        self.t_ns: int | None = None
        self.error: AsyncError | None = None
        self.waiters: list[Stream] = []

    def reached(self, now_ns: int) -> bool:
        return self.t_ns is not None and self.t_ns <= now_ns


class Reached(Pending):
    """To find a marker reached."""

    __slots__ = ("marker",)

    def __init__(self, marker: Marker) -> None:
        super().__init__("host.wait", marker.stream, marker.stream.touches)
        self.marker = marker

    def ready_ns(self, runner: Runner) -> int | None:
        t_ns = self.marker.t_ns
        return None if t_ns is None else max(runner.clock_ns, t_ns)


class Event:
    """A point in a stream's work that another stream, or the host, can wait for."""

    def __init__(self, runtime: VirtualRuntime, name: str | None = None, enable_timing: bool = False) -> None:
        self.runtime, self.name, self.enable_timing = runtime, name, enable_timing
        self._marker: Marker | Edge | None = None
        self._records = itertools.count(1)
        self.id = object_id(runtime)

    def pending(self, kind: str, how: str, stream: Stream) -> Pending:
        """A record or a wait of this event on ``stream``."""
        return Pending(kind, self, (*stream.touches, Touch(self.id, how)))

    def record(self, stream: Stream | None = None) -> None:
        rt = self.runtime
        stream = stream or rt.current_stream()
        if getattr(stream, "runtime", None) is not rt:
            raise MixedRuntimes(f"{self!r} cannot be recorded on {stream!r}: it belongs to another runtime")
        stream._check_open()
        me = rt.baton.point(self.pending("event.record", "w", stream))
        rt.flush(me)
        if (capture := stream.capture) is not None:
            self._marker = capture.record(stream, self, next(self._records))  # type: ignore[arg-type]
            return
        marker = Marker(stream, next(self._records))
        if (host := rt.hooks.host) is not None:
            host("event.record", self, (stream, marker.record))
        me.clock_ns += rt.costs.event_ns
        self._marker = marker
        stream.give(stream._fire, marker, self, me.clock_ns)

    def wait(self, stream: Stream | None = None) -> None:
        """Make ``stream`` (the current one) wait for the record that is current now."""
        stream = stream or self.runtime.current_stream()
        stream.wait_event(self)

    def query(self) -> bool:
        self._check_is_point("query")
        me = self.runtime.baton.point(Pending("query", self, (Touch(self.id, "r"),)))
        done = self._marker is None or self._marker.reached(me.clock_ns)
        if (host := self.runtime.hooks.host) is not None:
            host("event.query", self, done)
        return done

    def synchronize(self) -> None:
        """Block until the current record has been reached; raise what failed before it."""
        self._check_is_point("synchronize")
        rt = self.runtime
        rt.flush(rt.baton.me())
        host = rt.hooks.host
        if host is not None:
            host("event.synchronize", self, None)
        try:
            if isinstance(marker := self._marker, Marker):
                marker.stream._join(marker)
        finally:
            if host is not None:
                host("returned", self, None)

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event's record to ``end``'s; both must have completed."""
        if getattr(end, "runtime", None) is not self.runtime:
            raise MixedRuntimes(f"no time goes from {self!r} to {end!r}: it belongs to another runtime")
        begin_ns, end_ns = self._time_ns(), end._time_ns()
        return (end_ns - begin_ns) / 1e6

    def _time_ns(self) -> int:
        self._check_is_point("elapsed_time")
        if not self.enable_timing:
            raise TimingError(f"{self!r} was made without enable_timing=True: it has no time")
        if self._marker is None or not self._marker.reached(self.runtime.now_ns()):
            raise TimingError(
                f"{self!r} has not completed: record it and synchronize before asking for a time"
            )
        assert isinstance(self._marker, Marker)
        assert self._marker.t_ns is not None
        return self._marker.t_ns

    def _check_is_point(self, what: str) -> None:
        """Refuse what asks for a time while a capture forbids it, or of a record that is an edge of a graph."""
        if (marker := self._marker) is not None and marker.capture is not None:
            raise marker.capture.no_point(self, what)  # type: ignore[arg-type]
        for capture in self.runtime.captures:
            capture.check_may_wait(f"{what} of event {self.name or 'unnamed'}", None)

    def state(self) -> Any:
        """The number of the current record; None when never recorded."""
        return self._marker and self._marker.record

    def __repr__(self) -> str:
        marker = self._marker
        if marker is None:
            state = "never recorded"
        elif marker.capture is not None:
            state = "an edge of a graph"
        else:
            state = "done" if marker.reached(self.runtime.now_ns()) else "pending"
        return f"<event {self.name or 'unnamed'}: {state}>"


class Stream:
    """A first-in, first-out queue of device work, in virtual time."""

    def __init__(self, runtime: VirtualRuntime, name: str | None = None) -> None:
        self.runtime, self.name = runtime, name
        self.free_ns = 0
        self.capture: Capture | None = None
        # what cannot be carried out yet
        self._stay: deque[tuple[Callable[..., bool], tuple[Any, ...]]] = deque()
        self._error: AsyncError | None = None
        self._closed = False
        self.id = object_id(runtime)
        self.touches = (Touch(self.id, "q"),)
        runtime.add_stream(self)

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
        me = rt.baton.point(event.pending("event.wait", "r", self))
        rt.flush(me)
        marker = event._marker
        capture = self.capture if marker is None else self.capture or marker.capture
        if capture is not None:
            capture.wait(self, event, marker)  # type: ignore[arg-type]
            return
        if (host := rt.hooks.host) is not None:
            host("event.wait", event, (self, marker and marker.record))
        me.clock_ns += rt.costs.event_ns
        if marker is not None:
            self.give(self._await, marker, event, me.clock_ns)

    def wait_stream(self, stream: Stream) -> None:
        """Let this stream's later work wait for all that ``stream`` holds now."""
        if getattr(stream, "runtime", None) is not self.runtime:
            raise MixedRuntimes(f"{self!r} cannot wait for {stream!r}: it belongs to another runtime")
        self.wait_event(stream.record_event())

    def query(self) -> bool:
        """True when all queued work is done."""
        for capture in self.runtime.captures:
            capture.check_may_wait("query", self)  # type: ignore[arg-type]
        self.runtime.flush(self.runtime.baton.point(Pending("query", self, self.touches)))
        return self.idle()

    def idle(self) -> bool:
        """``query``, for the runtime's own use: never refused, and no point."""
        return not self._stay and self.free_ns <= self.runtime.now_ns()

    def synchronize(self) -> None:
        """Block until all queued work is done; raise what failed in it."""
        self.drain("stream.synchronize", None)

    def drain(self, kind: str, arg: Any) -> None:
        """Synchronize, announced as ``kind``: a synchronize, or a host read that needs the values."""
        self._check_open()
        for capture in self.runtime.captures:
            capture.check_may_wait("synchronize" if arg is None else f"the host read {arg}", self)  # type: ignore[arg-type]
        self.runtime.flush(self.runtime.baton.me())
        host = self.runtime.hooks.host
        if host is not None:
            host(kind, self, arg)
        try:
            self.join_tail()
        finally:
            if host is not None:
                host("returned", self, None)

    def join_tail(self) -> None:
        """Block until what has been given so far is done."""
        marker = Marker(self)
        self.give(self._fire, marker, None, self.runtime.baton.me().clock_ns)
        self._join(marker)

    def close(self) -> None:
        """The stream takes no more work."""
        self.runtime.forget_stream(self)
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StreamClosed(f"{self!r} is closed and takes no more work")

    def _join(self, marker: Marker) -> None:
        self.runtime.baton.wait(Reached(marker))
        if (error := marker.error) is not None:
            if self._error is error:
                self._error = None
            self.runtime.unreported.pop(error, None)
            raise AsyncError(str(error)) from error.__cause__

    # ---- the device's side; none of these raises, and each is False while it cannot be carried out

    def give(self, step: Callable[..., bool], *args: Any) -> None:
        """Carry an item out, now or when it can be."""
        if self._stay or not step(*args):
            self._stay.append((step, args))

    def go_on(self) -> None:
        """Carry out what stayed, as far as it goes."""
        while self._stay:
            step, args = self._stay[0]
            if not step(*args):
                return
            self._stay.popleft()

    def kernel(
        self, name: str, launch: Launch | None, work: tuple[Callable[..., Any] | None, tuple[Any, ...], int, int],
        sends: Flight | None, receives: Flight | None, at_ns: int,
    ) -> bool:  # fmt: skip
        """Run ``work``: a function and its arguments, what it takes, and the least time from start to end."""
        fn, args, takes_ns, least_ns = work
        if self._error is None:
            if receives is not None and not receives.settled:
                receives.waiters.append(self)
                return False
            start = ready = max(at_ns, self.free_ns)
            if receives is not None:
                ready = max(start, receives.arrival_ns)
                self._error = receives.error
            if fn is not None and self._error is None:
                self._call(name, fn, args, ready)
            end = self.free_ns = max(ready + takes_ns, start + least_ns)
            if launch is not None:
                self._tell("kernel", (launch, start, end))
        if sends is not None:
            if self._error is None:
                sends.depart(launch, self.free_ns)
            else:
                sends.lose(self._error)
        return True

    def _call(self, name: str, fn: Callable[..., Any], args: tuple[Any, ...], at_ns: int) -> None:
        try:
            with self.runtime.on_device(at_ns):
                fn(*args)
        except Exception as cause:
            self._fail(name, cause)

    def _fail(self, name: str, cause: BaseException) -> None:
        error = AsyncError(
            f"{name} on stream {self.name or 'unnamed'} failed: {type(cause).__name__}: {cause}"
        )
        error.__cause__ = cause
        self._error = error
        self.runtime.unreported[error] = None

    def _tell(self, kind: str, arg: Any) -> None:
        if (device := self.runtime.hooks.device) is not None:
            try:
                device(kind, self, arg)
            except Exception as cause:
                self._fail(f"the listener to {kind!r}", cause)

    def _fire(self, marker: Marker, event: Event | None, at_ns: int) -> bool:
        t_ns = self.free_ns = max(at_ns, self.free_ns)
        marker.error = self._error
        if event is not None:
            self._tell("record", (event, marker.record, t_ns))
        marker.t_ns = t_ns  # last: nobody is let through before it is told
        self.runtime.wake(marker.waiters)
        return True

    def _await(self, marker: Marker, event: Event | None, at_ns: int) -> bool:
        if marker.t_ns is None:
            marker.waiters.append(self)
            return False
        start = max(at_ns, self.free_ns)
        self.free_ns = max(start, marker.t_ns)
        if marker.error is not None and self._error is None:
            self._error = marker.error  # what depends on a failed stream fails with its error
        if event is not None:
            self._tell("wait", (event, marker.record, start, self.free_ns))
        return True

    def history(self) -> str:
        """For a report of a deadlock."""
        return "it stands still before a receive that nobody has sent" if self._stay else "it is done"

    def __repr__(self) -> str:
        state = f"{len(self._stay)} waiting" if self._stay else f"free at {self.free_ns} ns"
        return f"<stream {self.name or 'unnamed'}: {state}>"


class Flight:
    """One transfer: departs when its sending kernel ends, arrives ``duration_ns`` after its turn on the link."""

    __slots__ = ("arrival_ns", "duration_ns", "error", "link", "nbytes", "settled", "waiters")

    def __init__(self, link: Link, duration_ns: int, nbytes: int) -> None:
        self.link, self.duration_ns, self.nbytes = link, duration_ns, nbytes
        self.arrival_ns = 0
        self.settled = False
        self.error: AsyncError | None = None
        self.waiters: list[Stream] = []

    def depart(self, launch: Launch | None, at_ns: int) -> None:
        """Leave at ``at_ns``, or when the link is free; ``launch`` is what sends."""
        start = max(at_ns, self.link.free_ns)
        self.arrival_ns = self.link.free_ns = start + self.duration_ns
        if (device := self.link.runtime.hooks.device) is not None:
            device("transfer", self.link, (self, launch, start, self.arrival_ns))
        self._settle()

    def lose(self, error: AsyncError) -> None:
        """Never depart, since the sending kernel failed or was skipped."""
        self.error = error
        self._settle()

    def _settle(self) -> None:
        self.settled = True
        self.link.runtime.wake(self.waiters)


class Link:
    """A modelled wire: transfers go one after the other, each for its duration, on no stream."""

    def __init__(self, runtime: VirtualRuntime, name: str = "network") -> None:
        self.runtime, self.name = runtime, name
        self.free_ns = 0

    def flight(self, duration_ns: int, nbytes: int = 0) -> Flight:
        """A transfer to come; give it to a launch as ``sends`` and to a later one as ``receives``."""
        return Flight(self, duration_ns, nbytes)
