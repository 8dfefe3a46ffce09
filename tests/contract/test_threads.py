"""Threads of a runtime: the standard library's, announced, inside the device context."""

from __future__ import annotations

import threading

import pytest

from tests.contract.language import until


def test_a_thread_calls_its_target_and_has_its_name(rt):
    said = []
    thread = rt.Thread(
        lambda *args: said.append((args, threading.current_thread().name)), (1, 2), name="worker"
    )
    thread.start()
    thread.join()
    assert said == [((1, 2), "worker")]
    assert not thread.is_alive()
    thread.join()  # again is allowed


def test_the_life_of_a_thread_is_told_in_order(rt, told):
    thread = rt.Thread(lambda: None)
    thread.start()
    thread.join()
    assert [kind for kind in told.kinds(thread) if kind != "thread.join"] == [
        "thread.create", "thread.start", "thread.end", "returned",
    ]  # fmt: skip
    main = threading.get_ident()
    by = {fact.kind: fact.thread == main for fact in told.facts if fact.obj is thread}
    assert by == {"thread.create": True, "thread.start": False, "thread.end": False, "thread.join": True,
                  "returned": True}  # fmt: skip


def test_join_with_a_time_limit_returns_while_the_thread_lives(rt):
    gate = rt.HostEvent()
    thread = rt.Thread(gate.wait)
    thread.start()
    thread.join(0.001)
    assert thread.is_alive()
    gate.set()
    thread.join()
    assert not thread.is_alive()


def test_a_thread_is_joined_only_after_its_start_and_not_by_itself(rt, start):
    thread = rt.Thread(lambda: None)
    with pytest.raises(RuntimeError, match=r"^cannot join thread before it is started$"):
        thread.join()

    def join_myself():
        threading.current_thread().join()

    with pytest.raises(RuntimeError, match=r"^cannot join current thread$"):
        start(join_myself).end()


def test_a_thread_starts_once(rt, told):
    gate = rt.HostEvent()
    thread = rt.Thread(gate.wait)
    thread.start()
    with pytest.raises(RuntimeError, match=r"^threads can only be started once$"):
        thread.start()
    assert thread in rt.threads
    gate.set()
    thread.join()
    with pytest.raises(RuntimeError, match=r"^threads can only be started once$"):
        thread.start()
    assert len(told.of("thread.create")) == 1


def test_a_runtime_knows_its_threads_while_they_live(rt):
    gate, other = rt.HostEvent(), rt.HostEvent()
    threads = [rt.Thread(gate.wait), rt.Thread(other.wait)]
    assert not rt.threads
    for thread in threads:
        thread.start()
    assert set(rt.threads) == set(threads)
    gate.set()
    threads[0].join()
    assert set(rt.threads) == {threads[1]}
    other.set()
    threads[1].join()
    assert not rt.threads


def test_the_device_context_may_be_entered_again_inside(rt, start):
    def nested():
        with rt.device_context():
            with rt.device_context():
                pass
            return "done"

    assert nested() == "done"
    assert start(nested).end() == "done"  # a thread of the runtime is inside already


def test_an_error_leaves_the_device_context_closed(rt):
    with pytest.raises(KeyError), rt.device_context():
        raise KeyError
    with rt.device_context():
        pass


def test_who_waits_for_what_is_known(rt, start):
    event = rt.HostEvent("turn")
    running = start(event.wait)
    until(lambda: rt.parking.waiting, "the thread is parked")
    (parked,) = rt.parking.waiting.values()
    assert (parked.thread, parked.kind, parked.obj, parked.timed) == (
        running.thread, "host_event.wait", event, False,
    )  # fmt: skip
    event.set()
    assert running.end() is True
    assert not rt.parking.waiting


def test_what_keeps_a_thread_from_its_target_is_told(rt):
    fault, failed, ran = RuntimeError("no device"), [], []

    class Bad:
        def host(self, kind, obj, arg):
            if kind == "thread.start":
                raise fault

        def device(self, kind, obj, arg):
            pass

    bad = Bad()
    rt.hooks.subscribe(bad)
    thread = rt.Thread(ran.append, (1,), "t", failed.append)
    thread.start()
    thread.join()
    rt.hooks.unsubscribe(bad)
    assert (failed, ran, list(rt.threads)) == ([fault], [], [])
    again = rt.Thread(ran.append, (2,), "t", failed.append)
    again.start()
    again.join()
    assert (failed, ran) == ([fault], [2])
