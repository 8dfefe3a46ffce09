"""A small ``torch.cuda`` that obeys CUDA's rules, on a clock that moves by itself and never waits.

- A stream is first in, first out; a launch returns at once, and its work begins a little later.
- An event is bound when ``wait`` is called; one that was never recorded is waited for by nobody.
- Times are the device's: a clock that started elsewhere and runs faster or slower, told as float32 milliseconds.
- Captures spread by waits, forbid what would need the device, and must be joined; a query from any thread breaks one.
- An error of the device is told by every later call.

The end of a piece of work follows from what was queued before it, so nothing runs: it is computed when asked for. What
is not faked: memory, several devices, streams that block each other. ``synchronizes`` counts the calls that wait.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

LIMIT_S = 30.0
CYCLES_PER_NS = 2  # of the device's clock, for _sleep
BUSY = "CUDA error: operation not permitted when stream is capturing"


class FakeClock:
    """The host's clock: every look at it takes a moment, and a wait moves it on."""

    def __init__(self, now: int = 5_000_000_000, tick: int = 50) -> None:
        self.now, self.tick = now, tick
        self.lock = threading.RLock()

    def now_ns(self) -> int:
        self.pass_ns(self.tick)
        return self.now

    def pass_ns(self, ns: int) -> None:
        with self.lock:
            self.now += ns


class Work:
    """One item of a stream: what it waits for, how long it takes, and when it is over on the host's clock."""

    def __init__(self, before: Work | None, queued_ns: int, duration_ns: int) -> None:
        self.before, self.queued_ns, self.duration_ns = before, queued_ns, duration_ns
        self.awaits: Work | None = None
        self.gate: Gate | None = None
        self.fails = False
        self.over_ns: int | None = None

    def end(self) -> int | None:
        """When it is over, if what was queued so far decides that."""
        if self.over_ns is None:
            chain: list[Work] = [self]
            while (first := chain[-1].undecided()) is not None:  # no recursion: queues are long
                chain.append(first)
            for work in reversed(chain):
                work.decide()
        return self.over_ns

    def undecided(self) -> Work | None:
        return next((w for w in (self.before, self.awaits) if w is not None and w.over_ns is None), None)

    def decide(self) -> None:
        causes = [
            w.end() if w.over_ns is None else w.over_ns for w in (self.before, self.awaits) if w is not None
        ]
        causes.append(self.gate.set_ns if self.gate is not None else self.queued_ns)
        if None not in causes:
            start = max(self.queued_ns, *(cause for cause in causes if cause is not None))
            self.over_ns, self.before, self.awaits = start + self.duration_ns, None, None


class Gate:
    """What a stream stands still at; set like a ``threading.Event``."""

    def __init__(self, cuda: FakeCuda) -> None:
        self._cuda = cuda
        self.set_ns: int | None = None

    def set(self) -> None:
        with self._cuda.changed:
            if self.set_ns is None:
                self.set_ns = self._cuda.clock.now
            self._cuda.changed.notify_all()


class FakeCuda:
    """One device, with the names of ``torch.cuda``."""

    def __init__(
        self, *, offset_ns: int = 77_000_000_000, drift_ppm: float = 0.0, resolution_ns: int = 32,
        latency_ns: int = 4_000, call_ns: int = 300, sleeps: bool = True,
    ) -> None:  # fmt: skip
        self.clock = FakeClock()
        self.offset_ns, self.drift_ppm, self.resolution_ns = offset_ns, drift_ppm, resolution_ns
        self.latency_ns, self.call_ns = latency_ns, call_ns
        self.changed = threading.Condition(threading.RLock())
        self.local = threading.local()
        self.captures: list[FakeCapture] = []
        self.synchronizes = 0
        self.longest_ms = 0.0  # that an elapsed time was asked for
        self.timed_in_capture = 0
        self.lost: str | None = None
        self._faults: list[Work] = []
        self._ids = 0
        self._default = FakeStream(self)
        self._pool = 0
        if not sleeps:
            self._sleep = None  # type: ignore[method-assign, assignment]

    # ---- the device

    def device_ns(self, host_ns: int) -> int:
        """What the device's clock shows at a moment of the host's, in its own steps."""
        ns = math.floor(self.offset_ns + host_ns * (1 + self.drift_ppm / 1e6))
        return ns // self.resolution_ns * self.resolution_ns

    def call(self) -> None:
        """Every call takes a moment, and tells of an error that has happened."""
        self.clock.pass_ns(self.call_ns)
        for work in self._faults:
            if (end := work.end()) is not None and end <= self.clock.now:
                self.lost = "CUDA error: device-side assert triggered\nand a line of advice"
        if self.lost is not None:
            raise RuntimeError(self.lost)

    def done(self, work: Work | None) -> bool:
        return work is None or ((end := work.end()) is not None and end <= self.clock.now)

    def wait(self, work: Work | None) -> None:
        """Block until ``work`` is over; the clock moves on to that."""
        self.synchronizes += 1
        with self.changed:
            if work is not None:
                assert self.changed.wait_for(lambda: work.end() is not None, LIMIT_S), "it was never over"
                assert work.over_ns is not None
                self.clock.now = max(self.clock.now, work.over_ns)
        self.call()

    def forbid(self) -> None:
        """What a capture does not allow, to any thread, breaks it."""
        for capture in self.captures:
            mine = capture.thread is threading.current_thread()
            if capture.mode == "global" or (capture.mode == "thread_local" and mine):
                capture.broken = True
                raise RuntimeError(BUSY)

    # ---- work for the current stream

    def kernel(self, duration_ns: int, name: str = "kernel") -> None:
        """Plain PyTorch code: a kernel on the current stream."""
        self.current_stream().put(duration_ns, name)

    def fail(self) -> None:
        """A kernel that breaks the device."""
        work = self.current_stream().put(1_000, "fails")
        if work is not None:
            self._faults.append(work)

    def hold(self, gate: Gate) -> None:
        work = self.current_stream().put(0, "gate")
        assert work is not None
        work.gate = gate

    def _sleep(self, cycles: int) -> None:
        self.current_stream().put(cycles // CYCLES_PER_NS, "sleep")

    # ---- torch.cuda

    def Stream(self, device: Any = None) -> FakeStream:
        return FakeStream(self)

    def Event(self, enable_timing: bool = False) -> FakeEvent:
        return FakeEvent(self, enable_timing)

    def CUDAGraph(self) -> FakeGraph:
        return FakeGraph(self)

    def current_stream(self, device: Any = None) -> FakeStream:
        return getattr(self.local, "stream", self._default)

    def default_stream(self, device: Any = None) -> FakeStream:
        return self._default

    def set_stream(self, stream: FakeStream) -> None:
        self.local.stream = stream

    @contextmanager
    def stream(self, stream: FakeStream) -> Iterator[None]:
        before = self.current_stream()
        self.set_stream(stream)
        try:
            yield
        finally:
            self.set_stream(before)

    def device(self, index: int) -> Any:
        return nullcontext()

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def get_device_name(self, index: int) -> str:
        return "a fake"

    def current_blas_handle(self) -> int:
        return 1

    def is_current_stream_capturing(self) -> bool:
        self.call()
        return self.current_stream().capture is not None

    def next_id(self) -> int:
        self._ids += 1
        return self._ids - 1


class FakeStream:
    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda, self.stream_id, self.device_index = cuda, cuda.next_id(), 0
        self.tail: Work | None = None
        self.capture: FakeCapture | None = None

    def put(self, duration_ns: int, name: str) -> Work | None:
        self.cuda.call()
        if self.capture is not None:
            self.capture.node(self, name, duration_ns)
            return None
        with self.cuda.changed:
            self.tail = Work(self.tail, self.cuda.clock.now + self.cuda.latency_ns, duration_ns)
            return self.tail

    def record_event(self, event: FakeEvent | None = None) -> FakeEvent:
        event = event or FakeEvent(self.cuda, False)
        event.record(self)
        return event

    def wait_event(self, event: FakeEvent) -> None:
        self.cuda.call()
        if event.capture is not None:
            event.capture.spread(self, event)
        elif self.capture is not None and event.work is not None:
            self.capture.broken = True
            raise RuntimeError("CUDA error: dependency created on uncaptured work in another stream")
        elif event.work is not None:
            work = self.put(0, "wait")
            assert work is not None
            work.awaits = event.work

    def query(self) -> bool:
        self.cuda.forbid()
        self.cuda.call()
        return self.cuda.done(self.tail)

    def synchronize(self) -> None:
        self.cuda.forbid()
        self.cuda.wait(self.tail)


class FakeEvent:
    def __init__(self, cuda: FakeCuda, enable_timing: bool) -> None:
        self.cuda, self.timed = cuda, enable_timing
        self.work: Work | None = None
        self.capture: FakeCapture | None = None
        self.clock: dict[FakeStream, int] = {}

    def record(self, stream: FakeStream | None = None) -> None:
        stream = stream or self.cuda.current_stream()
        self.work, self.capture = stream.put(0, "record"), stream.capture
        if stream.capture is not None:
            self.clock = dict(stream.capture.clocks[stream])
            self.cuda.timed_in_capture += self.timed

    def wait(self, stream: FakeStream | None = None) -> None:
        (stream or self.cuda.current_stream()).wait_event(self)

    def query(self) -> bool:
        self.cuda.forbid()
        self.cuda.call()
        return self.cuda.done(self.work)

    def synchronize(self) -> None:
        self.cuda.forbid()
        if self.work is not None:
            self.cuda.wait(self.work)

    def elapsed_time(self, end: FakeEvent) -> float:
        self.cuda.forbid()  # PyTorch asks whether both are done
        self.cuda.call()
        if not (self.timed and end.timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.work is None or end.work is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.cuda.done(self.work) and self.cuda.done(end.work)):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        ms = (end.device_ns() - self.device_ns()) / 1e6
        self.cuda.longest_ms = max(self.cuda.longest_ms, abs(ms))
        return float(np.float32(ms))

    def device_ns(self) -> int:
        return self.cuda.device_ns(self.true_ns())

    def true_ns(self) -> int:
        """When it was reached, on the host's clock: what the runtime can only estimate."""
        assert self.work is not None
        assert self.work.over_ns is not None
        return self.work.over_ns


class FakeCapture:
    """A capture under way; each stream's clock counts what of every stream comes before its next node."""

    def __init__(self, origin: FakeStream, mode: str) -> None:
        self.origin, self.mode, self.thread = origin, mode, threading.current_thread()
        self.clocks: dict[FakeStream, dict[FakeStream, int]] = {}
        self.ends: dict[FakeStream, int] = {}  # in the graph's own time
        self.nodes: list[str] = []
        self.broken = False
        self.take(origin)

    def take(self, stream: FakeStream) -> None:
        if stream.capture not in (None, self):
            self.broken = True
            raise RuntimeError("CUDA error: merging of two captures")
        stream.capture = self
        self.clocks.setdefault(stream, {stream: 0})
        self.ends.setdefault(stream, 0)

    def node(self, stream: FakeStream, name: str, duration_ns: int) -> None:
        self.ends[stream] += duration_ns
        if name not in ("record", "wait"):
            self.nodes.append(name)
            self.clocks[stream][stream] += 1

    def spread(self, stream: FakeStream, event: FakeEvent) -> None:
        self.take(stream)
        clock = self.clocks[stream]
        for other, count in event.clock.items():
            clock[other] = max(clock.get(other, 0), count)
            self.ends[stream] = max(self.ends[stream], self.ends[other])

    def unjoined(self) -> bool:
        joined = self.clocks[self.origin]
        return any(joined.get(stream, -1) < clock[stream] for stream, clock in self.clocks.items())


class FakeGraph:
    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda = cuda
        self._capture: FakeCapture | None = None
        self._pool: Any = None
        self.nodes: list[str] = []
        self.duration_ns = 0
        self._last: Work | None = None

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        stream = self.cuda.current_stream()
        self.cuda.call()
        if stream is self.cuda.default_stream():
            raise RuntimeError("CUDA graphs must be captured on a non-default stream.")
        self.cuda._pool += 1
        self._pool = pool if pool is not None else (0, self.cuda._pool)
        self._capture = FakeCapture(stream, capture_error_mode)
        self.cuda.captures.append(self._capture)

    def capture_end(self) -> None:
        capture = self._capture
        assert capture is not None
        self._capture = None
        self.cuda.captures.remove(capture)
        for stream in capture.clocks:
            stream.capture = None
        if (
            capture.thread is not threading.current_thread()
            or self.cuda.current_stream() is not capture.origin
        ):
            raise RuntimeError("CUDA error: attempt to terminate a thread-local capture from another thread")
        if capture.broken:
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")
        if capture.unjoined():
            raise RuntimeError("CUDA error: capturing stream has unjoined work")
        self.nodes, self.duration_ns = capture.nodes, max(capture.ends.values())

    def replay(self) -> None:
        work = self.cuda.current_stream().put(self.duration_ns, "graph")
        assert work is not None
        work.awaits, self._last = self._last, work  # a graph does not run beside itself

    def pool(self) -> Any:
        return self._pool
