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
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Stalled

if TYPE_CHECKING:
    from .host import HostRuntime


class Parked(NamedTuple):
    """A thread that waits: for what kind of thing, which one, since when."""

    thread: threading.Thread
    kind: str
    obj: Any
    since_ns: int
    wake: Callable[[], None]


class Parking:
    """Who is waiting, in one runtime.

    ``park`` blocks on a condition that the caller holds until ``ready()``, a time-out, or an interrupt.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, Parked] = {}
        self._interrupted: str | None = None

    def park(
        self,
        condition: threading.Condition,
        ready: Callable[[], bool],
        kind: str,
        obj: Any,
        timeout: float | None = None,
    ) -> bool:
        """Wait on ``condition`` (held) until ``ready()``; False when ``timeout`` seconds went by first."""
        ident = threading.get_ident()

        def wake() -> None:
            with condition:
                condition.notify_all()

        self.waiting[ident] = Parked(threading.current_thread(), kind, obj, time.perf_counter_ns(), wake)
        try:
            if timeout is None:
                while not ready() and self._interrupted is None:
                    condition.wait()
            else:
                condition.wait_for(lambda: ready() or self._interrupted is not None, timeout)
        finally:
            del self.waiting[ident]
        if not ready() and self._interrupted is not None:
            raise Stalled(self._interrupted)
        return ready()

    def interrupt(self, report: str) -> None:
        """End every wait, now and to come, with ``Stalled(report)``, until ``resume``."""
        self._interrupted = report
        for parked in list(self.waiting.values()):
            parked.wake()

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
        self._cond = threading.Condition(self._mutex)  # ours, so that set and clear take the bare lock

    def set(self) -> None:
        with self._mutex:
            if (host := self.hooks.host) is not None:
                host("host_event.set", self, self._flag)
            self._flag = True
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
            woke = False
            try:
                woke = self._flag or self._parking.park(
                    self._cond, self.is_set, "host_event.wait", self, timeout
                )
            finally:
                if (host := self.hooks.host) is not None:
                    host("host_event.wake" if woke else "returned", self, None)
            return woke

    def state(self) -> bool:
        """Whether the flag is up."""
        return self._flag

    def __repr__(self) -> str:
        return f"<host event {self.name or 'unnamed'}: {'set' if self._flag else 'clear'}>"


class Barrier(threading.Barrier):
    """A ``threading.Barrier`` of a runtime; each arrival is announced with its number and generation."""

    def __init__(self, runtime: HostRuntime, parties: int, name: str | None = None) -> None:
        super().__init__(parties)
        self.name = name
        self.hooks = runtime.hooks
        self._parking = runtime.parking
        self._mutex = threading.Lock()
        self._cond = threading.Condition(self._mutex)
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
            released = False
            try:
                if n == self.parties:
                    self._open()
                else:
                    self._wait_for(generation, timeout)
                released = True
            finally:
                if (host := self.hooks.host) is not None:
                    host("barrier.release" if released else "returned", self, (n, generation))
            return n - 1

    def _wait_for(self, generation: int, timeout: float | None) -> None:
        def over() -> bool:
            return self._generation != generation

        try:
            if not self._parking.park(self._cond, over, "barrier.arrive", self, timeout):
                self._fail(aborted=True)
        except BaseException:
            if not over():
                self._fail(aborted=True)
            raise
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
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._runtime = runtime
        self._work: tuple[Callable[..., Any], tuple[Any, ...]] | None = (target, args)
        self._over = threading.Condition(threading.Lock())
        self._ended = False

    def start(self) -> None:
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
        if (host := hooks.host) is not None:
            host("thread.start", self, None)
        try:
            with self._runtime.device_context():
                target(*args)
        finally:
            if (host := hooks.host) is not None:
                host("thread.end", self, None)
            self._runtime.threads.discard(self)
            with self._over:
                self._ended = True
                self._over.notify_all()

    def join(self, timeout: float | None = None) -> None:
        host = self._runtime.hooks.host
        if host is not None:
            host("thread.join", self, None)
        try:
            with self._over:
                over = self._ended or self._runtime.parking.park(
                    self._over, lambda: self._ended, "thread.join", self, timeout
                )
            if over:
                super().join()
        finally:
            if host is not None:
                host("returned", self, None)
