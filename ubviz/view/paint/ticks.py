"""Durations as people write them, and the marks of a ruler."""

from __future__ import annotations

import math

UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))


def duration(ns: float) -> str:
    """A duration with three digits at most.

    >>> duration(422_000), duration(1_234_567), duration(999), duration(0)
    ('422 µs', '1.23 ms', '999 ns', '0 ns')
    """
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    for size, unit in UNITS:
        if round_3(ns) >= size:
            return f"{sign}{plain(round_3(ns / size))} {unit}"
    return f"{sign}{plain(round_3(ns))} ns"


def round_3(value: float) -> float:
    """Three significant digits (all of a whole number)."""
    if value == 0:
        return 0.0
    digits = 2 - math.floor(math.log10(abs(value)))
    return round(value, max(digits, 0))


def plain(value: float) -> str:
    """A number without needless zeros.

    >>> plain(2.50), plain(400.0)
    ('2.5', '400')
    """
    return f"{value:.10f}".rstrip("0").rstrip(".")


def nice(raw: float) -> int:
    """The next of 1, 2, 5, 10, 20 ... at or above, in nanoseconds.

    >>> nice(31), nice(0.2)
    (50, 1)
    """
    power = 10 ** math.floor(math.log10(max(raw, 1)))
    return next(int(step * power) for step in (1, 2, 5, 10) if step * power >= raw * (1 - 1e-9))


def ruler(span_ns: float, room: float, apart: float) -> list[tuple[int, str]]:
    """Where the ruler is marked and what is written there, all in one unit.

    >>> ruler(422_000, room=850, apart=90)[:3]
    [(0, '0 µs'), (50000, '50 µs'), (100000, '100 µs')]
    """
    step = nice(span_ns / max(room / apart, 1))
    last = int(span_ns // step) * step
    size, unit = next(
        ((s, u) for s, u in UNITS if s <= max(last, 1) and (step >= s or step * 100 >= s)), UNITS[-1]
    )
    return [(at, f"{plain(round(at / size, 6))} {unit}") for at in range(0, last + 1, step)]
