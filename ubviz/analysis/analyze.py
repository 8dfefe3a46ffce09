"""Every number about a recording at once, each with the intervals that it is the sum of.

The keys are the columns of ``ubviz analyze --json``. Nothing is guessed in silence: what the recording does not tell
is None or "unknown", and what the reader must know about it is a notice.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

import numpy as np

from ..trace.model import MISSING, Notice, Span, Trace
from .checks import findings_of
from .contention import contention
from .critical_path import Entry, critical_path
from .findings import Finding
from .gaps import Gap, gaps
from .graph import Graph, graph
from .intervals import Intervals, length, union
from .overlap import CommRule, overlap
from .steps import Step, steps, windows
from .surplus import surplus
from .waits import waits


@dataclass(frozen=True)
class Analysis:
    """What ``analyze`` found; times in nanoseconds. ``as_json`` has the same keys, as plain data.

    The numbers of ``overlap`` mean what they mean there. ``net_gain_ns``: how much shorter the median step is than the
    unsplit run's; None where none was given. ``intervals[name]`` lists what a number is the sum of; names of
    nested numbers are paths, ``"streams.comm.busy_ns"``.
    """

    makespan_ns: int
    kernels: int
    operations: int
    unclassified: tuple[str, ...]
    compute_busy_ns: int
    comm_busy_ns: int
    overlap_ns: int
    overlap_ratio: float | None
    exposed_comm_ns: int
    transfer_ns: int
    hidden_transfer_ns: int
    recv_spin_ns: int
    contention: dict[str, dict[str, Any]]
    net_gain_ns: int | None
    steps: tuple[Step, ...]
    streams: dict[str, dict[str, int]]
    ubatches: dict[int, dict[str, int]]
    gaps: tuple[Gap, ...]
    gaps_total: int
    gaps_ns: int
    critical_path: tuple[Entry, ...]
    findings: tuple[Finding, ...]
    notices: tuple[Notice, ...]
    intervals: dict[str, Intervals] = field(repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Plain data, in the order of the fields, without the intervals."""
        out = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "intervals"}
        for name in ("steps", "gaps", "findings"):
            out[name] = [{**asdict(row)} for row in out[name]]
        out["critical_path"] = [entry.as_json() for entry in self.critical_path]
        out["notices"] = [notice._asdict() for notice in self.notices]
        out["ubatches"] = {str(ubatch): numbers for ubatch, numbers in self.ubatches.items()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in out.items()}


def analyze(trace: Trace, comm: CommRule | str | None = None, unsplit: Trace | None = None) -> Analysis:
    """Measure, explain and judge a recording; time grows with the number of its spans.

    >>> analyze(ubviz.example("whole_game_overlapped")).streams["comm"]["kernels"]  # doctest: +SKIP
    24

    ``comm`` says what is communication, instead of the kernels' classes: a function from a kernel span to a bool, or
    a regular expression for its name. ``unsplit``: a recording of the same steps unsplit, for ``net_gain_ns``.
    """
    rule = by_name(comm) if isinstance(comm, str) else comm
    measured, drawn, pairs = overlap(trace, rule), graph(trace), waits(trace)
    idle, within = gaps(trace, waits=pairs, drawn=drawn), windows(trace)
    streams, of_streams = _streams(trace)
    ubatches, of_ubatches = _ubatches(trace)
    of_steps = {f"steps.{step}.makespan_ns": _rows([window]) for step, window in within.items()}
    intervals = {
        **measured.intervals, "makespan_ns": _rows(within.values()), "gaps_ns": idle.intervals, **of_steps,
        **of_streams, **of_ubatches,
    }  # fmt: skip
    numbers = {
        name: getattr(measured, name)
        for name in Analysis.__dataclass_fields__
        if name != "notices" and hasattr(measured, name)
    }
    each = tuple(steps(trace, rule))
    return Analysis(
        **{**numbers, "intervals": intervals},
        contention={name: asdict(found) for name, found in contention(trace, rule).items()},
        net_gain_ns=None if unsplit is None else _gain(each, unsplit),
        steps=each,
        streams=streams,
        ubatches=ubatches,
        gaps=idle.longest,
        gaps_total=idle.total,
        gaps_ns=idle.total_ns,
        critical_path=tuple(critical_path(trace, drawn=drawn)),
        findings=(*findings_of(trace), *surplus(trace, pairs, rule, drawn)),
        notices=(*trace.notices, *measured.notices, *_slack(drawn)),
    )


def by_name(pattern: str) -> CommRule:
    """Kernels whose name a regular expression finds.

    >>> by_name("nccl").__name__
    'communicates'
    """
    found = re.compile(pattern)

    def communicates(span: Span) -> bool:
        return found.search(span.name) is not None

    return communicates


def _rows(pairs: Any) -> Intervals:
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)


def _busy(trace: Trace, rows: np.ndarray) -> Intervals:
    return union(np.stack([trace.spans["start_ns"][rows], trace.spans["end_ns"][rows]], axis=1))


def _streams(trace: Trace) -> tuple[dict[str, dict[str, int]], dict[str, Intervals]]:
    """How long each stream was busy; with several ranks, a stream is called ``rank 1 comm``."""
    spans, kernel = trace.spans, trace.spans.mask(cat="kernel")
    several = len({lane.rank for lane in trace.lanes}) > 1
    numbers, intervals = {}, {}
    for lane in trace.lanes:
        if lane.group == "streams":
            rows = np.flatnonzero(kernel & (spans["lane"] == lane.id))
            name = f"rank {lane.rank} {lane.role}" if several else lane.role
            busy = intervals[f"streams.{name}.busy_ns"] = _busy(trace, rows)
            numbers[name] = {"busy_ns": length(busy), "kernels": len(rows)}
    return numbers, intervals


def _ubatches(trace: Trace) -> tuple[dict[int, dict[str, int]], dict[str, Intervals]]:
    """Per microbatch: its kernels, when any of them ran, its yields, and how long its thread waited for the turn."""
    spans, events = trace.spans, trace.events
    kernel, yielded = spans.mask(cat="kernel"), events.mask(kind="ctx.yield")
    waited = events.mask(kind="host_event.wait") & (events["until_ns"] != MISSING)
    found = np.unique(np.concatenate([spans["ubatch"], events["ubatch"]]))
    numbers, intervals = {}, {}
    for ubatch in found[found != MISSING].tolist():
        rows, mine = np.flatnonzero(kernel & (spans["ubatch"] == ubatch)), events["ubatch"] == ubatch
        busy = intervals[f"ubatches.{ubatch}.busy_ns"] = _busy(trace, rows)
        times = np.stack([events["t_ns"], events["until_ns"]], axis=1)[waited & mine]
        waits_ns = intervals[f"ubatches.{ubatch}.waiting_ns"] = union(times)
        numbers[ubatch] = {
            "kernels": len(rows), "busy_ns": length(busy), "yields": int((yielded & mine).sum()),
            "waiting_ns": length(waits_ns),
        }  # fmt: skip
    return numbers, intervals


def _gain(each: tuple[Step, ...], unsplit: Trace) -> int | None:
    """Median makespan of a step unsplit, less the same of this recording."""
    before = [end - start for start, end in windows(unsplit).values()]
    after = [step.makespan_ns for step in each if step.makespan_ns]
    return round(median(before) - median(after)) if before and after else None


def _slack(drawn: Graph) -> tuple[Notice, ...]:
    slack_ns, points = drawn.unexplained_ns(), int(np.count_nonzero(drawn.slack_ns))
    if not points:
        return ()
    said = f"{slack_ns / 1e3:,.1f} us of delays have no recorded cause; the critical path calls them slack"
    return (Notice("unexplained_delay", points, said),)
