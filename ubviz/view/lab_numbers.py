"""The numbers of a Lab, from a plan and its times: as ``analysis.overlap`` measures them, and the bound.

The page works out the same (``frontend/src/lab/numbers.ts``). ``bound_ns`` is the most that one stream, or the link,
has to do with nothing beside it to slow it down: no order of the same work is done sooner.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..analysis.intervals import Intervals, difference, intersection, length, union
from .lab_flow import Factors, lags, times
from .lab_plan import Plan


@dataclass(frozen=True)
class Numbers:
    """Nanoseconds, with the meanings of ``analysis.overlap.Overlap``."""

    makespan_ns: int
    bound_ns: int
    compute_busy_ns: int
    comm_busy_ns: int
    overlap_ns: int
    overlap_ratio: float | None
    exposed_comm_ns: int
    transfer_ns: int
    hidden_transfer_ns: int


def numbers_of(plan: Plan, factors: Factors) -> Numbers:
    """What a plan gives with these factors.

    >>> numbers_of(plan, factors).overlap_ratio  # doctest: +SKIP
    0.875
    """
    time = times(plan, factors)
    starts, ends = [time[p] for p in plan.bars["start"]], [time[p] for p in plan.bars["end"]]
    sets: dict[str, list[tuple[int, int]]] = {"compute": [], "comm": [], "transfer": []}
    lanes = defaultdict(set)
    for start, end, work, lane in zip(starts, ends, plan.bars["work"], plan.bars["lane"], strict=True):
        cls, _, cat = plan.works[work]
        kind = "transfer" if cat == "transfer" else cls
        if kind in sets:
            sets[kind].append((start, end))
            lanes[kind].add(lane)
    compute, comm, transfer = (_union(sets[kind]) for kind in sets)
    both, busy = length(intersection(comm, compute)), length(comm)
    own = not lanes["compute"] & lanes["comm"]
    return Numbers(
        makespan_ns=_makespan(plan, time, starts, ends),
        bound_ns=bound_ns(plan, factors),
        compute_busy_ns=length(compute),
        comm_busy_ns=busy,
        overlap_ns=both,
        overlap_ratio=both / busy if own and busy else None,
        exposed_comm_ns=length(difference(comm, compute)),
        transfer_ns=length(transfer),
        hidden_transfer_ns=length(intersection(transfer, compute)),
    )


def makespan_ns(plan: Plan, factors: Factors) -> int:
    """The makespan alone."""
    time = times(plan, factors)
    return _makespan(plan, time, [time[p] for p in plan.bars["start"]], [time[p] for p in plan.bars["end"]])


def bound_ns(plan: Plan, factors: Factors) -> int:
    """The most that any stream, or the link, has to do."""
    lag = lags(plan, factors)
    work: dict[int, int] = defaultdict(int)
    for lane, edge in zip(plan.bars["lane"], plan.bars["edge"], strict=True):
        work[lane] += lag[edge]
    return max(work.values())


def _makespan(plan: Plan, time: list[int], starts: list[int], ends: list[int]) -> int:
    return max(ends) - min([*starts, *(time[point] for point in plan.begins)])


def _union(spans: list[tuple[int, int]]) -> Intervals:
    return union(np.array(spans, dtype=np.int64).reshape(-1, 2))
