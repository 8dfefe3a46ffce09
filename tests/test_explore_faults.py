"""A fault at every operation, in every order of threads, and then a second call: nothing bad; a broken rule is seen.

What a campaign asks for is told in ``tests.campaign``. ``tests/test_fault_walk.py`` does the same in the one order that
a machine happens to take, over the host runtime too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.campaign import SOME, Layers, Tally, campaign
from ubviz.ubatch import UBatchContext
from ubviz.ubatch import contexts as ctx


@pytest.mark.timeout(600)
@pytest.mark.parametrize("style", ["ht", "ll"])
def test_no_failing_launch_does_harm_in_any_order(style: str) -> None:
    tally = campaign(style, 2, kind="kernel.launch")
    assert (tally.bad, tally.first) == (0, None)
    assert tally.points > 5
    assert tally.schedules > tally.points


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("style", "n", "layers"),
    [
        ("ht", 2, 1),
        ("ll", 2, 1),
        ("ht", 2, 2),
        ("ll", 2, 2),
        ("ht", 2, (1, 2)),
        ("ht", 2, (2, 1)),
    ],
)
def test_no_fault_does_harm_in_any_order(style: str, n: int, layers: Layers) -> None:
    tally = campaign(style, n, layers)
    assert (tally.bad, tally.first) == (0, None)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("style", "n", "left"), [("ht", 2, True), ("ll", 2, True), ("ht", 3, False), ("ll", 3, False)]
)
def test_no_fault_does_harm_in_any_order_of_either_call(style: str, n: int, left: bool) -> None:
    tally = campaign(style, n, left=left, orders="apart")
    assert (tally.bad, tally.first) == (0, None)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("style", "n", "layers"), [("ht", 3, 2), ("ll", 3, 2), ("ht", 3, (1, 3, 2)), ("ht", 4, 1), ("ll", 4, 1)]
)
def test_no_fault_does_harm_in_some_orders(style: str, n: int, layers: Layers) -> None:
    tally = campaign(style, n, layers, orders="some")
    assert (tally.bad, tally.first) == (0, None)
    assert tally.schedules == tally.points * SOME


# ---- the six mutants: one rule of the way out broken at a time

Patch = Callable[[str, Any], None]


def nobody_looks_at_the_mark(patch: Patch) -> None:
    patch("_unwind_if_failed", lambda self: None)


def who_leaves_does_not_care_for_the_turn(patch: Patch) -> None:
    patch("_claim", staticmethod(lambda handed: False))


def all_are_woken_at_once(patch: Patch) -> None:
    one_by_one = UBatchContext._hand_on

    def hand_on(self: UBatchContext) -> bool:
        if self.ring.error is None:
            return one_by_one(self)
        self._has_turn = False
        others = [c for c in self.ring.contexts if c is not self and c.id not in self.ring.left]
        for other in others:
            other._handed = threading.Lock()
            other.cpu_wait_event.set()
        return bool(others)

    patch("_hand_on", hand_on)


def the_hook_may_raise_on_the_way_out(patch: Patch) -> None:
    leave = UBatchContext._leave

    def hook_first(self: UBatchContext, error: BaseException | None) -> None:
        if error is None and self.ring.error is None:
            self.maybe_run_recv_hook()
        leave(self, error)

    patch("_leave", hook_first)


def no_way_out_of_enter(patch: Patch) -> None:
    def enter(self: UBatchContext) -> UBatchContext:
        self._entered = True
        ctx.by_thread[threading.get_ident()] = self
        self._announce("ctx.enter")
        self.ready_barrier.wait()
        self._in_ring = True
        self._take_turn()
        self._restore_context()
        self.update_stream(self.compute_stream)
        return self

    patch("__enter__", enter)


@pytest.fixture
def patch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Patch]:
    def change(name: str, value: Any) -> None:
        monkeypatch.setattr(UBatchContext, name, value)

    yield change
    ctx.by_thread.clear()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("mutate", "style", "n", "kind"),
    [
        (nobody_looks_at_the_mark, "ht", 2, "kernel.launch"),
        (who_leaves_does_not_care_for_the_turn, "ht", 2, "host_event.wake"),
        (all_are_woken_at_once, "ht", 3, "kernel.launch"),
        (the_hook_may_raise_on_the_way_out, "ll", 2, None),
        (no_way_out_of_enter, "ht", 2, None),
    ],
)
def test_a_mutant_is_caught(
    mutate: Callable[[Patch], None], style: str, n: int, kind: str | None, patch: Patch
) -> None:
    mutate(patch)
    tally: Tally = campaign(style, n, orders="some", stop=True, kind=kind)
    assert tally.bad == 1, "no fault did harm"


def test_to_hand_on_to_the_next_one_dead_or_alive_is_caught(patch: Patch) -> None:
    """Nobody skips who has left: where one has fewer layers, that hangs without any fault."""

    def hand_on(self: UBatchContext) -> bool:
        self._has_turn = False
        self.cpu_signal_event.set()
        return True

    patch("_hand_on", hand_on)
    with pytest.raises(AssertionError, match="deadlock: no thread can go on"):
        campaign("ht", 2, (1, 2))
