"""What the recorder itself takes of the thread that it is told by: measured by telling it some facts, for nobody.

Not here: what a hook costs while nobody listens (``make bench`` has it), and what building the trace takes afterwards.
A thread is held after the time that a fact is given, so a picture may draw the cost behind each trace event.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter_ns
from typing import Any

TIMES, FACTS = 7, 32
"""So often so many facts: about a sixth of a millisecond in all."""


def fact_cost_ns(tell: Callable[[str, Any, Any], None]) -> int:
    """Nanoseconds that one fact takes, the median of some runs, at least 1; ``tell`` is a recording's listener.

    >>> fact_cost_ns(recording.host)  # doctest: +SKIP
    610
    """
    _run(tell)  # the first decides which files are whose
    return max(round(median(_run(tell) for _ in range(TIMES)) / FACTS), 1)


def _run(tell: Callable[[str, Any, Any], None]) -> int:
    begin = perf_counter_ns()
    for _ in range(FACTS):
        tell("mark", None, None)
    return perf_counter_ns() - begin
