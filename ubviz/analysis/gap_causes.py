"""Why a stream was idle before a kernel: what the kernel's thread and the stream itself were doing.

The stretch is cut at the moment at which the stream could know of the kernel: its launch, and as long after that
as a launch takes at least.

Before it, the host is to blame, and the launching thread's trace events say how:

1. It was blocked in a call that waits for the device.
2. It waited for its turn. If who had the turn was blocked in such a call, that is the cause, else the turn itself.
3. Else it was at work, at a barrier or joining: the kernel was launched late.

After it, the stream was held back by a wait: until the record had fired, or, where the record covers work which the
stream does not need (``waits``), until that was done too. What neither explains is unknown. With no kernel to come
in the step, nothing is left to do. The cause that takes most of the time is the gap's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..trace.model import Event, Trace
from .waits import Wait
from .waits import waits as find_waits

CAUSES = {
    "turn": "a peer holds the turn",
    "event": "an event is not yet recorded",
    "surplus": "an event covers unrelated work",
    "late": "launched late",
    "host_wait": "blocked in a host-waiting launch",
    "nothing_left": "nothing is left to do",
    "unknown": "nothing in the recording says why",
}
"""What a gap's ``cause`` may be."""

_DEVICE = ("kernel.launch", "stream.synchronize", "event.synchronize", "host.read")

Told = tuple[str, str, tuple[int, ...]]
"""Cause, sentence, trace events."""


class Blocked(NamedTuple):
    """A thread that did not go on by itself."""

    start_ns: int
    end_ns: int
    event: Event


class Part(NamedTuple):
    """A share of a gap, with the cause that is behind it."""

    ns: int
    cause: str
    why: str
    events: tuple[int, ...]


class Causes:
    """What the causes of a trace's gaps are looked up in; made once, in linear time."""

    def __init__(self, trace: Trace, waits: list[Wait] | None = None, launch_ns: int = 0) -> None:
        self.trace, self.launch_ns = trace, launch_ns
        events, spans = trace.events, trace.spans
        self.row_of = dict(
            zip(zip(events["rank"].tolist(), events["seq"].tolist()), range(len(events)), strict=True)
        )
        self.blocked: dict[tuple[int, Any], list[Blocked]] = defaultdict(list)
        kinds = events.mask(kind="host_event.wait")
        for kind in _DEVICE:
            kinds |= events.mask(kind=kind)
        for e in events.rows(kinds & (events["until_ns"] > events["t_ns"])):
            self.blocked[e.rank, e.thread].append(Blocked(e.t_ns, e.until_ns, e))
        found = find_waits(trace) if waits is None else waits
        self.waits = {wait.row: wait for wait in found if wait.row is not None}
        self.stalls: dict[int, list[int]] = defaultdict(list)  # lane -> rows of its waits, in order of time
        for row in spans.mask(cat="wait").nonzero()[0].tolist():
            self.stalls[int(spans["lane"][row])].append(row)
        self.stall_ends = {
            lane: [int(spans["end_ns"][r]) for r in rows] for lane, rows in self.stalls.items()
        }
        flows = trace.flows
        woken = flows.rows(flows.mask(kind="set -> wake", from_table="events", to_table="events"))
        self.setter = {(f.to_lane, f.to_ns): f.from_row for f in woken}

    def of(self, lane: int, start: int, end: int, before: int | None, after: int | None) -> Told:
        """Why the stream on ``lane`` was idle, between the kernels of two rows of spans."""
        role = next(each.role for each in self.trace.lanes if each.id == lane)
        idle = f"{role} idle {us(end - start)}: "
        if after is None:
            last = f" after {self.named(before)}" if before is not None else ""
            return "nothing_left", f"{idle}nothing is left for it in this step{last}", self._seq(before)
        launch = self._launch(after)
        parts = self._parts(lane, start, end, after, launch)
        totals: dict[str, int] = defaultdict(int)
        for part in parts:
            totals[part.cause] += part.ns
        cause = max(totals, key=lambda name: totals[name], default="unknown")
        best = max((part for part in parts if part.cause == cause), key=lambda p: p.ns, default=None)
        if best is None or best.cause == "unknown":
            since = "" if launch is None else f", launched {us(end - launch.t_ns)} before it began,"
            why = f"nothing recorded says why {self.named(after)}{since} did not start sooner"
            return "unknown", idle + why, self._seq(after)
        return best.cause, idle + best.why, best.events

    def _parts(self, lane: int, start: int, end: int, after: int, launch: Event | None) -> list[Part]:
        told = start if launch is None else min(max(launch.t_ns + self.launch_ns, start), end)
        parts = list(self._host(start, told, launch, after)) if launch is not None else []
        parts += self._stream(lane, told, end, after)
        explained = sum(part.ns for part in parts)
        return [*parts, Part(end - start - explained, "unknown", "", ())]

    # ---- before the launch

    def _host(self, start: int, end: int, launch: Event, after: int) -> Iterator[Part]:
        if start == end:
            return
        who, what, awake = self.person(launch), self.named(after, launch.ubatch), end - start
        for ns, b in self._during(launch.rank, launch.thread, start, end):
            if b.event.seq == launch.seq:
                continue  # it may block until the kernel is done, but that is not why the kernel is late
            awake -= ns
            if b.event.kind != "host_event.wait":
                yield _held(ns, who, what, b.event, launch.seq)
                continue
            held = list(self._peers(launch, max(start, b.start_ns), min(end, b.end_ns)))
            for share, peer in held:
                yield _held(share, self.person(peer.event), self.named(after), peer.event, launch.seq)
            yield self._turn(ns - sum(share for share, _ in held), ns, b, who, what, launch)
        yield Part(
            awake, "late", f"{who} launched {what} {us(max(launch.t_ns - start, 0))} after the stream had run dry, "
            f"at {launch.caller}", (launch.seq,),
        )  # fmt: skip

    def _turn(self, share: int, ns: int, b: Blocked, who: str, what: str, launch: Event) -> Part:
        row = self.setter.get((b.event.lane, b.end_ns))
        giver = None if row is None else self.trace.events[row]
        holder = "a peer" if giver is None else self.person(giver)
        why = f"{who}, which launches {what} next, waited {us(ns)} for the turn, which {holder} had"
        seqs = (b.event.seq, *(() if giver is None else (giver.seq,)), launch.seq)
        return Part(share, "turn", why, seqs)

    def _peers(self, launch: Event, start: int, end: int) -> Iterator[tuple[int, Blocked]]:
        """Where other microbatches were blocked by the device meanwhile: only one of them has the turn."""
        for rank, thread in self.blocked:
            if rank == launch.rank and thread != launch.thread:
                for ns, b in self._during(rank, thread, start, end):
                    if b.event.kind != "host_event.wait" and b.event.ubatch is not None:
                        yield ns, b

    def _during(self, rank: int, thread: Any, start: int, end: int) -> Iterator[tuple[int, Blocked]]:
        found = self.blocked.get((rank, thread), [])
        for i in range(bisect_right(found, start, key=lambda b: b.end_ns), len(found)):
            if found[i].start_ns >= end:
                return
            yield min(end, found[i].end_ns) - max(start, found[i].start_ns), found[i]

    # ---- after the launch

    def _stream(self, lane: int, start: int, end: int, after: int) -> Iterator[Part]:
        spans, rows = self.trace.spans, self.stalls.get(lane, [])
        for i in range(bisect_left(self.stall_ends.get(lane, []), start), len(rows)):
            row = rows[i]
            low, high = max(start, int(spans["start_ns"][row])), min(end, int(spans["end_ns"][row]))
            if int(spans["start_ns"][row]) >= end:
                return
            if low < high:
                yield from self._stall(row, high - low, after)

    def _stall(self, row: int, ns: int, after: int) -> Iterator[Part]:
        wait, span = self.waits.get(row), self.trace.spans[row]
        event = span.args.get("event", span.name)
        if wait is None:
            yield Part(ns, "event", f"waiting for {event}", self._seq(row))
            return
        extra = min(ns, wait.stall_ns)
        record = self.trace.events[self.row_of[wait.rank, wait.record_seq]]
        seqs = (wait.record_seq, wait.wait_seq)
        if wait.surplus:
            first, last = self.named(wait.surplus[0]), self.named(wait.surplus[-1])
            covered = first if first == last else f"{first} to {last}"
            yield Part(
                extra, "surplus", f"waiting for {event}, which {self.person(record)} recorded at {record.caller}: "
                f"it covers {covered}, which {self.named(after)} does not need", seqs,
            )  # fmt: skip
        done = "" if wait.needed is None else f" after {self.named(wait.needed, record.ubatch)}"
        yield Part(
            ns - extra, "event", f"waiting for {event}, recorded by {self.person(record)}{done}, at {record.caller}",
            seqs,
        )  # fmt: skip

    # ---- words

    def _launch(self, row: int) -> Event | None:
        span = self.trace.spans[row]
        found = self.row_of.get((span.rank, span.seq))
        return None if found is None else self.trace.events[found]

    def _seq(self, row: int | None) -> tuple[int, ...]:
        seq = None if row is None else self.trace.spans[row].seq
        return () if seq is None else (seq,)

    def named(self, row: int | None, told: int | None = None) -> str:
        """A kernel's operation, and whose it is unless that is told: ``experts of microbatch 1``."""
        if row is None:
            return "nothing"
        span = self.trace.spans[row]
        name = span.operation or span.name
        return name if span.ubatch in (None, told) else f"{name} of microbatch {span.ubatch}"

    def person(self, event: Event) -> str:
        """Who emitted a trace event."""
        if event.ubatch is not None:
            return f"microbatch {event.ubatch}"
        return next(lane.role for lane in self.trace.lanes if lane.id == event.lane)


def _held(ns: int, who: str, what: str, event: Event, launch: int) -> Part:
    name = event.args.get("name") if event.kind == "kernel.launch" else event.kind
    why = f"{who} was blocked {us(ns)} in {name}, which waits for the device, before {what} could be launched"
    return Part(ns, "host_wait", why, (event.seq, launch))


def us(ns: int) -> str:
    """Nanoseconds in words.

    >>> us(1_234_500)
    '1,234.5 us'
    """
    return f"{ns / 1000:,.1f} us"
