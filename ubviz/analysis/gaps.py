"""Idle stretches of each stream, and why: one cause and one sentence for each, proved by trace events.

A stream is idle where none of its kernels runs, from the beginning of a step to the end of the step's last kernel.
The causes are told apart in ``gap_causes``; a gap has the one that explains most of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..trace.model import Trace
from .gap_causes import CAUSES, Causes
from .graph import Graph, graph
from .intervals import difference, union
from .waits import Wait
from .windows import windows

__all__ = ["CAUSES", "Gap", "Gaps", "gaps"]


@dataclass(frozen=True)
class Gap:
    """A stream idle in ``[start_ns, end_ns)``. ``events`` are the trace events that prove the sentence."""

    rank: int
    step: int | None
    stream: str
    start_ns: int
    end_ns: int
    cause: str
    sentence: str
    events: tuple[int, ...]


@dataclass(frozen=True)
class Gaps:
    """The ``longest``, in order of time; how many there are in all, and how long; ``intervals`` of all of them."""

    longest: tuple[Gap, ...]
    total: int
    total_ns: int
    intervals: np.ndarray


def gaps(trace: Trace, most: int = 1000, waits: list[Wait] | None = None, drawn: Graph | None = None) -> Gaps:
    """Idle stretches with their causes; ``waits`` and the graph, if they are there already.

    >>> gaps(trace).longest[0].sentence  # doctest: +SKIP
    'comm idle 312.0 us: waiting for compute_done[0], recorded by microbatch 0 after router'
    """
    found = list(_idle(trace))
    if not found:
        return Gaps((), 0, 0, np.empty((0, 2), dtype=np.int64))
    times = np.concatenate([[(start, end)] for _, _, start, end, _, _ in found])
    lasts = times[:, 1] - times[:, 0]
    longest = np.sort(np.argsort(-lasts, kind="stable")[:most])
    causes = Causes(trace, waits, (graph(trace) if drawn is None else drawn).launch_ns())
    lanes = {lane.id: lane for lane in trace.lanes}
    made = []
    for i in longest.tolist():
        step, lane, start, end, before, after = found[i]
        cause, sentence, events = causes.of(lane, start, end, before, after)
        made.append(Gap(lanes[lane].rank, step, lanes[lane].role, start, end, cause, sentence, events))
    made.sort(key=lambda gap: (gap.start_ns, gap.rank, gap.stream))
    return Gaps(tuple(made), len(found), int(lasts.sum()), times)


Idle = tuple[int | None, int, int, int, int | None, int | None]
"""Step, lane, start, end, and the rows of the kernels before and after."""


def _idle(trace: Trace) -> Iterator[Idle]:
    spans = trace.spans
    rows = np.flatnonzero(spans.mask(cat="kernel"))
    lane, step = spans["lane"][rows], spans["step"][rows]
    rows = rows[np.lexsort((spans["end_ns"][rows], spans["start_ns"][rows], lane, step))]
    lane, step = spans["lane"][rows], spans["step"][rows]
    within, in_steps = windows(trace), bool(trace.steps)
    cuts = np.flatnonzero((np.diff(lane) != 0) | (np.diff(step) != 0)) + 1
    for group in np.split(rows, cuts):
        if not len(group):
            continue
        key = int(spans["step"][group[0]]) if in_steps else None
        if key in within:
            yield from _between(trace, group, key, within[key])


def _between(trace: Trace, group: np.ndarray, step: int | None, window: tuple[int, int]) -> Iterator[Idle]:
    """Gaps between a stream's kernels in one step, which come in order of time."""
    starts, ends = trace.spans["start_ns"][group], trace.spans["end_ns"][group]
    busy = union(np.stack([starts, ends], axis=1))
    idle = difference(np.array([window], dtype=np.int64), busy)
    lane = int(trace.spans["lane"][group[0]])
    reach = np.maximum.accumulate(ends)
    before = np.searchsorted(reach, idle[:, 0], side="right") - 1
    after = np.searchsorted(starts, idle[:, 1], side="left")
    for (start, end), b, a in zip(idle.tolist(), before.tolist(), after.tolist(), strict=True):
        yield (
            step, lane, start, end, int(group[b]) if b >= 0 else None,
            int(group[a]) if a < len(group) else None,
        )  # fmt: skip
