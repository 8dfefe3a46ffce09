"""The anchor of a CUDA device's times: a completed event whose place on the host's clock is well known.

It is recorded on a stream of its own, which is always idle, so that it is done at once: it is asked a few times in a
row, and so known to some microseconds. If it is not done by then, a later look takes it. The arithmetic is in
``cuda_clock``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .cuda_clock import (
    DRIFT_PPM,
    REANCHOR_NS,
    Fit,
    Seen,
    centred,
    elapsed_error_ns,
    error_ns,
    observe,
    widened,
)

if TYPE_CHECKING:
    from .cuda import CudaRuntime

_ASK = 20  # times in a row, about 1 us each, whether a new anchor is done
_FIRST_ANCHORS = 5  # the best of so many: the first call of a kind is slow


class Twin(NamedTuple):
    """An event with timing, and the host's clock before it was recorded."""

    event: Any
    after_ns: int


class Clock:
    """The anchor, and what is known of the offset between the device's clock and the host's."""

    def __init__(self, runtime: CudaRuntime) -> None:
        self._now, self._cuda = runtime.now_ns, runtime.cuda
        self._stream = self._cuda.Stream(device=runtime.index)  # nobody else's, so that it is always idle
        self._fit: Fit | None = None
        self._anchor: Any = None
        self._anchor_ns = 0  # in device time
        self._anchored_ns = 0  # on the host's clock
        self._coming: Twin | None = None
        self.anchors = self.worst_ns = 0

    def start(self) -> None:
        """Take the first anchors; waits for the clock's own stream, so it comes before anything is recorded."""
        for _ in range(_FIRST_ANCHORS):
            twin = self._record()
            twin.event.synchronize()
            self._take(twin, self._now())
        self._fit = centred(self.fit)

    def _record(self) -> Twin:
        event = self._cuda.Event(enable_timing=True)
        after_ns = self._now()
        event.record(self._stream)
        return Twin(event, after_ns)

    def _take(self, twin: Twin, before_ns: int) -> None:
        """Make a completed twin the anchor."""
        if self._anchor is None:
            self._anchor, device_ns = twin.event, 0
            self._fit = observe(None, Seen(0, 0, twin.after_ns, before_ns))
        else:
            device_ns, error = self.see(twin, before_ns)
            self._fit = widened(self.fit, error)
        self._anchor, self._anchor_ns, self._anchored_ns = twin.event, device_ns, before_ns
        self.anchors += 1

    def renew(self) -> None:
        """Let a newer anchor take the place of an old one, as soon as it has completed."""
        if self._coming is None:
            if self._now() - self._anchored_ns < REANCHOR_NS:
                return
            self._coming = self._record()
        for _ in range(_ASK):
            if self._coming.event.query():
                self._take(self._coming, self._now())
                self._coming = None
                return

    @property
    def fit(self) -> Fit:
        assert self._fit is not None
        return self._fit

    def see(self, twin: Twin, before_ns: int) -> tuple[int, int]:
        """Device time of a completed twin and its error; what it says of the offset is taken into account."""
        ms = self._anchor.elapsed_time(twin.event)
        device_ns, error = self._anchor_ns + round(ms * 1e6), elapsed_error_ns(ms)
        self._fit = observe(self._fit, Seen(device_ns, error, twin.after_ns, before_ns))
        return device_ns, error

    def place(self, device_ns: int, own_error_ns: int) -> int:
        """The same moment on the host's clock; its error goes into ``worst_ns``."""
        self.worst_ns = max(self.worst_ns, error_ns(self.fit, device_ns, own_error_ns))
        return device_ns + self.fit.offset_ns

    def describe(self) -> dict[str, Any]:
        """What bounds the error of device times on the host's clock."""
        error = self.worst_ns or error_ns(self.fit, self._anchor_ns, 0)
        return {
            "source": "events on the device", "error_ns": error, "drift_ppm": DRIFT_PPM, "anchors": self.anchors,
            "resets": self.fit.resets,
        }  # fmt: skip
