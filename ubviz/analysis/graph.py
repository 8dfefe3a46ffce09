"""The dependency graph of a recording: moments, and what each of them had to wait for.

A *point* is a moment at which something begins or ends: a trace event on its thread, the return of a call that
blocked, the start and the end of a span on a stream or on the network. An *edge* says that its target came no
sooner than ``lag`` nanoseconds after its source. How the lags are found, in five steps:

1. A stretch that has a duration of its own keeps it: a thread that is awake between two trace events
   (``program``), a kernel that runs (``run``), data in flight (``flight``).
2. Every other kind of edge (a wake-up, a launch, a stream's next kernel ...) gets the least delay that this
   recording shows between a latest cause and its effect, by kind, and at least 0: so fast this machine can be.
   (A kernel that stood behind others in its stream says nothing of how long a launch takes.)
3. An edge whose target was seen sooner than that keeps what was seen, if need be less than 0: clocks differ.
4. What is then left of a point's time beyond its latest cause is *slack*: nothing in the recording explains it
   (the operating system, an unrecorded lock). It is added to the edge of the latest cause, and counted.
5. So each point is exactly as late as its latest cause says, and the longest path gives the times back.

Not modelled: kernels that slow each other down, Python's lock, a queue of launches that is full.
Source: critical path analysis of HolisticTraceAnalysis, whose events on nodes these are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..trace.model import Trace
from .graph_edges import draw
from .graph_points import CODE, EDGES, FIXED, Edges

__all__ = ["EDGES", "Graph", "graph"]

SELDOM = 3
"""Fewer launches than these tell nothing of how long a launch takes."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Points and edges, as columns.

    ``time_ns`` [points]; ``event_point``, ``return_point`` [trace events] and ``start_point``, ``end_point``
    [spans] are numbers of points, -1 where a row has none. ``source``, ``target``, ``lag_ns``, ``kind`` [edges];
    a kind is an index into ``EDGES``. ``slack_ns`` is the slack of step 4, by edge.
    """

    trace: Trace
    time_ns: np.ndarray
    event_point: np.ndarray
    return_point: np.ndarray
    start_point: np.ndarray
    end_point: np.ndarray
    source: np.ndarray
    target: np.ndarray
    lag_ns: np.ndarray
    kind: np.ndarray
    slack_ns: np.ndarray

    def binding(self) -> np.ndarray:
        """For each point the edge of its latest cause, -1 where it has none."""
        reach = self.time_ns[self.source] + self.lag_ns
        order = np.lexsort((-self.kind, reach, self.target))
        out = np.full(len(self.time_ns), -1, dtype=np.int64)
        out[self.target[order]] = order  # of equal targets the last one stays: the latest cause
        return out

    def launch_ns(self) -> int:
        """The least delay from a launch to a kernel on a stream that had nothing to do; 0 if seldom seen."""
        shown = (self.kind == CODE["launch"]) & (self.binding()[self.target] == np.arange(len(self.kind)))
        lags = (self.lag_ns - self.slack_ns)[shown]
        return max(int(lags.min()), 0) if len(lags) >= SELDOM else 0

    def unexplained_ns(self) -> int:
        """Slack in all, counted once for a point."""
        by_point = np.zeros(len(self.time_ns), dtype=np.int64)
        np.maximum.at(by_point, self.target, self.slack_ns)
        return int(by_point.sum())


def graph(trace: Trace, step: int | None = None) -> Graph:
    """The graph of one step, or of the whole trace.

    >>> graph(trace).unexplained_ns()  # of a virtual recording  # doctest: +SKIP
    0
    """
    drawn: Edges = draw(trace, step)
    time = drawn.time_ns
    observed = time[drawn.target] - time[drawn.source]
    fixed = np.isin(drawn.kind, FIXED)
    lag = np.minimum(np.where(fixed, drawn.own_ns, 0), observed)
    latest = _rest(drawn, lag) >= 0
    for kind in range(len(EDGES)):
        if kind not in FIXED:
            shown = observed[latest & (drawn.kind == kind)]
            least = max(0, int(shown.min())) if len(shown) else 0
            lag[drawn.kind == kind] = np.minimum(observed[drawn.kind == kind], least)
    slack = np.maximum(_rest(drawn, lag), 0)
    return Graph(
        trace, time, drawn.event_point, drawn.return_point, drawn.start_point, drawn.end_point,
        drawn.source, drawn.target, lag + slack, drawn.kind, slack,
    )  # fmt: skip


def _rest(drawn: Edges, lag: np.ndarray) -> np.ndarray:
    """How much later than its latest causes each point came, on the edges of these causes; -1 on the others."""
    reach = drawn.time_ns[drawn.source] + lag
    latest = np.full(len(drawn.time_ns), -(2**63))
    np.maximum.at(latest, drawn.target, reach)
    rest = drawn.time_ns[drawn.target] - latest[drawn.target]
    return np.where(reach == latest[drawn.target], rest, -1)
