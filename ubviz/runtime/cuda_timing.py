"""When the device did what, without asking it to stop: twins, and the facts that wait for them.

A *twin* is an event with timing, recorded beside what is to be timed; the mechanism's own events have none. In
words:

1. While somebody listens, twins are recorded at records, around waits, and at the edges of launches and operations.
2. A fact about the device waits, in its stream's queue, until its last twin has completed.
3. At later calls of the runtime the heads of the queues are *looked at* (``query``, which never waits), and at each
   synchronize as well. What has completed is placed on the host's clock (``cuda_anchor``) and announced.
4. All that one look finds is announced in order of its end, so that a cause comes before its effect; within a stream
   nothing overtakes.
5. While anything is captured nothing is recorded or asked: a query from any thread would break the capture.

Left out: a fact that has completed is announced only when somebody calls the runtime again, or describes it. What
plain PyTorch code makes the host wait for (``item``, ``torch.cuda.synchronize``) is not seen. A capture that PyTorch
itself began on another thread is not known here: one with ``capture_error_mode="global"`` would be broken by a look.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .cuda_anchor import Clock, Twin

if TYPE_CHECKING:
    from .cuda import CudaRuntime

LOOK_EVERY_NS = 20_000  # looking costs about 1 us a queue


class Pending(NamedTuple):
    """A fact about the device that is not known yet; ``arg`` makes its argument of a start and an end."""

    kind: str
    obj: Any  # the stream or link, whose queue this is in
    arg: Callable[[int, int], tuple[Any, ...]]
    start: Twin
    end: Twin


class Placed(NamedTuple):
    """A fact with its times on the host's clock; of two that end at once, the one that ``began_ns`` before is first."""

    end_ns: int
    began_ns: int
    start_ns: int
    fact: Pending


class Timing:
    """The twins of one runtime, and the facts that wait for them."""

    def __init__(self, runtime: CudaRuntime) -> None:
        self._runtime = runtime
        self.clock = Clock(runtime)
        self._spare: list[Any] = []  # events that are free to be recorded again
        self._waiting: dict[int, Any] = {}  # the streams and links whose queues are not empty
        self._look_ns = 0
        self._looking = threading.RLock()

    def twin(self, raw: Any) -> Twin | None:
        """Record a twin on a CUDA stream; None while nobody listens, or while anything is captured."""
        rt = self._runtime
        if rt.hooks.device is None or rt.captures or rt.ask(rt.cuda.is_current_stream_capturing):
            return None
        try:
            event = self._spare.pop()
        except IndexError:
            event = rt.cuda.Event(enable_timing=True)
        after_ns = rt.now_ns()
        rt.ask(event.record, raw)
        return Twin(event, after_ns)

    def expect(
        self, kind: str, obj: Any, arg: Callable[[int, int], tuple[Any, ...]], start: Twin | None, end: Twin | None
    ) -> None:  # fmt: skip
        """Announce this fact once its twins have completed; not at all if nobody listened at one of them."""
        if start is not None and end is not None:
            obj.pending.append(Pending(kind, obj, arg, start, end))
            self._waiting[id(obj)] = obj

    def look(self, now: bool = False) -> None:
        """Announce what has completed. Without ``now``, not more often than it is worth. Never waits for the device."""
        rt = self._runtime
        if not self._waiting:
            return
        if rt.hooks.device is None:
            self.forget()
            return
        if not now and rt.now_ns() < self._look_ns:
            return
        if not self._looking.acquire(blocking=now):  # another thread looks
            return
        try:
            with rt.capture_lock:  # no capture begins meanwhile
                found = self._found() if not rt.captures else []
            for placed in found:
                self._tell(placed)
            self._look_ns = rt.now_ns() + LOOK_EVERY_NS
        finally:
            self._looking.release()

    def forget(self) -> None:
        """Nobody is to be told of what is still waiting."""
        for obj in list(self._waiting.values()):
            obj.pending.clear()
        self._waiting.clear()

    # ---- within one look

    def _found(self) -> list[Placed]:
        """What has completed, in order of its end."""
        rt = self._runtime
        try:
            if rt.cuda.is_current_stream_capturing():  # a capture that is none of the runtime's
                return []
            self.clock.renew()
            return sorted(self._placed(self._completed()), key=lambda placed: placed[:2])
        except RuntimeError as error:  # the device has failed; the next synchronize tells of it
            rt.fault(error)
            self.forget()
            return []

    def _completed(self) -> list[tuple[Pending, int]]:
        """The facts whose twins have completed, and when the host knew."""
        found: list[tuple[Pending, int]] = []
        before = -1
        while len(found) > before:  # again: what completed meanwhile may be the cause of what was found
            before = len(found)
            for obj in list(self._waiting.values()):
                self._take_from(obj.pending, found)
        for obj in list(self._waiting.values()):
            if not obj.pending:
                del self._waiting[id(obj)]
                if obj.pending:  # another thread has come in between
                    self._waiting[id(obj)] = obj
        return found

    def _take_from(self, queue: deque[Pending], found: list[tuple[Pending, int]]) -> None:
        while queue and queue[0].end.event.query():
            found.append((queue.popleft(), self._runtime.now_ns()))

    def _placed(self, found: list[tuple[Pending, int]]) -> list[Placed]:
        clock = self.clock
        seen = [(fact, clock.see(fact.start, before), clock.see(fact.end, before)) for fact, before in found]
        placed: list[Placed] = []
        began: dict[int, int] = {}  # in each queue, so that nothing overtakes
        for fact, start, end in seen:  # with what all of them say of the offset
            end_ns = max(clock.place(*end), fact.obj.told_ns)
            start_ns = min(clock.place(*start), end_ns)
            if fact.kind == "kernel":  # one after the other, also where the offset has just been moved
                start_ns = min(max(start_ns, fact.obj.kernel_ns), end_ns)
                fact.obj.kernel_ns = end_ns
            fact.obj.told_ns = end_ns
            key = id(fact.obj)
            began[key] = max(start_ns, began.get(key, start_ns))
            placed.append(Placed(end_ns, began[key], start_ns, fact))
            self._spare += {fact.start.event, fact.end.event}
        return placed

    def _tell(self, placed: Placed) -> None:
        fact = placed.fact
        if (device := self._runtime.hooks.device) is not None:
            try:
                device(fact.kind, fact.obj, fact.arg(placed.start_ns, placed.end_ns))
            except BaseException as cause:  # a listener's mistake must not reach who happened to call
                self._runtime.listener_failed(fact.kind, fact.obj, cause)
