"""The critical path: known chains, and a sum that is exact for any trace."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests import strategies
from tests.small import recorded
from tests.test_retime import Program, programs, takes, told
from tests.traces import Traces
from ubviz.analysis import critical_path, overlap
from ubviz.trace import Trace, example


def said(trace: Trace) -> list[str]:
    """Entries as "name edge ns"."""
    return [f"{_name(trace, e.table, e.row)} {e.edge} {e.ns}" for e in critical_path(trace)]


def _name(trace: Trace, table: str | None, row: int | None) -> str:
    if table is None or row is None:
        return "-"
    return trace.spans[row].name if table == "spans" else trace.events[row].kind


def test_a_chain_over_two_streams() -> None:
    t = Traces()
    main = t.thread("main")
    main.launch("router", "compute", takes=100)
    main.record("done", "compute")
    main.launch("shared", "compute", takes=10)
    main.wait_event("comm", "done")
    main.launch("dispatch", "comm", takes=50)
    assert said(t.finish()) == ["router run 100", "done event 0", "dispatch run 50"]


def test_a_chain_through_the_host() -> None:
    """The dispatch blocks microbatch 0, which then sets microbatch 1 going."""
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u1.wait("go")
    u0.launch("dispatch", "comm", takes=50, host_wait=True)
    u0.set("go")
    u1.wake("go")
    u1.launch("experts", "compute", takes=10)
    assert said(t.finish()) == [
        "dispatch run 50", "kernel.launch done 0", "host_event.set program 1", "host_event.wake wake 1",
        "kernel.launch program 1", "experts launch 0", "experts run 10",
    ]  # fmt: skip


def test_what_nothing_explains_is_slack() -> None:
    """The second launch is at once; the stream takes it 30 later than it took the first."""
    t = Traces()
    main = t.thread("main")
    main.launch("a", "compute", takes=5)
    main.launch("b", "compute", takes=5)
    t.tails["compute"] = 41
    main.launch("c", "compute", takes=5)
    path = said(t.finish())
    assert path == ["a run 5", "b run 5", "c slack 30", "c run 5"]


def test_a_step_begins_with_its_step_begin() -> None:
    t = Traces()
    main = t.thread("main")
    for step in (3, 4):
        main.step_begin(step)
        main.tell("mark", text="thinking")
        main.launch("k", "compute", takes=10)
        main.synchronize("compute")
        main.step_end()
    trace = t.finish()
    one = ["mark program 1", "kernel.launch program 1", "k launch 0", "k run 10"]
    assert said(trace) == one * 2
    assert [e.start_ns for e in critical_path(trace, step=4)] == [15, 16, 17, 17]


@given(programs, takes)
def test_it_sums_to_the_makespan(program: Program, lasts: list[int]) -> None:
    trace = told(program, lasts)
    path = critical_path(trace)
    assert sum(entry.ns for entry in path) == overlap(trace).makespan_ns
    assert all(entry.ns >= 0 for entry in path)
    assert [e.start_ns for e in path] == sorted(e.start_ns for e in path)


@given(strategies.recorded())
def test_it_sums_to_the_makespan_of_any_trace(trace: Trace) -> None:
    assert sum(entry.ns for entry in critical_path(trace)) == overlap(trace).makespan_ns


@pytest.mark.parametrize("style, steps", [("ht", 3), ("ll", 1)])
def test_it_sums_to_the_makespan_of_a_recording(style: str, steps: int) -> None:
    trace = recorded(style, 2, steps=steps)
    assert sum(entry.ns for entry in critical_path(trace)) == overlap(trace).makespan_ns


def test_a_row_is_a_span_or_a_trace_event() -> None:
    entries = [entry.as_json() for entry in critical_path(example("whole_game_overlapped"))]
    assert {frozenset(entry) for entry in entries} == {
        frozenset({"span", "ns", "edge"}), frozenset({"event", "ns", "edge"}),
    }  # fmt: skip
