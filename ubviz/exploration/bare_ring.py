"""The ring without its failing path, and with switches that break it one by one.

``PlainContext`` is our context as vLLM has it: it checks itself at each yield, but when a microbatch raises, nobody
is told. Without ``asserts`` it is the bare ring: nobody checks anything. Nothing in ``ubviz.ubatch`` knows of this.

``turn`` is main's part: start all, meet at the barrier, set the first one's host event, join all. The same order of
operations as the package's own, on the happy path.

Source: vLLM ``vllm/v1/worker/ubatching.py``, ``gpu_ubatch_wrapper.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import get_ident
from typing import Any

from ..ubatch import UBatchContext, override_forward_context
from ..ubatch.contexts import by_thread
from ..ubatch.forward_context import ForwardContext
from ..ubatch.ring import Ring


@dataclass(frozen=True)
class Switches:
    """What is as it should be, or is not; the default is the protocol itself."""

    parties: int = 1  # of the barrier, beyond the microbatches
    barrier: bool = True
    kick: bool = True  # main sets the first one's host event
    clear: str = "after"  # the flag goes down "after" the wait, at yields "before" it, or "never"
    restore: bool = True  # of the forward context
    to: int = 1  # microbatch i sets the host event of i + to
    yields_to_itself: bool = False
    exit_signal: bool = True
    record: str = "before"  # the yield, or "after" it
    wait: bool = True  # of the comm stream for compute
    asserts: bool = True


class Slots:
    """Where contexts find each other: in vLLM a list with None for who has not come, or has left."""

    def __init__(self, rt: Any, n: int, shared: bool) -> None:
        self._contexts: list[PlainContext | None] = [None] * n
        self._came = [rt.HostEvent(f"registered[{i}]") for i in range(n)] if shared else None

    def put(self, i: int, context: PlainContext | None) -> None:
        """Come, or leave; where no barrier orders it, others may notice."""
        if self._came is not None and context is not None:
            self._came[i].set()
        self._contexts[i] = context

    def get(self, i: int) -> Any:
        if self._came is not None and not self._came[i].is_set():
            return None
        return self._contexts[i]


class PlainContext(UBatchContext):
    """One microbatch's place in the ring, as vLLM has it; see the module's text."""

    def __init__(self, switches: Switches, slots: Slots, **fields: Any) -> None:
        super().__init__(**fields)
        self.switches, self.slots = switches, slots

    def __enter__(self) -> PlainContext:
        if self.switches.asserts:
            by_thread[get_ident()] = self
        try:
            self.slots.put(self.id, self)
            self._announce("ctx.enter")
            if self.switches.barrier:
                self.ready_barrier.wait()
            self._take_turn()
            self._restore_context()
            self.update_stream(self.compute_stream)
        except (
            BaseException
        ):  # a deadlock that has been told, or a run that is dropped: the next one starts afresh
            by_thread.pop(get_ident(), None)
            raise
        return self

    def _leave(self, error: BaseException | None) -> None:
        by_thread.pop(get_ident(), None)
        if self.switches.asserts:
            self.slots.put(self.id, None)
        self.maybe_run_recv_hook()
        self._announce("ctx.exit")
        if self.switches.exit_signal:
            self.cpu_signal_event.set()
        self.cpu_wait_event.clear()

    def _take_turn(self, clear: str = "after") -> None:
        if clear == "before":
            self.cpu_wait_event.clear()
        self.cpu_wait_event.wait()
        if clear == "after" and self.switches.clear != "never":
            self.cpu_wait_event.clear()

    def _cpu_yield(self) -> None:
        self._check_turn()
        self._announce("ctx.yield")
        (self.cpu_wait_event if self.switches.yields_to_itself else self.cpu_signal_event).set()
        self._take_turn(self.switches.clear)
        self._announce("ctx.resume")
        self._restore_context()

    def _check_turn(self) -> None:
        if self.switches.asserts:
            super()._check_turn()

    def _check_on(self, stream: Any, name: str) -> None:
        if self.switches.asserts:
            super()._check_on(stream, name)

    def _restore_context(self) -> None:
        if self.switches.restore:
            super()._restore_context()

    def yield_and_switch_from_compute_to_comm(self) -> None:
        self._check_on(self.compute_stream, "compute")
        if self.switches.record == "before":
            self._signal_compute_done()
        self._cpu_yield()
        if self.switches.record == "after":
            self._signal_compute_done()
        self.update_stream(self.comm_stream)
        if self.switches.wait:
            self._wait_compute_done()

    def register_recv_hook(self, hook: Callable[[], None]) -> None:
        receiver = self.slots.get((self.id + 1) % len(self.ring.contexts))
        receiver.recv_hook = hook
        if (host := self._hooks.host) is not None:
            host("hook.register", (self, receiver), None)
        receiver._hook_from = self


def plain_contexts(rt: Any, n: int, switches: Switches) -> list[PlainContext]:
    """The contexts of one step, on new streams, wired as ``switches`` say."""
    compute, comm, ring = rt.Stream("compute"), rt.Stream("comm"), Ring()
    barrier = rt.Barrier(n + switches.parties, "ready_barrier")
    turns = [rt.HostEvent(f"cpu_event[{i}]") for i in range(n)]
    slots = Slots(rt, n, shared=not switches.barrier)
    contexts = [
        PlainContext(
            switches, slots, id=i, comm_stream=comm, compute_stream=compute,
            forward_context=ForwardContext(ubatch=i), ready_barrier=barrier,
            cpu_wait_event=turns[i], cpu_signal_event=turns[(i + switches.to) % n],
            gpu_comm_done_event=rt.Event(f"comm_done[{i}]"),
            gpu_compute_done_event=rt.Event(f"compute_done[{i}]"), ring=ring,
        )
        for i in range(n)
    ]  # fmt: skip
    ring.contexts = tuple(contexts)
    return contexts


def turn(
    rt: Any,
    contexts: list[PlainContext],
    target: Callable[[Any], None],
    before_kick: AbstractContextManager[Any] | None = None,
) -> None:
    """Main's part: run ``target(context)`` in a thread for each context, until all have ended."""
    switches = contexts[0].switches
    threads = [rt.Thread(target, (context,), f"ubatch {context.id}") for context in contexts]
    with override_forward_context(None):
        for thread in threads:
            thread.start()
        if switches.barrier:
            contexts[0].ready_barrier.wait()
        with before_kick or nullcontext():
            pass
        if switches.kick:
            contexts[0].cpu_wait_event.set()
        for thread in threads:
            thread.join()
