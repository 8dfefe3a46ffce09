"""A fault at every operation of a microbatch, and of main: no hang, the original exception, and nothing left.

``Walk.survives`` asks each time: the call ends, whether or not anybody was waiting; no thread, no work and no
forward context is left; nobody ran without the turn, or launched in a failed ring; the next call is right.
"""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
import torch

from tests.faults import Broken, Walk, Where, note_of
from tests.small import Small
from tests.stories import Story, microbatch_threads
from ubviz.analysis import handoff, turns
from ubviz.errors import AsyncError, NoReceiver
from ubviz.runtime.host_sync import Thread
from ubviz.ubatch import (
    UBatchContext,
    dbo_current_ubatch_id,
    dbo_register_recv_hook,
    dbo_switch_to_comm,
    dbo_yield,
)
from ubviz.ubatch import contexts as ctx

CASES = list(product(("ht", "ll"), (2, 3, 4)))


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}{case[1]}")
def walk(request: pytest.FixtureRequest) -> Iterator[Walk]:
    walk = Walk(*request.param)
    yield walk
    walk.rt.close()


def some(n: int) -> list[int]:
    """All of two or three microbatches; of more, the first, a middle one and the last."""
    return sorted({0, 1, n // 2, n - 1}) if n < 4 else [0, n // 2, n - 1]


# ---- one fault, everywhere


def test_every_operation_of_a_microbatch(walk: Walk) -> None:
    for ubatch in some(walk.n):
        for k, kind in enumerate(walk.facts(f"ubatch {ubatch}"), 1):
            fault = Broken(f"at {kind}")
            assert walk.survives({(f"ubatch {ubatch}", k): fault}) is fault
            assert note_of(fault, ubatch), (ubatch, k, kind, fault.__notes__)


def test_the_walk_comes_by_everything() -> None:
    common = {
        "thread.start",
        "ctx.enter", "barrier.arrive", "barrier.release", "host_event.wait", "host_event.wake",
        "host_event.clear", "context.set", "stream.switch", "op.begin", "kernel.launch", "op.end", "ctx.yield",
        "host_event.set", "ctx.resume", "ctx.exit",
    }  # fmt: skip
    assert set(Walk("ht").facts("ubatch 1")) == {*common, "event.record", "event.wait", "returned"}
    assert set(Walk("ll").facts("ubatch 1")) == {*common, "hook.register", "hook.run"}


def test_every_step_of_main(walk: Walk) -> None:
    facts = walk.facts("main")
    last = len(facts) - facts[::-1].index("thread.join")
    for k, kind in enumerate(facts[: last + 1], 1):
        fault = Broken(f"at {kind}")
        assert walk.survives({("main", k): fault}) is fault
        assert not hasattr(fault, "__notes__")  # it is no microbatch's


def test_the_call_that_a_note_names(walk: Walk) -> None:
    k = walk.facts("ubatch 1").index("kernel.launch") + 1
    fault = walk.survives({("ubatch 1", k): Broken()})
    code = Walk.model.__code__
    (note,) = fault.__notes__
    assert note.startswith(f"microbatch 1 (thread 'ubatch 1', at {code.co_filename}:")


@pytest.mark.slow
@pytest.mark.parametrize(("style", "n", "layers"), [*product(("ht", "ll"), (2, 3, 4), (2,)), ("ht", 5, 1)])
def test_every_operation_of_everyone(style: str, n: int, layers: int) -> None:
    walk = Walk(style, n, layers)
    for ubatch in range(n):
        for k, kind in enumerate(walk.facts(f"ubatch {ubatch}"), 1):
            fault = Broken(f"at {kind}")
            assert walk.survives({(f"ubatch {ubatch}", k): fault}) is fault
            assert note_of(fault, ubatch)
    walk.rt.close()


# ---- two at once


def test_two_fail_at_the_same_operation(walk: Walk) -> None:
    for k, kind in enumerate(walk.facts("ubatch 1"), 1):
        faults: dict[Where, BaseException] = {
            ("ubatch 0", k): Broken(f"0 at {kind}"), ("ubatch 1", k): Broken(f"1 at {kind}"),
        }  # fmt: skip
        raised = walk.survives(faults)
        first = list(faults.values()).index(raised)
        assert note_of(raised, first)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["ht", "ll"])
def test_every_two_operations(style: str) -> None:
    walk = Walk(style)
    ks = [range(1, len(walk.facts(f"ubatch {ubatch}")) + 1) for ubatch in range(2)]
    for k0, k1 in product(*ks):
        faults: dict[Where, BaseException] = {("ubatch 0", k0): Broken("0"), ("ubatch 1", k1): Broken("1")}
        assert walk.survives(faults) in faults.values()
    walk.rt.close()


# ---- the real model, and queued work


@pytest.mark.slow
@pytest.mark.parametrize(("style", "n"), CASES)
def test_every_operation_of_the_engine(style: str, n: int) -> None:
    small = Small(style, n, layers=1)
    walk = Walk(style, n, rt=small.rt)
    walk.wrapper = small.runner.model
    right = small.runner.execute_model(small.batch, "overlapped").hidden

    def step(x: torch.Tensor) -> torch.Tensor:
        return small.runner.execute_model(small.batch, "overlapped").hidden

    walk.right, walk.step = right, step
    for ubatch in some(n):
        for k, kind in enumerate(walk.facts(f"ubatch {ubatch}"), 1):
            fault = Broken(f"at {kind}")
            assert walk.survives({(f"ubatch {ubatch}", k): fault}) is fault
            assert note_of(fault, ubatch)
    small.close()


def failing_kernel(
    walk: Walk, fault: BaseException, **how: Any
) -> Callable[[Any, torch.Tensor], torch.Tensor]:
    def fail() -> None:
        raise fault

    def body(rt: Any, x: torch.Tensor) -> torch.Tensor:
        dbo_yield()
        if dbo_current_ubatch_id() == 1:
            rt.launch("bad", fail, stream=walk.wrapper.comm_stream, **how)
            if not how:
                raise Broken("and the host, too")
        dbo_yield()
        return x

    return body


def test_a_kernel_that_fails_while_the_host_waits_for_it(walk: Walk) -> None:
    good, walk.body = walk.body, failing_kernel(walk, Broken("on the device"), host_wait=True)
    with pytest.raises(AsyncError) as caught:
        walk.call({})
    assert str(caught.value) == "bad on stream comm failed: Broken: on the device"
    assert note_of(caught.value, 1)
    walk.body = good
    assert torch.equal(walk.call({}), walk.right)


def test_an_error_of_queued_work_is_not_lost_behind_another(walk: Walk) -> None:
    good, walk.body = walk.body, failing_kernel(walk, Broken("on the device"))
    with pytest.raises(AsyncError, match="bad on stream comm failed: Broken: on the device") as caught:
        walk.call({})  # looks for work that is left, and so finds it
    assert str(caught.value.__context__) == "and the host, too"
    walk.body = good
    assert torch.equal(walk.call({}), walk.right)


# ---- main, threads, the barrier


@pytest.mark.parametrize("how", ["a signal", "an interrupt set from a thread"])
def test_an_interrupt_while_main_joins(walk: Walk, how: str) -> None:
    main = threading.main_thread().ident

    def main_joins() -> bool:
        parked = walk.rt.parking.waiting.get(main)
        return parked is not None and parked.kind == "thread.join"

    def body(rt: Any, x: torch.Tensor) -> torch.Tensor:
        while not main_joins():
            dbo_yield()
        if dbo_current_ubatch_id() == walk.n - 1:
            signal.pthread_kill(main, signal.SIGINT) if how == "a signal" else _thread.interrupt_main()
        while walk.rt.threads:  # until it is told to unwind
            dbo_yield()
        return x

    good, walk.body = walk.body, body
    with pytest.raises(KeyboardInterrupt):
        walk.call({})
    walk.body = good
    assert torch.equal(walk.call({}), walk.right)


def test_a_thread_that_cannot_start(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Thread.start
    for ubatch in range(walk.n):
        fault = RuntimeError("can't start new thread")

        def start(thread: Thread, bad: int = ubatch, fault: Exception = fault) -> None:
            if thread.name == f"ubatch {bad}":
                raise fault
            plain(thread)

        with monkeypatch.context() as patch:
            patch.setattr(Thread, "start", start)
            with pytest.raises(RuntimeError) as caught:
                walk.call({})
        assert caught.value is fault
        assert torch.equal(walk.call({}), walk.right)


class Aborter:
    """Breaks a barrier from a thread of its own, when a microbatch enters."""

    def __init__(self, barrier: Any, ubatch: int) -> None:
        self.barrier, self.ubatch = barrier, ubatch

    def host(self, kind: str, obj: Any, arg: Any) -> None:
        if kind == "ctx.enter" and obj.id == self.ubatch:
            outsider = threading.Thread(target=self.barrier.abort)
            outsider.start()
            outsider.join()

    def device(self, kind: str, obj: Any, arg: Any) -> None:
        pass


def test_a_barrier_broken_from_outside(walk: Walk) -> None:
    for ubatch in range(walk.n):
        aborter = Aborter(walk.wrapper.ready_barrier, ubatch)
        walk.rt.hooks.subscribe(aborter)
        with pytest.raises(threading.BrokenBarrierError) as caught:
            walk.call({})
        walk.rt.hooks.unsubscribe(aborter)
        assert not hasattr(caught.value, "__notes__")  # no microbatch broke it
        assert torch.equal(walk.call({}), walk.right)


# ---- unequal yields


@pytest.mark.parametrize("counts", [(1, 3, 3), (2, 3), (3, 1), (0, 2), (3, 0, 2), (4, 1, 0, 2)])
def test_unequal_yields(counts: tuple[int, ...]) -> None:
    story = Story(len(counts))

    def body(x: torch.Tensor) -> torch.Tensor:
        for _ in range(counts[dbo_current_ubatch_id()]):
            dbo_yield()
        return x

    assert torch.equal(story.run(body), story.x)
    yielded = [sum(turn == ubatch for turn in turns(story.trace)) - 1 for ubatch in range(story.n)]
    assert all(
        seen <= meant for seen, meant in zip(yielded, counts, strict=True)
    )  # who is alone keeps the turn
    assert [finding.kind for finding in handoff(story.trace)] == ["unequal_yields"]
    story.rt.close()


@pytest.mark.parametrize("counts", [(1, 3, 3), (2, 3), (3, 1)])
def test_a_fault_after_others_have_left(counts: tuple[int, ...]) -> None:
    walk, fault = Walk(n=len(counts)), Broken("late")
    bad = counts.index(max(counts))

    def body(rt: Any, x: torch.Tensor) -> torch.Tensor:
        for _ in range(counts[dbo_current_ubatch_id()]):
            dbo_yield()
        if dbo_current_ubatch_id() == bad:
            raise fault
        return x

    good, walk.body = walk.body, body
    with pytest.raises(Broken) as caught:
        walk.call({})
    assert caught.value is fault
    assert note_of(fault, bad)
    walk.body = good
    assert torch.equal(walk.call({}), walk.right)


def test_a_hook_for_one_who_has_left() -> None:
    walk = Walk(n=3)

    def body(rt: Any, x: torch.Tensor) -> torch.Tensor:
        if dbo_current_ubatch_id() == 2:
            dbo_register_recv_hook(lambda: None)
        return x

    walk.body = body
    with pytest.raises(NoReceiver) as caught:
        walk.call({})
    assert str(caught.value) == (
        "microbatch 2 registers a receive hook for microbatch 0, which has left; "
        "both must take the same number of steps"
    )


def test_who_swallows_the_unwinding_cannot_stay() -> None:
    """A bare ``except`` in a model keeps its thread for as long as it runs, but it never gets past a yield again."""
    walk, swallowed = Walk(), []

    def body(rt: Any, x: torch.Tensor) -> torch.Tensor:
        if dbo_current_ubatch_id() == 0:
            dbo_yield()
            raise Broken("as it is")
        for _ in range(3):
            try:
                dbo_yield()
            except BaseException as error:
                swallowed.append(type(error).__name__)
        return x

    walk.body = body
    with pytest.raises(Broken, match="as it is"):
        walk.call({})
    assert swallowed == ["Unwind"] * 3


# ---- the walk has teeth: a mechanism that lacks one rule is caught


def no_way_out_of_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    def enter(self: UBatchContext) -> UBatchContext:
        ctx.by_thread[threading.get_ident()] = self
        self._announce("ctx.enter")
        self.ready_barrier.wait()
        self._in_ring = True
        self._take_turn()
        self._restore_context()
        self.update_stream(self.compute_stream)
        return self

    monkeypatch.setattr(UBatchContext, "__enter__", enter)


def nobody_looks_at_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UBatchContext, "_unwind_if_failed", lambda self: None)


def who_leaves_never_passes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UBatchContext, "_claim", staticmethod(lambda handed: False))


def one_try_to_hand_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UBatchContext, "_insist", UBatchContext._attempt)


@pytest.mark.parametrize(
    ("mutate", "thread", "kind"),
    [
        (no_way_out_of_enter, "ubatch 1", "context.set"),
        (nobody_looks_at_the_mark, "ubatch 0", "op.begin"),
        (who_leaves_never_passes_on, "ubatch 1", "host_event.wake"),
        (one_try_to_hand_on, "ubatch 1", "ctx.exit host_event.set"),
    ],
)
def test_a_mutant_is_caught(
    monkeypatch: pytest.MonkeyPatch, mutate: Callable[[pytest.MonkeyPatch], None], thread: str, kind: str
) -> None:
    walk = Walk("ht", 3)
    facts = walk.facts(thread)
    after = facts.index("ctx.exit") if kind.startswith("ctx.exit ") else 0
    points = [k for k, told in enumerate(facts, 1) if told == kind.split()[-1] and k > after]
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        for k in points:
            walk.survives({(thread, k): Broken()})
    monkeypatch.undo()
    ctx.by_thread.clear()
    dbo_switch_to_comm()  # nothing: no microbatch is alive
    assert microbatch_threads() == []


def test_to_skip_who_has_left_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def next_one_dead_or_alive(self: UBatchContext) -> bool:
        self.cpu_signal_event.set()
        self._has_turn = False
        return True

    def body(rt: Any, x: torch.Tensor) -> torch.Tensor:
        for _ in range((1, 3, 3)[dbo_current_ubatch_id()]):
            dbo_yield()
        return x

    monkeypatch.setattr(UBatchContext, "_hand_on", next_one_dead_or_alive)
    walk = Walk(n=3)
    walk.body = body
    with pytest.raises(AssertionError, match="stalled in <host event cpu_event"):
        walk.call({})
