"""Contention: how much longer a kernel takes while another class of work runs beside it.

Kernels on different streams share the device, so overlap is not gain. For each kernel of an
operation, the median duration of the
kernels that run overlapped (computation during communication, and the other way round) over the median of those
that run alone. Between the two, a kernel that is overlapped for less than half of its time is *partly* overlapped,
and takes no part. Not known: what would have been without the overlap; tokens and sizes are not compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..trace.model import Trace
from .classes import CommRule, classified
from .intervals import Intervals, union

ALONE, PARTLY, OVERLAPPED = range(3)


@dataclass(frozen=True)
class Contention:
    """``ratio`` is None where no kernel of the name ran overlapped, or none alone."""

    ratio: float | None
    overlapped: int
    alone: int
    partly: int


class Sorted(NamedTuple):
    """Rows of the spans that were compared."""

    overlapped: np.ndarray
    alone: np.ndarray
    partly: np.ndarray


def contention(trace: Trace, comm: CommRule | None = None) -> dict[str, Contention]:
    """By kernel; where an operation is made of several, ``"experts: matmul"``.

    >>> contention(trace)["experts"].ratio  # doctest: +SKIP
    1.08
    """
    return {name: found for name, (found, _) in compared(classified(trace, comm)).items()}


def compared(trace: Trace) -> dict[str, tuple[Contention, Sorted]]:
    """``contention``, with the kernels that were compared."""
    spans = trace.spans
    kernel = spans.mask(cat="kernel")
    is_comm = kernel & spans.mask(cls="comm")
    rows = np.flatnonzero(kernel)
    if not len(rows):
        return {}
    times = np.stack([spans["start_ns"][rows], spans["end_ns"][rows]], axis=1)
    beside = np.zeros(len(rows), dtype=np.int64)
    for rank in np.unique(spans["rank"][rows]):  # each rank is a device of its own
        here = spans["rank"][rows] == rank
        for these in (here & is_comm[rows], here & ~is_comm[rows]):
            beside[these] = covered_ns(union(times[here & ~these]), times[these])
    lasts = times[:, 1] - times[:, 0]
    state = np.where(beside == 0, ALONE, np.where(2 * beside >= lasts, OVERLAPPED, PARTLY))
    name, names = spans.codes("name")
    operation, _ = spans.codes("operation")
    group = operation[rows].astype(np.int64) * len(names) + name[rows]
    order = np.argsort(group, kind="stable")
    cuts = np.flatnonzero(np.diff(group[order])) + 1
    groups: dict[str, list[np.ndarray]] = {}
    for these in np.split(order, cuts):
        span = spans[int(rows[these[0]])]
        label = span.name if span.operation in (None, span.name) else f"{span.operation}: {span.name}"
        groups.setdefault(label, []).append(these)
    return {label: _compared(rows, lasts, state, np.concatenate(of)) for label, of in sorted(groups.items())}


def _compared(
    rows: np.ndarray, lasts: np.ndarray, state: np.ndarray, these: np.ndarray
) -> tuple[Contention, Sorted]:
    alone, partly, overlapped = (these[state[these] == which] for which in (ALONE, PARTLY, OVERLAPPED))
    known = len(alone) and len(overlapped) and np.median(lasts[alone]) > 0
    ratio = round(float(np.median(lasts[overlapped]) / np.median(lasts[alone])), 4) if known else None
    found = Contention(ratio, len(overlapped), len(alone), len(partly))
    return found, Sorted(np.sort(rows[overlapped]), np.sort(rows[alone]), np.sort(rows[partly]))


def covered_ns(a: Intervals, times: np.ndarray) -> np.ndarray:
    """How much of each [start, end) of ``times`` lies in the set ``a``.

    >>> covered_ns(np.array([[0, 10], [20, 30]]), np.array([[5, 25], [12, 13]])).tolist()
    [10, 0]
    """
    if not len(a):
        return np.zeros(len(times), dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(a[:, 1] - a[:, 0])])

    def until(t: np.ndarray) -> np.ndarray:
        i = np.searchsorted(a[:, 0], t, side="right")
        last = a[np.maximum(i - 1, 0)]
        inside = np.where(i > 0, np.minimum(t, last[:, 1]) - last[:, 0], 0)
        reached: np.ndarray = before[np.maximum(i - 1, 0)] + inside
        return reached

    return until(times[:, 1]) - until(times[:, 0])
