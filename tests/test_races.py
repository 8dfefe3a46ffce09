"""Races, lifetimes and unordered submissions: a story that has each, and a near miss that must not."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from tests.small import recorded
from tests.traces import Traces, Writer
from ubviz.analysis import findings_of, surplus
from ubviz.analysis.accesses import unknown_accesses
from ubviz.analysis.findings import Finding
from ubviz.analysis.lifetime import lifetime
from ubviz.analysis.races import races
from ubviz.analysis.submission import unordered_submission
from ubviz.recording import record
from ubviz.trace import Event, Flow, Span, Trace, make_table


def story() -> tuple[Traces, Writer, Writer]:
    t = Traces()
    return t, t.thread("ubatch 0"), t.thread("ubatch 1")


def kinds(found: list[Finding]) -> list[str]:
    return [finding.kind for finding in found]


# ---- races


def layer(u: Writer, *, waits: bool, does: str = "reads") -> None:
    u.launch("experts", "compute", writes=["y"], takes=50, at="moe.py:38")
    u.record("compute_done", "compute")
    if waits:
        u.wait_event("comm", "compute_done")
    u.launch("combine", "comm", **{"reads": [], "writes": [], does: ["y"]}, at="moe.py:41")  # type: ignore[arg-type]


def test_a_race_shows_both_accesses_and_the_missing_edge() -> None:
    t, _, u1 = story()
    layer(u1, waits=False)
    (finding,) = races(t.finish())
    assert (finding.kind, finding.severity, finding.events) == ("race", "error", (0, 2))
    assert finding.sentence == (
        "combine (ubatch 1, comm stream, moe.py:41) reads y while experts (ubatch 1, compute stream, moe.py:38) may "
        "still be writing it. No happens-before path joins them. Record an event on the compute stream after experts "
        "and make the comm stream wait for it before combine."
    )


@pytest.mark.parametrize("does", ["reads", "writes"])
def test_a_wait_for_the_event_is_enough(does: str) -> None:
    t, _, u1 = story()
    layer(u1, waits=True, does=does)
    assert findings_of(t.finish()) == []


def test_two_writes_race_and_a_write_after_a_read() -> None:
    t, _, u1 = story()
    layer(u1, waits=False, does="writes")
    u1.launch("copy", "side", reads=["z"], writes=[])
    u1.launch("router", "compute", reads=[], writes=["z"])
    assert [finding.sentence.split(" while ")[1].split(". ")[0] for finding in races(t.finish())] == [
        "experts (ubatch 1, compute stream, moe.py:38) may still be writing it",
        "copy (ubatch 1, side stream, program.py:4) may still be reading it",
    ]


def test_two_reads_do_not_race_nor_do_different_buffers() -> None:
    t, u0, _ = story()
    u0.launch("a", "compute", reads=["y"], writes=["x"])
    u0.launch("b", "comm", reads=["y"], writes=["z"])
    assert races(t.finish()) == []


def test_microbatch_1_races_and_microbatch_0_does_not() -> None:
    """The wait is left out in one of two microbatches (vLLM PR 27666)."""
    t, u0, u1 = story()
    layer(u0, waits=True)
    u0.set("cpu_event[1]")
    u1.take("cpu_event[1]")
    u1.launch("experts", "compute", reads=[], writes=["x"], at="moe.py:38")
    u1.launch("combine", "comm", reads=["x"], writes=[], at="moe.py:41")
    (finding,) = races(t.finish())
    assert finding.sentence.startswith(
        "combine (ubatch 1, comm stream, moe.py:41) reads x while experts (ubatch 1"
    )


def test_one_event_for_three_streams_orders_the_last_one_only() -> None:
    """cutorch PR 222: each record replaces the one before."""
    t, u0, _ = story()
    for stream, buffer in (("s0", "y"), ("s1", "x"), ("s2", "z")):
        u0.launch(f"work on {stream}", stream, reads=[], writes=[buffer])
        u0.record("e", stream)
    u0.wait_event("s3", "e")
    u0.launch("sum", "s3", reads=["y", "x", "z"], writes=[])
    found = findings_of(t.finish())
    assert kinds(found) == ["race", "race", "late_binding"]
    assert ["work on s0" in found[0].sentence, "work on s1" in found[1].sentence] == [True, True]


def test_a_hand_off_on_the_cpu_orders_no_streams() -> None:
    """Caffe PR 2998: a buffer is handed on while its asynchronous copy still runs."""
    t, u0, u1 = story()
    u0.launch("copy", "comm", reads=["y"], writes=["x"], takes=50)
    u0.set("cpu_event[1]")
    u1.take("cpu_event[1]")
    u1.launch("fill", "compute", reads=[], writes=["y"])
    (finding,) = races(t.finish())
    assert (
        "fill (ubatch 1, compute stream, program.py:6) writes y while copy (ubatch 0, comm stream"
        in finding.sentence
    )


def test_a_hand_off_after_a_synchronize_does() -> None:
    t, u0, u1 = story()
    u0.launch("copy", "comm", reads=["y"], writes=["x"], takes=50)
    u0.synchronize("comm")
    u0.set("cpu_event[1]")
    u1.take("cpu_event[1]")
    u1.launch("fill", "compute", reads=[], writes=["y"])
    assert findings_of(t.finish()) == []


def test_the_same_two_operations_are_one_finding_with_a_count() -> None:
    t, u0, _ = story()
    for buffer in "yxz":
        u0.launch("experts", "compute", reads=[], writes=[buffer])
        u0.launch("combine", "comm", reads=[buffer], writes=[])
    (finding,) = races(t.finish())
    assert finding.sentence.endswith("before combine (2 more like these).")
    assert finding.events == (0, 1, 2, 3, 4, 5)


def test_what_a_launch_does_not_say_is_counted_and_not_guessed() -> None:
    t, u0, _ = story()
    u0.launch("a", "compute", reads=None, writes=None)
    u0.launch("b", "comm", reads=["y"], writes=None)
    u0.launch("c", "side", reads=["x"], writes=[])
    t.builder.span(0, 9, "kernel", "imported", lane=t.lane("side", "streams"))
    trace = t.finish()
    assert races(trace) == []
    assert [notice.sentence for notice in unknown_accesses(trace)] == [
        "2 of 3 launches and replays do not say what they read or write; races with them are not found",
        "1 kernels have no launch in this trace; what they read and write is not known",
    ]


# ---- captures and replays


def captured(*, joined: bool = True, waits: bool = True) -> tuple[Traces, Writer]:
    """A graph that writes y on compute and reads it on comm."""
    t = Traces()
    main = t.thread("main")
    main.switch("default", "compute")
    main.capture_begin("g", at="graph.py:1")
    main.launch("experts", "compute", reads=[], writes=["y"], runs=False)
    main.record("fork", "compute")
    if not waits:
        main.launch("late", "compute", reads=[], writes=["x"], runs=False)
    main.wait_event("comm", "fork", at="graph.py:4")
    main.launch("combine", "comm", reads=["y"] if waits else ["x"], writes=["z"], runs=False)
    main.record("join", "comm")
    if joined:
        main.wait_event("compute", "join")
    main.capture_end("g")
    return t, main


def test_work_in_a_capture_is_ordered_by_its_edges() -> None:
    t, main = captured()
    main.replay("g")
    main.replay("g")
    assert findings_of(t.finish()) == []
    t, main = captured(waits=False)
    assert kinds(findings_of(t.finish())) == ["race"]


def test_a_replay_touches_what_its_capture_touched() -> None:
    t, main = captured()
    main.replay("g")
    main.launch("copy out", "side", reads=["z"], writes=[])
    (finding,) = races(t.finish())
    assert finding.sentence.startswith(
        "copy out (side stream, program.py:11) reads z while the replay of g (compute"
    )


def test_a_capture_ran_at_no_time_and_races_with_nothing_outside() -> None:
    t, main = captured()
    main.launch("copy out", "side", reads=["z"], writes=[])
    assert findings_of(t.finish()) == []


def test_a_graph_does_not_run_beside_itself_but_beside_another_one() -> None:
    t, main = captured()
    main.replay("g")
    main.switch("compute", "side")
    main.replay("g")
    assert findings_of(t.finish()) == []
    t, main = captured()
    main.capture_begin("h")
    main.launch("experts", "compute", reads=[], writes=["y"], runs=False)
    main.capture_end("h")
    main.replay("h")
    main.switch("compute", "side")
    main.replay("g")
    (finding,) = races(t.finish())
    assert finding.sentence.startswith(
        "the replay of g (side stream, program.py:15) writes y while the replay of h ("
    )


def test_a_replay_is_unknown_where_its_capture_is() -> None:
    t = Traces()
    main = t.thread("main")
    main.switch("default", "compute")
    main.replay("captured before")
    main.capture_begin("g")
    main.launch("a", "compute", reads=[], writes=["y"], runs=False)
    main.launch("b", "compute", reads=None, writes=None, runs=False)
    main.capture_end("g")
    main.replay("g")
    (notice,) = unknown_accesses(t.finish())
    assert notice.count == 3  # both replays, and b


# ---- lifetime


def reuse(remedy: str = "") -> Trace:
    """y lives on compute, is copied on the side, is freed; x is allocated afterwards (torchrec PR 4231)."""
    t, u0, _ = story()
    u0.alloc("y", "compute")
    u0.launch("fill", "compute", reads=[], writes=["y"])
    u0.record("filled", "compute")
    u0.wait_event("side", "filled")
    u0.launch("copy", "side", reads=["y"], writes=[], takes=50, at="copy.py:5")
    if remedy == "record_stream":
        u0.record_stream("y", "side")
    if remedy == "wait":
        u0.record("copied", "side")
        u0.wait_event("compute", "copied")
    u0.free("y", "compute", at="copy.py:6")
    if remedy != "nothing allocated":
        u0.alloc("x", "other" if remedy == "another stream" else "compute")
        u0.launch("next", "compute", reads=[], writes=["x"], at="copy.py:9")
    return t.finish()


def test_memory_that_another_stream_still_uses_is_given_out_again() -> None:
    (finding,) = findings_of(reuse())
    assert (finding.kind, finding.severity) == ("lifetime", "error")
    assert finding.sentence == (
        "copy (ubatch 0, side stream, copy.py:5) may still use y, which was freed at copy.py:6, when next (ubatch 0, "
        "compute stream, copy.py:9) uses x, which may have got its memory. Call y.record_stream with the side stream, "
        "or make the compute stream wait for copy before y is freed."
    )


@pytest.mark.parametrize("remedy", ["record_stream", "wait", "nothing allocated", "another stream"])
def test_memory_is_safe(remedy: str) -> None:
    assert findings_of(reuse(remedy)) == []


# ---- submission


def two_submit(*, handed: bool, buffers: str = "yx") -> Trace:
    t, u0, u1 = story()
    u0.launch("a", "compute", reads=[], writes=[buffers[0]], at="model.py:1")
    if handed:
        u0.set("cpu_event[1]")
        u1.take("cpu_event[1]")
    u1.launch("b", "compute", reads=[], writes=[buffers[1]], at="model.py:2")
    return t.finish()


def test_two_threads_submit_in_either_order() -> None:
    (finding,) = findings_of(two_submit(handed=False))
    assert (finding.kind, finding.severity, finding.events) == ("unordered_submission", "warning", (0, 1))
    assert finding.sentence == (
        "ubatch 0 gives kernel.launch of a at model.py:1 and ubatch 1 gives kernel.launch of b at model.py:2 to the "
        "compute stream, and nothing orders the two: another run may submit them the other way round"
    )


def test_two_that_touch_one_buffer_are_an_error() -> None:
    assert [f.severity for f in unordered_submission(two_submit(handed=False, buffers="yy"))] == ["error"]


def test_who_has_been_handed_the_turn_submits_in_order() -> None:
    assert findings_of(two_submit(handed=True, buffers="yy")) == []


def test_lifetime_without_frees_is_not_looked_for() -> None:
    assert lifetime(two_submit(handed=True)) == []


# ---- recordings


@pytest.mark.parametrize("style", ["ht", "ll"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_correct_recordings_have_no_findings(style: str, n: int) -> None:
    trace = recorded(style, n, steps=2)
    assert findings_of(trace) == []
    assert unknown_accesses(trace) == []


@pytest.mark.parametrize("waits", [True, False])
def test_real_code_is_named_by_its_lines(rt: Any, waits: bool) -> None:
    compute, comm = rt.Stream("compute"), rt.Stream("comm")
    with record(rt) as recording, rt.device_context(), torch.inference_mode():
        with rt.stream(compute), rt.op("experts"):
            y = torch.ones(4)
        if waits:
            comm.wait_stream(compute)
        with rt.stream(comm), rt.op("combine", cls="comm"):
            y + 1
        rt.synchronize()
    found = [finding.sentence.split(". ")[0] for finding in findings_of(recording.trace)]
    if waits:
        assert found == []
        return
    (sentence,) = found
    where = r"tests/test_races\.py:\d+"
    assert re.fullmatch(
        rf"combine \(comm stream, {where}\) reads buffer \d+ while experts \(compute stream, {where}\) may still be "
        "writing it",
        sentence,
    )


@pytest.mark.parametrize("n", [2, 3])
def test_a_recording_without_its_waits_races_in_every_microbatch(n: int) -> None:
    """Every wait of comm for compute is taken out of a recording that has no race."""
    from ubviz.trace import Event, make_table

    trace = recorded("ht", n)
    events = [
        e._replace(kind="mark", args={"text": "no wait"})
        if e.kind == "event.wait" and e.args["stream"] == "comm"
        else e
        for e in trace.events
    ]
    without = Trace(make_table(Event, events), trace.spans, trace.flows, trace.lanes, trace.meta)
    found = races(without)
    assert {e.ubatch for f in found for e in without.events if e.seq in f.events} == set(range(n))
    assert any(
        f.sentence.startswith("dispatch (ubatch 0, comm stream, ubviz/engine/all2all.py:") for f in found
    )


# ---- every wait of a correct recording, left out


def without(trace: Trace, seq: int) -> Trace:
    """The recording of a program that lacks one call."""
    events = [event for event in trace.events if event.seq != seq]
    spans = [span for span in trace.spans if span.seq != seq]
    return Trace(
        make_table(Event, events), make_table(Span, spans), make_table(Flow, []), trace.lanes, trace.meta
    )


@pytest.mark.parametrize("runtime", ["virtual", "host"])
@pytest.mark.parametrize("n", [2, 3])
def test_each_wait_that_is_left_out_is_a_race_of_its_own_microbatch(n: int, runtime: str) -> None:
    trace = recorded("ht", n, runtime=runtime)
    blocked: dict[str, bool] = {}  # stream -> whether the host has waited for its last kernel
    covers: dict[Any, bool] = {}
    for event in trace.events:
        args = event.args
        if event.kind == "kernel.launch":
            blocked[args["stream"]] = args["host_wait"]
        elif event.kind == "event.record":
            covers[args["event"], args["record"]] = blocked[args["stream"]]
        elif event.kind == "event.wait":
            found = findings_of(without(trace, event.seq))
            if covers[args["event"], args["record"]]:
                assert found == []  # the host has waited already: who launches next is late enough
                continue
            assert {finding.kind for finding in found} <= {"race", "lifetime"}
            race = next(finding for finding in found if finding.kind == "race")
            assert f"(ubatch {event.ubatch}, {args['stream']} stream, " in race.sentence.split(" while ")[0]


@pytest.mark.parametrize("runtime", ["virtual", "host"])
@pytest.mark.parametrize("style, n", [("ht", 2), ("ht", 3), ("ht", 4), ("ll", 2), ("ll", 3), ("ll", 4)])
def test_no_wait_that_is_needed_is_called_surplus(style: str, n: int, runtime: str) -> None:
    assert surplus(recorded(style, n, runtime=runtime)) == []
