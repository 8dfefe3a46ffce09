"""What things cost. Each module here has ``rows()``; ``make bench`` prints them beside what is wanted.

A ratio compares two things in one run, in turns: on a busy machine both slow down together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter_ns
from typing import NamedTuple

PAIRS = 30


class Row(NamedTuple):
    """One measured figure; ``bound`` is the most it is wanted to be, or None where it is only shown."""

    what: str
    value: float
    unit: str
    bound: float | None = None

    @property
    def within(self) -> bool:
        return self.bound is None or self.value <= self.bound


def in_turns(*measure: Callable[[], float], rounds: int = PAIRS) -> list[list[float]]:
    """What each gives in every round, measured in turns; every other round the other way round."""
    found: list[list[float]] = [[] for _ in measure]
    for i in range(rounds):
        order = range(len(measure)) if i % 2 == 0 else reversed(range(len(measure)))
        for j in order:
            found[j].append(measure[j]())
    return found


def ratio(ours: Sequence[float], plain: Sequence[float]) -> float:
    """The median of the ratios within each round: what slows down a whole round is not in it."""
    return median(a / b for a, b in zip(ours, plain, strict=True))


def timed(run: Callable[[], object]) -> float:
    """Nanoseconds that ``run()`` takes."""
    start = perf_counter_ns()
    run()
    return float(perf_counter_ns() - start)
