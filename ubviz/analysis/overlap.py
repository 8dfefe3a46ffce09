"""How much communication is hidden behind computation.

Busy times are unions of intervals, so nothing is counted twice. What is communication is said by the class of
each kernel, or by a rule that the reader gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import BadArgument
from ..trace.model import Notice, Trace
from .classes import CommRule, classified
from .intervals import Intervals, difference, intersection, length, union
from .windows import windows


@dataclass(frozen=True)
class Overlap:
    """Times in nanoseconds; the intervals behind each number are in ``intervals`` under its name.

    ``makespan_ns`` is from a step's beginning to its last device span; several steps are added up.
    ``overlap_ratio`` is the share of communication that ran while something was computed; None where
    communication has no stream of its own. ``exposed_comm_ns`` is communication while nothing was computed.
    ``hidden_transfer_ns`` is time in flight while something was computed. ``recv_spin_ns``, an estimate, is how
    long receives waited for data that was not there yet. ``unclassified`` are the names of kernels of which it is
    not said what they are; of so many it is said: ``classified``.
    """

    makespan_ns: int
    kernels: int
    operations: int
    compute_busy_ns: int
    comm_busy_ns: int
    overlap_ns: int
    overlap_ratio: float | None
    exposed_comm_ns: int
    transfer_ns: int
    hidden_transfer_ns: int
    recv_spin_ns: int
    unclassified: tuple[str, ...]
    classified: int
    notices: tuple[Notice, ...]
    intervals: dict[str, Intervals] = field(repr=False, compare=False)


def overlap(trace: Trace, comm: CommRule | None = None, *, step: int | None = None) -> Overlap:
    """Measure one step, or the whole trace.

    ``comm`` says what communicates, instead of the kernels' classes (``classified``). Of several ranks, busy times
    and what is made of them are added up: one rank's communication is not hidden behind another one's work.

    >>> overlap(trace).overlap_ratio  # doctest: +SKIP
    0.93
    """
    if step is not None and step not in trace.steps:
        raise BadArgument(f"this trace has the steps {list(trace.steps)}, not {step}")
    trace = classified(trace, comm)
    spans = trace.spans
    chosen = spans.mask() if step is None else spans.mask(step=step)
    kernel, flying = chosen & spans.mask(cat="kernel"), chosen & spans.mask(cat="transfer")
    is_comm, is_compute = kernel & spans.mask(cls="comm"), kernel & spans.mask(cls="compute")
    sets = _sets(trace, is_comm, is_compute, flying)
    own = _own_stream(trace, is_comm, is_compute)
    busy = length(sets["comm_busy_ns"])
    ratio = length(sets["overlap_ns"]) / busy if own and busy else None
    within = windows(trace)
    return Overlap(
        makespan_ns=sum(end - start for of, (start, end) in within.items() if step is None or of == step),
        kernels=int(kernel.sum()),
        operations=_operations(trace, kernel),
        overlap_ratio=ratio,
        unclassified=_names(trace, kernel & ~_known(trace)),
        classified=int((kernel & _known(trace)).sum()),
        notices=() if own or not busy else (_NO_STREAM,),
        intervals=sets,
        **{name: length(found) for name, found in sets.items()},
    )


_NO_STREAM = Notice(
    "no_comm_stream",
    1,
    "communication shares its stream with computation: there is no overlap ratio; see transfers",
)


def _sets(
    trace: Trace, is_comm: np.ndarray, is_compute: np.ndarray, flying: np.ndarray
) -> dict[str, Intervals]:
    """The intervals of each number; of several ranks, each is a device of its own, and they are put together."""
    rank = trace.spans["rank"]
    found = np.unique(rank[is_comm | is_compute | flying]).tolist() or [0]
    each = []
    for of in found:
        here = rank == of
        compute, comm = _intervals(trace, is_compute & here), _intervals(trace, is_comm & here)
        transfer = _intervals(trace, flying & here)
        each.append({
            "compute_busy_ns": compute, "comm_busy_ns": comm, "transfer_ns": transfer,
            "overlap_ns": intersection(comm, compute), "exposed_comm_ns": difference(comm, compute),
            "hidden_transfer_ns": intersection(transfer, compute),
            "recv_spin_ns": _spins(trace, transfer, is_comm & here),
        })  # fmt: skip
    return {name: np.concatenate([sets[name] for sets in each]) for name in each[0]}


def _known(trace: Trace) -> np.ndarray:
    """Of which spans it is said what they are: computation, communication or a copy."""
    codes, pool = trace.spans.codes("cls")
    return np.isin(codes, [i for i, cls in enumerate(pool) if cls != "other"])


def _intervals(trace: Trace, mask: np.ndarray) -> Intervals:
    return union(np.stack([trace.spans["start_ns"][mask], trace.spans["end_ns"][mask]], axis=1))


def _own_stream(trace: Trace, is_comm: np.ndarray, is_compute: np.ndarray) -> bool:
    lanes = trace.spans["lane"]
    return not set(lanes[is_comm].tolist()) & set(lanes[is_compute].tolist())


def _spins(trace: Trace, in_flight: Intervals, is_comm: np.ndarray) -> Intervals:
    """Receives that run while their data is still in flight."""
    spans = trace.spans
    received = np.zeros(len(spans), dtype=bool)
    flows = trace.flows
    received[flows["to_row"][flows.mask(kind="send -> receive", to_table="spans")]] = True
    return intersection(_intervals(trace, is_comm & received), in_flight)


def _operations(trace: Trace, kernel: np.ndarray) -> int:
    """Distinct (step, microbatch, layer, operation) among kernels."""
    spans = trace.spans
    code, _ = spans.codes("operation")
    named = kernel & (code >= 0)
    rows = [spans[name][named] for name in ("step", "ubatch", "layer")] + [code[named].astype(np.int64)]
    return len(np.unique(np.stack(rows, axis=1), axis=0)) if named.any() else 0


def _names(trace: Trace, mask: np.ndarray) -> tuple[str, ...]:
    codes, pool = trace.spans.codes("name")
    return tuple(sorted({pool[code] for code in codes[mask]}))
