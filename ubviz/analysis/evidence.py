"""What each number of an analysis is made of: stretches of time, and the rows that they were taken from.

A duration has disjoint stretches that it is the sum of (of several ranks, disjoint within each). A count has one
stretch for each thing that is counted. A ratio has those of what is divided, and the net gain those of the steps that
it is a median of. Names of nested numbers are paths: ``"streams.comm.busy_ns"``, ``"ubatches.0.yields"``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..trace.model import MISSING, Trace
from .contention import Contention, Sorted
from .gaps import Gaps
from .intervals import Intervals, union
from .overlap import Overlap
from .steps import Step
from .windows import DEVICE

NONE = np.empty(0, dtype=np.int64)


class Shown(NamedTuple):
    """Stretches of time [n, 2], and the rows of ``trace.spans`` and of ``trace.events`` behind them."""

    intervals: Intervals
    spans: np.ndarray = NONE
    events: np.ndarray = NONE


Evidence = dict[str, Shown]


def times_of(trace: Trace, rows: np.ndarray) -> Intervals:
    """[start, end) of spans."""
    return np.stack([trace.spans["start_ns"][rows], trace.spans["end_ns"][rows]], axis=1)


def of_overlap(trace: Trace, found: Overlap) -> Evidence:
    """Of the numbers of ``overlap``."""
    spans, sets = trace.spans, found.intervals
    kernel, flying = spans.mask(cat="kernel"), spans.mask(cat="transfer")
    comm, compute = kernel & spans.mask(cls="comm"), kernel & spans.mask(cls="compute")
    received = np.zeros(len(spans), dtype=bool)
    flows = trace.flows
    received[flows["to_row"][flows.mask(kind="send -> receive", to_table="spans")]] = True
    masks = {
        "compute_busy_ns": compute, "comm_busy_ns": comm, "overlap_ns": comm | compute, "exposed_comm_ns": comm,
        "transfer_ns": flying, "hidden_transfer_ns": flying | compute, "recv_spin_ns": comm & received,
    }  # fmt: skip
    made = {name: Shown(sets[name], _touching(trace, mask, sets[name])) for name, mask in masks.items()}
    rows = np.flatnonzero(kernel)
    named = np.flatnonzero(kernel & (spans.codes("operation")[0] >= 0))
    unclassified = np.flatnonzero(kernel & np.isin(spans["name"], found.unclassified) & ~comm & ~compute)
    return made | {
        "overlap_ratio": made["overlap_ns"],
        "kernels": Shown(times_of(trace, rows), rows),
        "operations": Shown(_operations(trace, named), named),
        "unclassified": Shown(times_of(trace, unclassified), unclassified),
    }


def _touching(trace: Trace, mask: np.ndarray, intervals: Intervals) -> np.ndarray:
    """Spans of a mask that share time with some stretch."""
    rows = np.flatnonzero(mask)
    whole = union(intervals)
    if not len(whole):
        return NONE
    start, end = trace.spans["start_ns"][rows], trace.spans["end_ns"][rows]
    at = np.minimum(np.searchsorted(whole[:, 1], start, side="right"), len(whole) - 1)
    return rows[(whole[at, 0] < end) & (whole[at, 1] > start)]


def _operations(trace: Trace, rows: np.ndarray) -> Intervals:
    """From the first start to the last end of each operation."""
    if not len(rows):
        return np.empty((0, 2), dtype=np.int64)
    spans = trace.spans
    keys = [spans[name][rows] for name in ("step", "ubatch", "layer")]
    keys.append(spans.codes("operation")[0][rows].astype(np.int64))
    _, of = np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)
    of = of.ravel()
    low, high = np.full(of.max() + 1, 2**63 - 1), np.full(of.max() + 1, MISSING)
    np.minimum.at(low, of, spans["start_ns"][rows])
    np.maximum.at(high, of, spans["end_ns"][rows])
    return np.stack([low, high], axis=1)


def of_steps(
    trace: Trace, each: list[tuple[Step, Overlap]], within: dict[int | None, tuple[int, int]]
) -> Evidence:
    """Of the makespan, and of each step's numbers."""
    device = trace.spans.mask(cat=DEVICE[0]) | trace.spans.mask(cat=DEVICE[1])
    found: Evidence = {}
    ubatches = _ubatches(trace)
    rows = np.flatnonzero(device)
    of_row = trace.spans["step"][rows]
    order = np.argsort(of_row, kind="stable")
    rows, of_row = rows[order], of_row[order]
    for step, measured in each:
        first, last = (
            (0, len(rows))
            if step.step is None
            else np.searchsorted(of_row, [step.step, step.step + 1]).tolist()
        )
        mine = np.sort(rows[first:last])
        window = _rows([within[step.step]]) if step.step in within else _rows([])
        found[f"steps.{step.step}.ubatches"] = Shown(ubatches.get(step.step, _rows([])))
        found[f"steps.{step.step}.makespan_ns"] = Shown(window, mine)
        found[f"steps.{step.step}.overlap_ratio"] = Shown(measured.intervals["overlap_ns"], mine)
    whole = _rows(within.values())
    return found | {"makespan_ns": Shown(whole, np.sort(rows)), "net_gain_ns": Shown(whole, np.sort(rows))}


def _ubatches(trace: Trace) -> dict[int | None, Intervals]:
    """Step -> from the first to the last that each of its microbatches did, on the host or on the device."""
    events, spans = trace.events, trace.spans
    step, ubatch = (np.concatenate([events[name], spans[name]]) for name in ("step", "ubatch"))
    low = np.concatenate([events["t_ns"], spans["start_ns"]])
    high = np.concatenate([np.maximum(events["t_ns"], events["until_ns"]), spans["end_ns"]])
    of_one = (ubatch != MISSING) & ((step != MISSING) | (not trace.steps))
    if not trace.steps:
        step = np.zeros(len(step), dtype=np.int64)
    keys, of = np.unique(np.stack([step[of_one], ubatch[of_one]], axis=1), axis=0, return_inverse=True)
    first, last = np.full(len(keys), 2**63 - 1), np.full(len(keys), MISSING)
    np.minimum.at(first, of.ravel(), low[of_one])
    np.maximum.at(last, of.ravel(), high[of_one])
    times = np.stack([first, last], axis=1)
    cuts = np.flatnonzero(np.diff(keys[:, 0])) + 1
    each = zip(np.split(keys[:, 0], cuts), np.split(times, cuts), strict=True)
    return {int(step[0]) if trace.steps else None: of for step, of in each if len(step)}


def _rows(pairs: object) -> Intervals:
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)  # type: ignore[call-overload]


def of_gaps(idle: Gaps) -> Evidence:
    """Of the number of idle stretches, and of their time."""
    return {"gaps_total": Shown(idle.intervals), "gaps_ns": Shown(idle.intervals)}


def of_contention(trace: Trace, found: dict[str, tuple[Contention, Sorted]]) -> Evidence:
    """Of the kernels that were compared."""
    made: Evidence = {}
    for name, (_, rows) in found.items():
        for what in ("overlapped", "alone", "partly"):
            of = getattr(rows, what)
            made[f"contention.{name}.{what}"] = Shown(times_of(trace, of), of)
        both = np.sort(np.concatenate([rows.overlapped, rows.alone]))
        made[f"contention.{name}.ratio"] = Shown(times_of(trace, both), both)
    return made
