"""The baton of a virtual runtime: many threads, of which exactly one runs, in an order that an oracle chooses.

1. A thread that comes to an operation which others can notice (a *point*) says what is pending.
2. It asks who goes on, itself included. If it is itself, it goes on, and no lock was touched.
3. Else it releases the chosen one's gate, a lock that that thread sleeps on, and sleeps on its own.
4. Who wakes carries out its own pending operation and runs to its next point. A thread that ends only passes on.
5. A thread that was just started runs to its first point before an oracle is asked.
6. If nobody can go on, that is a deadlock: it is written down, and every wait but joins ends with ``Deadlock``.
7. If the oracle raises, the run is dropped: each thread in turn unwinds by ``Dropped``, main last, and the error
   comes out of main. Nothing is announced any more.

Time is virtual: each thread has a clock, which its operations move. Nothing here reads a real one. The default
order (no oracle) is that of virtual time, so facts come in the order in which they happened.

Source: the sketch in vLLM-style micro-batching's exploration; Godefroid, "Model checking for programming languages".
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ..errors import Deadlock, ForeignThread
from .schedule import ALL, Choice, Dropped, Oracle, Touch
from .virtual_report import report

if TYPE_CHECKING:
    from .hooks import Hooks


_LOOK_UP_S = 0.2
"""How often main looks up from its sleep: a signal that another thread was given does not wake it."""


class Pending:
    """What a thread carries out when it is chosen; made once for each object and kind."""

    __slots__ = ("kind", "obj", "touches")

    def __init__(self, kind: str, obj: Any, touches: tuple[Touch, ...] = ()) -> None:
        self.kind, self.obj, self.touches = kind, obj, touches

    def ready_ns(self, runner: Runner) -> int | None:
        """When ``runner`` could carry it out; None while it has to wait."""
        return runner.clock_ns

    def left(self) -> int | None:
        """How many arrivals open the barrier."""
        return None


class Rest(Pending):
    """Let everybody else go on as far as they can."""

    __slots__ = ()

    def ready_ns(self, runner: Runner) -> int | None:
        return None


class Runner:
    """A thread's place in the schedule, and its clock."""

    __slots__ = (
        "clock_ns", "deadline_ns", "ended", "gate", "ident", "made", "name", "number", "on_device_ns", "op",
        "pending", "since_ns", "stalled", "stream", "thread", "timed_out", "woken_ns",
    )  # fmt: skip

    def __init__(self, number: int, thread: threading.Thread, clock_ns: int) -> None:
        self.number, self.thread, self.name, self.clock_ns = number, thread, thread.name, clock_ns
        self.ident: int | None = None
        self.gate = threading.Lock()
        self.gate.acquire()
        self.pending: Pending | None = None
        self.ended = False
        self.made = 0  # objects
        self.deadline_ns: int | None = None
        self.timed_out = False
        self.woken_ns: int | None = None  # set while it waits for a host event that somebody has set
        self.stalled: Deadlock | None = None
        self.since_ns = clock_ns
        self.stream: Any = None
        self.op: Any = None
        self.on_device_ns: int | None = None  # the device's time, while a kernel's function runs


class Baton:
    """Who runs, who could, and who chooses; see the module's text."""

    def __init__(self, hooks: Hooks, oracle: Oracle | None) -> None:
        self.hooks, self.oracle = hooks, oracle
        self.visible = oracle.visible if oracle is not None else ALL
        main = self.main = Runner(0, threading.current_thread(), 0)
        main.name, main.ident = "main", get_ident()
        self.runners = [main]  # those that have not ended
        self.current = main
        self.steps: list[int] = []
        self.deadlock: Deadlock | None = None
        self.freed: list[int] = []  # buffers that the thread which runs has let go of
        self.tell_freed: Callable[[], None] = self.freed.clear
        self._count = 1
        self._fresh: deque[Runner] = deque()
        self._dropped: BaseException | None = None
        self._alarm: BaseException | None = None
        self._rest = Rest("thread.rest", None)

    @property
    def started(self) -> int:
        """How many threads there have been, main included."""
        return self._count

    # ---- points

    def me(self) -> Runner:
        """The thread that runs, which has to be the one that asks."""
        me = self.current
        if me.ident != get_ident():
            raise ForeignThread(
                f"thread {threading.current_thread().name!r} used a virtual runtime while {me.name!r} runs: only "
                "the thread that made the runtime and those made by its rt.Thread take part, one at a time"
            )
        return me

    def point(self, pending: Pending) -> Runner:
        """Come to an operation; returns when it is to be carried out."""
        me = self.me()
        if self._dropped is not None:
            self._unwind(me)
        if self.freed:
            self.tell_freed()
        if pending.kind in self.visible or pending.ready_ns(me) is None:
            self._park(me, pending)
        return me

    def wait(self, pending: Pending, timeout: float | None = None) -> bool:
        """Come to an operation that waits; False when ``timeout`` virtual seconds went by first."""
        me = self.me()
        if self._dropped is not None:
            self._unwind(me)
        if self.freed:
            self.tell_freed()
        if timeout is not None:
            me.deadline_ns = me.clock_ns + max(0, round(timeout * 1e9))
        try:
            if pending.kind in self.visible or pending.ready_ns(me) is None:
                self._park(me, pending)
            if me.timed_out:
                return False
            ready = pending.ready_ns(me)
            assert ready is not None
            me.clock_ns = max(me.clock_ns, ready)
            return True
        finally:
            me.deadline_ns, me.timed_out = None, False

    def rest(self) -> None:
        """Let the others go on until none of them can, time-outs aside."""
        self.point(self._rest)

    def _park(self, me: Runner, pending: Pending) -> None:
        me.pending, me.since_ns = pending, me.clock_ns
        chosen = self._next()
        if chosen is not me:
            self.current = chosen
            chosen.gate.release()
            self._sleep(me)
        me.pending = None
        if self._dropped is not None:
            self._unwind(me)
        if self._alarm is not None and me is self.main:
            alarm, self._alarm = self._alarm, None
            raise alarm
        if me.stalled is not None:
            stalled, me.stalled = me.stalled, None
            raise _again(stalled)

    def _sleep(self, me: Runner) -> None:
        while True:
            try:
                while not me.gate.acquire(timeout=_LOOK_UP_S if me is self.main else -1):
                    pass
                return
            except BaseException as interrupt:  # main's only: a signal's handler has raised
                if self.current is me:
                    me.gate.acquire(blocking=False)
                    raise
                if self._alarm is not None:
                    raise  # the second time: whoever runs comes to no point
                self._alarm = interrupt  # main's turn is next

    # ---- who is next

    def _next(self) -> Runner:
        if self._fresh:
            return self._fresh.popleft()
        if self._dropped is not None:
            return self._next_to_unwind()
        if self._alarm is not None:
            return self.main
        if self.oracle is not None and self.deadlock is None:
            return self._asked(self.oracle)
        best: Runner | None = None
        best_ns = 0
        for runner in self.runners:  # in order of their numbers, so the lower one wins
            pending = runner.pending
            if pending is None:
                continue
            ready = pending.ready_ns(runner) if runner.stalled is None else runner.clock_ns
            if ready is None and (ready := runner.deadline_ns) is None:
                continue
            if best is None or ready < best_ns:
                best, best_ns = runner, ready
        if best is None or best.deadline_ns is not None:
            best = self._without(best)
        return self._time_out(best) if best is not None else self._stuck()

    def _without(self, best: Runner | None) -> Runner | None:
        """Who rests goes on when nobody else can, or only by a time-out."""
        if best is not None and best.pending is not None and best.pending.ready_ns(best) is not None:
            return best
        resting = [r for r in self.runners if r.pending is self._rest]
        return resting[0] if resting else best

    def _time_out(self, runner: Runner) -> Runner:
        pending = runner.pending
        if runner.deadline_ns is not None and pending is not None and pending.ready_ns(runner) is None:
            runner.timed_out, runner.clock_ns = True, max(runner.clock_ns, runner.deadline_ns)
        return runner

    def _asked(self, oracle: Oracle) -> Runner:
        able, choices = [], []
        for runner in self.runners:
            if (pending := runner.pending) is not None:
                ready = pending.ready_ns(runner)
                if ready is not None:
                    able.append(runner)
                    choices.append(_choice(runner, pending, ready))
        if not able:
            timed = [r for r in self.runners if r.pending is not None and r.deadline_ns is not None]
            resting = self._without(None)
            best = resting or min(timed, key=lambda r: (r.deadline_ns, r.number), default=None)
            return self._time_out(best) if best is not None else self._stuck()
        try:
            chosen = able[oracle.choose(choices)]
        except BaseException as error:
            self._drop(error)
            return self._next_to_unwind()
        self.steps.append(chosen.number)
        return chosen

    def pending(self, able: bool) -> list[Choice]:
        """The operations of the parked threads that can, or cannot, go on."""
        found = []
        for runner in self.runners:
            if (pending := runner.pending) is not None:
                ready = pending.ready_ns(runner)
                if (ready is not None) == able:
                    found.append(_choice(runner, pending, runner.clock_ns if ready is None else ready))
        return found

    # ---- deadlock, and dropping a run

    def _stuck(self) -> Runner:
        waiting = [r for r in self.runners if r.pending is not None]
        error = Deadlock(report(waiting))
        error.waiting = tuple(self.pending(able=False))
        self.deadlock = self.deadlock or error
        if (told := getattr(self.oracle, "stuck", None)) is not None:
            told()
        self.stall(waiting, error)
        return self._next()

    def stall(self, waiting: list[Runner], error: Deadlock) -> None:
        """End waits with ``error``; joins are let be, unless there is nothing else."""
        inner = [r for r in waiting if r.pending is not None and r.pending.kind != "thread.join"]
        for runner in inner or waiting:
            runner.stalled = error

    def _drop(self, error: BaseException) -> None:
        self._dropped = error
        self.hooks.mute()
        self.freed.clear()

    def _next_to_unwind(self) -> Runner:
        others = [r for r in self.runners if r is not self.main]
        return others[0] if others else self.main

    def _unwind(self, me: Runner) -> None:
        assert self._dropped is not None
        if me is not self.main:
            raise Dropped
        while (other := self._next_to_unwind()) is not me:
            self.current = other
            other.gate.release()
            self._sleep(me)
        raise self._dropped

    def close(self) -> None:
        """Unwind the threads that are still parked; from main."""
        if len(self.runners) > 1 and self.current is self.main and get_ident() == self.main.ident:
            self._drop(Dropped())
            try:
                self._unwind(self.main)
            except Dropped:
                pass
        self._dropped = None

    # ---- threads

    def add(self, thread: threading.Thread, clock_ns: int) -> Runner:
        """A place for a thread that is about to start."""
        runner = Runner(self._count, thread, clock_ns)
        self._count += 1
        self.runners.append(runner)
        if self.oracle is None:
            runner.pending = Pending("thread.start", thread)  # when its time comes
        else:
            self._fresh.append(runner)
        return runner

    def forget(self, runner: Runner) -> None:
        """A thread that could not be started."""
        self.runners.remove(runner)
        if runner in self._fresh:
            self._fresh.remove(runner)

    def begin(self, runner: Runner) -> bool:
        """In the new thread: sleep until its first turn; False when the run has been dropped by then."""
        runner.ident = get_ident()
        runner.gate.acquire()
        runner.pending = None
        return self._dropped is None

    def end(self, runner: Runner) -> None:
        """The last thing that a thread does: pass the baton on."""
        runner.ended = True
        self.runners.remove(runner)
        chosen = self._next()
        self.current = chosen
        chosen.gate.release()


def _choice(runner: Runner, pending: Pending, ready_ns: int) -> Choice:
    return Choice(
        runner.number, runner.name, pending.kind, pending.obj, pending.touches, ready_ns, pending.left()
    )


def _again(error: Deadlock) -> Deadlock:
    """An error of its own for each thread, since an error keeps where it was raised."""
    mine = Deadlock(str(error))
    mine.waiting = error.waiting
    return mine
