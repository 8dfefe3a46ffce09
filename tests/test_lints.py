"""Every other kind of finding: a story that has it, told in whole sentences, and a near miss that must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_calls import FULL, Graphs, rows
from tests.programs import programs
from tests.small import Small
from tests.strategies import traces
from tests.traces import Traces, Writer
from ubviz.analysis import findings_of
from ubviz.analysis.accesses import unknown_accesses
from ubviz.analysis.cone import Cones
from ubviz.analysis.deadlock import wait_for
from ubviz.analysis.findings import KINDS, SEVERITIES
from ubviz.analysis.sound import unsound
from ubviz.recording import record
from ubviz.trace import Event, Flow, Trace, make_table

Story = Callable[[bool], Trace]
"""Tells a story; True for the one that has the finding, False for the near miss."""

STORIES: dict[str, list[tuple[Story, list[str]]]] = {}
"""Kind -> its stories, each with the sentences of that kind."""


def finds(kind: str, *sentences: str) -> Callable[[Story], Story]:
    def keep(story: Story) -> Story:
        STORIES.setdefault(kind, []).append((story, list(sentences)))
        return story

    return keep


def ring(t: Traces) -> tuple[Writer, Writer, Writer]:
    """Main and two microbatches that have passed the barrier; microbatch 0 has the turn."""
    main, u0, u1 = t.thread("main"), t.thread("ubatch 0"), t.thread("ubatch 1")
    for u in (u0, u1):
        main.create(u)
        u.start()
        u.enter()
        u.arrive("ready_barrier", 3)
    main.arrive("ready_barrier", 3)
    for thread in (main, u0, u1):
        thread.release("ready_barrier")
    main.set("cpu_event[0]", at="run.py:9")
    u1.wait("cpu_event[1]", at="moe.py:2")
    u0.take("cpu_event[0]")
    return main, u0, u1


def hand(giver: Writer, taker: Writer, at: str | None = None) -> None:
    """A yield: the taker, who is parked, goes on; the giver parks."""
    giver.yield_(at)
    giver.set(f"cpu_event[{taker.ubatch}]", at)
    giver.wait(f"cpu_event[{giver.ubatch}]", at)
    taker.wake(f"cpu_event[{taker.ubatch}]")
    taker.clear(f"cpu_event[{taker.ubatch}]")


def leave(main: Writer, u: Writer, heir: Writer | None = None) -> None:
    u.exit()
    if heir is not None:
        u.set(f"cpu_event[{heir.ubatch}]")
    u.clear(f"cpu_event[{u.ubatch}]")
    u.end()
    main.join(u)
    if heir is not None:
        heir.wake(f"cpu_event[{heir.ubatch}]")
        heir.clear(f"cpu_event[{heir.ubatch}]")


# ---- waits


@finds(
    "deadlock",
    "ubatch 1 never comes back from host_event.wait of cpu_event[1] at moe.py:2; nobody has ever set it; main waits in "
    "thread.join of thread 2 at run.py:12, ubatch 0 has ended; before it, ubatch 1 did barrier.release at "
    "program.py:12",
    "main never comes back from thread.join of thread 2 at run.py:12; that is ubatch 1, who waits in host_event.wait "
    "of cpu_event[1] at moe.py:2; before it, main did thread.join at program.py:21",
)
def nobody_is_handed_the_turn(bad: bool) -> Trace:
    """vLLM PR 55586: who leaves sets nobody's host event."""
    t = Traces()
    main, u0, u1 = ring(t)
    leave(main, u0, None if bad else u1)
    if not bad:
        leave(main, u1)
    main.join(u1, at="run.py:12", over=not bad)
    return t.finish()


@finds(
    "deadlock",
    "ubatch 1 never comes back from host_event.wait of cpu_event[1] at moe.py:7; it was last set by ubatch 0 at "
    "moe.py:5, who has left; before it, ubatch 1 did host_event.set at moe.py:7",
    "main never comes back from thread.join of thread 1 at run.py:12; that is ubatch 0, who has left; before it, main "
    "did host_event.set at run.py:9",
)
def the_one_who_could_has_left(bad: bool) -> Trace:
    t = Traces()
    main, u0, u1 = ring(t)
    hand(u0, u1, "moe.py:5")
    hand(u1, u0, "moe.py:7")
    if bad:
        main.join(u0, at="run.py:12", over=False)
        u0.exit()
    else:
        leave(main, u0, u1)
        leave(main, u1)
    return t.finish()


@finds(
    "deadlock",
    "main never comes back from barrier.arrive of gate (1 of 2) at run.py:3; 1 more must arrive; ubatch 0 has ended; "
    "before it, main did thread.create at program.py:1",
)
def the_other_party_has_ended(bad: bool) -> Trace:
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    main.create(u0)
    u0.start()
    if not bad:
        u0.arrive("gate")
    main.arrive("gate", at="run.py:3")
    if not bad:
        main.release("gate")
        u0.release("gate")
    u0.end()
    return t.finish()


@finds(
    "deadlock",
    "ubatch 0 never comes back from host_event.wait of go at moe.py:2; nobody has ever set it; main was last seen in "
    "thread.join at program.py:3; before it, ubatch 0 did thread.start at program.py:2",
)
def the_watchdog_ends_the_wait(bad: bool) -> Trace:
    """What waits is ended with an error, and what joins goes on."""
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    main.create(u0)
    u0.start()
    joining = main.join(u0, over=False)
    if bad:
        u0.wait("go", at="moe.py:2")
        u0.error("Deadlock", "nobody can go on")
    u0.end()
    t.builder.close(joining, t.now)
    return t.finish()


@finds(
    "stalled",
    "ubatch 0 had not come back from host_event.wait of go at moe.py:2 when the recording ended; it was last set by "
    "main at run.py:1, who was last seen in host_event.clear at run.py:1; before it, ubatch 0 did host_event.wake at "
    "moe.py:1",
)
def somebody_still_runs(bad: bool) -> Trace:
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    main.set("go", at="run.py:1")
    u0.wait("go", at="moe.py:1")
    u0.wake("go", at="moe.py:1")
    main.clear("go", at="run.py:1")
    if bad:
        u0.wait("go", at="moe.py:2")
    return t.finish()


@finds(
    "stalled",
    "main had not come back from stream.synchronize of comm at run.py:3 when the recording ended; the device has not "
    "come to it; before it, main did kernel.launch at run.py:2",
)
def the_device_is_not_done(bad: bool) -> Trace:
    t = Traces()
    main = t.thread("main")
    main.launch("receive", "comm", [], [], runs=not bad, at="run.py:2")
    if bad:
        main.tell("stream.synchronize", "run.py:3", stream="comm")
    else:
        main.synchronize("comm")
    return t.finish()


@finds(
    "lost_wakeup",
    "go was set by main at run.py:1 and cleared by ubatch 0 at moe.py:1 before anybody woke by it, so that ubatch 0 "
    "waits at moe.py:2 for a wake-up that is gone: wait first, then clear",
)
def cleared_before_the_wait(bad: bool) -> Trace:
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    if not bad:
        u0.clear("go", at="moe.py:1")  # it was down: nothing is lost
    main.set("go", at="run.py:1")
    if bad:
        u0.clear("go", at="moe.py:1")
    u0.wait("go", at="moe.py:2")
    if not bad:
        u0.wake("go")
        u0.clear("go")
    return t.finish()


# ---- turns and contexts


@finds(
    "two_batons",
    "microbatch 1 wakes at program.py:22 while microbatch 0 still has the turn that it got at program.py:15",
)
def two_are_awake(bad: bool) -> Trace:
    t = Traces()
    main, u0, u1 = ring(t)
    u0.yield_()
    u0.set("cpu_event[1]")
    u0.wait("cpu_event[0]")
    if bad:
        main.set("cpu_event[0]")
        u0.wake("cpu_event[0]", at="program.py:15")
    u0.tell("mark", text="awake")
    u1.wake("cpu_event[1]", at="program.py:22")
    if not bad:
        u1.clear("cpu_event[1]")
        hand(u1, u0)
        u0.set("cpu_event[1]")
        u1.wake("cpu_event[1]")
    return t.finish()


@finds(
    "two_batons",
    "microbatch 1 does kernel.launch at moe.py:9 without having the turn, which microbatch 0 has",
)
def one_works_without_the_turn(bad: bool) -> Trace:
    t = Traces()
    _, u0, u1 = ring(t)
    if bad:
        u1.launch("experts", "compute", [], [], at="moe.py:9")
    hand(u0, u1)
    u1.launch("experts", "compute", [], [], at="moe.py:9")
    hand(u1, u0)
    u0.set("cpu_event[1]")
    u1.wake("cpu_event[1]")
    return t.finish()


@finds(
    "wrong_context",
    "microbatch 0 does kernel.launch at moe.py:4 with the forward context of microbatch 1, set at program.py:27: it "
    "must put its own back after every yield (1 more like this)",
)
def the_context_is_not_put_back(bad: bool) -> Trace:
    t = Traces()
    _, u0, u1 = ring(t)
    u0.context(0)
    hand(u0, u1)
    u1.context(1, at="program.py:27")
    u1.launch("attention", "compute", [], [])
    hand(u1, u0)
    if not bad:
        u0.context(0)
    u0.launch("attention", "compute", [], [], at="moe.py:4")
    u0.launch("router", "compute", [], [], at="moe.py:5")
    u0.set("cpu_event[1]")
    u1.wake("cpu_event[1]")
    return t.finish()


@finds("unequal_yields", "the microbatches yield unequally: microbatch 0 2 times, microbatch 1 1 times")
def one_yields_more_often(bad: bool) -> Trace:
    t = Traces()
    main, u0, u1 = ring(t)
    hand(u0, u1)
    hand(u1, u0)
    if bad:
        hand(u0, u1)
        leave(main, u1, u0)
        leave(main, u0)
    else:
        leave(main, u0, u1)
        leave(main, u1)
    return t.finish()


@finds(
    "no_interleaving", "the microbatches yielded, but ran one after the other: no yield handed the turn on"
)
def each_signals_itself(bad: bool) -> Trace:
    t = Traces()
    main, u0, u1 = ring(t)
    if bad:
        u0.yield_()
        u0.set("cpu_event[0]")
        u0.take("cpu_event[0]")
        leave(main, u0, u1)
        u1.yield_()
        u1.set("cpu_event[1]")
        u1.take("cpu_event[1]")
    else:
        hand(u0, u1)
        hand(u1, u0)
        leave(main, u0, u1)
    leave(main, u1)
    return t.finish()


# ---- barriers and hooks


@finds(
    "barrier_parties",
    "ready_barrier opens for 2 threads, and 3 use it (ubatch 0, ubatch 1, main): main waits at run.py:7 for an arrival "
    "that does not come; give it as many parties as threads",
)
def one_party_too_few(bad: bool) -> Trace:
    t = Traces()
    main, u0, u1 = t.thread("main"), t.thread("ubatch 0"), t.thread("ubatch 1")
    parties = 2 if bad else 3
    for u in (u0, u1):
        main.create(u)
        u.start()
        u.enter()
        u.arrive("ready_barrier", parties)
    main.arrive("ready_barrier", parties, at="run.py:7")
    for thread in (u0, u1) if bad else (u0, u1, main):
        thread.release("ready_barrier")
    for u in (u0, u1):
        u.end()
    return t.finish()


@finds(
    "barrier_parties",
    "ready_barrier opens for 3 threads, and 2 use it (ubatch 0, main): main waits at run.py:7 for an arrival that does "
    "not come; give it as many parties as threads",
)
def one_party_too_many(bad: bool) -> Trace:
    t = Traces()
    main, u0, u1 = t.thread("main"), t.thread("ubatch 0"), t.thread("ubatch 1")
    main.create(u0)
    u0.start()
    if not bad:
        main.create(u1)
        u1.start()
        u1.arrive("ready_barrier", 3)
    u0.arrive("ready_barrier", 3)
    main.arrive("ready_barrier", 3, at="run.py:7")
    if not bad:
        for thread in (u0, u1, main):
            thread.release("ready_barrier")
    return t.finish()


@finds(
    "lost_hook",
    "the receive hook that microbatch 0 left with microbatch 1 at moe.py:4 is never run: what it receives never "
    "arrives",
)
def nobody_runs_the_hook(bad: bool) -> Trace:
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u0.register(1, at="moe.py:4")
    if not bad:
        u1.run_hook(0)
    return t.finish()


@finds(
    "lost_hook",
    "the receive hook that microbatch 0 left with microbatch 1 at moe.py:4 is replaced by microbatch 0's at moe.py:5: "
    "what it receives never arrives",
)
def a_hook_is_replaced(bad: bool) -> Trace:
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u0.register(1, at="moe.py:4")
    if not bad:
        u1.run_hook(0)
    u0.register(1, at="moe.py:5")
    u1.run_hook(0)
    return t.finish()


# ---- events


@finds(
    "wait_before_record",
    "ubatch 0 makes the comm stream wait for e at moe.py:4, which has not been recorded: the wait orders nothing; "
    "record it first",
)
def waited_before_the_record(bad: bool) -> Trace:
    t = Traces()
    u0 = t.thread("ubatch 0")
    if not bad:
        u0.record("e", "compute")
    u0.wait_event("comm", "e", at="moe.py:4")
    return t.finish()


@finds(
    "late_binding",
    "ubatch 0 makes the comm stream wait for e at moe.py:3, bound to record 1, and record 2, which covers experts "
    "(ubatch 0, compute stream, moe.py:4), is made later, at moe.py:5: combine (ubatch 0, comm stream, moe.py:6) is "
    "not ordered after it",
)
def waited_for_the_older_record(bad: bool) -> Trace:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.record("e", "compute")
    u0.wait_event("comm", "e", at="moe.py:3")
    u0.launch("experts", "compute", [], ["y"], at="moe.py:4")
    u0.record("e", "compute", at="moe.py:5")
    if not bad:
        u0.wait_event("comm", "e")
    u0.launch("combine", "comm", ["y"], [], at="moe.py:6")
    return t.finish()


@finds(
    "late_binding",
    "ubatch 0 makes the s2 stream wait for e at moe.py:5, which is bound to record 2 on the s1 stream at moe.py:4 "
    "only: nobody has waited for record 1 on the s0 stream at moe.py:2; take an event for each",
)
def one_event_for_two_streams(bad: bool) -> Trace:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.record("e", "s0", at="moe.py:2")
    if not bad:
        u0.wait_event("s2", "e")
    u0.record("e", "s1", at="moe.py:4")
    u0.wait_event("s2", "e", at="moe.py:5")
    return t.finish()


@finds(
    "late_binding",
    "main waits for e at run.py:9: the wait is bound to record 2 on the compute stream at run.py:8, and wakes "
    "after the work before it; record 1 on the compute stream at run.py:3 was replaced before anybody waited for it",
)
def woken_a_step_late(bad: bool) -> Trace:
    """vLLM PR 39115: recorded again for the next step before the waiter of this one has passed."""
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    u0.record("e", "compute", at="run.py:3")
    if not bad:
        u0.record("e", "compute")  # no work between: the same moment
    if bad:
        u0.launch("the next step", "compute", [], [])
        u0.record("e", "compute", at="run.py:8")
    main.synchronize_event("e", at="run.py:9")
    return t.finish()


# ---- graphs and ranks


@finds(
    "unjoined_stream",
    "the comm stream was forked into the capture of g at graph.py:4 and never joined back; let the compute stream wait "
    "for an event recorded there before the capture ends",
)
def a_fork_is_not_joined(bad: bool) -> Trace:
    return forked(joined=not bad).finish()


@finds(
    "unjoined_stream",
    "the comm stream was forked into the capture of g at graph.py:4 and never joined back; let the compute stream wait "
    "for an event recorded there before the capture ends",
)
def a_fork_goes_on_after_its_join(bad: bool) -> Trace:
    return forked(joined=True, more=bad).finish()


def forked(*, joined: bool, more: bool = False) -> Traces:
    t = Traces()
    main = t.thread("main")
    main.switch("default", "compute")
    main.capture_begin("g")
    main.record("fork", "compute")
    main.wait_event("comm", "fork", at="graph.py:4")
    main.launch("combine", "comm", [], [], runs=False)
    if joined:
        main.record("join", "comm")
        main.wait_event("compute", "join")
    if more:
        main.launch("copy", "comm", [], [], runs=False)
    main.capture_end("g")
    return t


@finds(
    "capture_violation", "main breaks the capture of g at graph.py:3: host.read of compute, which is captured"
)
def a_value_is_read_in_a_capture(bad: bool) -> Trace:
    t = Traces()
    main = t.thread("main")
    main.switch("default", "compute")
    if not bad:
        main.read("compute")
    main.capture_begin("g")
    if bad:
        main.read("compute", at="graph.py:3")
    main.capture_end("g")
    return t.finish()


@finds(
    "capture_violation",
    "main breaks the capture of g at graph.py:3: compute, which is captured, waits for e, recorded outside",
)
def a_capture_waits_for_what_lies_outside(bad: bool) -> Trace:
    t = Traces()
    main = t.thread("main")
    main.switch("default", "compute")
    if bad:
        main.record("e", "side")
    main.capture_begin("g")
    if not bad:
        main.record("e", "compute")
    main.wait_event("compute", "e", at="graph.py:3")
    main.capture_end("g")
    return t.finish()


@finds("capture_violation", "the capture of g at graph.py:1 was broken: random numbers are refused")
def a_capture_is_refused(bad: bool) -> Trace:
    t = Traces()
    main = t.thread("main")
    main.switch("default", "compute")
    main.capture_begin("g", at="graph.py:1")
    main.error("CaptureError" if bad else "ValueError", "random numbers are refused")
    return t.finish()


@finds("graph_owned_by_split", "the graph of 8 tokens is microbatched, so an unsplit call is eager in step 3")
def an_unsplit_call_finds_a_split_graph(bad: bool) -> Trace:
    t = Traces()
    main = t.thread("main")
    main.step_begin(3)
    what = "the graph of 8 tokens is microbatched, so an unsplit call is eager"
    main.tell("mark", text=f"graph_owned_by_split: {what}" if bad else what)
    main.step_end()
    return t.finish()


@finds(
    "missed_collective",
    "rank 1 did not take part in vote of step 2, which rank 0 began at program.py:5: every rank must make the same "
    "collectives",
)
def a_rank_without_tokens_votes_not(bad: bool) -> Trace:
    """vLLM issue 43547: tokens [4, 4, 4] and [4, 0, 4]; rank 1 returns early from step 2."""
    t = Traces()
    main = t.thread("main")
    for step in (1, 2, 3):
        main.step_begin(step)
        main.collective("vote", 0)
        if not (bad and step == 2):
            main.collective("vote", 1)
    return t.finish()


# ---- all of them


def each() -> list[Any]:
    return [
        pytest.param(kind, story, sentences, id=f"{kind}: {story.__name__}")
        for kind, stories in STORIES.items()
        for story, sentences in stories
    ]


@pytest.mark.parametrize(("kind", "story", "sentences"), each())
def test_a_story_has_the_finding(kind: str, story: Story, sentences: list[str]) -> None:
    trace = story(True)
    found = [finding for finding in findings_of(trace) if finding.kind == kind]
    assert [finding.sentence for finding in found] == sentences
    known = {event.seq for event in trace.events}
    assert all(set(finding.events) <= known and finding.severity in SEVERITIES for finding in found)
    assert all(finding.events for finding in found)


@pytest.mark.parametrize(("kind", "story", "sentences"), each())
def test_its_near_miss_has_none(kind: str, story: Story, sentences: list[str]) -> None:
    assert findings_of(story(False)) == []


def test_every_kind_is_told() -> None:
    elsewhere = {"race", "lifetime", "unordered_submission", "surplus_wait", "raised"}
    assert set(STORIES) | elsewhere == set(KINDS)


def test_the_wait_for_graph_is_data() -> None:
    waiters = wait_for(nobody_is_handed_the_turn(True))
    assert [(w.lane, w.on, w.could) for w in waiters] == [
        (
            "ubatch 1",
            "cpu_event[1]",
            {"main": "waits in thread.join of thread 2 at run.py:12", "ubatch 0": "has ended"},
        ),
        ("main", "thread 2", {"ubatch 1": "waits in host_event.wait of cpu_event[1] at moe.py:2"}),
    ]


def test_findings_come_with_errors_first_and_always_in_the_same_order() -> None:
    found = findings_of(nobody_is_handed_the_turn(True)) + findings_of(waited_for_the_older_record(True))
    assert [f.severity for f in found] == sorted([f.severity for f in found], key=SEVERITIES.index)
    assert findings_of(nobody_is_handed_the_turn(True)) == findings_of(nobody_is_handed_the_turn(True))


@pytest.mark.parametrize("moves", ["set wait wake clear", "clear"])
def test_a_flag_that_somebody_woke_by_or_that_was_down_is_no_lost_wakeup(moves: str) -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    for move in moves.split():
        getattr(u0, move)("go")
    u0.wait("go")
    assert [finding.kind for finding in findings_of(t.finish())] == ["deadlock"]


def test_a_thread_that_failed_before_the_barrier_says_nothing_about_parties() -> None:
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    main.create(u0)
    u0.start()
    u0.end()
    main.arrive("ready_barrier", 2)
    assert [finding.kind for finding in findings_of(t.finish())] == ["deadlock"]


@pytest.mark.parametrize("first", ["s1", "s2"])
def test_a_record_that_the_later_one_or_the_waiting_stream_covers_is_not_lost(first: str) -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.record("e", first)
    u0.record("e", "s1")
    u0.wait_event("s2", "e")
    assert findings_of(t.finish()) == []


def test_what_comes_after_a_capture_is_no_part_of_it() -> None:
    t = forked(joined=True)
    main = t.thread("main")
    main.read("compute")
    assert findings_of(t.finish()) == []


def test_who_was_stopped_has_not_lost_its_hook() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.register(1)
    u0.error("ValueError", "no such expert")
    assert findings_of(t.finish()) == []


def test_a_rank_whose_recording_is_shorter_has_missed_nothing() -> None:
    t = Traces()
    main = t.thread("main")
    for step, ranks in ((1, (0,)), (2, (0, 1)), (3, (0, 1)), (4, (1,))):
        main.step_begin(step)
        for rank in ranks:
            main.collective("vote", rank)
    assert findings_of(t.finish()) == []


@settings(max_examples=100, deadline=None)
@given(programs(), st.sets(st.integers(0, 30)))
def test_a_recording_with_gaps_can_be_judged(trace: Trace, lost: set[int]) -> None:
    """What a cause was is not known where it is not there."""
    kept = [event for event in trace.events if event.seq not in lost]
    part = Trace(make_table(Event, kept), trace.spans, make_table(Flow, []), trace.lanes, trace.meta)
    assert {seq for finding in findings_of(part) for seq in finding.events} <= {event.seq for event in kept}
    assert len(Cones(part).past(len(kept) - 1).events) < len(kept) if kept else True


@settings(max_examples=60, deadline=None)
@given(traces())
def test_any_trace_can_be_judged(trace: Trace) -> None:
    """Whatever a file holds: what says too little is counted, and not judged."""
    known = {event.seq for event in trace.events}
    for finding in findings_of(trace):
        assert finding.kind in KINDS
        assert set(finding.events) <= known
    unknown_accesses(trace)


def test_what_says_too_little_is_counted() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.tell("event.wait", event="e")  # on which stream?
    u0.tell("kernel.launch", stream=["compute"])
    u0.launch("experts", "compute", [], [])
    trace = t.finish()
    assert findings_of(trace) == []
    assert [notice.sentence for notice in unsound(trace)] == [
        "2 trace events lack what the checkers go by; they are not judged"
    ]
    assert unsound(nobody_runs_the_hook(True)) == []


# ---- recordings


@pytest.mark.parametrize("n", [2, 3])
def test_captures_and_replays_have_no_findings(n: int) -> None:
    graphs = Graphs(n)
    for _ in range(2):
        with record(graphs.rt) as recording:
            graphs.call(x=rows(4 * n))
        kinds = set(recording.trace.events["kind"].tolist())
        assert "graph.replay" in kinds
        assert findings_of(recording.trace) == []


def test_a_graph_of_the_engine_has_no_findings() -> None:
    from tests.test_engine_graphs import batch, forward

    small = Small("ll", 2, tokens=12)
    with record(small.rt) as recording:
        for step in range(2):
            forward(small, batch(small, step), FULL)
    small.close()
    assert findings_of(recording.trace) == []
    assert {e.args["graph"] for e in recording.trace.events if e.kind == "graph.replay"} == {"split[12]"}
