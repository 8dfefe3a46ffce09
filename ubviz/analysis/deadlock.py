"""Waits that never came back: who waits for what, where, and who could have ended it.

Once every known thread has ended or waits for another one, nothing can go on: each such wait is ``deadlock``; so it
is where a thread does something after a wait that never ended, since only a watchdog that found them all waiting ends
one with an error. While a thread still runs, or waits for the device, a wait that is open is ``stalled``: it may yet
end. ``lost_wakeup`` is the
cause that a trace proves: a flag was put up and down again before the waiter looked.

What is told is what was seen: who could set a host event is who has ever set it, in any step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..trace.model import MISSING, Event, Trace
from .findings import Finding
from .kept import of_kinds, told
from .nodes import Lane, thread_of, threads_of
from .sound import judged
from .streams import scoped
from .words import at, lane_name, place

ON_THREADS = ("host_event.wait", "barrier.arrive", "thread.join")
"""Waits that another thread ends."""
ON_DEVICE = ("event.synchronize", "stream.synchronize", "host.read", "kernel.launch")
"""Waits that the device ends; a launch where it waits for the host."""


@dataclass(frozen=True)
class Waiter:
    """One edge of the wait-for graph: a thread, the wait that never ended, and what is known of its end.

    ``could`` is who could have ended it, as lane -> what became of that thread; ``saw`` is the last trace event of
    the waiting thread before it began to wait.
    """

    lane: str
    wait: Event
    on: str
    could: dict[str, str]
    why: str
    saw: Event | None


def wait_for(trace: Trace) -> list[Waiter]:
    """The wait-for graph at the end of the recording, in the order in which the waits began.

    >>> [(waiter.lane, waiter.on) for waiter in wait_for(trace)]  # doctest: +SKIP
    [('ubatch 1', 'cpu_event[1]'), ('main', 'thread 2')]
    """
    return _Threads(trace).waiters()


def who_could_end(trace: Trace) -> dict[str, str]:
    """Of each lane that waits: who could end its wait, and what it did before, for the report of a live run.

    >>> who_could_end(trace)["ubatch 1"]  # doctest: +SKIP
    'it was last set by ubatch 0 at moe.py:5, who has ended; before it, ubatch 1 did ctx.yield at moe.py:7'
    """
    return {waiter.lane: waiter.why + _before(waiter) for waiter in wait_for(judged(trace))}


def _before(waiter: Waiter) -> str:
    return f"; before it, {waiter.lane} did {_did(waiter.saw)}" if waiter.saw is not None else ""


def deadlock(trace: Trace) -> list[Finding]:
    """One finding for each wait that never came back.

    >>> print(deadlock(trace)[0].sentence)  # doctest: +SKIP
    ubatch 1 never comes back from host_event.wait of cpu_event[1] at moe.py:7; it was last set by ubatch 0 at
    moe.py:5, who has ended; before it, ubatch 1 did ctx.yield at moe.py:7
    """
    threads = _Threads(trace)
    return [*threads.findings(), *_lost(trace, threads)]


class _Threads:
    """What became of every thread."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.last: dict[Lane, Event] = {}
        self.saw: dict[int, Event] = {}  # open wait -> the event before it
        self.stuck: dict[Lane, Event] = {}  # the first wait that never ended
        self.ended: set[Lane] = set()
        self.given_up: set[int] = set()  # ranks in which an open wait was ended by an error: the watchdog's
        self.lanes: dict[Lane, str] = {}
        self.ended = {thread_of(event) for event in told(trace, "thread.end")}
        waits = _open_rows(trace)
        of_row, threads = threads_of(trace)
        order = np.argsort(of_row, kind="stable")
        each = np.split(order, np.flatnonzero(np.diff(of_row[order])) + 1) if len(order) else []
        for code, rows in sorted(enumerate(each), key=lambda thread: thread[1][0]):
            self._see(threads[code], rows, waits[of_row[waits] == code])
        self.stuck = dict(sorted(self.stuck.items(), key=lambda thread: thread[1].seq))

    def _see(self, thread: Lane, rows: np.ndarray, stuck: np.ndarray) -> None:
        """One thread: its last trace event, or its first wait that never ended and the event before that."""
        events = self.trace.events
        self.lanes[thread] = lane_name(self.trace, events[int(rows[-1])])
        if not len(stuck):
            self.last[thread] = events[int(rows[-1])]
            return
        wait = self.stuck[thread] = events[int(stuck[0])]
        at = int(np.searchsorted(rows, stuck[0]))
        if at > 0:
            self.last[thread] = self.saw[wait.seq] = events[int(rows[at - 1])]
        if rows[-1] != stuck[0]:
            self.given_up.add(wait.rank)

    def may_go_on(self, rank: int) -> bool:
        """Some thread of a rank runs, or waits for the device; not where a watchdog has seen that none does."""
        if any(e.kind in ON_DEVICE for e in self.stuck.values() if e.rank == rank):
            return True
        running = [t for t in self.lanes if t[0] == rank and t not in self.stuck and not self._is_over(t)]
        return bool(running) and rank not in self.given_up

    def _is_over(self, thread: Lane) -> bool:
        return thread in self.ended or self.last[thread].kind == "ctx.exit"

    def waiters(self) -> list[Waiter]:
        return [self._waiter(event) for event in self.stuck.values()]

    def _waiter(self, event: Event) -> Waiter:
        could, why = self._who_could(event)
        return Waiter(self._lane(event), event, _object(event), could, why, self.saw.get(event.seq))

    def _lane(self, event: Event) -> str:
        return self.lanes[thread_of(event)]

    def findings(self) -> Iterator[Finding]:
        for waiter in self.waiters():
            wait = waiter.wait
            live = self.may_go_on(wait.rank)
            device = wait.kind in ON_DEVICE
            comes = "had not come back" if live else "never comes back"
            yield Finding(
                "stalled" if live else "deadlock", "warning" if live and not device else "error",
                f"{waiter.lane} {comes} from {wait.kind} of {waiter.on} at {at(wait)}"
                + (" when the recording ended" if live else "") + f"; {waiter.why}{_before(waiter)}",
                (wait.seq, *(() if waiter.saw is None else (waiter.saw.seq,))),
            )  # fmt: skip

    # ---- who could end a wait

    def _who_could(self, event: Event) -> tuple[dict[str, str], str]:
        if event.kind == "host_event.wait":
            return self._who_sets(event)
        if event.kind == "barrier.arrive":
            return self._who_arrives(event)
        if event.kind == "thread.join":
            return self._who_ends(event)
        return {}, "the device has not come to it"

    def _who_sets(self, event: Event) -> tuple[dict[str, str], str]:
        name = event.args.get("host_event")
        sets = [e for e in told(self.trace, "host_event.set")
                if e.rank == event.rank and e.args.get("host_event") == name]  # fmt: skip
        could = {self._lane(e): self._became(thread_of(e)) for e in sets}
        mine = [e for e in sets if scoped(e, "host_event") == scoped(event, "host_event")]
        if not mine:
            others = self._others(event)
            return could or others, "nobody has ever set it" + _told("; ", could or others)
        last = mine[-1]
        lane = self._lane(last)
        others = {who: became for who, became in could.items() if who != lane}
        return could, f"it was last set by {lane}{place(last)}, who {could[lane]}" + _told("; ", others)

    def _who_arrives(self, event: Event) -> tuple[dict[str, str], str]:
        args = event.args
        here = [e for e in told(self.trace, "barrier.arrive")
                if e.rank == event.rank
                and all(e.args.get(key) == args.get(key) for key in ("barrier", "generation"))]  # fmt: skip
        others = self._others(event, *here)
        missing = args.get("parties", 0) - max(e.args.get("n", 0) for e in here)
        return others, f"{missing} more must arrive" + _told("; ", others)

    def _who_ends(self, event: Event) -> tuple[dict[str, str], str]:
        thread = (event.rank, event.args.get("thread"))
        if thread not in self.lanes:
            return {}, "that thread has not ended"
        lane, became = self.lanes[thread], self._became(thread)
        return {lane: became}, f"that is {lane}, who {became}"

    def _others(self, *but: Event) -> dict[str, str]:
        """All other threads of the process that are still there."""
        mine = {thread_of(event) for event in but}
        others = [t for t in self.lanes if t not in mine and t[0] == but[0].rank]
        return {self.lanes[thread]: self._became(thread) for thread in others}

    def _became(self, thread: Lane) -> str:
        if thread in self.stuck:
            return f"waits in {_did(self.stuck[thread], self.stuck[thread])}"
        if self._is_over(thread):
            return "has ended" if thread in self.ended else "has left"
        return f"was last seen in {_did(self.last[thread])}"


def open_waits(trace: Trace) -> list[Event]:
    """Waits that were still open when the recording ended, or were given up."""
    found: list[Event] = trace.events.rows(_open_rows(trace))
    return found


def _open_rows(trace: Trace) -> np.ndarray:
    rows = of_kinds(trace, *ON_THREADS, *ON_DEVICE)
    rows = rows[trace.events["until_ns"][rows] == MISSING]
    open_: np.ndarray = rows[[never_ended(event) for event in trace.events.rows(rows)]]
    return open_


def never_ended(event: Event) -> bool:
    """Whether an event is a wait that was still open when the recording ended, or was given up."""
    if event.until_ns is not None:
        return False
    if event.kind == "kernel.launch":
        return bool(event.args.get("host_wait"))
    return event.kind in ON_THREADS or event.kind in ON_DEVICE


def _did(event: Event | None, wait: Event | None = None) -> str:
    if event is None:
        return "nothing"
    return f"{event.kind}{f' of {_object(wait)}' if wait is not None else ''}{place(event)}"


def _object(event: Event) -> str:
    args = event.args
    if event.kind == "thread.join":
        return f"thread {args.get('thread')}"
    if event.kind == "barrier.arrive":
        return f"{args.get('barrier')} ({args.get('n')} of {args.get('parties')})"
    return str(args.get("host_event") or args.get("event") or args.get("name") or args.get("stream"))


def _told(joint: str, became: dict[str, str]) -> str:
    told = ", ".join(f"{lane} {what}" for lane, what in became.items())
    return f"{joint}{told}" if told else ""


def _lost(trace: Trace, threads: _Threads) -> Iterator[Finding]:
    """Flags that went up and down with nobody waking, after which somebody waits for ever."""
    stuck = {event.seq for event in threads.stuck.values() if event.kind == "host_event.wait"}
    up: dict[object, Event] = {}
    lost: dict[object, tuple[Event, Event]] = {}
    for event in told(trace, "host_event.") if stuck else ():
        key = scoped(event, "host_event")
        if event.kind == "host_event.set":
            up.setdefault(key, event)
            lost.pop(key, None)
        elif event.kind == "host_event.wake":
            up.pop(key, None)
        elif event.kind == "host_event.clear" and key in up:
            lost[key] = up.pop(key), event
        elif event.seq in stuck and key in lost:
            yield _wakeup(trace, *lost[key], event)


def _wakeup(trace: Trace, set_: Event, clear: Event, wait: Event) -> Finding:
    return Finding(
        "lost_wakeup", "error",
        f"{wait.args['host_event']} was set by {lane_name(trace, set_)} at {at(set_)} and cleared by "
        f"{lane_name(trace, clear)} at {at(clear)} before anybody woke by it, so that {lane_name(trace, wait)} "
        f"waits at {at(wait)} for a wake-up that is gone: wait first, then clear",
        (set_.seq, clear.seq, wait.seq),
    )  # fmt: skip
