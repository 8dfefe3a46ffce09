"""The virtual runtime beyond the contract: exact times, who runs next, deadlocks, and what is refused."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.language import Listener
from ubviz import get_runtime, record
from ubviz.errors import BadArgument, Deadlock, ForeignThread
from ubviz.runtime.schedule import ALL, SYNC, Dropped, InTime, dependent, read_schedule, written

TIMES = {"launch_ns": 2, "event_ns": 1, "wake_ns": 3, "barrier_ns": 2, "spawn_ns": 10}


@pytest.fixture
def rt() -> Iterator[Any]:
    runtime = get_runtime("virtual", costs={"attention": 40, "dispatch": 30}, **TIMES)
    yield runtime
    runtime.close()


def spans(rt: Any, work: Any) -> list[tuple[str, int, int]]:
    """The kernels of ``work()``, by name, with their exact times."""
    listener = Listener()
    rt.hooks.subscribe(listener)
    work()
    return [(fact.arg[0].name, fact.arg[1], fact.arg[2]) for fact in listener.of("kernel")]


# ---- time


def test_two_streams_in_exact_time(rt: Any) -> None:
    compute, comm, done = rt.Stream("compute"), rt.Stream("comm"), rt.Event("done")

    def work() -> None:
        with rt.stream(compute):  # launched at 0, after 2
            with rt.op("attention"):
                pass
            done.record()
            with rt.op("attention"):
                pass
        comm.wait_event(done)
        with rt.stream(comm), rt.op("dispatch", cls="comm"):
            pass
        rt.synchronize()

    assert spans(rt, work) == [("attention", 2, 42), ("attention", 42, 82), ("dispatch", 42, 72)]
    assert rt.now_ns() == 82


def test_an_operation_with_launches_inside_is_those_launches(rt: Any) -> None:
    def work() -> None:
        with rt.op("dispatch"):
            rt.launch("send", duration_ns=7)
            with rt.op("attention"):
                pass

    assert [name for name, _, _ in spans(rt, work)] == ["send", "attention"]


def test_durations_are_looked_up_in_this_order() -> None:
    from ubviz.runtime.virtual_costs import Costs

    rt = get_runtime("virtual", costs=Costs({"k": 5, ("k", 1): 6}, model=lambda *_: 9))

    def work() -> None:
        for layer, given in ((0, 4), (0, None), (1, None)):
            with rt.op("k", layer=layer, duration_ns=given):
                pass
        with rt.op("other"):
            pass

    assert [end - start for _, start, end in spans(rt, work)] == [4, 5, 6, 9]
    rt.close()


def test_bytes_made_are_what_the_model_goes_by() -> None:
    import torch

    rt = get_runtime("virtual", costs=lambda name, cls, layer, nbytes: nbytes)

    def work() -> None:
        with rt.device_context(), torch.inference_mode():
            with rt.op("k"):
                kept = (torch.ones(4) * 2).clone()  # what is dropped inside does not count
            with rt.op("in place"):
                kept.add_(1)

    assert [(name, end - start) for name, start, end in spans(rt, work)] == [("k", 16), ("in place", 0)]
    rt.close()


def test_a_wake_up_takes_its_time(rt: Any) -> None:
    turn, woken = rt.HostEvent("turn"), []

    def wait() -> None:
        turn.wait()
        woken.append(rt.now_ns())

    thread = rt.Thread(wait)
    thread.start()  # at 10
    rt.launch("k", duration_ns=88, host_wait=True)  # 10 + 2 + 88
    turn.set()  # 101
    thread.join()
    assert woken == [101 + 3 + 1]


def test_a_time_limit_is_one_of_virtual_time(rt: Any) -> None:
    assert rt.HostEvent().wait(3600) is False
    assert rt.now_ns() == 3600 * 10**9


@pytest.mark.parametrize("options", [
    {"costs": {"k": 0.5}}, {"costs": {"k": -1}}, {"wake_ns": True}, {"costs": 7}, {"speed": 2},
    {"seed": 1, "schedule": "0"},
])  # fmt: skip
def test_what_is_no_cost_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadArgument, match=r"nanoseconds|takes no option 'speed'; it has costs|not both"):
        get_runtime("virtual", **options)


# ---- without PyTorch

BARE = """
import sys
sys.modules["torch"] = None  # importing it fails
from ubviz import get_runtime, record
rt = get_runtime("virtual", costs={"attention": 40})
s, turn = rt.Stream("s"), rt.HostEvent("turn")
def second():
    turn.wait()
    with rt.stream(s), rt.op("attention", reads=("x",), writes=("h",)):
        pass
with record(rt) as recording, rt.device_context():
    thread = rt.Thread(second)
    thread.start()
    with rt.stream(s), rt.op("attention", writes=("x",)):
        pass
    turn.set()
    thread.join()
launches = [e.args for e in recording.trace.events if e.kind == "kernel.launch"]
print([(a["reads"], a["writes"]) for a in launches], s.query())
"""


def test_no_operation_needs_torch() -> None:
    done = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, check=True)
    assert done.stdout == "[([], [1]), ([1], [2])] True\n"


# ---- who runs next


def two_writers(rt: Any) -> str:
    """Who writes last depends on the schedule only."""
    said: list[str] = []
    turn = rt.HostEvent("turn")

    def say(word: str) -> None:
        turn.set()
        said.append(word)

    threads = [rt.Thread(say, (word,), word) for word in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rt.close()
    return "".join(said)


def test_a_seed_is_a_schedule_and_its_string_replays_it() -> None:
    seen = set()
    for seed in range(20):
        rt, again = get_runtime("virtual", seed=seed), get_runtime("virtual", seed=seed)
        said = two_writers(rt)
        assert (two_writers(again), again.schedule) == (said, rt.schedule)
        replay = get_runtime("virtual", schedule=rt.schedule)
        assert (two_writers(replay), replay.steps) == (said, rt.steps)
        seen.add(said)
    assert seen == {"ab", "ba"}


def test_a_schedule_of_another_program_is_refused() -> None:
    rt = get_runtime("virtual", schedule="2x3")
    with pytest.raises(
        BadArgument,
        match=r"^step 2 of the schedule lets thread 2 go on, but only 1 can: it is a schedule of ",
    ):
        two_writers(rt)
    for text in ("0.x", "a", "1..2"):
        with pytest.raises(BadArgument, match="is no thread number"):
            read_schedule(text)
    with pytest.raises(BadArgument, match="makes it longer than 1,000,000 steps"):
        read_schedule("0x5.1x999999999")
    assert read_schedule(written([0, 0, 1, 12, 12, 12])) == (0, 0, 1, 12, 12, 12)


def test_an_oracle_is_asked_about_what_it_sees() -> None:
    class Asked(InTime):
        def __init__(self, visible: frozenset[str]) -> None:
            self.visible = visible
            self.kinds: list[str] = []

        def choose(self, enabled: Any) -> int:
            self.kinds += [choice.kind for choice in enabled]
            return super().choose(enabled)

    asked = {visible: Asked(visible) for visible in (SYNC, ALL)}
    for oracle in asked.values():
        rt = get_runtime("virtual", schedule=oracle)
        rt.launch("k")
        rt.HostEvent().set()
        rt.close()
    assert asked[SYNC].kinds == ["host_event.set"]
    assert asked[ALL].kinds == ["kernel.launch", "host_event.set"]


def test_what_commutes(rt: Any) -> None:
    barrier, turn, other = rt.Barrier(3), rt.HostEvent(), rt.HostEvent()

    def arrive() -> None:
        barrier.wait()

    threads = [rt.Thread(target) for target in (arrive, arrive, turn.wait, other.wait)]
    for thread in threads:
        thread.start()
    rt.rest()
    waits = [choice for choice in rt.blocked() if choice.kind == "host_event.wait"]
    assert not dependent(*waits)
    assert dependent(waits[0], waits[0]._replace(touches=(waits[0].touches[0]._replace(how="set"),)))
    arrival = waits[0]._replace(touches=(waits[0].touches[0]._replace(how="arrive"),))
    assert [dependent(arrival._replace(left=left), arrival) for left in (3, 2, 1)] == [False, False, True]
    for act in (turn.set, other.set, barrier.wait):
        act()
    for thread in threads:
        thread.join()


def test_a_run_that_is_dropped_unwinds_one_thread_at_a_time() -> None:
    left: list[str] = []

    class Stops(InTime):
        visible = SYNC

        def choose(self, enabled: Any) -> int:
            if len(enabled) == 3:
                raise Dropped
            return super().choose(enabled)

    rt = get_runtime("virtual", schedule=Stops())
    listener = Listener()

    def work(turn: Any) -> None:
        try:
            turn.wait()
        finally:
            left.append(threading.current_thread().name)

    turns = [rt.HostEvent() for _ in range(3)]
    threads = [rt.Thread(work, (turn,), f"t{i}") for i, turn in enumerate(turns)]
    for thread in threads:
        thread.start()
    rt.hooks.subscribe(listener)
    with pytest.raises(Dropped):
        for turn in turns:
            turn.set()
    told = len(listener.facts)
    assert left == ["t0", "t1", "t2"]
    assert not any(thread.is_alive() for thread in threads)
    with pytest.raises(Dropped):
        turns[0].set()  # it stays dropped until it is closed
    assert len(listener.facts) == told
    rt.close()


def test_closing_unwinds_who_still_waits(rt: Any) -> None:
    thread = rt.Thread(rt.HostEvent("never").wait)
    thread.start()
    rt.rest()
    assert thread.is_alive()
    rt.close()
    assert not thread.is_alive()


# ---- what goes wrong


def test_a_deadlock_is_told_at_once_with_who_waits_for_what(rt: Any) -> None:
    turn, barrier, raised = rt.HostEvent("turn"), rt.Barrier(2, "ready"), []

    def wait(on: Any) -> None:
        try:
            on.wait()
        except Deadlock as error:
            raised.append(error)

    threads = [rt.Thread(wait, (on,), name) for on, name in ((turn, "a"), (barrier, "b"))]
    turn.set()
    turn.clear()  # a lost wake-up: nobody sleeps yet
    for thread in threads:
        thread.start()
    threads[0].join()  # the join is let be, since what it waits for ends
    assert str(rt.deadlock).splitlines()[:1] == ["deadlock: no thread can go on"]
    lines = [line.partition(", at ")[0] for line in str(rt.deadlock).splitlines()[1:]]
    assert lines == [
        "  main joins thread a",
        "  a waits for host event turn: clear (last set by main)",
        "  b waits at barrier ready: 1 of 2 (there: b)",
    ]
    assert str(rt.deadlock).splitlines()[2].partition(", at ")[2].startswith("test_virtual.py:")
    assert [choice.kind for choice in rt.deadlock.waiting] == [
        "thread.join", "host_event.wait", "barrier.release",
    ]  # fmt: skip
    threads[1].join()
    assert [str(error) for error in raised] == [str(rt.deadlock)] * 2
    assert raised[0] is not raised[1]


def test_a_receive_that_nobody_sends_is_a_deadlock(rt: Any) -> None:
    stream = rt.Stream("s")
    rt.launch("receive", stream=stream, receives=rt.Link().flight(1))
    with pytest.raises(
        Deadlock,
        match=r"main waits for the device to finish stream s: .* \(it stands still before a receive that ",
    ):
        stream.synchronize()


def test_a_foreign_thread_is_an_error_in_a_sentence(rt: Any) -> None:
    turn, raised = rt.HostEvent("turn"), []

    def use() -> None:
        try:
            turn.set()
        except ForeignThread as error:
            raised.append(str(error))

    foreign = threading.Thread(target=use, name="foreign")
    foreign.start()
    foreign.join()
    assert raised == [
        "thread 'foreign' used a virtual runtime while 'main' runs: only the thread that made the runtime and those "
        "made by its rt.Thread take part, one at a time"
    ]
    assert not turn.is_set()


def test_an_interrupt_reaches_main_where_it_waits(rt: Any) -> None:
    turn = rt.HostEvent("turn")

    def spin() -> None:
        signal.raise_signal(signal.SIGINT)
        while not turn.is_set():  # each look is a point, and main's turn is next
            pass

    thread = rt.Thread(spin)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        thread.join()
    turn.set()
    thread.join()


# ---- buffers


def test_the_life_of_a_buffer(rt: Any) -> None:
    import torch

    a, b, listener = rt.Stream("a"), rt.Stream("b"), Listener()
    rt.hooks.subscribe(listener)
    with rt.device_context(), torch.inference_mode(), rt.stream(a):
        with rt.op("make"):
            x = torch.ones(4) + 1
        with rt.stream(b), rt.op("use"):
            y = x * 2
        rt.record_stream(x, b)
        del x
        with rt.op("next"):
            z = y + 1
    told = [
        (fact.kind, fact.obj and fact.obj.name, fact.arg) for fact in listener.facts if "buffer" in fact.kind
    ]
    assert told[:4] == [
        ("buffer.alloc", "a", 1), ("buffer.alloc", "b", 2), ("buffer.record_stream", "b", 1), ("buffer.free", None, 1),
    ]  # fmt: skip
    launches = [fact.arg for fact in listener.of("kernel.launch")]
    assert [(launch.reads, launch.writes) for launch in launches] == [((), (1,)), ((1,), (2,)), ((2,), (3,))]
    assert z.tolist() == [5.0] * 4


def test_a_name_is_a_buffer_too(rt: Any) -> None:
    listener = Listener()
    rt.hooks.subscribe(listener)
    for name in ("x", "y", "x"):
        rt.launch("k", writes=(name,))
    rt.buffer_numbers.free("x")
    rt.launch("k", writes=("x",))
    assert [fact.arg.writes for fact in listener.of("kernel.launch")] == [(1,), (2,), (1,), (3,)]
    assert [fact.arg for fact in listener.of("buffer.free")] == [1]


# ---- recording


def test_a_recording_starts_no_watchdog(rt: Any) -> None:
    before = threading.active_count()
    with record(rt, watchdog_s=0.01) as recording:
        assert threading.active_count() == before
        with pytest.raises(Deadlock):
            rt.HostEvent("never").wait()
    assert [event.kind for event in recording.trace.events] == ["host_event.wait"]
