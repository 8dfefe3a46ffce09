"""Overlap and hand-over on traces drawn by hand, with known answers; and what must hold for any."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.small import recorded
from tests.stories import Story
from ubviz.analysis import handoff, overlap, turns
from ubviz.analysis.intervals import difference, intersection, length, union
from ubviz.errors import BadArgument, Stalled
from ubviz.recording import record
from ubviz.trace.build import Builder
from ubviz.trace.model import Lane, Trace
from ubviz.ubatch import contexts, dbo_switch_to_comm, dbo_switch_to_compute, dbo_yield

LANES = [
    Lane(0, 0, "main", "threads"), Lane(1, 0, "ubatch 0", "threads"), Lane(2, 0, "ubatch 1", "threads"),
    Lane(3, 0, "compute", "streams"), Lane(4, 0, "comm", "streams"), Lane(5, 0, "network", "network"),
]  # fmt: skip


def drawn(*kernels: tuple[int, int, int, str]) -> Trace:
    """Kernels as (lane, start, end, class)."""
    b = Builder(LANES)
    for lane, start, end, cls in kernels:
        cat = "transfer" if lane == 5 else "kernel"
        b.span(start, end, cat, cls, lane=lane, cls=cls, operation=cls)
    return b.finish({})


def test_known_answer() -> None:
    #   compute  0-100 and 150-250; comm 50-120 and 140-200
    o = overlap(
        drawn((3, 0, 100, "compute"), (3, 150, 250, "compute"), (4, 50, 120, "comm"), (4, 140, 200, "comm"))
    )
    assert (o.makespan_ns, o.compute_busy_ns, o.comm_busy_ns) == (250, 200, 130)
    assert (o.overlap_ns, o.exposed_comm_ns) == (100, 30)
    assert o.overlap_ratio == 100 / 130
    assert o.intervals["overlap_ns"].tolist() == [[50, 100], [150, 200]]
    assert o.intervals["exposed_comm_ns"].tolist() == [[100, 120], [140, 150]]


def test_nothing_is_counted_twice() -> None:
    o = overlap(
        drawn((3, 0, 100, "compute"), (3, 50, 120, "compute"), (4, 0, 10, "comm"), (4, 5, 20, "comm"))
    )
    assert (o.compute_busy_ns, o.comm_busy_ns, o.overlap_ns) == (120, 20, 20)


def test_communication_without_a_stream_of_its_own_has_no_ratio() -> None:
    o = overlap(drawn((3, 0, 100, "compute"), (3, 100, 110, "comm"), (5, 10, 90, "in flight")))
    assert o.overlap_ratio is None
    assert [notice.kind for notice in o.notices] == ["no_comm_stream"]
    assert (o.transfer_ns, o.hidden_transfer_ns) == (80, 80)


def test_what_is_communication_is_a_rule() -> None:
    trace = drawn((3, 0, 100, "other"), (4, 50, 150, "other"))
    assert overlap(trace).unclassified == ("other",)
    o = overlap(trace, comm=lambda span: span.lane == 4)
    assert (o.comm_busy_ns, o.compute_busy_ns, o.overlap_ns, o.unclassified) == (100, 100, 50, ())


def test_an_empty_trace_has_no_numbers() -> None:
    o = overlap(drawn())
    assert (o.makespan_ns, o.kernels, o.operations, o.overlap_ratio) == (0, 0, 0, None)


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_a_recording_obeys_the_bounds(style: str) -> None:
    o = overlap(recorded(style, 2))
    assert o.overlap_ns + o.exposed_comm_ns == o.comm_busy_ns
    assert o.overlap_ns <= min(o.compute_busy_ns, o.comm_busy_ns)
    assert o.hidden_transfer_ns <= o.transfer_ns
    assert max(o.compute_busy_ns, o.comm_busy_ns) <= o.makespan_ns
    assert (o.overlap_ratio is None) == (style == "ll")
    assert o.unclassified == ()


spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12).map(
    lambda rows: np.array([[a, a + d] for a, d in rows], dtype=np.int64).reshape(-1, 2)
)


def points(a: np.ndarray) -> set[int]:
    return {t for start, end in a.tolist() for t in range(start, end)}


@given(spans, spans)
def test_intervals_are_sets(a: np.ndarray, b: np.ndarray) -> None:
    u, v = union(a), union(b)
    for result, expected in (
        (u, points(a)), (intersection(u, v), points(a) & points(b)), (difference(u, v), points(a) - points(b)),
    ):  # fmt: skip
        assert points(result) == expected
        assert length(result) == len(expected)
        assert (result[1:, 0] > result[:-1, 1]).all()  # disjoint, and not even touching


# ---- the hand-over: each check against a broken variant that it must catch


def test_the_correct_ring_has_no_findings() -> None:
    for style in ("ht", "ll"):
        for n in (2, 3):
            assert handoff(recorded(style, n)) == []


def test_signalling_oneself_is_no_interleaving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Right answers, and nothing is interleaved: a check of values is no check."""

    def signal_self(context: contexts.UBatchContext) -> None:
        context._announce("ctx.yield")
        context.cpu_wait_event.set()
        context._take_turn()
        context._announce("ctx.resume")

    monkeypatch.setattr(contexts.UBatchContext, "_cpu_yield", signal_self)
    story = Story(2)
    out = story.run(lambda x: (dbo_yield(), dbo_yield(), x)[2])
    assert out.tolist() == story.x.tolist()
    assert turns(story.trace) == [0, 0, 0, 1, 1, 1]
    assert [finding.kind for finding in handoff(story.trace)] == ["no_interleaving"]


def test_a_flag_never_put_down_is_two_batons(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_clear(context: contexts.UBatchContext) -> None:
        context.cpu_wait_event.wait()

    monkeypatch.setattr(contexts.UBatchContext, "_take_turn", no_clear)
    monkeypatch.setattr(contexts.UBatchContext, "_check_turn", lambda context: None)
    story, both_awake = Story(2), threading.Barrier(2)

    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_yield()
        both_awake.wait(timeout=30)  # in a whole ring this could not be passed
        dbo_switch_to_comm()
        return x

    story.run(body)
    assert "two_batons" in {finding.kind for finding in handoff(story.trace)}


def test_a_host_event_of_the_programs_own_is_no_turn() -> None:
    story = Story(2)

    def body(x: torch.Tensor) -> torch.Tensor:
        mine = story.rt.HostEvent("mine")
        mine.set()
        mine.wait()
        dbo_switch_to_comm()
        dbo_switch_to_compute()
        dbo_yield()
        return x

    story.run(body)
    assert story.trace is not None
    assert turns(story.trace) == [0, 1, 0, 1]
    assert handoff(story.trace) == []


def test_a_lost_signal_is_a_deadlock_that_names_who_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    from ubviz.recording import recorder

    def keep_the_turn(context: contexts.UBatchContext) -> None:
        context.cpu_wait_event.clear()

    monkeypatch.setattr(contexts.UBatchContext, "_hand_on_for_good", keep_the_turn)
    monkeypatch.setattr("tests.stories.record", lambda rt, watchdog_s: recorder.record(rt, watchdog_s=0.2))
    story = Story(2)
    with pytest.raises(Stalled, match=r"ubatch 1 is in host_event\.wait of <host event cpu_event"):
        story.run(lambda x: x)
    found = [finding for finding in handoff(story.trace) if finding.kind == "deadlock"]
    assert any(
        f.sentence.startswith("ubatch 1 never comes back from host_event.wait of cpu_event[1]") for f in found
    )


@pytest.mark.parametrize("wait", ["barrier", "host event"])
def test_a_wait_that_the_watchdog_ends_is_always_found(rt: Any, wait: str) -> None:
    obj = rt.Barrier(2, "gate") if wait == "barrier" else rt.HostEvent("answer")
    recording = record(rt, watchdog_s=0.2)
    with pytest.raises(Stalled), recording:
        obj.wait()
    name = "gate (1 of 2)" if wait == "barrier" else "answer"
    (finding,) = handoff(recording.trace)
    assert (finding.kind, finding.severity) == ("deadlock", "error")
    assert f"of {name} at tests/test_analysis.py:" in finding.sentence


def test_steps_are_added_up() -> None:
    whole = recorded("ht", 2, steps=3)
    each = [overlap(whole, step=step) for step in whole.steps]
    assert overlap(whole).makespan_ns == sum(o.makespan_ns for o in each)
    with pytest.raises(BadArgument, match=r"this trace has the steps \[.*\], not 99"):
        overlap(whole, step=99)


def deadlocked() -> Trace:
    b = Builder(LANES)
    b.event(0, "host_event.set", {"host_event": "cpu_event[0]", "was": False}, lane=0, key=0)
    b.event(5, "host_event.wait", {"host_event": "cpu_event[1]"}, lane=2, ubatch=1, caller="moe.py:7", key=1)
    b.event(6, "thread.join", {"thread": 2}, lane=0, caller="run.py:3")
    b.event(9, "barrier.arrive", {"barrier": "b", "n": 1, "parties": 3, "generation": 0}, lane=1, ubatch=0,
            caller="run.py:1", key=2)  # fmt: skip
    return b.finish({})


def test_a_deadlock_says_who_waits_for_what_and_who_could_help() -> None:
    ubatch_1 = "ubatch 1 waits in host_event.wait of cpu_event[1] at moe.py:7"
    main = "main waits in thread.join of thread 2 at run.py:3"
    ubatch_0 = "ubatch 0 waits in barrier.arrive of b (1 of 3) at run.py:1"
    assert [finding.sentence for finding in handoff(deadlocked())] == [
        "ubatch 1 never comes back from host_event.wait of cpu_event[1] at moe.py:7; nobody has ever set it; "
        f"{main}, {ubatch_0}",
        "main never comes back from thread.join of thread 2 at run.py:3; that thread has not ended; before it, main "
        "did host_event.set",
        "ubatch 0 never comes back from barrier.arrive of b (1 of 3) at run.py:1; 2 more must arrive; "
        f"{main}, {ubatch_1}",
    ]
