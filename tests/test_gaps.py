"""Why a stream is idle: each cause by a story of a few lines, and what must hold for any trace."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests import strategies, virtually
from tests.small import recorded
from tests.test_retime import Program, programs, takes, told
from tests.traces import Traces
from ubviz.analysis import gaps
from ubviz.analysis.gap_causes import Causes
from ubviz.analysis.gaps import CAUSES, Gap, _idle
from ubviz.analysis.graph import graph
from ubviz.analysis.intervals import union
from ubviz.analysis.windows import windows
from ubviz.trace import Trace, example


def idle(t: Traces, stream: str) -> Gap:
    """The longest gap of a stream."""
    found = [gap for gap in gaps(t.finish()).longest if gap.stream == stream]
    return max(found, key=lambda gap: gap.end_ns - gap.start_ns)


def test_a_peer_holds_the_turn() -> None:
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u0.launch("router", "compute", takes=10)
    u0.wait("cpu_event[0]")  # 2
    t.now = 5_000
    given = u1.set("cpu_event[0]")
    u0.wake("cpu_event[0]")
    launched = u0.launch("experts", "compute", takes=10)
    gap = idle(t, "compute")
    assert (gap.cause, gap.events) == ("turn", (1, given, launched))
    assert gap.sentence == (
        "compute idle 5.0 us: microbatch 0, which launches experts next, waited 5.0 us for the "
        "turn, which microbatch 1 had"
    )


def test_a_peer_with_the_turn_is_blocked_by_the_device() -> None:
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u0.launch("router", "compute", takes=10)
    u0.wait("cpu_event[0]")
    blocked = u1.launch("dispatch", "comm", takes=5_000, host_wait=True)
    u1.set("cpu_event[0]")
    u0.wake("cpu_event[0]")
    launched = u0.launch("experts", "compute", takes=10)
    gap = idle(t, "compute")
    assert (gap.cause, gap.events) == ("host_wait", (blocked, launched))
    assert gap.sentence == (
        "compute idle 5.0 us: microbatch 1 was blocked 5.0 us in dispatch, which waits for the device, before "
        "experts of microbatch 0 could be launched"
    )


def test_the_launching_thread_itself_is_blocked_by_the_device() -> None:
    t = Traces()
    main = t.thread("main")
    main.launch("a", "compute", takes=10)
    main.launch("dispatch", "comm", takes=5_000, host_wait=True)
    main.launch("b", "compute", takes=10)
    gap = idle(t, "compute")
    assert gap.cause == "host_wait"
    assert gap.sentence == (
        "compute idle 5.0 us: main was blocked 5.0 us in dispatch, which waits for the device, before b could be "
        "launched"
    )


def test_launched_late() -> None:
    t = Traces()
    main = t.thread("main")
    main.launch("a", "compute", takes=10)
    t.now = 4_010
    launched = main.launch("b", "compute", takes=10, at="model.py:3")
    gap = idle(t, "compute")
    assert (gap.cause, gap.events) == ("late", (launched,))
    assert gap.sentence == (
        "compute idle 4.0 us: main launched b 4.0 us after the stream had run dry, at model.py:3"
    )


def test_the_time_that_a_launch_takes_is_the_launchs() -> None:
    """Each launch takes 100 to reach an idle stream, and waits for its own kernel: that is not why it is late."""
    t = Traces()
    main = t.thread("main")
    for _ in range(4):
        t.tails["compute"] = t.now + 101
        main.launch("k", "compute", takes=10, host_wait=True)
    gap = idle(t, "compute")
    assert (gap.end_ns - gap.start_ns, gap.cause) == (101, "late")


def test_an_event_is_not_yet_recorded() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.launch("experts", "compute", ["x"], ["y"], takes=6_000)
    record = u0.record("compute_done[0]", "compute", at="moe.py:38")
    wait = u0.wait_event("comm", "compute_done[0]")
    u0.launch("combine", "comm", ["y"], ["z"], takes=10)
    gap = idle(t, "comm")
    assert (gap.cause, gap.events) == ("event", (record, wait))
    assert gap.sentence == (
        "comm idle 6.0 us: waiting for compute_done[0], recorded by microbatch 0 after experts, at moe.py:38"
    )


def test_nothing_is_left() -> None:
    t = Traces()
    main = t.thread("main")
    last = main.launch("dispatch", "comm", takes=10)
    main.launch("experts", "compute", takes=2_011)
    gap = idle(t, "comm")
    assert (gap.cause, gap.events) == ("nothing_left", (last,))
    assert gap.sentence == "comm idle 2.0 us: nothing is left for it in this step after dispatch"


def test_nothing_held_the_stream_back() -> None:
    t = Traces()
    main = t.thread("main")
    main.launch("a", "compute", takes=10)
    t.tails["compute"] = 3_011
    launched = main.launch("b", "compute", takes=10)
    gap = idle(t, "compute")
    assert (gap.cause, gap.events) == ("device", (launched,))
    assert gap.sentence == (
        "compute idle 3.0 us: nothing held it back: b was launched 3.0 us before it began and had nothing to wait "
        "for; the stream itself took 3.0 us to begin it"
    )


def test_a_wait_holds_from_its_call_until_the_record_has_fired() -> None:
    """On a busy machine a stream looks at its wait late: that is not the event's doing."""
    t = Traces()
    main = t.thread("main")
    main.launch("z", "comm", takes=10)
    main.launch("a", "compute", ["x"], ["y"], takes=1_000)
    record = main.record("done", "compute")
    wait = main.wait_event("comm", "done")
    launched = main.launch("b", "comm", ["y"], takes=10, runs=False)
    (row,) = [i for i, span in enumerate(t.builder._spans) if span[6] == "wait"]
    t.builder._spans[row][:2] = [9_000, 9_010]
    t.builder.span(9_011, 9_021, "kernel", "b", lane=t.lane("comm", "streams"), seq=launched)
    gap = idle(t, "comm")
    assert (gap.cause, gap.events) == ("device", (launched,))
    assert gap.sentence.endswith("the stream itself took 8.0 us to begin it")
    (row,) = [i for i, span in enumerate(t.builder._spans) if span[6] == "record"]
    t.builder._spans[row][:2] = [8_500, 8_500]
    assert (idle(t, "comm").cause, idle(t, "comm").events) == ("event", (record, wait))


def test_in_a_replay_the_graphs_edges_hold() -> None:
    t = Traces(graphs={"g": [
        {"kind": "record -> wait", "event": "compute_done[0]", "from_node": 1, "to_node": 2},
    ]})  # fmt: skip
    main = t.thread("main")
    main.switch("default", "compute")
    replay = main.replay("g")
    lanes = {name: t.lane(name, "streams") for name in ("compute", "comm")}
    for node, (name, lane, start, end) in enumerate(
        [("send", "comm", 10, 20), ("experts", "compute", 10, 6_000), ("combine", "comm", 6_005, 6_010)]
    ):
        t.builder.span(start, end, "kernel", name, lane=lanes[lane], seq=replay, args={"node": node})
    gap = idle(t, "comm")
    assert (gap.cause, gap.events) == ("event", (replay,))
    assert gap.sentence == (
        "comm idle 6.0 us: the replay of g waits for compute_done[0], recorded after experts"
    )


@pytest.mark.parametrize("told", [True, False])
def test_what_nothing_is_known_of_is_unknown(told: bool) -> None:
    """A kernel without a launch, and one of a replay whose graph's edges are not known."""
    t = Traces()
    t.thread("main").switch("default", "compute")
    replay = t.thread("main").replay("g") if told else None
    lane = t.lane("compute", "streams")
    for node, start in enumerate((10, 3_020)):
        t.builder.span(
            start,
            start + 10,
            "kernel",
            f"k{node}",
            lane=lane,
            seq=replay,
            args={"node": node} if told else None,
        )
    gap = idle(t, "compute")
    assert (gap.cause, gap.events) == ("unknown", (replay,) if told else ())
    since = ", launched 3.0 us before it began," if told else ""
    assert gap.sentence == f"compute idle 3.0 us: nothing recorded says why k1{since} did not start sooner"


def test_a_gap_has_the_cause_that_explains_most_of_it() -> None:
    """Launched 1 us late, then held back by an event for 5 us."""
    t = Traces()
    main = t.thread("main")
    main.launch("z", "comm", takes=10)
    main.launch("a", "compute", ["x"], ["y"], takes=6_010)
    main.record("done", "compute")
    t.now = 1_010
    main.wait_event("comm", "done")
    main.launch("b", "comm", ["y"], ["z"], takes=10)
    assert idle(t, "comm").cause == "event"


def covers(trace: Trace) -> None:
    """Each stream with kernels is busy or idle, in each step, and never both."""
    found, spans = gaps(trace), trace.spans
    expected = 0
    kernel = spans.mask(cat="kernel")
    for step, (start, end) in windows(trace).items():
        of = kernel if step is None else kernel & spans.mask(step=step)
        for lane in set(spans["lane"][of].tolist()):
            rows = of & (spans["lane"] == lane)
            busy = union(spans["start_ns"][rows, None] * [1, 0] + spans["end_ns"][rows, None] * [0, 1])
            expected += end - start - int((busy[:, 1] - busy[:, 0]).sum())
    assert found.total_ns == expected == sum(gap.end_ns - gap.start_ns for gap in found.longest)
    assert {gap.cause for gap in found.longest} <= set(CAUSES)


@given(programs, takes)
def test_busy_and_idle_fill_every_stream(program: Program, lasts: list[int]) -> None:
    trace = told(program, lasts)
    covers(trace)
    # these traces leave nothing unexplained
    assert {gap.cause for gap in gaps(trace).longest}.isdisjoint({"unknown", "device"})


@given(strategies.recorded())
def test_busy_and_idle_fill_every_stream_of_any_trace(trace: Trace) -> None:
    covers(trace)


@pytest.mark.parametrize("style, n", [("ht", 2), ("ht", 3), ("ll", 2)])
def test_of_a_recording(style: str, n: int) -> None:
    trace = recorded(style, n)
    covers(trace)
    found = gaps(trace).longest
    assert "unknown" not in {gap.cause for gap in found}
    assert all(gap.events for gap in found)  # every sentence is proved


@pytest.mark.parametrize("runtime", ["host", "virtual"])
@pytest.mark.parametrize("style", ["ht", "ll"])
def test_the_shares_of_a_gap_are_all_of_it(style: str, runtime: str) -> None:
    trace = recorded(style, 2, runtime=runtime)
    causes = Causes(trace, launch_ns=graph(trace).launch_ns())
    for _, lane, start, end, _, after in _idle(trace):
        if after is not None:
            parts = causes._parts(lane, start, end, after)
            assert sum(part.ns for part in parts) == end - start
            assert all(part.ns >= 0 for part in parts)


def test_the_longest_are_kept_and_all_are_counted() -> None:
    trace = example("whole_game_overlapped")
    whole, few = gaps(trace), gaps(trace, most=3)
    assert (few.total, few.total_ns) == (whole.total, whole.total_ns) == (401, 145_073_623)
    assert set(few.longest) == set(sorted(whole.longest, key=lambda gap: gap.start_ns - gap.end_ns)[:3])
    assert {gap.cause for gap in few.longest} == {"event"}


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_in_virtual_time_every_gap_has_a_cause(style: str) -> None:
    for n in (2, 3):
        trace = virtually.recorded(style, n)
        covers(trace)
        found = gaps(trace).longest
        assert {gap.cause for gap in found}.isdisjoint({"unknown", "device"})
        # a launch that waits for its own kernel is not why that kernel comes late
        assert all(gap.events[0] != gap.events[-1] for gap in found if gap.cause == "host_wait")
