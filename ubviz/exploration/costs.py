"""Costs for the virtual runtime, taken from a recording: what each operation took there, what a launch, what a wake-up.

An operation's duration is the time that its kernels kept a stream busy, the median over the times it was run; of a
kernel that receives, only what it does after the arrival. Its launch is what its thread was busy with it, waits
taken out. What the recording cannot say keeps its default.

Not taken along: that kernels slowed one another down is in the durations, not told apart from them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

from ..errors import BadArgument
from ..runtime.virtual_costs import TIMES, Costs, Key
from ..trace.model import Event, Span, Trace


class Run(NamedTuple):
    """One run of an operation: which step's, whose, in which layer."""

    name: str
    layer: int | None
    step: int | None
    ubatch: int | None


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
    kernels = [span for span in trace.spans if span.cat == "kernel"]
    if not kernels:
        raise BadArgument("this recording has no kernel spans to take costs from")
    operations = [span for span in trace.spans if span.cat == "operation"]
    busy = _busy_ns(kernels, _own_ns(trace), Counter(map(_run, operations)))
    found: dict[Key, list[float]] = defaultdict(list)
    for run, ns in busy.items():
        found[(run.name, run.layer) if by_layer else run.name].append(ns)
    return replace(Costs(_medians(found), launches=_launches(trace, operations)), **_times(trace))


def _run(span: Span) -> Run:
    return Run(span.operation or span.name, span.layer, span.step, span.ubatch)


def _busy_ns(kernels: Iterable[Span], own_ns: dict[int, int], runs: Counter[Run]) -> dict[Run, float]:
    """Nanoseconds of kernels for each run; one that came several times in a step counts as their mean."""
    total: Counter[Run] = Counter()
    count: Counter[Run] = Counter()
    for span in kernels:
        run = _run(span)
        receiving = own_ns.get(span.correlation) if span.correlation is not None else None
        total[run] += span.end_ns - span.start_ns if receiving is None else receiving
        count[run] += 1
    return {run: ns / (runs[run] or count[run]) for run, ns in total.items()}


def _own_ns(trace: Trace) -> dict[int, int]:
    """Of each kernel that receives, by its correlation: nanoseconds from the arrival, or its start, to its end."""
    spans = list(trace.spans)
    arrivals = {span.seq: span.end_ns for span in spans if span.cat == "transfer" and span.seq is not None}
    found = {}
    for flow in trace.flows:
        if flow.kind == "send -> receive":
            sender, receiver = spans[flow.from_row], spans[flow.to_row]
            arrival = None if sender.seq is None else arrivals.get(sender.seq)
            if arrival is not None and receiver.correlation is not None:
                found[receiver.correlation] = receiver.end_ns - max(receiver.start_ns, arrival)
    return found


def _launches(trace: Trace, operations: Iterable[Span]) -> dict[str, int]:
    """Nanoseconds that an operation keeps its thread busy, by name."""
    blocked: dict[int, list[Span]] = defaultdict(list)
    for span in trace.spans:
        if span.cat == "blocked":
            blocked[span.lane].append(span)
    found: dict[Key, list[float]] = defaultdict(list)
    for op in operations:
        inside = (
            min(span.end_ns, op.end_ns) - max(span.start_ns, op.start_ns) for span in blocked[op.lane]
        )  # fmt: skip
        found[op.name].append(op.end_ns - op.start_ns - sum(ns for ns in inside if ns > 0))
    return {str(name): ns for name, ns in _medians(found).items()}


def _times(trace: Trace) -> dict[str, Any]:
    """What a launch, a wake-up and a thread's start took; a virtual recording says it itself."""
    known = trace.meta.get("times")
    if isinstance(known, dict) and known.keys() == set(TIMES):
        return dict(known)
    events = list(trace.events)
    times = {"wake_ns": _wakes(trace, events), "spawn_ns": _starts(events)}
    return {name: round(median(ns)) for name, ns in times.items() if ns}


def _wakes(trace: Trace, events: list[Event]) -> list[int]:
    """From a set to the thread that slept by then."""
    began = {
        (event.thread, event.until_ns): event.t_ns for event in events if event.kind == "host_event.wait"
    }  # fmt: skip
    woken = [flow for flow in trace.flows if flow.kind == "set -> wake"]
    return [
        flow.to_ns - flow.from_ns
        for flow in woken
        if began.get((events[flow.to_row].thread, flow.to_ns), flow.from_ns) < flow.from_ns
    ]


def _starts(events: list[Event]) -> list[int]:
    """From a thread's creation to its first step."""
    created = {event.args["thread"]: event.t_ns for event in events if event.kind == "thread.create"}
    return [
        event.t_ns - created[event.args["thread"]]
        for event in events
        if event.kind == "thread.start" and event.args["thread"] in created
    ]


def _medians(found: dict[Key, list[float]]) -> dict[Key, int]:
    return {key: round(median(ns)) for key, ns in found.items()}
