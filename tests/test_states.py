"""The states of a recording: what is so after each trace event, forward and backward."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ubviz
from tests.drawn import drawn, without_steps
from tests.graph_calls import Graphs
from tests.programs import MOVES, Running
from tests.small import recorded as on_host
from tests.traces import Traces
from tests.virtually import recorded
from ubviz.analysis.states import KEYFRAME, States, nested
from ubviz.errors import BadArgument
from ubviz.runtime import get_runtime
from ubviz.trace import Trace


def went(states: States) -> dict[Any, Any]:
    """Go over all changes forward, hold each against what was there; then back to the beginning."""
    now = dict(states.keyframes[0])
    for row, changes in enumerate(states.changes):
        for path, old, new in changes:
            assert now.get(path) == old, (
                f"trace event {row} changes {path} from {old}, which is {now.get(path)}"
            )
            assert old != new
            now[path] = new
        now = {path: value for path, value in now.items() if value is not None}
        if row % 97 == 0 or row == len(states) - 1:
            assert states.flat(row) == now
    end = dict(now)
    for changes in reversed(states.changes):
        for path, old, new in reversed(changes):
            assert now.get(path) == new
            now[path] = old
        now = {path: value for path, value in now.items() if value is not None}
    assert now == states.keyframes[0]
    return end


def turns(states: States) -> list[Any]:
    """Whose turn it was, one after the other."""
    found: list[Any] = []
    for row in range(len(states)):
        holds = states.flat(row).get(("ring", "rank 0", "holds")) or []
        if holds and holds != (found[-1:] or [None])[0]:
            found.append(holds)
    return found


# ---- small stories


def test_a_flag_goes_up_and_down_and_says_who_waits() -> None:
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    u0.wait("cpu_event[0]")
    main.set("cpu_event[0]")
    u0.wake("cpu_event[0]")
    u0.clear("cpu_event[0]")
    states = States(t.finish())
    flags = [states.at(n)["flags"]["cpu_event[0]"] for n in range(-1, 4)]
    assert [flag["set"] for flag in flags] == [False, False, True, True, False]
    assert [flag["waiting"] for flag in flags] == [[], ["ubatch 0"], ["ubatch 0"], [], []]
    assert states.says == [
        "ubatch 0 waits for cpu_event[0]",
        "main sets cpu_event[0]: ubatch 0 may run",
        "ubatch 0 wakes: cpu_event[0] is set",
        "ubatch 0 clears cpu_event[0]",
    ]
    assert [states.at(n)["threads"]["ubatch 0"]["status"] for n in range(-1, 4)] == [
        "not started", "waits", "waits", "runs", "runs",
    ]  # fmt: skip


def test_the_baton_is_with_somebody_or_on_its_way() -> None:
    t = Traces()
    main, u0, u1 = (t.thread(role) for role in ("main", "ubatch 0", "ubatch 1"))
    u0.wait("cpu_event[0]")
    u1.wait("cpu_event[1]")
    main.set("cpu_event[0]")
    u0.wake("cpu_event[0]")
    u0.clear("cpu_event[0]")
    u0.set("cpu_event[1]")
    u0.wait("cpu_event[0]")
    u1.wake("cpu_event[1]")
    states = States(t.finish())
    ring = [states.at(n)["ring"]["rank 0"] for n in range(8)]
    assert [(r["holds"], r.get("handing")) for r in ring] == [
        ([], None), ([], None), ([], [-1, 0]), ([0], None), ([0], None), ([], [0, 1]), ([], [0, 1]), ([1], None),
    ]  # fmt: skip
    assert ring[0]["members"] == [0, 1]


def test_two_that_are_awake_are_both_said_to_be() -> None:
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    t.flags = {"cpu_event[0]": True, "cpu_event[1]": True}
    u0.wait("cpu_event[0]")
    u0.wake("cpu_event[0]")
    u1.wait("cpu_event[1]")
    u1.wake("cpu_event[1]")
    states = States(t.finish())
    assert states.at(3)["ring"]["rank 0"]["holds"] == [0, 1]
    assert "ring: it is the turn of ubatch 0 and ubatch 1" in states.text(3)
    assert states.at(-1)["flags"]["cpu_event[0]"]["set"] is True  # it was found set before anybody set it


def test_a_barrier_fills_and_opens() -> None:
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    u0.arrive("ready_barrier", 2)
    main.arrive("ready_barrier", 2)
    states = States(t.finish())
    barrier = [states.at(n).get("barriers", {}).get("ready_barrier") for n in (-1, 0, 1)]
    assert barrier == [
        None,
        {"generation": 0, "parties": 2, "arrived": ["ubatch 0"], "n": 1, "state": "filling"},
        {"generation": 0, "parties": 2, "arrived": ["ubatch 0", "main"], "n": 2, "state": "open"},
    ]
    assert states.says[1] == "main arrives at ready_barrier, 2 of 2: it opens"


def test_a_stream_has_pending_work_until_its_time_is_over() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.launch("attention", "compute", takes=3)
    u0.launch("router", "compute", takes=100)
    u0.tell("mark", text="later")
    u0.tell("mark", text="later still")
    states = States(t.finish())
    streams = [states.at(n)["streams"]["compute"] for n in range(-1, 4)]
    assert [[item["label"] for item in s["pending"]] for s in streams] == [
        [], ["attention"], ["attention", "router"], ["attention", "router"], ["router"],
    ]  # fmt: skip
    assert [s["queued"] for s in streams] == [0, 1, 2, 2, 2]
    assert streams[-1]["runs"] is True
    assert states.text(3).splitlines()[-1] == "streams: compute runs router (0)"


def test_what_was_not_timed_is_not_said_to_be_done() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.tell("kernel.launch", name="experts", stream="compute", cls="compute", operation=None, host_wait=False)
    states = States(t.finish())
    assert states.at(0)["streams"]["compute"] == {"queued": 1}
    assert "streams: compute has been given 1; when they ran was not recorded" in states.text(0)


def test_an_event_tells_its_last_record_and_who_waits() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.launch("experts", "compute", takes=50)
    u0.record("compute_done[0]", "compute")
    u0.wait_event("comm", "compute_done[0]")
    u0.tell("mark", text="then")
    t.now += 100
    u0.tell("mark", text="now")
    states = States(t.finish())
    event = [states.at(n)["events"]["compute_done[0]"] for n in range(5)]
    assert [e["record"] for e in event] == [0, 1, 1, 1, 1]
    assert [e.get("fired") for e in event] == [None, False, False, False, True]
    assert [e.get("waits") for e in event] == [None, None, [["comm", 1, 2]], [["comm", 1, 2]], None]


def test_a_hook_waits_in_a_box_and_the_second_one_loses_the_first() -> None:
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u0.tell("hook.register", from_ubatch=0, to_ubatch=1)
    u0.tell("hook.register", from_ubatch=0, to_ubatch=1)
    u1.tell("hook.run", from_ubatch=0, to_ubatch=1)
    states = States(t.finish())
    boxes = [states.at(n)["hooks"]["ubatch 1"] for n in range(-1, 3)]
    assert [box.get("from") for box in boxes] == [None, 0, 0, None]
    assert [box["lost"] for box in boxes] == [0, 0, 1, 1]
    assert states.says[1] == "ubatch 0 leaves a hook for ubatch 1: the one that was there is lost"


def test_a_launch_under_another_forward_context_says_so() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.tell("ctx.enter", ubatch=0)
    u0.tell("context.set", ubatch=1, digest="ab")
    u0.launch("attention", "compute")
    states = States(t.finish())
    assert states.says[2] == "ubatch 0 launches attention on compute; the forward context is that of ubatch 1"
    assert states.at(2)["context"]["rank 0"] == {"ubatch": 1, "digest": "ab", "by": "ubatch 0"}
    assert states.at(2)["threads"]["ubatch 0"]["sees"] == 0


def test_a_wait_that_never_ends_is_never_over() -> None:
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    u0.wait("go")
    main.set("cpu_event[9]")
    states = States(t.finish())
    assert states.says[0] == "ubatch 0 waits for go, and never wakes"
    assert states.at(1)["threads"]["ubatch 0"] == {
        "status": "waits", "on": "go", "site": "program.py:1", "caller": "program.py:1",
    }  # fmt: skip


# ---- recordings


def test_each_microbatch_has_its_turn_in_order() -> None:
    for n in (2, 3):
        states = States(recorded("ht", n, layers=1))
        assert turns(states) == [[i] for _ in range(4) for i in range(n)]
        end = states.at(len(states) - 1)
        assert end["ring"]["rank 0"]["left"] == list(range(n))
        assert {thread["status"] for name, thread in end["threads"].items() if name != "main"} == {"ended"}
        assert all(stream["pending"] == [] for stream in end["streams"].values())


def test_the_text_of_a_state_is_the_same_every_time() -> None:
    states = States(recorded("ht", 2, layers=1))
    row = states.says.index("ubatch 0 sets cpu_event[1]: ubatch 1 may run")
    text = states.text(row, ["ring", "flags", "barriers", "events"])
    assert text == "\n".join(
        [
            f"trace event {row} of {len(states)}",
            "ubatch 0 sets cpu_event[1]: ubatch 1 may run",
            "ring: ubatch 0 hands on to ubatch 1",
            "flags: cpu_event[0] not set; cpu_event[1] set, ubatch 1 waits",
            "barriers: ready_barrier 3 of 3, open, generation 0",
            "events: comm_done[0] not recorded; comm_done[1] not recorded; compute_done[0] record 1 on compute, not "
            "fired; compute_done[1] not recorded",
        ]
    )


def test_hooks_are_registered_for_the_next_and_run_by_it() -> None:
    states = States(recorded("ll", 3, layers=1))
    row = states.says.index("ubatch 1 leaves a hook for ubatch 2")
    assert states.at(row)["hooks"]["ubatch 2"]["from"] == 1
    assert "from" not in states.at(states.along(row, 1, object="hook for ubatch 2") or 0)["hooks"]["ubatch 2"]


def graphs() -> Trace:
    calls = Graphs(2, get_runtime("virtual"))
    calls.call(x=__import__("torch").ones(4, 2))
    calls.call(x=__import__("torch").ones(4, 2))
    calls.rt.close()
    return calls.trace


RECORDINGS = {
    "virtual ht": lambda: recorded("ht", 2),
    "virtual ll": lambda: recorded("ll", 3),
    "host": lambda: on_host("ht", 2, steps=2),
    "shipped": lambda: ubviz.example("whole_game_overlapped"),
    "unsplit": lambda: ubviz.example("whole_game_unsplit"),
    "drawn": lambda: drawn("ll", ubatches=3, steps=3),
    "no steps": lambda: without_steps(drawn("ht")),
    "replay": graphs,
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_forward_and_back_again_is_where_one_was(name: str) -> None:
    states = States(RECORDINGS[name]())
    assert nested(went(states)).keys() == states.at(len(states) - 1).keys()
    for row in range(-1, len(states), 41):
        assert states.text(row)
    assert all(states.says)


@settings(max_examples=60, deadline=None)
@given(st.lists(MOVES, max_size=60))
def test_any_program_can_be_gone_over_in_both_directions(moves: list[Any]) -> None:
    running = Running()
    for move in moves:
        running.move(*move)
    trace = running.t.finish()
    states = States(trace)
    went(states)
    for row, event in enumerate(trace.events):
        flat = states.flat(row)
        if event.kind in ("host_event.set", "host_event.clear"):
            up = event.kind == "host_event.set"
            assert flat[("flags", event.args["host_event"], "set")] is up


def test_the_call_path_goes_through_capture_and_replay() -> None:
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    about = {"step": 1, "tokens": 8, "branch": "capture", "why": None}
    t.step = 1
    main.tell("vote", rank=0, step=1, inputs={}, vote=True)
    main.tell("step.begin", **about)
    main.tell("graph.capture_begin", graph="split[8]", key=8)
    main.create(u0)
    u0.arrive("ready_barrier", 1)
    main.launch("merge", "compute")
    main.tell("graph.replay", graph="split[8]", key=8)
    main.tell("step.end", **about)
    states = States(t.finish())
    calls = [states.at(n)["calls"]["rank 0"] for n in range(len(states))]
    assert [call["stage"] for call in calls] == [
        "vote", "inputs", "capture", "threads", "microbatches", "merge", "replay", "done",
    ]  # fmt: skip
    assert {call.get("branch") for call in calls[1:]} == {"capture"}


def test_a_jump_over_keyframes_is_where_steps_lead() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    for i in range(KEYFRAME + 10):
        (u0.set if i % 2 == 0 else u0.clear)("cpu_event[0]")
    states = States(t.finish())
    assert len(states.keyframes) == 2
    assert went(states) == states.flat(len(states) - 1)
    assert states.flat(KEYFRAME)[("flags", "cpu_event[0]", "set")] is True
    assert states.flat(KEYFRAME - 1)[("flags", "cpu_event[0]", "set")] is False


def test_there_is_no_state_outside_the_recording() -> None:
    states = States(drawn("ht", layers=1))
    last = len(states) - 1
    with pytest.raises(
        BadArgument, match=rf"^this recording has no trace event {last + 1}; it has 0 to {last}$"
    ):
        states.at(last + 1)


def test_a_states_cost_grows_with_what_changes_and_not_with_what_is_there() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    for i in range(400):
        u0.set(f"go#{i}")
    states = States(t.finish())
    assert all(len(changes) <= 4 for changes in states.changes[1:])
