"""``dbo_*`` from outside: before, while and after microbatches live, and from threads that run none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.faults import Broken, Walk
from ubviz import ubatch
from ubviz.errors import NotAMicrobatchThread, WrapperBusy
from ubviz.runtime.host import HostRuntime
from ubviz.ubatch import dbo_current_ubatch_id, dbo_enabled, dbo_yield

CALLS: dict[str, Callable[[], Any]] = {
    "dbo_yield": ubatch.dbo_yield,
    "dbo_yield_and_switch_from_compute_to_comm": ubatch.dbo_yield_and_switch_from_compute_to_comm,
    "dbo_yield_and_switch_from_comm_to_compute": ubatch.dbo_yield_and_switch_from_comm_to_compute,
    "dbo_switch_to_comm": ubatch.dbo_switch_to_comm,
    "dbo_switch_to_compute": ubatch.dbo_switch_to_compute,
    "dbo_switch_to_comm_sync": ubatch.dbo_switch_to_comm_sync,
    "dbo_switch_to_compute_sync": ubatch.dbo_switch_to_compute_sync,
    "dbo_maybe_run_recv_hook": ubatch.dbo_maybe_run_recv_hook,
    "dbo_register_recv_hook": lambda: ubatch.dbo_register_recv_hook(lambda: None),
    "dbo_get_previous_event": lambda: ubatch.dbo_get_previous_event(lambda: 1),
    "dbo_current_ubatch_id": ubatch.dbo_current_ubatch_id,
    "dbo_current_ubatch_token_offset": ubatch.dbo_current_ubatch_token_offset,
}
NOTHING = {name: 0 if name.startswith("dbo_current") else None for name in CALLS}


def answers() -> dict[str, Any]:
    """What each function returns, or raises, in this thread."""
    found: dict[str, Any] = {}
    for name, call in CALLS.items():
        try:
            found[name] = call()
        except Exception as error:
            found[name] = error
    return found


def in_a_thread(work: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()), name="stranger")
    thread.start()
    thread.join()
    return found[0]


def test_every_function_is_here() -> None:
    assert {*CALLS, "dbo_enabled"} == {name for name in ubatch.__all__ if name.startswith("dbo_")}


@pytest.mark.parametrize("where", ["here", "in another thread"])
def test_before_and_after_nothing_happens(where: str) -> None:
    ask = answers if where == "here" else lambda: in_a_thread(answers)
    assert ask() == NOTHING
    walk = Walk()
    walk.call({})
    assert ask() == NOTHING
    walk.survives({("ubatch 1", 30): Broken()})
    assert ask() == NOTHING
    walk.rt.close()


@pytest.mark.parametrize("n", [2, 3])
def test_meanwhile_a_stranger_is_told_off(n: int) -> None:
    walk, seen = Walk(n=n), []

    def body(rt: Any, x: torch.Tensor) -> torch.Tensor:
        dbo_yield()
        if dbo_current_ubatch_id() == 0:
            seen.append(in_a_thread(lambda: (dbo_enabled(), answers())))
        dbo_yield()
        return x

    walk.body, walk.right = body, walk.x
    assert torch.equal(walk.call({}), walk.right)
    ((enabled, found),) = seen
    assert enabled
    assert {type(error) for error in found.values()} == {NotAMicrobatchThread}
    assert {str(error) for error in found.values()} == {
        f"thread 'stranger' runs no microbatch, but {n} are alive; "
        "call dbo_* functions from the threads of the microbatches only"
    }
    walk.rt.close()


def test_meanwhile_another_wrapper_is_refused() -> None:
    a, b, refused = Walk(), Walk("ll", 3), []

    def body(rt: Any, x: torch.Tensor) -> torch.Tensor:
        dbo_yield()
        if dbo_current_ubatch_id() == 1:
            refused.append(in_a_thread(attempt))
        return x

    def attempt() -> Exception | None:
        try:
            with (
                ubatch.override_forward_context(None),
                ubatch.set_forward_context(None, ubatch_slices=b.slices),
            ):
                b.wrapper(x=b.x)
        except Exception as error:
            return error
        return None

    a.body = body
    assert torch.equal(a.call({}), a.x)
    assert [type(error) for error in refused] == [WrapperBusy]
    assert torch.equal(b.call({}), b.right)
    a.rt.close()
    b.rt.close()


# ---- what befalls main or a thread around the microbatches


@pytest.mark.parametrize("ubatch", [0, 1, 2])
def test_a_thread_that_cannot_enter_the_device(ubatch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    walk, fault, plain = Walk(n=3), RuntimeError("the device is lost"), HostRuntime.thread_context

    def thread_context(rt: HostRuntime) -> Any:
        if threading.current_thread().name == f"ubatch {ubatch}":
            raise fault
        return plain(rt)

    with monkeypatch.context() as patch:
        patch.setattr(HostRuntime, "thread_context", thread_context)
        with pytest.raises(RuntimeError) as caught:
            walk.call({})
    assert caught.value is fault
    assert torch.equal(walk.call({}), walk.right)
    walk.rt.close()


@pytest.mark.parametrize("n", [2, 3])
def test_a_second_fault_in_main_while_it_lets_all_unwind(n: int) -> None:
    walk = Walk("ht", n)
    facts = walk.facts("main")
    for k in range(1, len(facts) + 4):
        first = Broken("a microbatch's")
        raised = walk.survives({("ubatch 1", 20): first, ("main", k): KeyboardInterrupt()})
        assert raised is first or isinstance(raised, KeyboardInterrupt)
    walk.rt.close()
