"""How much communication is hidden behind computation.

Busy times are unions of intervals, so nothing is counted twice. What is communication is said by the class of
each kernel, or by a rule that the reader gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..errors import BadArgument
from ..trace.model import Notice, Span, Trace
from .intervals import Intervals, difference, intersection, length, union

CommRule = Callable[[Span], bool]


@dataclass(frozen=True)
class Overlap:
    """Times in nanoseconds; the intervals behind each number are in ``intervals`` under its name.

    ``makespan_ns`` is from a step's beginning to its last device span; several steps are added up.
    ``overlap_ratio`` is the share of communication that ran while something was computed; None where
    communication has no stream of its own. ``exposed_comm_ns`` is communication while nothing was computed.
    ``hidden_transfer_ns`` is time in flight while something was computed. ``recv_spin_ns``, an estimate, is how
    long receives waited for data that was not there yet.
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
    notices: tuple[Notice, ...]
    intervals: dict[str, Intervals] = field(repr=False, compare=False)


def overlap(trace: Trace, comm: CommRule | None = None, *, step: int | None = None) -> Overlap:
    """Measure one step, or the whole trace.

    ``comm`` decides for a kernel span whether it communicates, instead of its class.

    >>> overlap(trace).overlap_ratio  # doctest: +SKIP
    0.93
    """
    if step is not None and step not in trace.steps:
        raise BadArgument(f"this trace has the steps {list(trace.steps)}, not {step}")
    spans = trace.spans
    chosen = spans.mask() if step is None else spans.mask(step=step)
    kernel = chosen & spans.mask(cat="kernel")
    is_comm = kernel & _is_comm(trace, kernel, comm)
    is_compute = kernel & ~is_comm & (spans.mask(cls="compute") if comm is None else True)
    flying = chosen & spans.mask(cat="transfer")
    sets = {
        "compute_busy_ns": _intervals(trace, is_compute),
        "comm_busy_ns": _intervals(trace, is_comm),
        "transfer_ns": _intervals(trace, flying),
    }
    sets["overlap_ns"] = intersection(sets["comm_busy_ns"], sets["compute_busy_ns"])
    sets["exposed_comm_ns"] = difference(sets["comm_busy_ns"], sets["compute_busy_ns"])
    sets["hidden_transfer_ns"] = intersection(sets["transfer_ns"], sets["compute_busy_ns"])
    sets["recv_spin_ns"] = _spins(trace, sets["transfer_ns"], is_comm)
    own = _own_stream(trace, is_comm, is_compute)
    busy = length(sets["comm_busy_ns"])
    ratio = length(sets["overlap_ns"]) / busy if own and busy else None
    return Overlap(
        makespan_ns=_makespan(trace, chosen & (kernel | flying), step),
        kernels=int(kernel.sum()),
        operations=_operations(trace, kernel),
        overlap_ratio=ratio,
        unclassified=_names(trace, kernel & spans.mask(cls="other")) if comm is None else (),
        notices=() if own or not busy else (_NO_STREAM,),
        intervals=sets,
        **{name: length(found) for name, found in sets.items()},
    )


_NO_STREAM = Notice(
    "no_comm_stream",
    1,
    "communication shares its stream with computation: there is no overlap ratio; see transfers",
)


def _is_comm(trace: Trace, kernel: np.ndarray, rule: CommRule | None) -> np.ndarray:
    if rule is None:
        return trace.spans.mask(cls="comm")
    found = np.zeros(len(kernel), dtype=bool)
    for row in np.flatnonzero(kernel):
        found[row] = rule(trace.spans[int(row)])
    return found


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


def _makespan(trace: Trace, device: np.ndarray, step: int | None) -> int:
    """From a step's beginning to its last device span, over all steps; without steps, of the device spans."""
    spans, events = trace.spans, trace.events
    if step is None and trace.steps:
        each = (device & (spans["step"] == one) for one in trace.steps)
        return sum(_makespan(trace, of_one, one) for of_one, one in zip(each, trace.steps, strict=True))
    if not device.any():
        return 0
    begins = events["t_ns"][events.mask(kind="step.begin", step=step)]
    start = min([int(spans["start_ns"][device].min()), *begins.tolist()])
    return int(spans["end_ns"][device].max()) - start
