"""Host events and barriers behave as ``threading``'s: one body, run over the original and every runtime."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.contract.conftest import RUNTIMES
from tests.contract.language import Running, stepping_aside, until, waiters
from ubviz import get_runtime


@pytest.fixture(params=["threading", *RUNTIMES])
def kit(request):
    """Where events, barriers and threads come from."""
    if request.param == "threading":
        yield SimpleNamespace(
            Event=threading.Event, Barrier=threading.Barrier, start=starter(threading.Thread)
        )
        return
    rt = get_runtime(request.param)
    with stepping_aside(rt):
        yield SimpleNamespace(Event=rt.HostEvent, Barrier=rt.Barrier, start=starter(rt.Thread))
    rt.close()


def starter(thread_class: Callable[..., Any]) -> Callable[[Callable[[], Any]], Running]:
    return lambda target: Running(thread_class, target)


def blocked(obj: Any, n: int) -> None:
    until(lambda: waiters(obj) == n, f"{n} threads are blocked")


# ---- events


def test_the_flag_is_sticky(kit):
    event = kit.Event()
    assert not event.is_set()
    event.set()
    event.set()
    assert event.is_set()
    assert event.wait() is True
    assert event.wait() is True  # waiting does not clear it
    event.clear()
    event.clear()
    assert not event.is_set()


def test_a_wait_with_a_time_limit(kit):
    event = kit.Event()
    assert event.wait(0) is False
    assert event.wait(0.001) is False
    assert event.wait(-1) is False
    event.set()
    assert event.wait(0) is True


def test_set_wakes_everyone_who_waits(kit):
    event = kit.Event()
    running = [kit.start(event.wait) for _ in range(3)]
    blocked(event, 3)
    event.set()
    assert [r.end() for r in running] == [True] * 3


def test_a_wait_with_a_long_limit_is_woken_too(kit):
    event = kit.Event()
    running = kit.start(lambda: event.wait(1000))
    blocked(event, 1)
    event.set()
    assert running.end() is True


def test_who_waited_wakes_even_if_the_flag_is_down_again(kit):
    event = kit.Event()
    for _ in range(50):
        running = kit.start(event.wait)
        blocked(event, 1)
        event.set()
        event.clear()
        assert running.end() is True
        assert not event.is_set()


def test_a_turn_goes_round_a_ring(kit):
    n, rounds, said = 3, 20, []
    turns = [kit.Event() for _ in range(n)]

    def member(i):
        for _ in range(rounds):
            turns[i].wait()
            turns[i].clear()
            said.append(i)
            turns[(i + 1) % n].set()

    running = [kit.start(lambda i=i: member(i)) for i in range(n)]
    turns[0].set()
    for r in running:
        r.end()
    assert said == [0, 1, 2] * rounds


# ---- barriers


def test_a_barrier_opens_for_the_last_arrival_and_is_cyclic(kit):
    barrier = kit.Barrier(3)
    for _ in range(20):
        running = [kit.start(barrier.wait) for _ in range(2)]
        blocked(barrier, 2)
        assert barrier.n_waiting == 2
        last = barrier.wait()
        assert last == 2
        assert sorted(r.end() for r in running) == [0, 1]
        assert (barrier.parties, barrier.n_waiting, barrier.broken) == (3, 0, False)


def test_nobody_passes_a_barrier_before_all_have_arrived(kit):
    barrier, said = kit.Barrier(3), []

    def member():
        for step in range(30):
            said.append(step)
            barrier.wait()

    for running in [kit.start(member) for _ in range(3)]:
        running.end()
    assert said == [step for step in range(30) for _ in range(3)]


def test_a_barrier_for_one_does_not_block(kit):
    barrier = kit.Barrier(1)
    assert [barrier.wait(), barrier.wait()] == [0, 0]


def test_abort_breaks_the_barrier_for_those_who_wait_and_those_to_come(kit):
    barrier = kit.Barrier(3)
    running = [kit.start(barrier.wait) for _ in range(2)]
    blocked(barrier, 2)
    barrier.abort()
    for r in running:
        with pytest.raises(threading.BrokenBarrierError):
            r.end()
    assert barrier.broken
    with pytest.raises(threading.BrokenBarrierError):
        barrier.wait()
    barrier.reset()
    assert not barrier.broken
    passes(kit, barrier)


def test_reset_sends_away_those_who_wait_and_leaves_a_whole_barrier(kit):
    barrier = kit.Barrier(3)
    running = [kit.start(barrier.wait) for _ in range(2)]
    blocked(barrier, 2)
    barrier.reset()
    for r in running:
        with pytest.raises(threading.BrokenBarrierError):
            r.end()
    assert not barrier.broken
    passes(kit, barrier)


def test_a_time_limit_breaks_the_barrier_for_all(kit):
    barrier = kit.Barrier(3)
    waiting = kit.start(barrier.wait)
    blocked(barrier, 1)
    with pytest.raises(threading.BrokenBarrierError):
        barrier.wait(0.001)
    with pytest.raises(threading.BrokenBarrierError):
        waiting.end()
    assert barrier.broken
    with pytest.raises(threading.BrokenBarrierError):
        barrier.wait()
    barrier.reset()
    passes(kit, barrier)


def test_reset_of_an_idle_barrier_changes_nothing(kit):
    barrier = kit.Barrier(3)
    barrier.reset()
    assert (barrier.broken, barrier.n_waiting) == (False, 0)
    passes(kit, barrier)


def passes(kit: Any, barrier: Any) -> None:
    """Two threads and this one go through."""
    running = [kit.start(barrier.wait) for _ in range(2)]
    blocked(barrier, 2)
    assert {barrier.wait(), *(r.end() for r in running)} == {0, 1, 2}
