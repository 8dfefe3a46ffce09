"""UBatchContext: the hand-over of one turn among microbatches, and their switches between two streams.

Each microbatch runs on a thread of its own, and only one thread is awake at a time. The turn goes round a ring
of host events behind one barrier:

1. Every thread enters its context: it arrives at ``ready_barrier``, where main arrives too (N + 1 parties).
   After it everyone is known and nobody has run.
2. Main sets the first microbatch's host event. That thread wakes, clears the flag, puts its forward context
   back, and runs on the compute stream.
3. A yield sets the next one's host event and waits for its own. Control changes hands at *every* yield.
4. Leaving runs the pending receive hook, sets the next one's host event and clears its own.

When a microbatch fails, it marks the ring and hands the turn on as usual; who wakes or yields in a marked ring
unwinds, one at a time; leaving hands to the next one still alive, or to nobody. Who has left is skipped, so
unequal numbers of yields cannot hang either. A failure may come at any step, also where the turn is not held:

1. Before the barrier has opened: who fails there aborts it, so that nobody waits for an arrival in vain.
2. Without the turn: it leaves without waiting for it. Should the turn be handed to it at that moment, then
   either it sees its flag up, or who hands on sees that it has left; one of the two claims this hand-over and
   passes the turn on. Only the first microbatch waits, until it is set going: main looks no further than to it.
3. While leaving: what raises there marks the ring, and every further step is taken all the same.

The happy path is vLLM's, operation for operation. Source: vLLM ``vllm/v1/worker/ubatching.py``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import BadArgument, ContextReused, MixedRuntimes, NoReceiver, ProtocolError, raised_at
from ..runtime.choose import runtime_stream
from . import forward_context
from .ring import Ring, Unwind

if TYPE_CHECKING:
    from ..runtime.base import Barrier, Event, HostEvent, Runtime, Stream
    from .forward_context import ForwardContext

Hook = Callable[[], None]

by_thread: dict[int, UBatchContext] = {}
"""The contexts that are alive, by the identifier of the thread that runs each."""


class UBatchContext:
    """One microbatch's place in the ring, and its view of the two streams.

    A context serves one step: it is entered once, by the thread that runs the microbatch. Make all of a step's
    contexts at once, with ``make_ubatch_contexts``.
    """

    def __init__(
        self,
        id: int,
        comm_stream: Stream,
        compute_stream: Stream,
        forward_context: ForwardContext,
        ready_barrier: Barrier,
        cpu_wait_event: HostEvent,
        cpu_signal_event: HostEvent,
        gpu_comm_done_event: Event,
        gpu_compute_done_event: Event,
        schedule: str = "default",
        token_offset: int = 0,
        ring: Ring | None = None,
    ) -> None:
        self.id = id
        self.comm_stream = comm_stream
        self.compute_stream = compute_stream
        self.forward_context = forward_context
        self.ready_barrier = ready_barrier
        self.cpu_wait_event = cpu_wait_event
        self.cpu_signal_event = cpu_signal_event
        self.current_stream = compute_stream
        self.gpu_comm_done_event = gpu_comm_done_event
        self.gpu_compute_done_event = gpu_compute_done_event
        self.schedule = schedule
        self.token_offset = token_offset
        self.recv_hook: Hook | None = None
        self.runtime = runtime_of(compute_stream, comm_stream)
        self.ring = ring if ring is not None else Ring()
        self._hooks = self.runtime.hooks
        self._hook_from: UBatchContext | None = None
        self.woken = False
        self._entered = self._in_ring = self._has_turn = False
        self._handed = threading.Lock()  # of the last hand-over to it: who gets it has the turn; nobody waits

    # ---- entering and leaving

    def __enter__(self) -> UBatchContext:
        if self._entered:
            raise ContextReused(
                f"the context of microbatch {self.id} was entered before; make new ones for every step"
            )
        self._entered = True
        by_thread[threading.get_ident()] = self
        try:
            self._announce("ctx.enter")
            self.ready_barrier.wait()
            self._in_ring = True
            self._take_turn()
            self._restore_context()
            self.update_stream(self.compute_stream)  # a microbatch starts on the compute stream
        except BaseException as error:  # Python calls no __exit__ when __enter__ raises
            self._leave(error)
            raise
        return self

    def __exit__(self, exc_type: Any, exc: BaseException | None, tb: Any) -> None:
        self._leave(exc)

    def give_up(self, error: BaseException) -> None:
        """Leave without having entered: ``error`` keeps this thread from running its microbatch."""
        self._entered = True
        self._leave(error)

    def _leave(self, error: BaseException | None) -> None:
        """The way out, whatever has happened: each step is taken, even if one before it raises."""
        fault = None
        if error is not None and not isinstance(error, Unwind):
            self._fail(error)
        elif error is None and self.ring.error is None:
            fault = self._attempt(self.maybe_run_recv_hook)
        self.recv_hook = None
        if not self._in_ring:
            self._insist(self.ready_barrier.abort)
        if self._will_be_set_going(error):
            self._attempt(self.cpu_wait_event.wait)
        self.ring.left.add(self.id)
        by_thread.pop(threading.get_ident(), None)
        fault = self._attempt(self._announce, "ctx.exit") or fault
        if self._has_turn or (self.cpu_wait_event.is_set() and self._claim(self._handed)):
            fault = self._insist(self._hand_on_for_good) or fault
        fault = self._attempt(self.cpu_wait_event.clear) or fault
        if error is None and fault is not None:
            raise fault

    def _hand_on_for_good(self) -> None:
        if not self._hand_on() and self.ring.error is None:
            self.cpu_signal_event.set()  # as vLLM does; nobody waits for it any more

    def _will_be_set_going(self, error: BaseException | None) -> bool:
        """True where main sets this host event next: it looks no further than to the first microbatch."""
        first = bool(self.ring.contexts) and self is self.ring.contexts[0]
        return first and not self.woken and not isinstance(error, threading.BrokenBarrierError)

    def _attempt(self, step: Callable[..., object], *args: Any) -> BaseException | None:
        """Take a step of the way out; what it raises marks the ring and is returned."""
        try:
            step(*args)
        except BaseException as fault:
            self._fail(fault)
            return fault
        return None

    def _insist(self, step: Callable[[], object]) -> BaseException | None:
        """Take a step that others depend on: again, if something (a listener) raised before it was taken."""
        fault = self._attempt(step)
        if fault is not None:
            self._attempt(step)
        return fault

    def _fail(self, error: BaseException) -> None:
        """Mark the ring, and tell the listeners; a barrier that others broke is not this microbatch's failure."""
        others = not self._in_ring and isinstance(error, threading.BrokenBarrierError)
        self.ring.fail(error, None if others else self)
        try:
            self._announce_error(error)
        except BaseException:
            pass  # the ring is marked by then, and the first failure is the one to tell

    # ---- the turn

    def _take_turn(self) -> None:
        self.cpu_wait_event.wait()
        self.woken = True  # before the flag goes down, so that main can always tell whether the ring turns
        self._claim(self._handed)
        self._has_turn = True
        self.cpu_wait_event.clear()
        self._unwind_if_failed()

    def _cpu_yield(self) -> None:
        self._unwind_if_failed()
        self._check_turn()
        self._announce("ctx.yield")
        if self._hand_on():
            self._take_turn()
        else:
            self._unwind_if_failed()  # everyone else has left, and none of them by failing: go on
        self._announce("ctx.resume")
        self._restore_context()

    def _hand_on(self) -> bool:
        """Set the host event of the next microbatch that is alive; False when there is none."""
        while (heir := self.ring.next_alive(self.id)) is not None:
            handed = heir._handed = threading.Lock()
            heir.cpu_wait_event.set()
            if heir.id not in self.ring.left or not self._claim(handed):
                self._has_turn = False
                return True
        return False

    @staticmethod
    def _claim(handed: threading.Lock) -> bool:
        """Take the turn that was handed over; True once for each hand-over."""
        return handed.acquire(blocking=False)

    def _unwind_if_failed(self) -> None:
        if self.ring.error is not None:
            raise Unwind

    def _check_turn(self) -> None:
        """Only one thread may run at a time; these three hold whenever it does."""
        if forward_context._forward_context is not self.forward_context:
            raise ProtocolError(f"microbatch {self.id} yields, but the forward context is not its own")
        if self.runtime.current_stream() != self.current_stream:
            raise ProtocolError(
                f"microbatch {self.id} yields on {self.runtime.current_stream()!r}, "
                f"but its current stream is {self.current_stream!r}"
            )
        if self.cpu_wait_event.is_set():
            raise ProtocolError(f"microbatch {self.id} yields, but its own host event is already set")

    def _restore_context(self) -> None:
        if (host := self._hooks.host) is not None:
            host("context.set", self.forward_context, None)
        forward_context._forward_context = self.forward_context

    # ---- streams

    def update_stream(self, stream: Stream) -> None:
        self.current_stream = stream
        if self.runtime.current_stream() != stream:
            self.runtime.set_stream(stream)

    def _signal_comm_done(self) -> None:
        self.gpu_comm_done_event.record(self.comm_stream)

    def _signal_compute_done(self) -> None:
        self.gpu_compute_done_event.record(self.compute_stream)

    def _wait_compute_done(self) -> None:
        self.comm_stream.wait_event(self.gpu_compute_done_event)

    def _wait_comm_done(self) -> None:
        self.compute_stream.wait_event(self.gpu_comm_done_event)

    def switch_to_comm(self) -> None:
        """Go on on the comm stream, without making it wait."""
        self.update_stream(self.comm_stream)

    def switch_to_compute(self) -> None:
        """Go on on the compute stream, without making it wait."""
        self.update_stream(self.compute_stream)

    def switch_to_comm_sync(self) -> None:
        """Go on on the comm stream, after the compute stream's work so far."""
        self._signal_compute_done()
        self.update_stream(self.comm_stream)
        self._wait_compute_done()

    def switch_to_compute_sync(self) -> None:
        """Go on on the compute stream, after the comm stream's work so far."""
        self._signal_comm_done()
        self.update_stream(self.compute_stream)
        self._wait_comm_done()

    # ---- yields

    def yield_(self) -> None:
        """Hand the turn on, and go on on the same stream when it comes back."""
        self.current_stream = self.runtime.current_stream()
        self._cpu_yield()
        self.update_stream(self.current_stream)

    def yield_and_switch_from_compute_to_comm(self) -> None:
        """Hand the turn on; then go on on the comm stream, after what compute held *before* the yield."""
        self._check_on(self.compute_stream, "compute")
        self._signal_compute_done()
        self._cpu_yield()
        self.update_stream(self.comm_stream)
        self._wait_compute_done()

    def yield_and_switch_from_comm_to_compute(self) -> None:
        """Hand the turn on; then go on on the compute stream, after what comm held *before* the yield."""
        self._check_on(self.comm_stream, "comm")
        self._signal_comm_done()
        self._cpu_yield()
        self.update_stream(self.compute_stream)
        self._wait_comm_done()

    def _check_on(self, stream: Stream, name: str) -> None:
        if self.runtime.current_stream() != stream:
            raise ProtocolError(
                f"microbatch {self.id} leaves the {name} stream, but is on {self.runtime.current_stream()!r}"
            )

    # ---- the receive hook

    def register_recv_hook(self, hook: Hook) -> None:
        """Leave ``hook`` with the next microbatch, which runs it at its next ``maybe_run_recv_hook``."""
        receiver = self.ring.after(self.id)
        if receiver.id in self.ring.left:
            raise NoReceiver(
                f"microbatch {self.id} registers a receive hook for microbatch {receiver.id}, which has left; "
                "both must take the same number of steps"
            )
        if (host := self._hooks.host) is not None:
            host("hook.register", (self, receiver), None)
        receiver.recv_hook, receiver._hook_from = hook, self

    def maybe_run_recv_hook(self) -> None:
        """Run the hook that the previous microbatch left here, if there is one."""
        if self.recv_hook is not None:
            if (host := self._hooks.host) is not None:
                host("hook.run", (self._hook_from, self), None)
            self.recv_hook()
            self.recv_hook = None

    def _announce_error(self, error: BaseException) -> None:
        if (host := self._hooks.host) is not None:
            host("error", self, {"type": type(error).__name__, "text": str(error), "at": raised_at(error)})

    def _announce(self, kind: str) -> None:
        if (host := self._hooks.host) is not None:
            host(kind, self, None)

    def __repr__(self) -> str:
        return f"<context of microbatch {self.id} of {len(self.ring.contexts)}>"


def runtime_of(compute_stream: Stream, comm_stream: Stream) -> Runtime:
    """The one runtime that both streams belong to."""
    for stream in (compute_stream, comm_stream):
        if getattr(stream, "runtime", None) is None:
            raise MixedRuntimes(f"{stream!r} belongs to no runtime of ubviz; make it with rt.Stream()")
    if compute_stream.runtime is not comm_stream.runtime:
        raise MixedRuntimes("the compute and the comm stream belong to two runtimes; make both with one")
    return compute_stream.runtime


def make_ubatch_contexts(
    num_micro_batches: int,
    compute_stream: Stream,
    comm_stream: Stream,
    forward_contexts: Sequence[ForwardContext],
    ready_barrier: Barrier,
    schedule: str = "default",
    token_offsets: Sequence[int] | None = None,
) -> list[UBatchContext]:
    """The contexts of one step: microbatch i waits for host event i and sets host event i + 1, modulo N.

    ``ready_barrier`` has N + 1 parties: the microbatches and main. ``schedule`` is accepted and unused, as in
    vLLM. ``token_offsets`` says where in the batch each microbatch's tokens begin. Bare streams of ``torch.cuda``
    mean the cuda runtime.

    >>> rt = get_runtime("host")  # doctest: +SKIP
    >>> contexts = make_ubatch_contexts(2, rt.Stream(), rt.Stream(), [a, b], rt.Barrier(3))  # doctest: +SKIP

    Raises ``BadArgument`` for fewer than two microbatches or another number of forward contexts,
    ``MixedRuntimes`` when the streams do not belong together.
    """
    n = num_micro_batches
    if n < 2:
        raise BadArgument(f"micro-batching takes at least 2 microbatches, not {n}")
    if len(forward_contexts) != n:
        raise BadArgument(f"{n} microbatches need {n} forward contexts, not {len(forward_contexts)}")
    compute_stream, comm_stream = runtime_stream(compute_stream), runtime_stream(comm_stream)
    rt = runtime_of(compute_stream, comm_stream)
    turns = [rt.HostEvent(f"cpu_event[{i}]") for i in range(n)]
    ring = Ring()
    ring.contexts = tuple(
        UBatchContext(
            id=i,
            comm_stream=comm_stream,
            compute_stream=compute_stream,
            forward_context=forward_contexts[i],
            ready_barrier=ready_barrier,
            cpu_wait_event=turns[i],
            cpu_signal_event=turns[(i + 1) % n],
            gpu_comm_done_event=rt.Event(f"comm_done[{i}]"),
            gpu_compute_done_event=rt.Event(f"compute_done[{i}]"),
            schedule=schedule,
            token_offset=token_offsets[i] if token_offsets is not None else 0,
            ring=ring,
        )
        for i in range(n)
    )
    return list(ring.contexts)
