"""Placing the device's times on the host's clock: the arithmetic, as functions from value to value.

CUDA tells no time of day, only how many milliseconds lie between two completed events, as a float32. In words:

1. *Device time* is integer nanoseconds: those of the *anchor*, a completed event, plus the time elapsed since.
2. A completed event was reached after the host began to record it, and before the host saw that it was done. So the
   *offset*, host minus device, lies in a band: ``[after - device, before - device]``, wider by the error of 1.
3. The two clocks drift: a band known at one device time is wider at another. Bands of many events are intersected.
4. The offset in use is moved only when the band has left it, and then no further than into the band. So the times
   between events of the device stay its own, and only their common place on the host's clock is uncertain.
5. Float32 milliseconds lose 3.9 us at 60 s, so the anchor is replaced by a newer one at least every second.

Left out: the drift is bounded, not estimated. If two bands do not meet, that bound was wrong (the host's clock was
set, the machine slept): the older one is forgotten and counted in ``resets``.

Source: CUDA runtime API, ``cudaEventElapsedTime`` ("a resolution of around 0.5 microseconds").
"""

from __future__ import annotations

import math
from typing import NamedTuple

RESOLUTION_NS = 500
"""What ``cudaEventElapsedTime`` itself may be off."""

DRIFT_PPM = 100
"""How fast the two clocks are taken to run apart at most; quartzes are within 50 of what they should be."""

REANCHOR_NS = 200_000_000
"""How old an anchor gets before a newer one is recorded. It must have completed within a second of the former."""


def spacing_ns(ms: float) -> float:
    """Nanoseconds between neighbouring float32 numbers at ``ms`` milliseconds.

    >>> spacing_ns(60_000.0)
    3906.25
    """
    return math.ldexp(1e6, math.frexp(ms)[1] - 24)


def elapsed_error_ns(ms: float) -> int:
    """How far an elapsed time of ``ms`` milliseconds, as CUDA gives it, may be from the truth.

    >>> elapsed_error_ns(1_000.0)
    562
    """
    return RESOLUTION_NS + math.ceil(spacing_ns(ms))


def drift_ns(span_ns: int) -> int:
    """How far the two clocks may have run apart in ``span_ns``."""
    return -(-abs(span_ns) * DRIFT_PPM // 1_000_000)


class Seen(NamedTuple):
    """One completed event: where it lies in device time, and between which moments of the host's clock."""

    device_ns: int
    error_ns: int  # of device_ns
    after_ns: int  # the host's clock before it was recorded
    before_ns: int  # the host's clock when it was known to be done


class Band(NamedTuple):
    """Where the offset, host minus device, must lie at a device time."""

    device_ns: int
    low_ns: int
    high_ns: int


class Fit(NamedTuple):
    """What is known of the offset, and the value in use."""

    band: Band
    offset_ns: int
    resets: int = 0


def band_of(seen: Seen) -> Band:
    """What one completed event says of the offset.

    >>> band_of(Seen(device_ns=1_000, error_ns=5, after_ns=7_000, before_ns=7_100))
    Band(device_ns=1000, low_ns=5995, high_ns=6105)
    """
    low = seen.after_ns - seen.device_ns - seen.error_ns
    return Band(seen.device_ns, low, seen.before_ns - seen.device_ns + seen.error_ns)


def moved(band: Band, device_ns: int) -> Band:
    """What a band says at another device time."""
    apart = drift_ns(device_ns - band.device_ns)
    return Band(device_ns, band.low_ns - apart, band.high_ns + apart)


def widened(fit: Fit, error_ns: int) -> Fit:
    """The same fit after device time has got a new anchor, whose own place is uncertain by ``error_ns``."""
    band = fit.band
    return fit._replace(band=Band(band.device_ns, band.low_ns - error_ns, band.high_ns + error_ns))


def centred(fit: Fit) -> Fit:
    """The same fit with the offset in the middle of the band: before anything has been placed with it."""
    return fit._replace(offset_ns=(fit.band.low_ns + fit.band.high_ns) // 2)


def observe(fit: Fit | None, seen: Seen) -> Fit:
    """What is known after one more completed event, in whatever order they are seen.

    >>> first = observe(None, Seen(0, 0, after_ns=100, before_ns=200))
    >>> first.offset_ns
    150
    >>> observe(first, Seen(50, 0, after_ns=220, before_ns=500))
    Fit(band=Band(device_ns=50, low_ns=170, high_ns=201), offset_ns=170, resets=0)
    """
    new = band_of(seen)
    if fit is None:
        return centred(Fit(new, 0))
    at = max(fit.band.device_ns, new.device_ns)
    old, new = moved(fit.band, at), moved(new, at)
    low, high = max(old.low_ns, new.low_ns), min(old.high_ns, new.high_ns)
    if low > high:
        return centred(Fit(new, 0, fit.resets + 1))
    return Fit(Band(at, low, high), min(max(fit.offset_ns, low), high), fit.resets)


def error_ns(fit: Fit, device_ns: int, own_error_ns: int) -> int:
    """How far ``device_ns + fit.offset_ns`` may be from the host's clock at that moment."""
    band = moved(fit.band, device_ns)
    return max(fit.offset_ns - band.low_ns, band.high_ns - fit.offset_ns) + own_error_ns
