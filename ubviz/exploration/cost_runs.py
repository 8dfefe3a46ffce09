"""What each run of an operation took in a recording: on the device, and of its thread's time, before and within it.

A *run* is an operation's span on a thread, with the kernels that were launched inside. On the device it takes the
time of its kernels and the gaps between two of them; of a kernel that receives, only what it does after the arrival.
Its thread's time has three parts: from what it did last until the run begins, from there until the first launch, and
until the run ends. Waits are taken out, and what a virtual runtime charges for by itself (host events, records and
waits, threads).

Not here: what is typical of many runs (``costs``).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate

from ..runtime.virtual_costs import Costs
from ..trace.model import Event, Span, Trace

CHARGED = {
    "host_event.set": "event_ns", "host_event.clear": "event_ns", "host_event.wake": "event_ns",
    "event.record": "event_ns", "event.wait": "event_ns", "thread.create": "spawn_ns",
    "kernel.launch": "launch_ns", "graph.replay": "launch_ns",
}  # fmt: skip
"""By how much a virtual thread's clock moves on at these, outside operations."""


@dataclass
class Run:
    """One run: nanoseconds on the device, and of its thread's time before it, until its first launch, and in all.

    ``on_thread`` is false for a kernel whose operation was not seen: of its thread's time nothing is known.
    """

    name: str
    layer: int | None
    step: int | None
    device_ns: float = 0
    before_ns: float = 0
    lead_ns: float | None = None
    host_ns: float = 0
    on_thread: bool = True


def runs_of(trace: Trace, charges: Costs) -> list[Run]:
    """Every run of an operation; a kernel without one is a run by itself."""
    spans: dict[int, list[Span]] = defaultdict(list)
    events: dict[int, list[Event]] = defaultdict(list)
    for span in trace.spans:
        if span.cat in ("operation", "blocked"):
            spans[span.lane].append(span)
    for event in trace.events:
        events[event.lane].append(event)
    threads = {lane: _Thread(spans[lane], events[lane], charges) for lane in spans}
    alone = _on_device(trace, threads)
    return [run for thread in threads.values() for run in thread.runs] + alone


class _Thread:
    """The operations of one thread and their runs, in order; ``by_launch`` finds a run by a launch event's number."""

    def __init__(self, spans: list[Span], events: list[Event], charges: Costs) -> None:
        blocked = sorted((s for s in spans if s.cat == "blocked"), key=lambda span: span.start_ns)
        self._blocked_at = [span.start_ns for span in blocked]
        self._blocked_ns = [span.end_ns - span.start_ns for span in blocked]
        self._waited = [0, *accumulate(self._blocked_ns)]
        operations = (span for span in spans if span.cat == "operation")
        self.operations = sorted(operations, key=lambda span: (span.start_ns, -span.end_ns))
        self._starts = [span.start_ns for span in self.operations]
        self._outermost = _outermost(self.operations)
        self.runs = [self._run(span) for span in self.operations]
        self.by_launch: dict[int, Run] = {}
        self._charged_at: list[int] = []
        charged: list[int] = []
        for event in events:
            if (
                event.kind == "kernel.launch"
                and (index := self._within(event.t_ns, inclusive=True)) is not None
            ):
                self._launched(event, index)
            elif event.kind in CHARGED and self._within(event.t_ns) is None:
                self._charged_at.append(event.t_ns)
                charged.append(getattr(charges, CHARGED[event.kind]))
        self._charged = [0, *accumulate(charged)]
        self._between(events)

    def _run(self, op: Span) -> Run:
        return Run(op.operation or op.name, op.layer, op.step, host_ns=self._own(op.start_ns, op.end_ns))

    def _launched(self, event: Event, index: int) -> None:
        run = self.by_launch[event.seq] = self.runs[index]
        if run.lead_ns is None:
            run.lead_ns = self._own(self.operations[index].start_ns, event.t_ns)

    def _between(self, events: list[Event]) -> None:
        """What the thread did before each operation, since the one before or its first event in the step."""
        since: dict[int | None, int] = {}
        for event in events:
            since.setdefault(event.step, event.t_ns)
        within: list[Span] = []
        for op, run in zip(self.operations, self.runs, strict=True):
            while within and within[-1].end_ns <= op.start_ns:
                before = within.pop()
                since[before.step] = before.end_ns
            begin_ns = since.get(op.step, op.start_ns)
            first, last = (bisect_left(self._charged_at, t_ns) for t_ns in (begin_ns, op.start_ns))
            charged = self._charged[last] - self._charged[first]
            run.before_ns = max(0, self._own(begin_ns, op.start_ns) - charged)
            since[op.step] = op.start_ns
            within.append(op)

    def _within(self, t_ns: int, inclusive: bool = False) -> int | None:
        """The innermost operation at a time."""
        for index in range(bisect_right(self._starts, t_ns) - 1, -1, -1):
            if t_ns < self.operations[index].end_ns + inclusive:
                return index
            if index == self._outermost[index]:
                break
        return None

    def _own(self, start_ns: int, end_ns: int) -> int:
        """Nanoseconds between, waits taken out."""
        return end_ns - start_ns - (self._until(end_ns) - self._until(start_ns))

    def _until(self, t_ns: int) -> int:
        """Nanoseconds that this thread has waited by then."""
        index = bisect_right(self._blocked_at, t_ns) - 1
        if index < 0:
            return 0
        return self._waited[index] + min(t_ns - self._blocked_at[index], self._blocked_ns[index])


def _outermost(operations: list[Span]) -> list[int]:
    """Of each operation, in order, the index of the one that it lies in and that lies in none."""
    found: list[int] = []
    for index, op in enumerate(operations):
        inside = found and op.start_ns < operations[found[-1]].end_ns
        found.append(found[-1] if inside else index)
    return found


def _on_device(trace: Trace, threads: dict[int, _Thread]) -> list[Run]:
    """Give each kernel's time to the run that launched it; those of no run are runs by themselves."""
    by_launch = {seq: run for thread in threads.values() for seq, run in thread.by_launch.items()}
    own_ns = _own_ns(trace)
    alone: list[Run] = []
    last: dict[int, tuple[Run | None, int]] = {}  # stream -> the run of its last kernel, and that one's end
    kernels = trace.spans.rows(trace.spans.mask(cat="kernel"))
    for span in sorted(kernels, key=lambda span: span.start_ns):
        name = span.operation or span.name
        run = by_launch.get(span.seq) if span.seq is not None else None
        if run is None or run.name != name:
            run = Run(name, span.layer, span.step, on_thread=False)
            alone.append(run)
        before, free_ns = last.get(span.lane, (None, 0))
        received = own_ns.get(span.correlation) if span.correlation is not None else None
        run.device_ns += span.end_ns - span.start_ns if received is None else received
        if run is before:
            run.device_ns += max(0, span.start_ns - free_ns)
        last[span.lane] = run, span.end_ns
    return alone


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
