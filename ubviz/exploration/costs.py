"""Costs for the virtual runtime, taken from a recording: what operations, launches and hand-overs took there.

1. An operation's cost is the device's time for it, that of its launch its thread's; besides, what the thread does
   before it, and how long it takes to the first launch (``cost_runs``). What the recording cannot say keeps its
   default.
2. Of the steps the middle half counts, by makespan: a step that was disturbed as a whole says nothing.
3. Of what is left, each cost is the mean. An operation costs the same each time that it is run in virtual time, so
   only with the mean all its runs together take what they took; medians add up to too little, since what is late is
   much later than what is early is early.

Not taken along: that kernels slowed one another down is in the durations, not told apart from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import mean
from typing import Any, TypeVar

from ..errors import BadArgument
from ..runtime.virtual_costs import TIMES, Costs, Key
from ..trace.model import Event, Trace
from .cost_runs import Run, runs_of

K = TypeVar("K")


def costs_from(recording: Any, *, by_layer: bool = False) -> Costs:
    """What operations and hand-overs took in a recording or a trace, as ``get_runtime("virtual", costs=...)`` takes it.

    An operation costs the same in every layer, unless ``by_layer``.

    >>> costs = ubviz.costs_from(ubviz.example("overlapped_ht"))  # doctest: +SKIP
    >>> ubviz.get_runtime("virtual", costs=costs)  # doctest: +SKIP

    Raises ``BadArgument`` for a recording without kernel spans.
    """
    trace = getattr(recording, "trace", recording)
    if not isinstance(trace, Trace):
        raise BadArgument(f"costs_from takes a recording or a trace, not {recording!r}")
    if not trace.spans.mask(cat="kernel").any():
        raise BadArgument("this recording has no kernel spans to take costs from")
    steps = _ordinary(trace)
    costs = replace(Costs(), **_times(trace, steps))
    runs = [run for run in runs_of(trace, costs) if run.step in steps]
    ran = {run.name for run in runs if run.device_ns > 0}
    seen = [run for run in runs if run.name in ran]
    on_thread = [run for run in seen if run.on_thread]
    return replace(
        costs,
        operations=_means((_key(run, by_layer), run.device_ns) for run in seen),
        launches=_means((run.name, run.host_ns) for run in on_thread),
        leads=_means((run.name, run.lead_ns) for run in on_thread if run.lead_ns is not None),
        before=_means((run.name, run.before_ns) for run in on_thread),
    )


def _key(run: Run, by_layer: bool) -> Key:
    return (run.name, run.layer) if by_layer else run.name


def _ordinary(trace: Trace) -> set[int | None]:
    """The middle half of the steps, by makespan; what lies in no step counts where there is none."""
    begin = {event.step: event.t_ns for event in trace.events if event.kind == "step.begin"}
    end: dict[int | None, int] = {}
    for span in trace.spans.rows(trace.spans.mask(cat="kernel")):
        begin.setdefault(span.step, span.start_ns)
        end[span.step] = max(span.end_ns, end.get(span.step, span.end_ns))
    steps = sorted(end, key=lambda step: end[step] - begin[step])
    out = len(steps) // 4
    return set(steps[out : len(steps) - out])


def _times(trace: Trace, steps: set[int | None]) -> dict[str, Any]:
    """What a wake-up and a thread's start took; a virtual recording says all of it itself."""
    known = trace.meta.get("times")
    if isinstance(known, dict) and known.keys() == set(TIMES):
        return dict(known)
    events = list(trace.events)
    took = [("wake_ns", *seen) for seen in _wakes(trace, events)] + [
        ("spawn_ns", *seen) for seen in _starts(events)
    ]
    return _means((name, ns) for name, step, ns in took if step in steps)


def _wakes(trace: Trace, events: list[Event]) -> Iterator[tuple[int | None, int]]:
    """The step, and the time from a set to the thread that slept by then."""
    began = {
        (event.thread, event.until_ns): event.t_ns for event in events if event.kind == "host_event.wait"
    }  # fmt: skip
    for flow in trace.flows:
        if flow.kind == "set -> wake":
            wake = events[flow.to_row]
            if began.get((wake.thread, flow.to_ns), flow.from_ns) < flow.from_ns:
                yield wake.step, flow.to_ns - flow.from_ns


def _starts(events: list[Event]) -> Iterator[tuple[int | None, int]]:
    """The step, and the time from a thread's creation to its first event."""
    created = {event.args["thread"]: event.t_ns for event in events if event.kind == "thread.create"}
    for event in events:
        if event.kind == "thread.start" and event.args["thread"] in created:
            yield event.step, event.t_ns - created[event.args["thread"]]


def _means(samples: Iterable[tuple[K, float]]) -> dict[K, int]:
    found: dict[K, list[float]] = defaultdict(list)
    for key, ns in samples:
        found[key].append(ns)
    return {key: round(mean(each)) for key, each in found.items()}
