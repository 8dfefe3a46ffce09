"""Waits that are parked: interrupts, Ctrl-C, and the recorder's watchdog."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import threading

import pytest

from tests.contract.language import Running, until
from ubviz import get_runtime, record
from ubviz.errors import BadArgument, Stalled


@pytest.fixture
def rt():
    runtime = get_runtime("host")
    yield runtime
    runtime.parking.resume()
    runtime.close()


def parked(rt, n):
    until(lambda: len(rt.parking.waiting) == n, f"{n} threads are parked")


def test_facts_are_told_under_the_lock_of_their_object(rt):
    """So that the order in which a listener is told is the order in which they happened."""
    locked = {}

    class Listener:
        def host(self, kind, obj, arg):
            if obj in (turn, barrier):
                locked[kind] = obj._mutex.locked()

        def device(self, kind, obj, arg):
            pass

    turn, barrier = rt.HostEvent("turn"), rt.Barrier(1)
    rt.hooks.subscribe(Listener())
    turn.wait(0)
    turn.set()
    turn.wait()
    turn.clear()
    barrier.wait()
    barrier.abort()
    barrier.reset()
    assert locked == dict.fromkeys(
        ("host_event.wait", "returned", "host_event.set", "host_event.wake", "host_event.clear", "barrier.arrive",
         "barrier.release", "barrier.abort", "barrier.reset"), True,
    )  # fmt: skip


# ---- interrupts


def test_an_interrupt_ends_every_wait_with_its_report(rt):
    turn, barrier, gate = rt.HostEvent("turn"), rt.Barrier(4), threading.Event()
    held = rt.Thread(gate.wait)
    held.start()
    waits = [turn.wait, turn.wait, lambda: turn.wait(1000), barrier.wait, barrier.wait, held.join]
    running = [Running(rt.Thread, wait) for wait in waits]
    parked(rt, len(waits))
    rt.parking.interrupt("nothing moves")
    for r in running:
        with pytest.raises(Stalled, match=r"^nothing moves$"):
            r.end()
    assert not rt.parking.waiting
    gate.set()
    held.join()  # a join to come waits, though the runtime is still interrupted
    assert not held.is_alive()


def test_waits_to_come_are_interrupted_until_they_may_wait_again(rt):
    turn, barrier = rt.HostEvent("turn"), rt.Barrier(2)
    rt.parking.interrupt("nothing moves")
    for wait in (turn.wait, barrier.wait):
        with pytest.raises(Stalled, match=r"^nothing moves$"):
            wait()
    assert barrier.broken
    turn.set()
    assert turn.wait() is True  # what need not wait is not interrupted
    turn.clear()
    rt.parking.resume()
    running = Running(rt.Thread, turn.wait)
    parked(rt, 1)
    turn.set()
    assert running.end() is True


def test_an_interrupt_that_nobody_waits_for_changes_nothing(rt):
    turn = rt.HostEvent("turn")
    rt.parking.interrupt("nothing moves")
    rt.parking.resume()
    running = Running(rt.Thread, turn.wait)
    parked(rt, 1)
    turn.set()
    assert running.end() is True


def test_an_interrupted_wait_is_told_to_have_ended_without_a_wake(rt):
    kinds = []

    class Listener:
        def host(self, kind, obj, arg):
            if obj in (turn, barrier):
                kinds.append(kind)

        def device(self, kind, obj, arg):
            pass

    turn, barrier = rt.HostEvent("turn"), rt.Barrier(2)
    rt.hooks.subscribe(Listener())
    rt.parking.interrupt("nothing moves")
    for wait in (turn.wait, barrier.wait):
        with pytest.raises(Stalled):
            wait()
    assert kinds == ["host_event.wait", "returned", "barrier.arrive", "returned"]


def test_a_barrier_has_at_least_one_party(rt):
    with pytest.raises(BadArgument, match=r"^a barrier has at least 1 party, not 0$"):
        rt.Barrier(0)


# ---- Ctrl-C


CTRL_C = """
    import os, signal, threading
    from ubviz import get_runtime

    rt = get_runtime("host")

    class Interrupt:
        '''When a wait has begun, a signal comes.'''

        def host(self, kind, obj, arg):
            if kind in ("host_event.wait", "barrier.arrive", "thread.join", "stream.synchronize"):
                threading.Thread(target=self.interrupt).start()

        def device(self, kind, obj, arg):
            pass

        def interrupt(self):
            while not (rt.parking.waiting or stream._launched > 1):
                pass
            os.kill(os.getpid(), signal.SIGINT)

    for name in ("event.wait", "barrier.wait", "thread.join", "stream.synchronize"):
        event, barrier, stream, gate = rt.HostEvent("turn"), rt.Barrier(2), rt.Stream("s"), threading.Event()
        thread = rt.Thread(gate.wait)
        thread.start()
        rt.launch("gate", gate.wait, stream=stream)
        listener = Interrupt()
        rt.hooks.subscribe(listener)
        try:
            eval(name)()
        except KeyboardInterrupt:
            print(name, "was interrupted;", len(rt.parking.waiting), "parked", end="; ")
        rt.hooks.unsubscribe(listener)
        gate.set()
        thread.join()
        stream.synchronize()
        barrier.reset()
        other = rt.Thread(lambda: (barrier.wait(), event.set()))
        other.start()
        barrier.wait()
        print("then", event.wait(), rt.idle())
"""


def test_ctrl_c_ends_a_wait_of_the_main_thread_and_leaves_everything_usable():
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CTRL_C)], capture_output=True, text=True, timeout=100
    )
    waits = ("event.wait", "barrier.wait", "thread.join", "stream.synchronize")
    expected = "".join(f"{wait} was interrupted; 0 parked; then True True\n" for wait in waits)
    assert (run.returncode, run.stdout, run.stderr) == (0, expected, "")


# ---- the watchdog


LIMIT_S = 0.2


def wait_for_each_other(rt):
    """Two threads, each waiting for what only the other would set; main joins the first."""
    a, b = rt.HostEvent("a"), rt.HostEvent("b")
    errors = {}

    def member(mine, theirs):
        try:
            mine.wait()
            theirs.set()
        except Stalled as error:
            errors[threading.current_thread().name] = error

    threads = [rt.Thread(member, args, name=f"member {i}") for i, args in enumerate([(a, b), (b, a)])]
    for thread in threads:
        thread.start()
    return threads, errors, (a, b)


REPORT = re.compile(
    r"nothing has moved for 0\.2 s: every thread waits and every stream is idle\n"
    r"  main is in thread\.join of <thread member 0>, at tests/test_host_sync\.py:\d+; that is member 0, who waits "
    r"in host_event\.wait of a at tests/test_host_sync\.py:\d+; before it, main did thread\.create at .*\n"
    r"  member 0 is in host_event\.wait of <host event a: clear>, at tests/test_host_sync\.py:\d+; nobody has ever set "
    r"it; main waits in thread\.join of thread 1 at .*, member 1 waits in host_event\.wait of .*; before it, member 0 "
    r"did thread\.start\n"
    r"  member 1 is in host_event\.wait of <host event b: clear>, at tests/test_host_sync\.py:\d+; nobody has ever set "
    r"it; main waits in thread\.join of thread 1 at .*, member 0 waits in host_event\.wait of .*; before it, member 1 "
    r"did thread\.start"
)


def test_a_deadlock_is_ended_and_says_who_waits_for_what(rt):
    with pytest.raises(Stalled) as stalled, record(rt, watchdog_s=LIMIT_S) as rec:
        threads, errors, _ = wait_for_each_other(rt)
        threads[0].join()
    assert REPORT.fullmatch(str(stalled.value))
    for thread in threads:
        thread.join()
    assert {name: str(error) for name, error in errors.items()} == {
        "member 0": str(stalled.value), "member 1": str(stalled.value),
    }  # fmt: skip
    assert rec.trace.events["kind"][-1] == "error"


def test_a_deadlock_is_only_reported_where_that_is_asked_for(rt, capsys):
    printed = []
    with record(rt, watchdog_s=LIMIT_S, on_stall="report"):
        threads, errors, (a, _) = wait_for_each_other(rt)

        def help_out():  # unknown to the runtime, as a debugger would be
            until(
                lambda: printed.append(capsys.readouterr().err) or "".join(printed), "the report is printed"
            )
            a.set()

        helper = Running(threading.Thread, help_out)
        for thread in threads:
            thread.join()
        helper.end()
    assert REPORT.fullmatch("".join(printed).rstrip("\n"))
    assert not errors


def assert_quiet(rt, wait):
    """Run ``wait`` under a watchdog that has looked several times, then hand on its report, if it made one."""
    with record(rt, watchdog_s=LIMIT_S) as rec:
        watchdog = rec._watchdog
        looks = []
        stalled = watchdog._stalled
        watchdog._stalled = lambda parked: looks.append(1) or stalled(parked)
        wait(lambda: until(lambda: len(looks) > 20, "the watchdog has looked"))
    assert not rec.trace.events.mask(kind="error").any()


def test_a_long_kernel_is_no_deadlock(rt):
    gate = threading.Event()

    def wait(looked):
        done = rt.HostEvent("done")
        stream = rt.Stream("s")
        rt.launch("long", lambda: (gate.wait(), done.set()), stream=stream)
        helper = Running(threading.Thread, lambda: (looked(), gate.set()))
        done.wait()
        helper.end()
        stream.synchronize()

    assert_quiet(rt, wait)


def test_a_thread_at_work_is_no_deadlock(rt):
    def wait(looked):
        worker = rt.Thread(looked)
        worker.start()
        worker.join()

    assert_quiet(rt, wait)


def test_a_wait_with_a_time_limit_is_no_deadlock(rt):
    over = threading.Event()

    def wait(looked):
        never, done = rt.HostEvent("never"), rt.HostEvent("done")
        timed = rt.Thread(lambda: never.wait(1000))
        timed.start()
        helper = Running(threading.Thread, lambda: (looked(), done.set(), never.set()))
        done.wait()
        helper.end()
        timed.join()

    assert_quiet(rt, wait)
    over.set()


def test_main_at_work_is_no_deadlock(rt):
    def wait(looked):
        turn = rt.HostEvent("turn")
        running = Running(rt.Thread, turn.wait)
        looked()
        turn.set()
        running.end()

    assert_quiet(rt, wait)


def test_waits_are_whole_again_after_the_recording(rt):
    with pytest.raises(Stalled), record(rt, watchdog_s=LIMIT_S):
        rt.HostEvent("never").wait()
    turn = rt.HostEvent("turn")
    running = Running(rt.Thread, turn.wait)
    parked(rt, 1)
    turn.set()
    assert running.end() is True


def test_no_watchdog_starts_no_thread(rt):
    before = threading.active_count()
    with record(rt, watchdog_s=None):
        assert threading.active_count() == before
    with record(rt):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
