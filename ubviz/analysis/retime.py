"""What if: the same operations in the same order, with other durations or without a wait.

The algorithm, which the page runs too (``graph`` says what points, edges and lags are):

1. Draw the graph of the recording and find the lag of every edge.
2. Put the points into an order in which causes come before effects: repeatedly take a point whose causes have
   all been taken. (If a broken recording has a circle, take the earliest point of it; what would lead back
   is left out.)
3. Change the lags: a kernel's or a transfer's own duration; leave out or redirect the edges of a dropped wait.
4. In that order, each point gets ``max(source + lag)`` over its edges; a point without causes keeps its time.

With nothing changed, every point gets the time at which it was seen. Slack, which nothing in the recording
explains, stays where it was; ``Retimed.slack_ns`` says how much there is of it, and so how far to trust the rest.
Not modelled: another order of operations, kernels that slow each other down, a full queue.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import BadArgument
from ..trace.model import Span, Trace
from .graph import Graph, graph
from .graph_points import CODE
from .retimed import moved, on_threads
from .windows import windows

Durations = Callable[[Span], int] | Mapping[str, float]
Waits = Collection[int] | Mapping[int, int | None]


@dataclass(frozen=True, eq=False)
class Retimed:
    """What came out: ``starts``, ``ends`` [spans] and ``times``, ``untils`` [trace events] in nanoseconds.

    ``makespan_ns`` as in ``overlap``; ``before_ns`` is the recording's own; ``slack_ns`` was explained by nothing.
    """

    makespan_ns: int
    before_ns: int
    slack_ns: int
    starts: np.ndarray
    ends: np.ndarray
    times: np.ndarray
    untils: np.ndarray
    graph: Graph

    def trace(self) -> Trace:
        """The recording with the new times, for every analysis and every view."""
        return moved(self.graph.trace, self.starts, self.ends, self.times, self.untils)


def retime(
    trace: Trace,
    step: int | None = None,
    durations: Durations | None = None,
    drop_waits: Waits = (),
) -> Retimed:
    """Predict a change from a recording.

    >>> retime(trace, durations={"dispatch": 2.0, "comm": 1.5}).makespan_ns  # doctest: +SKIP
    1142000

    ``step``: only that step; what is of other steps keeps its time. ``durations``: a factor by operation, name of a
    kernel, "transfer", or class (the first of these that is there), or a function from a kernel or transfer span to
    its nanoseconds; a receive is given as it would run if its data were there. ``drop_waits``: rows of spans that
    are waits, to be left out; a mapping says which span (a row, or None) each of them waits for instead.
    Raises ``BadArgument`` for a step that is not there, a row that is no wait, or a duration below 0.
    """
    if step is not None and step not in trace.steps:
        raise BadArgument(f"this trace has the steps {list(trace.steps)}, not {step}")
    return change(graph(trace, step), durations, drop_waits)


def change(drawn: Graph, durations: Durations | None = None, drop_waits: Waits = ()) -> Retimed:
    """``retime`` of a graph that is already there: draw once, ask often."""
    lag = drawn.lag_ns if durations is None else _lags(drawn, durations)
    source, target, lag = _without(drawn, lag, drop_waits)
    time = longest(drawn.time_ns, source, target, lag)
    trace = drawn.trace
    spans, events = trace.spans, trace.events
    starts = _at(drawn.start_point, time, spans["start_ns"])
    ends = _at(drawn.end_point, time, spans["end_ns"])
    times = _at(drawn.event_point, time, events["t_ns"])
    untils = _at(_returns(drawn), time, events["until_ns"])
    starts, ends = on_threads(trace, starts, ends, times, untils)
    return Retimed(
        _makespan(trace, starts, ends, times), _makespan(trace), drawn.unexplained_ns(), starts, ends, times,
        untils, drawn,
    )  # fmt: skip


def longest(time_ns: np.ndarray, source: np.ndarray, target: np.ndarray, lag_ns: np.ndarray) -> np.ndarray:
    """When each point comes, if each edge holds its target back until ``lag_ns`` after its source.

    >>> longest(np.array([5, 0, 0]), np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([3, 9, 4])).tolist()
    [5, 8, 14]
    """
    by_source = np.argsort(source, kind="stable")
    first = np.searchsorted(source[by_source], np.arange(len(time_ns) + 1)).tolist()
    to, lag = target[by_source].tolist(), lag_ns[by_source].tolist()
    missing = np.bincount(target, minlength=len(time_ns))
    new: list[int | None] = [t if n == 0 else None for t, n in zip(time_ns.tolist(), missing.tolist())]
    ready, left, taken = np.flatnonzero(missing == 0).tolist(), missing.tolist(), [False] * len(new)
    for earliest in np.argsort(time_ns, kind="stable").tolist():
        if not ready and not taken[earliest]:
            ready.append(earliest)  # a circle: no order is right, so the clock decides
        while ready:
            point = ready.pop()
            taken[point] = True
            at = new[point]
            now = int(time_ns[point]) if at is None else at
            new[point] = now
            for edge in range(first[point], first[point + 1]):
                effect = to[edge]
                if taken[effect]:
                    continue
                known, reach = new[effect], now + lag[edge]
                new[effect] = reach if known is None or reach > known else known
                left[effect] -= 1
                if left[effect] == 0:
                    ready.append(effect)
    return np.array(new, dtype=np.int64)


def _lags(drawn: Graph, durations: Durations) -> np.ndarray:
    """Lags with the new durations of kernels and transfers."""
    spans = drawn.trace.spans
    own = np.zeros(len(spans), dtype=np.int64)
    work = np.isin(drawn.kind, [CODE["run"], CODE["flight"]])
    row_of = np.full(len(drawn.time_ns), -1, dtype=np.int64)
    rows = np.flatnonzero(drawn.end_point >= 0)
    row_of[drawn.end_point[rows]] = rows
    timed = spans.mask(cat="kernel") | spans.mask(cat="transfer")
    edges = np.flatnonzero(work)
    edges = edges[timed[row_of[drawn.target[edges]]]]
    out = drawn.lag_ns.copy()
    for edge, row in zip(edges.tolist(), row_of[drawn.target[edges]].tolist(), strict=True):
        own[row] = _duration(durations, spans[row], int(out[edge]))
        out[edge] = own[row]
    arrivals = np.flatnonzero(drawn.kind == CODE["arrival"])
    out[arrivals] = np.where(
        drawn.lag_ns[arrivals] < 0, drawn.lag_ns[arrivals], own[row_of[drawn.target[arrivals]]]
    )
    return out


def _duration(durations: Durations, span: Span, own_ns: int) -> int:
    if callable(durations):
        new = int(durations(span._replace(start_ns=span.end_ns - own_ns)))
    else:
        keys = (span.operation, span.name, "transfer" if span.cat == "transfer" else None, span.cls)
        factor = next((durations[key] for key in keys if key is not None and key in durations), 1.0)
        new = own_ns if factor == 1 else round(own_ns * factor)
    if new < 0:
        raise BadArgument(f"{span.name} cannot last {new} ns")
    return new


def _without(drawn: Graph, lag: np.ndarray, waits: Waits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges, with dropped waits left out or redirected."""
    if not waits:
        return drawn.source, drawn.target, lag
    spans = drawn.trace.spans
    instead = waits if isinstance(waits, Mapping) else dict.fromkeys(waits)
    for row in instead:
        if not 0 <= row < len(spans) or spans._cell("cat", row) != "wait":
            raise BadArgument(f"row {row} of spans is no wait")
    points = drawn.end_point[list(instead)]
    gone = (drawn.kind == CODE["event"]) & np.isin(drawn.target, points)
    gone &= drawn.target >= 0
    others = [(drawn.end_point[to], drawn.end_point[row]) for row, to in instead.items() if to is not None]
    source = np.concatenate([drawn.source[~gone], np.array([a for a, _ in others], dtype=np.int64)])
    target = np.concatenate([drawn.target[~gone], np.array([b for _, b in others], dtype=np.int64)])
    stalls = (drawn.kind == CODE["stall"]) & np.isin(drawn.target, points)
    lag = np.where(stalls, lag - drawn.slack_ns, lag)  # the slack of a wait goes with it
    return source, target, np.concatenate([lag[~gone], np.zeros(len(others), dtype=np.int64)])


def _at(points: np.ndarray, time: np.ndarray, seen: np.ndarray) -> np.ndarray:
    has = points >= 0
    return np.where(has, time[np.where(has, points, 0)] if len(time) else seen, seen)


def _returns(drawn: Graph) -> np.ndarray:
    """The point at which each blocking call returned: its own, or that of the wake-up that followed."""
    events = drawn.trace.events
    out = drawn.return_point.copy()
    point_kind = np.full(len(drawn.time_ns), -1, dtype=np.int64)
    rows = np.flatnonzero(drawn.event_point >= 0)
    point_kind[drawn.event_point[rows]] = rows
    parked = np.flatnonzero(drawn.kind == CODE["blocked"])
    for edge in parked[point_kind[drawn.target[parked]] >= 0].tolist():
        row = int(point_kind[drawn.source[edge]])
        if row >= 0 and events["until_ns"][row] == drawn.time_ns[drawn.target[edge]]:
            out[row] = drawn.target[edge]
    return out


def _makespan(trace: Trace, *times: np.ndarray) -> int:
    return sum(end - start for start, end in windows(trace, *times).values())
