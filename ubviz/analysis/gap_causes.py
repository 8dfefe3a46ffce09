"""Why a stream was idle before a kernel: what the kernel's thread and the stream itself were doing.

The stretch is cut at the moment at which the stream could know of the kernel: its launch, and as long after that
as a launch takes at least.

Before it, the host is to blame, and the launching thread's trace events say how:

1. It was blocked in a call that waits for the device.
2. It waited for its turn. If who had the turn was blocked in such a call, that is the cause, else the turn itself.
3. Else it was at work, at a barrier or joining: the kernel was launched late.

After it, ``gap_holds`` says what held the stream: a record that had not fired, work that it covers and the stream
does not need, or nothing but the device. With no kernel to come in the step, nothing is left to do. The cause that
takes most of the time is the gap's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..trace.model import Event, Trace
from .gap_holds import Holds, Names, Part, us
from .kept import of_kinds
from .waits import Wait
from .waits import waits as find_waits

CAUSES = {
    "turn": "a peer holds the turn",
    "event": "an event is not yet recorded",
    "surplus": "an event covers unrelated work",
    "late": "launched late",
    "host_wait": "blocked in a host-waiting launch",
    "device": "the device took its time, with nothing to wait for",
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


class Causes:
    """What the causes of a trace's gaps are looked up in; made once, in linear time."""

    def __init__(self, trace: Trace, waits: list[Wait] | None = None, launch_ns: int = 0) -> None:
        self.trace, self.launch_ns = trace, launch_ns
        self.names = Names(trace)
        self.holds = Holds(trace, find_waits(trace) if waits is None else waits, self.names)
        self._roles = {lane.id: lane.role for lane in trace.lanes}
        events = trace.events
        self.blocked: dict[tuple[int, Any], list[Blocked]] = defaultdict(list)
        rows = of_kinds(trace, "host_event.wait", *_DEVICE)
        for e in events.rows(rows[events["until_ns"][rows] > events["t_ns"][rows]]):
            self.blocked[e.rank, e.thread].append(Blocked(e.t_ns, e.until_ns, e))
        flows = trace.flows
        woken = flows.rows(flows.mask(kind="set -> wake", from_table="events", to_table="events"))
        self.setter = {(f.to_lane, f.to_ns): f.from_row for f in woken}

    def of(self, lane: int, start: int, end: int, before: int | None, after: int | None) -> Told:
        """Why the stream on ``lane`` was idle, between the kernels of two rows of spans."""
        idle = f"{self._roles[lane]} idle {us(end - start)}: "
        if after is None:
            last = f" after {self.names.kernel(before)}" if before is not None else ""
            why = f"nothing is left for it in this step{last}"
            return "nothing_left", idle + why, self.names.seq(before)
        parts = self._parts(lane, start, end, after)
        totals: dict[str, int] = defaultdict(int)
        for part in parts:
            totals[part.cause] += part.ns
        cause = max(totals, key=lambda name: totals[name])
        best = max((part for part in parts if part.cause == cause), key=lambda part: part.ns)
        return best.cause, idle + best.why, best.events

    def _parts(self, lane: int, start: int, end: int, after: int) -> list[Part]:
        launch = self.names.launch(after)
        told = start if launch is None else min(max(launch.t_ns + self.launch_ns, start), end)
        host = list(self._host(start, told, launch, after)) if launch is not None else []
        return [*host, *self.holds.parts(lane, told, end, after, launch)]

    # ---- before the launch

    def _host(self, start: int, end: int, launch: Event, after: int) -> Iterator[Part]:
        if start == end:
            return
        who, what, awake = self.names.person(launch), self.names.kernel(after, launch.ubatch), end - start
        for ns, b in self._during(launch.rank, launch.thread, start, end):
            if b.event.seq == launch.seq:
                continue  # it may block until the kernel is done, but that is not why the kernel is late
            awake -= ns
            if b.event.kind != "host_event.wait":
                yield _held(ns, who, what, b.event, launch.seq)
                continue
            held = list(self._peers(launch, max(start, b.start_ns), min(end, b.end_ns)))
            for share, peer in held:
                yield _held(
                    share, self.names.person(peer.event), self.names.kernel(after), peer.event, launch.seq
                )
            yield self._turn(ns - sum(share for share, _ in held), ns, b, who, what, launch)
        yield Part(
            awake, "late", f"{who} launched {what} {us(max(launch.t_ns - start, 0))} after the stream had run dry, "
            f"at {launch.caller}", (launch.seq,),
        )  # fmt: skip

    def _turn(self, share: int, ns: int, b: Blocked, who: str, what: str, launch: Event) -> Part:
        row = self.setter.get((b.event.lane, b.end_ns))
        giver = None if row is None else self.trace.events[row]
        holder = "a peer" if giver is None else self.names.person(giver)
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


def _held(ns: int, who: str, what: str, event: Event, launch: int) -> Part:
    name = event.args.get("name") if event.kind == "kernel.launch" else event.kind
    why = f"{who} was blocked {us(ns)} in {name}, which waits for the device, before {what} could be launched"
    return Part(ns, "host_wait", why, (event.seq, launch))
