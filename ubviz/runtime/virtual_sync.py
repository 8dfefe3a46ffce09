"""Threads, host events and barriers of the virtual runtime: as ``threading``'s, on a baton and in virtual time.

What each operation takes is in ``Costs``. A wait that has to sleep goes on ``wake_ns`` after what it waited for. As
in ``threading.Event.wait``, who sleeps when an event is set wakes, even if the flag is down again by then; who has
not looked by then may find it down (``LOOK`` in ``schedule``).

Not here: that waking takes different times, and that an operating system lets threads run in between.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import BadArgument, Stalled
from .schedule import LOOK, Dropped, ObjectId, Touch
from .virtual_baton import Pending, Runner

if TYPE_CHECKING:
    from .virtual import VirtualRuntime


Numbers = set[int]  # of threads; a host event's ``set`` hides the builtin in its class


def object_id(runtime: VirtualRuntime) -> ObjectId:
    """An identifier that does not depend on what other threads make meanwhile."""
    me = runtime.baton.current
    me.made += 1
    return me.number, me.made


class _Awake(Pending):
    """To find a host event up, or to have been woken by it."""

    __slots__ = ()

    def ready_ns(self, runner: Runner) -> int | None:
        event: HostEvent = self.obj
        if runner.woken_ns is not None:
            return max(runner.clock_ns, runner.woken_ns)
        return max(runner.clock_ns, event.set_ns) if event._flag else None


class HostEvent:
    """A ``threading.Event`` of a virtual runtime."""

    def __init__(self, runtime: VirtualRuntime, name: str | None = None) -> None:
        self.runtime, self.name = runtime, name
        self.hooks, self._baton, self._costs = runtime.hooks, runtime.baton, runtime.costs
        self._flag = False
        self.set_ns = 0
        self._last: str | None = None  # who set it last
        self._sleeping: list[Runner] = []
        self._waits: Numbers = set()  # who ever waited here
        self._clears: Numbers = set()  # who ever put the flag down
        self.id = object_id(runtime)
        # what is pending is made anew each time: kept here it would be a cycle, and freed by chance
        self._set, self._clear, self._is_set, self._look, self._wait = (
            (Touch(self.id, how),) for how in ("set", "clear", "is_set", "look", "wait")
        )

    def is_set(self) -> bool:
        self._baton.point(Pending("host_event.is_set", self, self._is_set))
        return self._flag

    def set(self) -> None:
        me = self._baton.point(Pending("host_event.set", self, self._set))
        if (host := self.hooks.host) is not None:
            host("host_event.set", self, self._flag)
        me.clock_ns += self._costs.event_ns
        if not self._flag:
            self.set_ns = me.clock_ns
        self._flag, self._last = True, me.name
        for runner in self._sleeping:
            runner.woken_ns = me.clock_ns + self._costs.wake_ns
        self._sleeping.clear()

    def clear(self) -> None:
        self._by(self._clears, self._waits)
        me = self._baton.point(Pending("host_event.clear", self, self._clear))
        if (host := self.hooks.host) is not None:
            host("host_event.clear", self, self._flag)
        me.clock_ns += self._costs.event_ns
        self._flag = False

    def wait(self, timeout: float | None = None) -> bool:
        self._by(self._waits, self._clears)
        looks = LOOK in self._baton.visible
        me = self._baton.point(Pending(LOOK, self, self._look)) if looks else self._baton.me()
        if (host := self.hooks.host) is not None:
            host("host_event.wait", self, None)
        woke, how = looks and self._flag, None
        if woke:
            me.clock_ns = max(me.clock_ns, self.set_ns)
        elif not self._flag:
            self._sleeping.append(me)
        try:
            if not woke:  # who sleeps and has been woken goes on whatever becomes of the flag
                woke = self._baton.wait(_Awake("host_event.wait", self, () if looks else self._wait), timeout)
        except Stalled:
            how = "interrupted"
            raise
        finally:
            me.woken_ns = None
            if me in self._sleeping:
                self._sleeping.remove(me)
            if (host := self.hooks.host) is not None:
                host("host_event.wake" if woke else "returned", self, how)
        if woke:
            me.clock_ns += self._costs.event_ns
        return woke

    def _by(self, these: Numbers, those: Numbers) -> None:
        """Note who comes here; tell when one thread puts down a flag for which another one waits."""
        me = self._baton.current.number
        these.add(me)
        if those and those != {me}:
            self.runtime.contested = True

    @property
    def waiting(self) -> int:
        """How many threads sleep here."""
        return len(self._sleeping)

    def state(self) -> bool:
        """Whether the flag is up."""
        return self._flag

    def history(self) -> str:
        """For a report of a deadlock."""
        return f"last set by {self._last}" if self._last is not None else "never set"

    def __repr__(self) -> str:
        return f"<host event {self.name or 'unnamed'}: {'set' if self._flag else 'clear'}>"


class _Passed(Pending):
    """To be let through a barrier: one for each generation."""

    __slots__ = ("generation",)

    def __init__(self, barrier: Barrier, generation: int) -> None:
        super().__init__("barrier.release", barrier, (Touch(barrier.id, "release"),))
        self.generation = generation

    def ready_ns(self, runner: Runner) -> int | None:
        barrier: Barrier = self.obj
        opened = barrier.opened_ns.get(self.generation)
        if opened is None:
            return None
        return runner.clock_ns if opened <= runner.clock_ns else opened + barrier.costs.wake_ns


class _Arrival(Pending):
    __slots__ = ()

    def left(self) -> int | None:
        barrier: Barrier = self.obj
        return barrier.parties - barrier.n_waiting


class Barrier:
    """A ``threading.Barrier`` of a virtual runtime."""

    def __init__(self, runtime: VirtualRuntime, parties: int, name: str | None = None) -> None:
        if parties < 1:
            raise BadArgument(f"a barrier has at least 1 party, not {parties}")
        self.runtime, self.parties, self.name = runtime, parties, name
        self.hooks, self._baton, self.costs = runtime.hooks, runtime.baton, runtime.costs
        self.broken = False
        self.opened_ns: dict[int, int] = {}  # by generation
        self._generation = 0
        self._here: list[str] = []
        self._failed: set[int] = set()
        self.id = object_id(runtime)

    @property
    def n_waiting(self) -> int:
        return len(self._here)

    waiting = n_waiting

    def wait(self, timeout: float | None = None) -> int:
        me = self._baton.point(_Arrival("barrier.arrive", self, (Touch(self.id, "arrive"),)))
        if self.broken:
            raise threading.BrokenBarrierError
        generation = self._generation
        self._here.append(me.name)
        n = len(self._here)
        if (host := self.hooks.host) is not None:
            host("barrier.arrive", self, (n, generation))
        me.clock_ns += self.costs.barrier_ns
        if n == self.parties:
            self._open(me.clock_ns)
        told: tuple[str, Any] = ("returned", None)
        try:
            self._pass(generation, timeout)
            told = ("barrier.release", (n, generation))
        except Stalled:
            told = ("returned", "interrupted")
            raise
        finally:
            if (host := self.hooks.host) is not None:
                host(told[0], self, told[1])
        return n - 1

    def _pass(self, generation: int, timeout: float | None) -> None:
        try:
            self._baton.wait(_Passed(self, generation), timeout)
        finally:
            if self._generation == generation:  # a time-out or an error, not a release
                self._fail(aborted=True)
        if generation in self._failed:
            raise threading.BrokenBarrierError

    def abort(self) -> None:
        self._baton.point(Pending("barrier.abort", self, (Touch(self.id, "abort"),)))
        if (host := self.hooks.host) is not None:
            host("barrier.abort", self, None)
        self._fail(aborted=True)

    def reset(self) -> None:
        self._baton.point(Pending("barrier.reset", self, (Touch(self.id, "reset"),)))
        if (host := self.hooks.host) is not None:
            host("barrier.reset", self, None)
        if self._here:
            self._fail(aborted=False)
        self.broken = False

    def _fail(self, aborted: bool) -> None:
        self._failed.add(self._generation)
        self.broken = aborted
        self._open(self._baton.current.clock_ns)

    def _open(self, now_ns: int) -> None:
        self.opened_ns[self._generation] = now_ns
        self._here.clear()
        self._generation += 1

    def state(self) -> dict[str, int]:
        """How many have arrived, of how many, in which generation."""
        return {"n": len(self._here), "parties": self.parties, "generation": self._generation}

    def history(self) -> str:
        """For a report of a deadlock."""
        return f"there: {', '.join(self._here)}"

    def __repr__(self) -> str:
        return f"<barrier {self.name or 'unnamed'}: {len(self._here)} of {self.parties}>"


class _Ended(Pending):
    __slots__ = ()

    def ready_ns(self, runner: Runner) -> int | None:
        joined: Runner = self.obj._runner
        return max(runner.clock_ns, joined.clock_ns) if joined.ended else None


class Thread(threading.Thread):
    """A thread that runs ``target(*args)`` inside the device context, when the baton comes to it."""

    def __init__(
        self,
        runtime: VirtualRuntime,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        name: str | None = None,
        failed: Callable[[BaseException], Any] | None = None,
    ) -> None:
        super().__init__(name=name or runtime.thread_name(), daemon=True)
        self._runtime = runtime
        self._failed = failed  # told what kept the target from being called
        self._work: tuple[Callable[..., Any], tuple[Any, ...]] | None = (target, args)
        self._runner: Runner | None = None

    def start(self) -> None:
        if self._runner is not None:
            raise RuntimeError("threads can only be started once")
        rt = self._runtime
        me = rt.baton.me()
        if (host := rt.hooks.host) is not None:
            host("thread.create", self, None)
        me.clock_ns += rt.costs.spawn_ns
        self._runner = rt.baton.add(self, me.clock_ns)
        rt.threads.add(self)
        try:
            super().start()
        except BaseException:
            rt.threads.discard(self)
            rt.baton.forget(self._runner)
            raise

    def run(self) -> None:
        """1. Sleep until the first turn. 2. Run. 3. Let go of everything, since nobody may see it die. 4. Pass on."""
        assert self._runner is not None
        baton = self._runtime.baton
        try:
            if baton.begin(self._runner):
                self._run()
        except Dropped:
            pass
        finally:
            self._work = None
            self._runtime.threads.discard(self)
            baton.end(self._runner)

    def _run(self) -> None:
        hooks = self._runtime.hooks
        assert self._work is not None
        (target, args), self._work = self._work, None
        entered = False
        try:
            if (host := hooks.host) is not None:
                host("thread.start", self, None)
            with self._runtime.thread_context():
                entered = True
                target(*args)
        except BaseException as error:
            if not entered and self._failed is not None and not isinstance(error, Dropped):
                self._failed(error)
            elif not self._runtime.keeps(error):
                raise
        finally:
            del target, args
            if self._runtime.baton.freed:
                self._runtime.baton.tell_freed()
            if (host := hooks.host) is not None:
                host("thread.end", self, None)

    def is_alive(self) -> bool:
        return self._runner is not None and not self._runner.ended

    def join(self, timeout: float | None = None) -> None:
        if self._runner is None or self is threading.current_thread():
            super().join(timeout)  # raises what threading raises
        host = self._runtime.hooks.host
        if host is not None:
            host("thread.join", self, None)
        how = None
        try:
            if self._runtime.baton.wait(_Ended("thread.join", self), timeout):
                super().join()  # it has passed the baton, and is about to end
        except Stalled:
            how = "interrupted"
            raise
        finally:
            if host is not None:
                host("returned", self, how)

    def __repr__(self) -> str:
        return f"<thread {self.name}>"
