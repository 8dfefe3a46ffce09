"""Steps: where each one begins and ends, how it ran, and why it was not split.

A step lasts from its ``step.begin`` to the end of its last kernel or transfer. Its mode is what its trace events
show: a capture, a replay, or kernels launched one by one; where there is neither, it is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..trace.model import MISSING, Table, Trace
from .classes import CommRule, classified
from .overlap import Overlap, overlap


@dataclass(frozen=True)
class Step:
    """One step: ``step`` is None where the recording knows no steps. ``why_not`` says, where the microbatches
    did not run overlapped, what the vote or the caller gave as the reason."""

    step: int | None
    ubatches: int
    mode: str
    why_not: str | None
    makespan_ns: int
    overlap_ratio: float | None


def split(trace: Trace) -> dict[int | None, Trace]:
    """Each step's rows as a Trace of its own, without flows; the columns are shared, and it is linear.

    >>> {step: len(part.spans) for step, part in split(trace).items()}  # doctest: +SKIP
    {0: 204}
    """
    if not trace.steps:
        return {None: trace}
    events, spans = _by_step(trace.events), _by_step(trace.spans)
    empty = np.empty(0, dtype=np.int64)
    no_flows = rows_of(trace.flows, empty)
    return {
        step: Trace(
            rows_of(trace.events, events.get(step, empty)), rows_of(trace.spans, spans.get(step, empty)),
            no_flows, trace.lanes, trace.meta, trace.notices,
        )
        for step in trace.steps
    }  # fmt: skip


def rows_of(table: Table, rows: np.ndarray) -> Table:
    """Some rows of a table, as a table."""
    return Table(table._row, {name: column[rows] for name, column in table._columns.items()}, table._pools)


def _by_step(table: Table) -> dict[int, np.ndarray]:
    order = np.argsort(table["step"], kind="stable")
    steps, first = np.unique(table["step"][order], return_index=True)
    ends = [*first.tolist(), len(order)][1:]
    return {int(step): order[a:b] for step, a, b in zip(steps, first, ends, strict=True)}


def steps(trace: Trace, comm: CommRule | None = None) -> list[Step]:
    """What each step was.

    >>> steps(ubviz.example("whole_game_overlapped"))[0].mode  # doctest: +SKIP
    'eager'
    """
    return [step for step, _ in each_step(classified(trace, comm))]


def each_step(trace: Trace) -> list[tuple[Step, Overlap]]:
    """``steps``, each with its numbers."""
    return [_step(part, step) for step, part in split(trace).items()]


def _step(part: Trace, step: int | None) -> tuple[Step, Overlap]:
    measured = overlap(part)
    made = Step(
        step=step,
        ubatches=len(ubatches_of(part)),
        mode=_mode(part),
        why_not=_why_not(part),
        makespan_ns=measured.makespan_ns,
        overlap_ratio=measured.overlap_ratio,
    )
    return made, measured


def ubatches_of(trace: Trace) -> list[int]:
    """The microbatches that did anything, or of which something ran."""
    found = np.unique(np.concatenate([trace.events["ubatch"], trace.spans["ubatch"]]))
    ubatches: list[int] = found[found != MISSING].tolist()
    return ubatches


def _mode(part: Trace) -> str:
    kinds, pool = part.events.codes("kind")
    seen = {pool[code] for code in np.unique(kinds)}
    if "graph.capture_begin" in seen:
        return "capture"
    if "graph.replay" in seen:
        return "replay"
    return "eager" if "kernel.launch" in seen else "unknown"


def _why_not(part: Trace) -> str | None:
    """The reason that ``step.end`` gives, which knows what the wrapper did; else that of ``step.begin``."""
    said = [e for kind in ("step.end", "step.begin") for e in part.events.rows(part.events.mask(kind=kind))]
    if not said or _interleaved(part, str(said[0].args.get("branch"))):
        return None
    return str(said[0].args.get("why") or "the recording does not say")


def _interleaved(part: Trace, branch: str) -> bool:
    """Did microbatches take turns? A replay runs no Python: its kernels tell whose they are."""
    if branch not in ("capture", "replay"):
        return branch == "overlapped"
    of = np.concatenate([part.events["ubatch"], part.spans["ubatch"]])
    return bool((of != MISSING).any())
