"""What-if by the longest path: hand-made traces with known answers, and what must hold for any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies, virtually
from tests.small import recorded
from tests.traces import Traces
from ubviz.analysis import overlap, retime
from ubviz.analysis.graph import graph
from ubviz.analysis.retime import longest
from ubviz.errors import BadArgument
from ubviz.trace import Lane, Trace
from ubviz.trace.build import Builder

Program = list[tuple[str, int, int]]
"""Verbs of one thread: (verb, stream, event)."""

programs: Any = st.lists(
    st.tuples(
        st.sampled_from(["launch"] * 4 + ["record", "wait", "wait", "block", "synchronize", "read"]),
        st.integers(0, 2),
        st.integers(0, 1),
    ),
    max_size=25,
)
takes = st.lists(st.integers(0, 40), min_size=25, max_size=25)


def told(program: Program, lasts: list[int]) -> Trace:
    """What a program looks like if its i-th verb, if it launches, launches a kernel of ``lasts[i]``."""
    t = Traces()
    main = t.thread("main")
    t.lane("s0", "streams")
    for (verb, stream, event), ns in zip(program, lasts):
        s, e = f"s{stream}", f"e{event}"
        if verb in ("launch", "block"):
            main.launch("k", s, [], [], takes=ns, host_wait=verb == "block")
        elif verb == "record":
            main.record(e, s)
        elif verb == "wait":
            main.wait_event(s, e)
        elif verb == "synchronize":
            main.synchronize(s)
        else:
            main.read(s)
    return t.finish()


def when(trace: Trace, starts: np.ndarray, ends: np.ndarray) -> dict[Any, tuple[int, int]]:
    """When each span that a trace event caused ran."""
    spans = trace.spans
    return {
        (seq, cat): (start, end)
        for seq, cat, start, end in zip(spans["seq"].tolist(), spans["cat"], starts.tolist(), ends.tolist())
    }


def test_twice_the_communication_flows_through() -> None:
    #   main launches at 1..5; compute: a 1-101, c 126-136; comm: waits until 101, dispatch 101-121
    t = Traces()
    main = t.thread("main")
    main.launch("a", "compute", takes=100)
    main.record("done", "compute")
    main.wait_event("comm", "done")
    main.launch("dispatch", "comm", takes=20, cls="comm")
    main.record("sent", "comm")
    main.wait_event("compute", "sent")
    main.launch("c", "compute", takes=10)
    trace = t.finish()
    assert retime(trace).makespan_ns == 130
    assert retime(trace, durations={"dispatch": 2}).makespan_ns == 150
    assert retime(trace, durations={"comm": 2}).makespan_ns == 150
    assert retime(trace, durations={"dispatch": 2, "comm": 9}).makespan_ns == 150  # the operation comes first
    assert retime(trace, durations={"a": 0}).makespan_ns == 33  # dispatch starts when it is launched, at 4
    assert retime(trace, durations=lambda span: 7).makespan_ns == 21
    (wait,) = np.flatnonzero(trace.spans.mask(cat="wait", name="sent"))
    # c no longer waits: it runs when a has ended; and a row that is named is waited for instead
    assert retime(trace, drop_waits=[int(wait)]).makespan_ns == 120
    after = retime(trace, drop_waits={int(wait): None})
    (c,) = np.flatnonzero(trace.spans.mask(name="c"))
    assert (after.starts[c], after.ends[c]) == (101, 111)
    (dispatch,) = np.flatnonzero(trace.spans.mask(name="dispatch"))
    assert retime(trace, drop_waits={int(wait): int(dispatch)}).makespan_ns == 130


def in_flight(arrives: int) -> Trace:
    """A send 10-20, a transfer from its end, and a receive launched at 30 that needs 5 once the data is there."""
    lanes = [
        Lane(0, 0, "main", "threads"),
        Lane(1, 0, "compute", "streams"),
        Lane(2, 0, "network", "network"),
    ]
    b = Builder(lanes)
    send = b.event(10, "kernel.launch", {"name": "send", "stream": "compute"}, lane=0, thread=0)
    receive = b.event(30, "kernel.launch", {"name": "receive", "stream": "compute"}, lane=0, thread=0)
    rows = [b.span(10, 20, "kernel", "send", lane=1, cls="comm", seq=send)]
    b.span(20, arrives, "transfer", "send", lane=2, seq=send)
    rows.append(b.span(30, max(30, arrives) + 5, "kernel", "receive", lane=1, cls="comm", seq=receive))
    b.join_spans("send -> receive", *rows)
    return b.finish({})


@pytest.mark.parametrize("arrives", [25, 30, 70])
def test_a_receive_ends_when_its_data_has_come(arrives: int) -> None:
    trace, lasts = in_flight(arrives), arrives - 20
    for factor in (0, 1, 2, 5):
        expected = in_flight(20 + factor * lasts)
        changed = retime(trace, durations={"transfer": factor})
        assert changed.slack_ns == 0
        assert changed.ends.tolist()[-1] == expected.spans["end_ns"].tolist()[-1]
    assert retime(trace, durations={"receive": 3}).makespan_ns == max(30, arrives) + 15 - 10


def test_a_link_carries_one_transfer_at_a_time() -> None:
    b = Builder(
        [Lane(0, 0, "main", "threads"), Lane(1, 0, "compute", "streams"), Lane(2, 0, "network", "network")]
    )
    for i, (start, end) in enumerate([(12, 40), (40, 70)]):
        send = b.event(10 + i, "kernel.launch", {"name": "send", "stream": "compute"}, lane=0, thread=0)
        b.span(10 + i, 11 + i, "kernel", "send", lane=1, seq=send)
        b.span(start, end, "transfer", "send", lane=2, seq=send)
    trace = b.finish({})
    assert retime(trace).ends.max() == 70
    assert retime(trace, durations={"transfer": 2}).ends.max() == 70 + 28 + 30


@given(programs, takes)
def test_the_same_durations_give_the_same_trace_and_nothing_is_unexplained(
    program: Program, lasts: list[int]
) -> None:
    trace = told(program, lasts)
    same = retime(trace, durations={})
    assert same.trace() == trace
    assert same.slack_ns == 0
    assert same.makespan_ns == same.before_ns == overlap(trace).makespan_ns


@given(programs, takes, takes)
def test_other_durations_give_what_another_run_gives(
    program: Program, lasts: list[int], others: list[int]
) -> None:
    before, after = told(program, lasts), told(program, others)
    seqs = [e.seq for e in before.events if e.kind == "kernel.launch"]
    verbs = [i for i, verb in enumerate(program) if verb[0] in ("launch", "block")]
    wanted = {seq: others[i] for seq, i in zip(seqs, verbs)}
    changed = retime(before, durations=lambda span: wanted[span.seq])
    spans, events = after.spans, after.events
    assert when(before, changed.starts, changed.ends) == when(after, spans["start_ns"], spans["end_ns"])
    assert changed.times.tolist() == events["t_ns"].tolist()
    assert changed.untils.tolist() == events["until_ns"].tolist()


@given(strategies.recorded())
def test_the_identity_holds_for_any_trace(trace: Trace) -> None:
    same = retime(trace)
    assert same.starts.tolist() == trace.spans["start_ns"].tolist()
    assert same.ends.tolist() == trace.spans["end_ns"].tolist()
    assert same.times.tolist() == trace.events["t_ns"].tolist()
    assert same.makespan_ns == overlap(trace).makespan_ns


@pytest.mark.parametrize("style, n", [("ht", 2), ("ht", 3), ("ll", 2)])
def test_a_host_recording_keeps_its_slack_and_says_so(style: str, n: int) -> None:
    trace = recorded(style, n)
    same = retime(trace, durations={})
    assert same.trace() == trace
    assert same.slack_ns == graph(trace).unexplained_ns() > 0  # threads of a real machine are late at times
    slower = retime(trace, durations={"compute": 3.0})
    assert slower.makespan_ns > same.makespan_ns
    assert overlap(slower.trace()).makespan_ns == slower.makespan_ns


@pytest.mark.parametrize("style", ["ht", "ll"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_virtual_recording_is_explained_whole(style: str, n: int) -> None:
    trace = virtually.recorded(style, n)
    same = retime(trace)
    assert same.slack_ns == 0
    assert same.trace() == trace


@pytest.mark.parametrize("style, n", [("ht", 2), ("ht", 3), ("ll", 2), ("ll", 3)])
@pytest.mark.parametrize("factor", [0.5, 4.0])
def test_a_virtual_recording_predicts_another_run(style: str, n: int, factor: float) -> None:
    trace, fresh = virtually.recorded(style, n), virtually.recorded(style, n, compute=factor)
    assert [(e.thread, e.kind) for e in trace.events] == [(e.thread, e.kind) for e in fresh.events]
    changed = retime(trace, durations={"compute": factor})
    predicted = when(trace, changed.starts, changed.ends)
    ran = when(fresh, fresh.spans["start_ns"], fresh.spans["end_ns"])
    device = {key: time for key, time in ran.items() if key[1] in ("kernel", "wait", "record", "transfer")}
    assert {key: predicted[key] for key in device} == device
    assert changed.times.tolist() == fresh.events["t_ns"].tolist()
    assert changed.makespan_ns == overlap(fresh).makespan_ns != changed.before_ns


def test_one_step_is_retimed_alone() -> None:
    trace = recorded("ht", 2, steps=3)
    first, second = trace.steps[:2]
    slower = retime(trace, step=first, durations={"compute": 2.0})
    assert overlap(slower.trace(), step=first).makespan_ns > overlap(trace, step=first).makespan_ns
    assert overlap(slower.trace(), step=second) == overlap(trace, step=second)


def test_what_wakes_a_thread_is_followed() -> None:
    """ubatch 1 launches when ubatch 0, which waited for its kernel, has set the flag."""
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u1.wait("go")
    u0.launch("dispatch", "comm", takes=50, host_wait=True)
    u0.set("go")
    u1.wake("go")
    u1.launch("experts", "compute", takes=10)
    trace = t.finish()
    assert retime(trace).makespan_ns == 63
    assert retime(trace, durations={"dispatch": 3}).makespan_ns == 163


def test_a_barrier_opens_when_the_last_has_come_whoever_that_is() -> None:
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u0.launch("short", "a", takes=5, host_wait=True)
    u0.arrive("gate")
    t.now = 1
    u1.launch("long", "b", takes=20, host_wait=True)
    u1.arrive("gate")
    u0.release("gate")
    u0.launch("next", "a", takes=10)
    trace = t.finish()
    assert retime(trace).makespan_ns == 35 - 1
    assert retime(trace, durations={"short": 10}).makespan_ns == (51 + 1) + 2 + 10 - 1


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda t: retime(t, step=9), "this trace has the steps [0], not 9"),
        (lambda t: retime(t, drop_waits=[0]), "row 0 of spans is no wait"),
        (lambda t: retime(t, drop_waits=[10**6]), "row 1000000 of spans is no wait"),
        (lambda t: retime(t, durations={"compute": -1.0}), None),
    ],
)
def test_what_is_refused(call: Callable[[Trace], Any], message: str | None) -> None:
    with pytest.raises(BadArgument) as raised:
        call(recorded("ht", 2))
    if message is not None:
        assert str(raised.value) == message
    else:
        assert str(raised.value).split(" cannot last -")[1].endswith(" ns")


def test_a_circle_of_causes_ends() -> None:
    assert longest(np.array([3, 4]), np.array([0, 1]), np.array([1, 0]), np.array([1, -1])).tolist() == [3, 4]
