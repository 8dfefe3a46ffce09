"""The recorder: every fact is there, once, in order, with its names, its site and its step."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch

from tests.small import Small, recorded
from tests.stories import Story
from ubviz.analysis import handoff
from ubviz.errors import BadArgument
from ubviz.recording import record
from ubviz.runtime import get_runtime
from ubviz.trace import KINDS, load
from ubviz.ubatch import dbo_current_ubatch_id, dbo_yield

N, LAYERS = 3, 2
Y = 3 * LAYERS * N  # yields of an ht step


def test_counts_follow_from_the_protocol() -> None:
    count = Counter(recorded("ht", N, LAYERS).events["kind"].tolist())
    expected = {
        "thread.create": N, "thread.start": N, "thread.end": N, "thread.join": N,
        "barrier.arrive": N + 1, "barrier.release": N + 1,
        "host_event.set": Y + N + 1, "host_event.wait": Y + N, "host_event.wake": Y + N,
        "host_event.clear": Y + 2 * N,
        "ctx.enter": N, "ctx.exit": N, "ctx.yield": Y, "ctx.resume": Y, "context.set": Y + N,
        "event.record": 4 * LAYERS * N, "event.wait": 4 * LAYERS * N,
        "step.begin": 1, "step.end": 1,
    }  # fmt: skip
    assert {kind: count[kind] for kind in expected} == expected
    assert set(count) <= set(KINDS)


def test_the_hooks_of_ll_are_recorded() -> None:
    trace = recorded("ll", N, LAYERS)
    count = Counter(trace.events["kind"].tolist())
    assert count["hook.register"] == count["hook.run"] == 2 * LAYERS * N
    assert trace.flows.mask(kind="register -> run").sum() == 2 * LAYERS * N


def test_flows_join_causes_to_effects() -> None:
    trace = recorded("ht", N, LAYERS)
    count = Counter(trace.flows["kind"].tolist())
    assert count["set -> wake"] == Y + N
    assert count["arrive -> release"] == N + 1
    assert count["record -> wait"] == 4 * LAYERS * N
    assert count["launch -> kernel"] == trace.spans.mask(cat="kernel").sum()
    for flow in trace.flows:
        cause, effect = (
            getattr(trace, table)[row]
            for table, row in ((flow.from_table, flow.from_row), (flow.to_table, flow.to_row))
        )
        assert flow.from_ns <= flow.to_ns
        if flow.kind == "set -> wake":
            assert cause.args["host_event"] == effect.args["host_event"]
            assert effect.ubatch == int(effect.args["host_event"][-2])
        if flow.kind == "record -> wait":
            assert cause.args == effect.args


def test_arguments_are_the_words_of_the_table() -> None:
    for style in ("ht", "ll"):
        for event in recorded(style, N, LAYERS).events:
            assert tuple(event.args) == KINDS[event.kind].args, event


def test_what_blocks_says_until_when() -> None:
    for event in recorded("ht", N, LAYERS).events:
        host_wait = event.kind != "kernel.launch" or event.args["host_wait"]
        if KINDS[event.kind].blocks and host_wait:
            assert event.until_ns is not None
            assert event.until_ns >= event.t_ns
        else:
            assert event.until_ns is None


def test_time_does_not_go_back_within_a_thread() -> None:
    trace = recorded("ht", N, LAYERS)
    for thread in set(trace.events["thread"].tolist()):
        times = trace.events["t_ns"][trace.events.mask(thread=thread)]
        assert (times[1:] >= times[:-1]).all()


def test_names_are_roles() -> None:
    trace = recorded("ht", N, LAYERS)
    names = {
        event.args[key]
        for event in trace.events
        for key in ("host_event", "event", "barrier")
        if key in event.args
    }
    assert names == {"ready_barrier"} | {
        f"{role}[{i}]" for role in ("cpu_event", "compute_done", "comm_done") for i in range(N)
    }
    roles = ["main", *(f"ubatch {i}" for i in range(N)), "compute", "comm"]
    assert [lane.role for lane in trace.lanes][: N + 3] == roles


def test_kernels_name_their_operation() -> None:
    trace = recorded("ht", N, LAYERS)
    per_layer = {
        "attention",
        "router",
        "dispatch",
        "experts",
        "combine",
        "shared experts",
        "copy",
        "residual",
    }
    seen = {
        (s.ubatch, s.layer, s.operation)
        for s in trace.spans.rows(trace.spans.mask(cat="kernel"))
        if s.layer is not None
    }
    assert seen == {(u, layer, op) for u in range(N) for layer in range(LAYERS) for op in per_layer}
    assert not trace.spans.mask(cat="kernel", cls="other").any()


def test_sites_and_callers() -> None:
    trace = recorded("ht", N, LAYERS)
    for event in trace.events.rows(trace.events.mask(kind="ctx.yield")):
        assert event.site.startswith("ubviz/ubatch/contexts.py:")
        assert event.caller.startswith("ubviz/engine/all2all.py:")
    launches = trace.events.rows(trace.events.mask(kind="kernel.launch"))
    assert {event.site.split(":")[0] for event in launches} <= {
        f"ubviz/engine/{name}.py" for name in ("all2all", "attention", "moe", "model", "runner")
    } | {"ubviz/ubatch/outputs.py"}
    sources = {(s["file"], s["function"]): s for s in trace.meta["sources"]}
    source = sources["ubviz/ubatch/contexts.py", "UBatchContext._cpu_yield"]
    line = next(int(e.site.split(":")[1]) for e in trace.events if e.kind == "ctx.yield")
    assert "ctx.yield" in source["text"].splitlines()[line - source["line"]]


def test_steps() -> None:
    trace = recorded("ht", 2, 1, steps=3)
    assert len(trace.steps) == 3
    begins = trace.events.rows(trace.events.mask(kind="step.begin"))
    assert [event.args["branch"] for event in begins] == ["overlapped"] * 3
    kernels = Counter(trace.spans["step"][trace.spans.mask(cat="kernel")].tolist())
    assert set(kernels) == set(trace.steps)
    assert len(set(kernels.values())) == 1  # every step launches the same


def test_keep_drops_earlier_steps_and_says_so() -> None:
    small = Small("ht", 2, 1)
    with record(small.rt, keep=2) as recording:
        for _ in range(5):
            small.runner.execute_model(small.batch)
    small.close()
    assert len(recording.trace.steps) == 2
    assert ("steps_dropped", 3) in [(n.kind, n.count) for n in recording.trace.notices]


def test_two_recordings_see_the_same() -> None:
    story = Story(2)
    with record(story.rt) as outer:
        story.run(lambda x: (dbo_yield(), x)[1])
    inner = story.trace
    assert inner is not None

    def facts(trace: object) -> list[object]:
        return [(e.kind, e.args, e.site, e.ubatch) for e in trace.events]  # type: ignore[attr-defined]

    assert facts(outer.trace) == facts(inner)


def test_a_snapshot_inside_and_a_trace_after_an_error() -> None:
    rt = get_runtime("host")
    event = rt.HostEvent("turn")
    event.set()
    recording = record(rt)
    with pytest.raises(ValueError, match="stop"), recording:
        event.clear()
        assert [e.kind for e in recording.trace.events] == ["host_event.clear"]
        raise ValueError("stop")
    assert [e.kind for e in recording.trace.events] == ["host_event.clear", "error"]
    error = recording.trace.events[-1].args
    assert (error["type"], error["text"], error["at"].split(":")[0]) == (
        "ValueError",
        "stop",
        "tests/test_recorder.py",
    )
    assert recording.trace.meta["snapshot"] == {"turn": True}
    rt.close()


def test_recording_begins_after_the_objects_exist() -> None:
    rt = get_runtime("host")
    stream, event = rt.Stream("s"), rt.Event("e")
    event.record(stream)
    event.record(stream)
    with record(rt) as recording:
        event.record(stream)
        stream.wait_event(event)
        stream.synchronize()
    record_numbers = [e.args["record"] for e in recording.trace.events if "record" in e.args]
    assert record_numbers == [3, 3]
    assert recording.trace.meta["snapshot"] == {"e": 2}
    rt.close()


def test_a_wait_for_nothing_is_told() -> None:
    rt = get_runtime("host")
    with record(rt) as recording:
        rt.Stream("s").wait_event(rt.Event("never"))
    assert [e.args for e in recording.trace.events] == [{"event": "never", "stream": "s", "record": None}]
    rt.close()


def test_kernels_that_have_not_finished_are_counted() -> None:
    import threading

    rt = get_runtime("host")
    gate = threading.Event()
    with record(rt) as recording:
        rt.launch("long", gate.wait, stream=rt.Stream("s"))
    gate.set()
    assert [(n.kind, n.count) for n in recording.trace.notices] == [("kernels_unfinished", 1)]
    assert "1 launched kernels had not finished" in recording.trace.notices[0].sentence
    rt.close()


def test_unnamed_objects_are_numbered() -> None:
    rt = get_runtime("host")
    with record(rt) as recording:
        for _ in range(2):
            rt.HostEvent().set()
            rt.Event().record(rt.Stream())
    assert [e.args.get("host_event") or e.args.get("event") for e in recording.trace.events] == [
        "host_event#1", "event#1", "host_event#2", "event#2",
    ]  # fmt: skip
    rt.close()


@pytest.mark.parametrize(("style", "n"), [("ht", 2), ("ht", 3), ("ll", 2), ("ll", 3)])
def test_a_recording_survives_its_file(style: str, n: int, tmp_path: Path) -> None:
    trace = recorded(style, n, steps=2)
    for name in ("run.json", "run.json.gz"):
        trace.save(tmp_path / name)
        assert load(tmp_path / name) == trace


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"keep": 0}, "keep is a number of steps, at least 1, not 0"),
        ({"kernels": "profiler"}, "runtime 'host' has one source of kernel spans"),
        ({"on_stall": "shout"}, 'on_stall is "raise" or "report", not \'shout\''),
        ({"watchdog_s": 0}, "watchdog_s is a time in seconds above 0, or None, not 0"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], sentence: str) -> None:
    rt = get_runtime("host")
    with pytest.raises(BadArgument, match=sentence):
        record(rt, **arguments)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="nothing is recorded yet"):
        _ = record(rt).trace
    rt.close()


def test_buffers_are_numbered_not_addressed() -> None:
    trace = recorded("ht", 2)
    touched = [
        number
        for event in trace.events.rows(trace.events.mask(kind="kernel.launch"))
        for number in event.args["reads"] + event.args["writes"]
    ]
    assert max(touched) < 10_000_000  # an address is larger by far
    dispatch = next(e for e in trace.events if e.args.get("name") == "dispatch")
    experts = [
        e for e in trace.events if e.args.get("operation") == "experts" and e.ubatch == dispatch.ubatch
    ]
    assert set(dispatch.args["writes"]) & {number for e in experts for number in e.args["reads"]}


def test_a_recording_is_made_once() -> None:
    rt = get_runtime("host")
    recording = record(rt)
    with recording:
        pass
    with pytest.raises(BadArgument, match="this recording has been made"), recording:
        pass
    assert rt.hooks.listeners == ()
    rt.close()


def test_record_takes_a_runtime() -> None:
    with pytest.raises(
        BadArgument, match=r"record takes a runtime, as ubviz.get_runtime\(\) gives, not 'host'"
    ):
        record("host")  # type: ignore[arg-type]


def test_who_failed_is_in_the_trace() -> None:
    story = Story(2)

    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_yield()
        if dbo_current_ubatch_id() == 1:
            raise ValueError("no")
        dbo_yield()
        return x

    with pytest.raises(ValueError, match="no"):
        story.run(body)
    assert story.trace is not None
    errors = story.trace.events.rows(story.trace.events.mask(kind="error"))
    assert [(e.ubatch, e.args["type"], e.args["text"]) for e in errors] == [
        (ubatch, "ValueError", "no") for ubatch in (1, None)
    ]
    assert all(e.args["at"].startswith("tests/test_recorder.py:") for e in errors)
    assert handoff(story.trace) == []  # fewer yields are no finding of their own


def test_nothing_is_left_behind() -> None:
    rt = get_runtime("host")
    with record(rt):
        assert len(rt.hooks.listeners) == 1
    assert rt.hooks.listeners == ()
    assert rt.hooks.host is None
    assert torch.Tensor.__dict__.get("tolist") is None
    rt.close()
