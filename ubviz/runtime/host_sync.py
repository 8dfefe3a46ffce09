"""Threads, host events and barriers of the host runtime: the standard library's, announced and watched.

Each is a subclass of its ``threading`` counterpart with the same behaviour, and two additions:

1. Facts are announced under the object's own lock, so that the order in which a listener is told of set,
   clear, wait and wake is the order in which they happened.
2. Every wait is *parked* in the runtime: it is known who waits for what since when, and ``interrupt`` ends
   all waits with an error. A plain ``threading.Event`` offers neither.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import BadArgument, Stalled

if TYPE_CHECKING:
    from .host import HostRuntime


_LOOK_UP_S = 0.2
"""How often a parked main thread looks up: an interrupt that arrives just before it blocks would not wake it."""


class Bell(threading.Condition):
    """A condition that counts its notifications, so that none is missed between two waits."""

    def __init__(self, lock: threading.Lock) -> None:
        super().__init__(lock)
        self.rung = 0

    def notify_all(self) -> None:
        self.rung += 1
        super().notify_all()

    def wait_for_next(self, timeout: float | None) -> bool:
        """Wait (held) until the next notification; False when ``timeout`` seconds went by first."""
        before, deadline = self.rung, None if timeout is None else time.monotonic() + timeout
        most = _LOOK_UP_S if threading.current_thread() is threading.main_thread() else None
        while self.rung == before:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            self.wait(left if most is None else most if left is None else min(left, most))
        return True


class Parked:
    """A thread that waits: for what kind of thing, which one, since when, and whether a time-out ends it."""

    __slots__ = ("condition", "kind", "obj", "report", "since_ns", "thread", "timed")

    def __init__(self, condition: Bell, kind: str, obj: Any, timed: bool) -> None:
        self.thread = threading.current_thread()
        self.condition, self.kind, self.obj, self.timed = condition, kind, obj, timed
        self.since_ns = time.perf_counter_ns()
        self.report: str | None = None  # why the wait was interrupted


class Parking:
    """Who is waiting, in one runtime.

    A condition that is parked on is notified for two reasons only: what it waits for has come, or ``interrupt``.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, Parked] = {}
        self._interrupted: str | None = None

    def park(self, condition: Bell, kind: str, obj: Any, timeout: float | None = None) -> bool:
        """Wait until ``condition`` (held) is notified; False when ``timeout`` seconds went by first.

        As in ``threading.Event.wait``, whoever was waiting wakes, even if the flag is down again by then.
        """
        ident = threading.get_ident()
        parked = self.waiting[ident] = Parked(condition, kind, obj, timeout is not None)
        try:
            if self._interrupted is not None and kind != "thread.join":
                raise Stalled(self._interrupted)
            notified = condition.wait_for_next(timeout)
        finally:
            self.waiting.pop(ident, None)
        if parked.report is not None:
            raise Stalled(parked.report)
        return notified

    def interrupt(self, report: str) -> None:
        """End every wait, now and to come, with ``Stalled(report)``, until ``resume``.

        Joins to come are let be: the threads that they wait for have been interrupted, and are about to end.
        """
        self._interrupted = report  # first: who parks from here on sees it
        waiting = list(self.waiting.values())
        for parked in waiting:
            parked.report = report
        for parked in waiting:
            with parked.condition:
                parked.condition.notify_all()

    def resume(self) -> None:
        """Let waits wait again."""
        self._interrupted = None


class HostEvent(threading.Event):
    """A ``threading.Event`` of a runtime.

    >>> rt = get_runtime("host")  # doctest: +SKIP
    >>> turn = rt.HostEvent("turn")  # doctest: +SKIP
    """

    _flag: bool  # threading.Event's own

    def __init__(self, runtime: HostRuntime, name: str | None = None) -> None:
        super().__init__()
        self.name = name
        self.hooks = runtime.hooks
        self._parking = runtime.parking
        self._mutex = threading.Lock()
        self._cond = Bell(self._mutex)  # ours, so that set and clear take the bare lock
        self._waiting = 0

    def set(self) -> None:
        with self._mutex:
            if (host := self.hooks.host) is not None:
                host("host_event.set", self, self._flag)
            self._flag = True
            if self._waiting:
                self._cond.notify_all()

    def clear(self) -> None:
        with self._mutex:
            if (host := self.hooks.host) is not None:
                host("host_event.clear", self, self._flag)
            self._flag = False

    def wait(self, timeout: float | None = None) -> bool:
        with self._mutex:
            if (host := self.hooks.host) is not None:
                host("host_event.wait", self, None)
            woke, how = False, None
            self._waiting += 1
            try:
                woke = self._flag or self._parking.park(self._cond, "host_event.wait", self, timeout)
            except Stalled:
                how = "interrupted"
                raise
            finally:
                self._waiting -= 1
                if (host := self.hooks.host) is not None:
                    host("host_event.wake" if woke else "returned", self, how)
            return woke

    def state(self) -> bool:
        """Whether the flag is up."""
        return self._flag

    def __repr__(self) -> str:
        return f"<host event {self.name or 'unnamed'}: {'set' if self._flag else 'clear'}>"


class Barrier(threading.Barrier):
    """A ``threading.Barrier`` of a runtime; each arrival is announced with its number and generation."""

    def __init__(self, runtime: HostRuntime, parties: int, name: str | None = None) -> None:
        if parties < 1:
            raise BadArgument(f"a barrier has at least 1 party, not {parties}")
        super().__init__(parties)
        self.name = name
        self.hooks = runtime.hooks
        self._parking = runtime.parking
        self._mutex = threading.Lock()
        self._cond = Bell(self._mutex)
        self._arrived = 0
        self._generation = 0
        self._failed: set[int] = set()  # generations whose waiters must leave with an error
        self._aborted = False

    @property
    def n_waiting(self) -> int:
        return self._arrived

    @property
    def broken(self) -> bool:
        return self._aborted

    def wait(self, timeout: float | None = None) -> int:
        with self._mutex:
            if self._aborted:
                raise threading.BrokenBarrierError
            generation, n = self._generation, self._arrived + 1
            self._arrived = n
            if (host := self.hooks.host) is not None:
                host("barrier.arrive", self, (n, generation))
            told: tuple[str, Any] = ("returned", None)
            try:
                if n == self.parties:
                    self._open()
                else:
                    self._wait_for(generation, timeout)
                told = ("barrier.release", (n, generation))
            except Stalled:
                told = ("returned", "interrupted")
                raise
            finally:
                if (host := self.hooks.host) is not None:
                    host(told[0], self, told[1])
            return n - 1

    def _wait_for(self, generation: int, timeout: float | None) -> None:
        try:
            self._parking.park(self._cond, "barrier.arrive", self, timeout)
        finally:
            if self._generation == generation:  # a time-out or an error, not a release
                self._fail(aborted=True)
        if generation in self._failed:
            raise threading.BrokenBarrierError

    def abort(self) -> None:
        with self._mutex:
            if (host := self.hooks.host) is not None:
                host("barrier.abort", self, None)
            self._fail(aborted=True)

    def reset(self) -> None:
        with self._mutex:
            if (host := self.hooks.host) is not None:
                host("barrier.reset", self, None)
            if self._arrived:
                self._fail(aborted=False)
            self._aborted = False

    def _fail(self, aborted: bool) -> None:
        self._failed.add(self._generation)
        self._aborted = aborted
        self._open()

    def _open(self) -> None:
        self._arrived = 0
        self._generation += 1
        self._cond.notify_all()

    def state(self) -> dict[str, int]:
        """How many have arrived, of how many, in which generation."""
        return {"n": self._arrived, "parties": self.parties, "generation": self._generation}

    def __repr__(self) -> str:
        return f"<barrier {self.name or 'unnamed'}: {self._arrived} of {self.parties}>"


class Thread(threading.Thread):
    """A daemon thread that runs ``target(*args)`` inside the runtime's device context."""

    def __init__(
        self,
        runtime: HostRuntime,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        name: str | None = None,
        failed: Callable[[BaseException], Any] | None = None,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._runtime = runtime
        self._failed = failed  # told what kept the target from being called
        self._work: tuple[Callable[..., Any], tuple[Any, ...]] | None = (target, args)
        self._over = Bell(threading.Lock())
        self._ended = False

    def start(self) -> None:
        if self.ident is not None:
            raise RuntimeError("threads can only be started once")
        if (host := self._runtime.hooks.host) is not None:
            host("thread.create", self, None)
        self._runtime.threads.add(self)
        try:
            super().start()
        except BaseException:
            self._runtime.threads.discard(self)
            raise

    def run(self) -> None:
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
            if entered or self._failed is None:
                raise
            self._failed(error)
        finally:
            try:
                if (host := hooks.host) is not None:
                    host("thread.end", self, None)
            finally:  # whatever a listener raises: somebody joins
                self._runtime.threads.discard(self)
                with self._over:
                    self._ended = True
                    self._over.notify_all()

    def __repr__(self) -> str:
        return f"<thread {self.name}>"

    def join(self, timeout: float | None = None) -> None:
        if self.ident is None or self is threading.current_thread():
            super().join(timeout)  # raises what threading raises
        host = self._runtime.hooks.host
        if host is not None:
            host("thread.join", self, None)
        how = None
        try:
            with self._over:
                over = self._ended or self._runtime.parking.park(self._over, "thread.join", self, timeout)
            if over:
                super().join()
        except Stalled:
            how = "interrupted"
            raise
        finally:
            if host is not None:
                host("returned", self, how)
