"""What listeners are told of host events and barriers, and that the order is the real one."""

from __future__ import annotations

import threading

import pytest

from tests.contract.language import Listener, Running, until, waiters


def test_nobody_listens_at_first(rt):
    assert (rt.hooks.host, rt.hooks.device) == (None, None)
    rt.HostEvent().set()
    rt.launch("k")
    rt.synchronize()


def test_two_listeners_are_told_the_same_and_each_until_it_leaves(rt):
    first, second = Listener(), Listener()
    event = rt.HostEvent("e")  # exists before anybody listens
    rt.hooks.subscribe(first)
    event.set()
    rt.hooks.subscribe(second)
    event.clear()
    rt.hooks.unsubscribe(first)
    event.set()
    rt.hooks.unsubscribe(second)
    event.clear()
    assert [(fact.kind, fact.arg) for fact in first.facts] == [
        ("host_event.set", False),
        ("host_event.clear", True),
    ]
    assert [(fact.kind, fact.arg) for fact in second.facts] == [
        ("host_event.clear", True),
        ("host_event.set", False),
    ]
    assert rt.hooks.host is None


def test_device_facts_reach_two_listeners(rt):
    stream = rt.Stream("s")
    listeners = [Listener(), Listener()]
    for listener in listeners:
        rt.hooks.subscribe(listener)
    rt.launch("k", stream=stream)
    rt.synchronize()
    assert [listener.names(stream) for listener in listeners] == [["k"], ["k"]]


def test_launches_made_before_anybody_listens_are_not_told(rt, hold):
    stream, listener = rt.Stream("s"), Listener()
    gate = hold(stream)
    rt.hooks.subscribe(listener)
    rt.launch("k", stream=stream)
    gate.set()
    stream.synchronize()
    assert listener.names(stream) == ["k"]


def test_a_host_event_tells_what_its_flag_was(rt, told):
    event = rt.HostEvent("e")
    for act in (event.set, event.set, event.clear, event.clear):
        act()
    assert [(fact.kind, fact.arg) for fact in told.facts] == [
        ("host_event.set", False),
        ("host_event.set", True),
        ("host_event.clear", True),
        ("host_event.clear", False),
    ]


def test_a_wait_is_told_when_it_begins_and_when_it_ends(rt, told, start):
    event = rt.HostEvent("e")
    running = start(event.wait)
    until(lambda: waiters(event) == 1, "the thread waits")
    assert told.kinds(event) == ["host_event.wait"]
    event.set()
    running.end()
    event.wait()  # the flag is up: told as well
    event.clear()
    assert event.wait(0) is False
    assert told.kinds(event) == [
        "host_event.wait", "host_event.set", "host_event.wake", "host_event.wait", "host_event.wake",
        "host_event.clear", "host_event.wait", "returned",
    ]  # fmt: skip


def test_the_order_of_facts_of_one_host_event_is_the_real_order(rt, told, restless):
    event = rt.HostEvent("e")

    def toggle():
        for _ in range(300):
            event.set()
            event.wait(0)
            event.clear()

    for running in [Running(rt.Thread, toggle) for _ in range(3)]:
        running.end()
    flag, waiting = False, set()
    for fact in told.facts:
        if fact.obj is not event:
            continue
        if fact.kind == "host_event.wait":
            waiting.add(fact.thread)
        elif fact.kind in ("host_event.wake", "returned"):
            assert fact.thread in waiting
            assert (fact.kind == "host_event.wake") == flag  # nobody parks here, so the flag decides
            waiting.remove(fact.thread)
        else:
            assert fact.arg is flag
            flag = fact.kind == "host_event.set"
    assert not flag
    assert not waiting


def test_a_barrier_numbers_its_arrivals_and_generations(rt, told):
    barrier = rt.Barrier(3, "b")
    for generation in range(2):
        running = []
        for i in range(2):
            running.append(Running(rt.Thread, barrier.wait))
            until(lambda: waiters(barrier) == i + 1, "the thread has arrived")  # noqa: B023
        barrier.wait()
        for r in running:
            r.end()
        facts = [fact for fact in told.facts if fact.obj is barrier and fact.arg[1] == generation]
        arrivals, releases = facts[:3], facts[3:]
        assert [(f.kind, f.arg) for f in arrivals] == [("barrier.arrive", (n, generation)) for n in (1, 2, 3)]
        assert {f.kind for f in releases} == {"barrier.release"}
        assert {f.thread: f.arg for f in releases} == {f.thread: f.arg for f in arrivals}


def test_breaking_and_mending_a_barrier_is_told(rt, told, start):
    barrier = rt.Barrier(2, "b")
    running = start(barrier.wait)
    until(lambda: waiters(barrier) == 1, "the thread has arrived")
    barrier.abort()
    with pytest.raises(threading.BrokenBarrierError):
        running.end()
    barrier.reset()
    assert told.kinds(barrier) == ["barrier.arrive", "barrier.abort", "returned", "barrier.reset"]


def test_a_snapshot_holds_flags_counts_and_record_numbers(rt, start):
    event, raised = rt.HostEvent("e"), rt.HostEvent("raised")
    barrier, record = rt.Barrier(2, "b"), rt.Event("r")
    same_name = rt.HostEvent("e")
    raised.set()
    record.record()
    record.record()
    running = start(barrier.wait)
    until(lambda: waiters(barrier) == 1, "the thread has arrived")
    assert rt.snapshot() == [
        (event, False), (raised, True), (barrier, {"n": 1, "parties": 2, "generation": 0}), (record, 2),
        (same_name, False),
    ]  # fmt: skip
    barrier.wait()
    running.end()
    del same_name
    assert [obj.name for obj, _ in rt.snapshot()] == ["e", "raised", "b", "r"]
