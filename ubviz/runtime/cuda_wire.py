"""Taking time on a CUDA device: durations of launches, and modelled wires.

A duration is waited for on the device: a kernel that spins (``torch.cuda._sleep``, cycles counted once, at the
fastest clock seen, so that it is never too short). With ``fn`` it runs beside it, on a stream of its own, so that the
longer of the two counts. A wire is a stream too: transfers go in the order in which their sends were launched, and a
send is launched before its receive. Where PyTorch has no ``_sleep``, durations and flights are refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import BadArgument, CaptureError, RuntimeUnavailable
from .base import Launch
from .cuda_streams import Stream
from .cuda_timing import Pending

if TYPE_CHECKING:
    from .cuda import CudaRuntime
    from .cuda_capture import Capture


class Sleeper:
    """Kernels that take a given time: the cycles of one nanosecond, counted once."""

    CYCLES = 10_000_000
    ROUNDS = 10

    def __init__(self, runtime: CudaRuntime) -> None:
        self._cuda = cuda = runtime.cuda
        self._rate = 0.0  # cycles a nanosecond
        if getattr(cuda, "_sleep", None) is None:
            return
        with cuda.stream(cuda.Stream(device=runtime.index)):
            for _ in range(self.ROUNDS):  # the first rounds warm the clock up; the fastest counts
                begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
                begin.record()
                cuda._sleep(self.CYCLES)
                end.record()
                end.synchronize()
                self._rate = max(self._rate, self.CYCLES / (begin.elapsed_time(end) * 1e6))

    def empty(self) -> None:
        """Give the current CUDA stream a kernel that does nothing."""
        if self._rate:
            self._cuda._sleep(1)

    def sleep(self, duration_ns: int) -> None:
        """Let the current CUDA stream take ``duration_ns``, or a little more."""
        if not self._rate:
            raise RuntimeUnavailable(
                "this PyTorch has no torch.cuda._sleep, so the device cannot wait for a time"
            )
        self._cuda._sleep(int(duration_ns * self._rate * 1.01) + 1)


def run(
    stream: Stream, fn: Callable[..., Any] | None, args: tuple[Any, ...], duration_ns: int | None
) -> None:
    """What a launch does, with ``stream`` current: ``fn``, and ``duration_ns`` at the least."""
    if fn is not None and duration_ns is not None:
        _beside(stream, fn, args, duration_ns)
    elif fn is not None:
        fn(*args)
    elif duration_ns is not None:
        stream.runtime.sleeper.sleep(duration_ns)
    else:
        stream.runtime.sleeper.empty()


def _beside(stream: Stream, fn: Callable[..., Any], args: tuple[Any, ...], duration_ns: int) -> None:
    rt = stream.runtime
    timer = stream.timer()
    timer.wait_event(point(rt, stream.raw))
    with rt.cuda.stream(timer):
        rt.sleeper.sleep(duration_ns)
    try:
        fn(*args)
    finally:  # in a capture the timer has to come back
        stream.raw.wait_event(point(rt, timer))


def keep(stream: Stream, tensors: Iterable[Any]) -> None:
    """PyTorch's allocator gives their memory to nobody else before the stream has come here."""
    for tensor in tensors:
        if getattr(tensor, "is_cuda", False):
            tensor.record_stream(stream.raw)


def point(rt: CudaRuntime, raw: Any) -> Any:
    """A plain CUDA event, at the tail of a CUDA stream."""
    event = rt.cuda.Event(enable_timing=False)
    rt.ask(event.record, raw)
    return event


class Link:
    """A modelled wire: transfers go one after the other, each for its duration, on no stream of the program."""

    def __init__(self, runtime: CudaRuntime, name: str = "network") -> None:
        self.runtime, self.name = runtime, name
        self.raw = runtime.cuda.Stream(device=runtime.index)
        self.pending: deque[Pending] = deque()
        self.told_ns = 0

    def flight(self, duration_ns: int, nbytes: int = 0) -> Flight:
        """A transfer to come; give it to a launch as ``sends`` and to a later one as ``receives``."""
        return Flight(self, duration_ns, nbytes)


@dataclass(slots=True, eq=False)
class Flight:
    """One transfer: departs when its sending kernel ends, arrives ``duration_ns`` after its turn on the link."""

    link: Link
    duration_ns: int
    nbytes: int
    arrival: Any = None  # the CUDA event at which it is there
    capture: Capture | None = None  # what it was sent in

    def depart(self, stream: Stream, launch: Launch | None) -> None:
        """Leave when the stream has come here, and when the link is free; ``launch`` is what sends."""
        rt, raw = self.link.runtime, self.link.raw
        raw.wait_event(point(rt, stream.raw))
        start = rt.timing.twin(raw)
        with rt.cuda.stream(raw):
            rt.sleeper.sleep(self.duration_ns)
        end = rt.timing.twin(raw)
        self.arrival, self.capture = point(rt, raw), stream.capture
        rt.timing.expect("transfer", self.link, lambda *at: (self, launch, *at), start, end)

    def arrive(self, stream: Stream, launch: str) -> None:
        """Let the stream wait, as a receiving kernel does, until the data is there; ``launch`` is what receives."""
        if stream.capture is not self.capture and stream.capture is not None:
            raise stream.capture.refuse(
                f"the launch {launch} receives a flight that was sent outside the capture of {stream.capture.graph}"
            )
        if self.capture is not stream.capture and self.capture is not None:
            raise CaptureError(
                f"the flight was sent inside the capture of {self.capture.graph}; each replay has its own"
            )
        if self.arrival is None:
            raise BadArgument(
                f"the launch {launch} receives a flight that was not sent yet: on cuda the send is launched first"
            )
        stream.raw.wait_event(self.arrival)
