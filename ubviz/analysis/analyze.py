"""Every number about a recording at once, each with the stretches of time and the rows that it is made of.

The keys are the columns of ``ubviz analyze --json``. Nothing is guessed in silence: what the recording does not tell
is None or "unknown", and what the reader must know about it is a notice.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

import numpy as np

from ..errors import BadArgument
from ..trace.model import Notice, Trace
from .accesses import unknown_accesses
from .checks import findings_of
from .classes import CommRule, classified
from .contention import compared
from .critical_path import Entry, critical_path
from .evidence import Evidence, Shown, of_contention, of_gaps, of_overlap, of_steps
from .findings import Finding
from .gaps import Gap, gaps
from .graph import Graph, graph
from .intervals import Intervals
from .kept import uncollected
from .order import Order
from .overlap import Overlap, overlap
from .parts import streams, ubatches
from .sound import judged, unsound
from .steps import Step, each_step
from .surplus import surplus
from .waits import waits
from .windows import windows


@dataclass(frozen=True)
class Analysis:
    """What ``analyze`` found; times in nanoseconds. ``as_json`` has the same keys, as plain data.

    The numbers of ``overlap`` mean what they mean there; None where no kernel says whether it computes or communicates.
    ``net_gain_ns``: how much shorter the median step is than the unsplit run's; None where none was given.
    """

    makespan_ns: int
    kernels: int
    operations: int
    unclassified: tuple[str, ...]
    compute_busy_ns: int | None
    comm_busy_ns: int | None
    overlap_ns: int | None
    overlap_ratio: float | None
    exposed_comm_ns: int | None
    transfer_ns: int
    hidden_transfer_ns: int | None
    recv_spin_ns: int | None
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
    evidence: Evidence = field(repr=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Every number that can be asked for: ``"overlap_ns"``, ``"streams.comm.busy_ns"``, ``"ubatches.0.yields"``."""
        return tuple(self.evidence)

    def intervals(self, name: str) -> Intervals:
        """The stretches of time that a number is made of, as [n, 2] nanoseconds; ``evidence`` says how.

        >>> analyze(trace).intervals("overlap_ns").tolist()  # doctest: +SKIP
        [[50, 100], [150, 200]]

        Raises ``BadArgument`` for a name that is not in ``names``.
        """
        return self.shown(name).intervals

    def rows(self, name: str) -> np.ndarray:
        """The rows of ``trace.spans`` that a number was taken from."""
        return self.shown(name).spans

    def shown(self, name: str) -> Shown:
        """Stretches of time, rows of spans and rows of trace events behind a number."""
        if name not in self.evidence:
            raise BadArgument(f"this analysis has no number {name!r}; names lists those that it has")
        return self.evidence[name]

    def as_json(self) -> dict[str, Any]:
        """Plain data, in the order of the fields, without the evidence."""
        out = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "evidence"}
        for name in ("steps", "gaps", "findings"):
            out[name] = [asdict(row) for row in out[name]]
        out["critical_path"] = [entry.as_json() for entry in self.critical_path]
        out["notices"] = [notice._asdict() for notice in self.notices]
        out["ubatches"] = {str(ubatch): numbers for ubatch, numbers in self.ubatches.items()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in out.items()}


def analyze(trace: Trace, comm: CommRule | None = None, unsplit: Trace | None = None) -> Analysis:
    """Measure, explain and judge a recording; time grows with the number of its spans.

    >>> analyze(ubviz.example("whole_game_overlapped")).streams["comm"]["kernels"]  # doctest: +SKIP
    24

    ``comm`` says what is communication, instead of the kernels' classes: a function from a kernel span to a bool, or
    a regular expression for its name. ``unsplit``: a recording of the same steps unsplit, for ``net_gain_ns``.
    Raises ``BadArgument`` where the text is no regular expression.
    """
    with uncollected():
        return _analyze(trace, comm, unsplit)


def _analyze(trace: Trace, comm: CommRule | None, unsplit: Trace | None) -> Analysis:
    trace = judged(trace)
    told, trace = unsound(trace), classified(trace, comm)
    order, measured, drawn, pairs = Order(trace), overlap(trace), graph(trace), waits(trace)
    idle, within, each = gaps(trace, waits=pairs, drawn=drawn), windows(trace), each_step(trace)
    found, of_streams, of_ubatches = compared(trace), streams(trace), ubatches(trace)
    numbers, without = _numbers(measured)
    path = tuple(critical_path(trace, drawn=drawn))
    return Analysis(
        **numbers,
        contention={name: asdict(one) for name, (one, _) in found.items()},
        net_gain_ns=None if unsplit is None else _gain(each, unsplit),
        steps=tuple(step for step, _ in each),
        streams=of_streams[0],
        ubatches=of_ubatches[0],
        gaps=idle.longest,
        gaps_total=idle.total,
        gaps_ns=idle.total_ns,
        critical_path=path,
        findings=(*findings_of(trace, order), *surplus(trace, pairs, drawn)),
        notices=(
            *trace.notices, *_absent(measured), *measured.notices, *without, *told, *unknown_accesses(trace, order),
            *_slack(drawn, path),
        ),
        evidence={
            **of_overlap(trace, measured), **of_steps(trace, each, within), **of_gaps(idle),
            **of_contention(trace, found), **of_streams[1], **of_ubatches[1],
        },
    )  # fmt: skip


_OF_CLASSES = (
    "compute_busy_ns",
    "comm_busy_ns",
    "overlap_ns",
    "exposed_comm_ns",
    "hidden_transfer_ns",
    "recv_spin_ns",
)
"""What cannot be known where no kernel has a class."""


def _numbers(measured: Overlap) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """The numbers of ``overlap``, None where they would only say that nothing is classified."""
    numbers = {
        name: getattr(measured, name)
        for name in Analysis.__dataclass_fields__
        if name != "notices" and hasattr(measured, name)
    }
    if not measured.kernels or measured.classified:
        return numbers, ()
    said = (
        f"none of {measured.kernels:,} kernels says whether it computes or communicates: busy times and overlap are "
        "unknown; say with comm which kernels communicate"
    )
    return {**numbers, **dict.fromkeys(_OF_CLASSES)}, (
        Notice("unclassified_kernels", measured.kernels, said),
    )


def _gain(each: list[tuple[Step, Overlap]], unsplit: Trace) -> int | None:
    """Median makespan of a step unsplit, less the same of this recording."""
    before = [end - start for start, end in windows(unsplit).values()]
    after = [step.makespan_ns for step, _ in each if step.makespan_ns]
    return round(median(before) - median(after)) if before and after else None


def _slack(drawn: Graph, path: tuple[Entry, ...]) -> tuple[Notice, ...]:
    points = int(np.count_nonzero(drawn.slack_ns))
    if not points:
        return ()
    here_ns, all_ns = sum(entry.ns for entry in path if entry.edge == "slack"), drawn.unexplained_ns()
    said = (
        f"{here_ns / 1e3:,.1f} us of the critical path have no recorded cause, and are called slack; all threads and "
        f"streams together have {all_ns / 1e3:,.1f} us of such delays"
    )
    return (Notice("unexplained_delay", points, said),)


def _absent(measured: Overlap) -> tuple[Notice, ...]:
    """What a recording as a whole does not hold."""
    if not measured.kernels:
        return (Notice("no_kernels", 1, "no kernel is in this recording: there is nothing to measure"),)
    return ()
