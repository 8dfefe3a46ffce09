"""What waits cover: the late record is found with its cost, and a needed wait is never reported."""

from __future__ import annotations

from typing import Any

import pytest

from tests import virtually
from tests.small import Small, recorded
from tests.traces import Traces, Writer
from ubviz.analysis import analyze, gaps, overlap, retime, surplus, waits
from ubviz.analysis.waits import Wait
from ubviz.recording import record
from ubviz.trace import Trace, example
from ubviz.ubatch import UBatchContext, dbo


def story(late: bool) -> Trace:
    """Microbatch 0 routes, hands the turn to microbatch 1, and dispatches; the record stands before or after that.

    compute, in us:  router 0  0-100, then router 1  100-300
    comm:            dispatch 0 needs router 0 only, dispatch 1 needs router 1; 150 each
    """
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u0.launch("router", "compute", ["x"], ["ids 0"], takes=100_000)
    if not late:
        u0.record("done 0", "compute", at="moe.py:7")
    u1.launch("router", "compute", ["x"], ["ids 1"], takes=200_000)
    u1.record("done 1", "compute", at="moe.py:7")
    if late:
        u0.record("done 0", "compute", at="moe.py:9")
    u0.wait_event("comm", "done 0")
    u0.launch("dispatch", "comm", ["ids 0"], ["sent 0"], takes=150_000, cls="comm")
    u1.wait_event("comm", "done 1")
    u1.launch("dispatch", "comm", ["ids 1"], ["sent 1"], takes=150_000, cls="comm")
    return t.finish()


def test_a_record_placed_late_is_found_with_its_cost() -> None:
    late, early = story(late=True), story(late=False)
    (finding,) = surplus(late)
    assert (finding.kind, finding.severity, finding.events) == ("surplus_wait", "warning", (3, 4))
    assert finding.sentence == (
        "comm waits once for more of compute than it needs, for instance for done 0, recorded at moe.py:9: it "
        "covers router (ubatch 1), which no kernel that relies on this wait touches. To record it right after "
        "router (ubatch 0) would give back 150.0 us of makespan and 150.0 us of overlap (predicted)"
    )
    wait = waits(late)[0]
    assert (wait.event, wait.recorded_on, wait.stream, wait.stall_ns) == (
        "done 0",
        "compute",
        "comm",
        200_000,
    )
    assert [late.spans[row].ubatch for row in wait.surplus] == [1]
    after = retime(late, drop_waits={wait.row: wait.needed})
    assert after.makespan_ns == retime(early).makespan_ns
    assert surplus(early) == []


def test_the_gap_behind_it_is_said_to_be_for_unrelated_work() -> None:
    (gap, *_) = [gap for gap in gaps(story(late=True)).longest if gap.stream == "comm"]
    assert (gap.cause, gap.events) == ("surplus", (3, 4))
    assert gap.sentence == (
        "comm idle 300.0 us: waiting for done 0, which microbatch 0 recorded at moe.py:9: it covers router of "
        "microbatch 1, which dispatch of microbatch 0 does not need"
    )


def two_streams() -> tuple[Traces, Writer]:
    t = Traces()
    return t, t.thread("main")


def the_wait(t: Traces) -> Wait:
    (found,) = waits(t.finish())
    return found


@pytest.mark.parametrize(
    "first, second",
    [
        ((["x"], ["y"]), (["y"], ["z"])),  # read after write
        ((["y"], ["x"]), (["q"], ["y"])),  # write after read
        (([], ["y"]), ([], ["y"])),  # write after write
    ],
)
def test_each_conflict_needs_the_wait(first: Any, second: Any) -> None:
    t, main = two_streams()
    main.launch("a", "compute", *first, takes=50)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    main.launch("b", "comm", *second)
    assert the_wait(t).surplus == ()


def test_two_readers_conflict_in_nothing() -> None:
    t, main = two_streams()
    main.launch("a", "compute", ["x"], ["y"], takes=50)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    main.launch("b", "comm", ["x"], ["z"])
    found = the_wait(t)
    assert (len(found.surplus), found.needed, found.stall_ns) == (1, None, 48)


def test_what_an_earlier_wait_covers_is_not_counted_again() -> None:
    t, main = two_streams()
    main.launch("a", "compute", ["x"], ["y"], takes=50)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    main.launch("b", "comm", ["q"], ["z"])
    main.wait_event("comm", "done")
    main.launch("c", "comm", ["z"], [])
    assert [len(wait.surplus) for wait in waits(t.finish())] == [1, 0]


def test_nor_where_the_second_wait_is_needed() -> None:
    t, main = two_streams()
    main.launch("a", "compute", ["x"], ["y"])
    main.launch("b", "compute", ["x"], ["w"], takes=50)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    main.wait_event("comm", "done")
    main.launch("c", "comm", ["y"], [])
    assert [len(wait.surplus) for wait in waits(t.finish())] == [2, 0]


def test_a_wait_that_nothing_follows_is_not_judged() -> None:
    t, main = two_streams()
    main.launch("a", "compute", ["x"], ["y"], takes=50)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    assert the_wait(t).surplus == ()


def test_a_need_that_comes_later_on_the_stream_counts() -> None:
    t, main = two_streams()
    main.launch("a", "compute", ["x"], ["y"], takes=50)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    main.launch("b", "comm", [], ["z"])
    main.launch("c", "comm", ["y"], [])
    assert the_wait(t).surplus == ()


def test_a_need_met_through_a_third_stream_counts() -> None:
    t, main = two_streams()
    main.launch("a", "compute", ["x"], ["y"], takes=50)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    main.launch("b", "comm", [], ["z"])
    main.record("onward", "comm")
    main.wait_event("third", "onward")
    main.launch("c", "third", ["y", "z"], [])
    # y is needed by c, which waits for comm only, and comm for compute: neither wait can go
    assert [wait.surplus for wait in waits(t.finish())] == [(), ()]


def test_the_rest_of_the_needed_operation_is_no_surplus() -> None:
    t, main = two_streams()
    main.launch("topk", "compute", ["x"], ["ids"], operation="router", layer=0)
    main.launch("div", "compute", ["x"], ["weights"], operation="router", layer=0, takes=50)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    main.launch("dispatch", "comm", ["ids"], ["sent"])
    assert the_wait(t).surplus == ()


@pytest.mark.parametrize("unknown", ["covered", "waiting", "replayed"])
def test_where_buffers_are_unknown_nothing_is_claimed(unknown: str) -> None:
    t, main = two_streams()
    main.launch("a", "compute", None if unknown == "covered" else ["x"], ["y"], takes=50)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    if unknown == "replayed":
        main.replay("g")
    main.launch("b", "comm", ["q"], None if unknown == "waiting" else ["z"])
    found = the_wait(t)
    assert (found.known, found.surplus, found.stall_ns) == (False, (), 0)


def test_a_join_for_the_host_is_needed() -> None:
    t, main = two_streams()
    main.launch("a", "comm", ["x"], ["y"], takes=50)
    main.record("done", "comm")
    main.wait_event("compute", "done")
    main.launch("b", "compute", ["q"], ["z"])
    main.read("compute")
    assert the_wait(t).surplus == ()


@pytest.mark.parametrize("style", ["ht", "ll"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_no_wait_of_the_correct_protocol_is_reported(style: str, n: int) -> None:
    trace = recorded(style, n)
    found = waits(trace)
    assert len(found) == (0 if style == "ll" else n * 2 * 4)  # four waits a layer and microbatch
    assert all(wait.known and wait.needed is not None and not wait.surplus for wait in found)
    assert surplus(trace) == []


def test_none_of_the_shipped_recording() -> None:
    trace = example("whole_game_overlapped")
    assert len(waits(trace)) == 32
    assert surplus(trace) == []


def late(context: UBatchContext) -> None:
    """Yield and switch from compute to comm, with the event taken after the yield."""
    context._cpu_yield()
    context._signal_compute_done()
    context.update_stream(context.comm_stream)
    context._wait_compute_done()


@pytest.fixture
def after_the_yield(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbo, "dbo_yield_and_switch_from_compute_to_comm", dbo._on_context(late))


@pytest.mark.usefixtures("after_the_yield")
@pytest.mark.parametrize("n", [2, 3])
def test_the_event_taken_after_the_yield_is_found_at_every_yield(n: int) -> None:
    small = Small("ht", n)
    with record(small.rt) as recording:
        small.runner.execute_model(small.batch, "overlapped")
    small.close()
    found = [wait for wait in waits(recording.trace) if wait.surplus]
    assert len(found) == n * 2 * 2  # two such yields a layer and microbatch
    assert {wait.event for wait in found} == {f"compute_done[{i}]" for i in range(n)}
    kinds = [finding.kind for finding in analyze(recording.trace).findings]
    assert kinds.count("surplus_wait") <= 1  # one direction; none where no stream stood still for it
    covered = {recording.trace.spans[row].ubatch for wait in found for row in wait.surplus}
    assert covered == set(range(n))


@pytest.mark.usefixtures("after_the_yield")
@pytest.mark.parametrize("n", [2, 3])
def test_its_cost_is_what_the_correct_program_takes_less(n: int) -> None:
    """In virtual time, where computing is what takes long."""
    wrong = virtually.run("ht", n, compute=8)
    with pytest.MonkeyPatch.context() as patch:
        right_switch = UBatchContext.yield_and_switch_from_compute_to_comm
        patch.setattr(dbo, "dbo_yield_and_switch_from_compute_to_comm", dbo._on_context(right_switch))
        right = virtually.run("ht", n, compute=8)
    cost_ns = overlap(wrong).makespan_ns - overlap(right).makespan_ns
    hidden_ns = overlap(right).overlap_ns - overlap(wrong).overlap_ns
    (finding,) = [finding for finding in analyze(wrong).findings if finding.kind == "surplus_wait"]
    assert finding.sentence.endswith(
        f" would give back {cost_ns / 1000:,.1f} us of makespan and {hidden_ns / 1000:,.1f} us of overlap "
        "(predicted)"
    )
    assert cost_ns > overlap(wrong).makespan_ns / 10
    assert "surplus_wait" not in {finding.kind for finding in analyze(right).findings}


@pytest.mark.parametrize("style", ["ht", "ll"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_no_wait_of_the_correct_protocol_is_reported_in_virtual_time(style: str, n: int) -> None:
    for compute in (0.5, 1.0, 8.0):
        assert surplus(virtually.recorded(style, n, compute)) == []
