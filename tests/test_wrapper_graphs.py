"""Capture and replay of a wrapper's calls: which branch is taken, what a replay is, and what is refused."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.graph_calls import FULL, NONE, PIECEWISE, Graphs, rows
from tests.stories import microbatch_threads
from ubviz.errors import BadArgument, CaptureError, SlicingError, WrapperBusy
from ubviz.recording import record
from ubviz.runtime import get_runtime
from ubviz.trace import load
from ubviz.ubatch import (
    BatchDescriptor,
    CUDAGraphMode,
    UBatchSlice,
    UBatchWrapper,
    dbo_current_ubatch_id,
    dbo_enabled,
    dbo_maybe_run_recv_hook,
    dbo_register_recv_hook,
    dbo_switch_to_comm,
    dbo_switch_to_compute_sync,
    dbo_yield,
    dbo_yield_and_switch_from_comm_to_compute,
    dbo_yield_and_switch_from_compute_to_comm,
    get_forward_context,
    maybe_create_ubatch_slices,
    set_forward_context,
)
from ubviz.ubatch.wrapper import Decision


@pytest.fixture(params=[2, 3, 4])
def graphs(request: pytest.FixtureRequest) -> Iterator[Graphs]:
    graphs = Graphs(request.param)
    yield graphs
    assert microbatch_threads() == []
    assert not dbo_enabled()
    graphs.rt.close()


@pytest.fixture
def two() -> Iterator[Graphs]:
    graphs = Graphs(2)
    yield graphs
    assert microbatch_threads() == []
    graphs.rt.close()


# ---- capture, then replay


def test_the_first_call_captures_and_later_ones_replay(graphs: Graphs) -> None:
    for value, branch in ((1.0, "capture"), (5.0, "replay"), (9.0, "replay")):
        x = rows(4 * graphs.n, value)
        assert graphs.call(x=x).tolist() == (x * 2).tolist()
        assert graphs.wrapper.decided == Decision(branch, None, 4 * graphs.n)
    assert graphs.calls == graphs.n  # the model's own code ran at capture only


def test_sixteen_tokens_refilled() -> None:
    graphs = Graphs(2)
    graphs.body = lambda x, position: (dbo_yield(), 2 * x + position)[1]
    x, position = torch.ones(16, 4), torch.ones(16, 1)
    graphs.call(x=x, position=position)
    x.fill_(3)
    position.fill_(5)
    assert graphs.call(x=x, position=position).tolist() == [[11.0] * 4] * 16
    assert graphs.branch == "replay"
    graphs.rt.close()


def test_the_steps_of_a_capture(graphs: Graphs, monkeypatch: pytest.MonkeyPatch) -> None:
    warmed: list[tuple[str, str]] = []
    monkeypatch.setattr(
        graphs.rt,
        "warm_up",
        lambda: warmed.append((threading.current_thread().name, graphs.rt.current_stream().name)),
    )
    graphs.call(x=rows(4 * graphs.n))
    names = [f"ubatch {i}" for i in range(graphs.n)]
    assert sorted(warmed) == [(name, stream) for name in names for stream in ("comm", "compute")]
    assert graphs.order(
        "thread.create", "barrier.arrive", "graph.capture_begin", "host_event.set", "thread.join",
        "graph.capture_end", "graph.replay",
    ) == [
        *["thread.create"] * graphs.n, "barrier.arrive", "graph.capture_begin", "host_event.set",
        *["thread.join"] * graphs.n, "graph.capture_end", "graph.replay",
    ]  # fmt: skip
    seqs = {
        kind: [e.seq for e in graphs.trace.events if e.kind == kind]
        for kind in ("barrier.release", "ctx.enter")
    }
    begin = next(e.seq for e in graphs.trace.events if e.kind == "graph.capture_begin")
    assert len(seqs["ctx.enter"]) == graphs.n
    assert max(seqs["ctx.enter"]) < begin


def test_a_replay_starts_nothing_and_runs_the_same_kernels(graphs: Graphs) -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        with graphs.rt.op("first", cls="compute", layer=0):
            x = x + 1
        dbo_yield()
        with graphs.rt.op("second", cls="comm", layer=1):
            return x * 2

    graphs.body = body
    graphs.call(x=rows(4 * graphs.n))
    captured = [
        (e.args["name"], e.args["cls"], e.args["operation"], e.args["layer"], e.ubatch)
        for e in graphs.trace.events
        if e.kind == "kernel.launch" and e.args["operation"] != "inputs"
    ]
    assert graphs.trace.notices == ()  # what is captured is not missed as unfinished
    graphs.call(x=rows(4 * graphs.n))
    quiet = ("thread.", "barrier.", "host_event.", "ctx.", "context.", "hook.", "stream.switch", "event.")
    events = [e.kind for e in graphs.trace.events if e.kind.startswith(quiet) and e.kind != "stream.switch"]
    assert events == []
    launched = [e.args["name"] for e in graphs.trace.events if e.kind == "kernel.launch"]
    assert launched == ["copy_"]  # the input's buffer is filled
    replayed = sorted(
        (s for s in graphs.trace.spans if s.cat == "kernel" and s.args), key=lambda span: span.args["node"]
    )
    assert [(s.name, s.cls, s.operation, s.layer, s.ubatch) for s in replayed] == captured
    assert len(captured) == 2 * graphs.n + 1
    assert captured[-1] == ("cat", "copy", "merge", None, None)
    assert graphs.trace.notices == ()


def test_kernels_of_a_replay_belong_to_its_step(two: Graphs) -> None:
    two.call(x=rows(8))

    def step(kind: str, number: int) -> None:
        two.rt.hooks.host(kind, None, {"step": number, "tokens": 8, "branch": "replay", "why": None})

    with record(two.rt) as recording, two.rt.device_context(), two.rt.stream(two.compute):
        for number in (3, 4):
            step("step.begin", number)
            two.wrapper.cudagraphs[8].cudagraph.replay()
            step("step.end", number)
    spans = [s for s in recording.trace.spans if s.cat == "kernel"]
    assert [s.step for s in spans] == [3, 3, 3, 4, 4, 4]
    replays = [e for e in recording.trace.events if e.kind == "graph.replay"]
    assert [(e.step, e.args) for e in replays] == [
        (3, {"graph": "split[8]", "key": 8}),
        (4, {"graph": "split[8]", "key": 8}),
    ]
    assert [s.seq for s in spans] == [replays[0].seq] * 3 + [replays[1].seq] * 3


def test_a_recording_of_capture_and_replay_can_be_saved(two: Graphs, tmp_path: Path) -> None:
    two.body = ht_like
    two.call(x=rows(8))
    two.trace.save(tmp_path / "captured.json.gz")
    assert load(tmp_path / "captured.json.gz") == two.trace
    assert two.trace.meta["graphs"] == {"split[8]": two.wrapper.cudagraphs[8].cudagraph.edges}


@pytest.mark.parametrize(
    ("shares", "key"), [((4, 4, 4), 12), ((4, 4, 2), 10), ((2, 2, 2, 2), 8), ((8, 8), 16)]
)
def test_the_key_is_the_sum_over_all_microbatches(shares: tuple[int, ...], key: int) -> None:
    graphs = Graphs(len(shares))
    cuts = [sum(shares[: i + 1]) for i in range(len(shares) - 1)]
    captures = 0
    for branch in ("capture", "replay"):
        graphs.call(split=cuts, x=rows(key))
        assert graphs.wrapper.decided == Decision(branch, None, key)
        captures += graphs.count("graph.capture_begin")
    assert captures == 1
    assert list(graphs.wrapper.cudagraphs) == [key]
    graphs.rt.close()


def test_graphs_of_several_sizes_in_turn(two: Graphs) -> None:
    for _ in range(2):
        for tokens in (8, 4, 6):
            assert two.call(x=rows(tokens)).tolist() == (rows(tokens) * 2).tolist()
    assert sorted(two.wrapper.cudagraphs) == [4, 6, 8]


def test_two_wrappers_with_graphs_in_turn() -> None:
    rt = get_runtime("host")
    a, b = Graphs(2, rt), Graphs(3, rt)
    for _ in range(2):
        for graphs in (a, b):
            x = rows(12)
            assert graphs.call(x=x).tolist() == (x * 2).tolist()
    assert (a.branch, b.branch) == ("replay", "replay")
    rt.close()


def test_nested_outputs_in_a_graph() -> None:
    graphs = Graphs(2)

    def body(x: torch.Tensor) -> Any:
        if dbo_current_ubatch_id() == 1:
            dbo_yield()  # microbatch 1 ends last, or first; the outputs stay in order
        return x, [x + i for i in range(3)], {"aux": (x.unsqueeze(1), None)}

    graphs.body = body
    eager = graphs.call(NONE, split=[5], x=rows(8))
    graphs.call(split=[5], x=rows(8, 7.0))
    replayed = graphs.call(split=[5], x=rows(8))
    assert graphs.branch == "replay"
    hidden, extra, named = replayed
    assert hidden.tolist() == eager[0].tolist() == rows(8).tolist()
    assert [part.tolist() for part in extra] == [(rows(8) + i).tolist() for i in range(3)]
    assert named["aux"][0].shape == (8, 1)
    assert named["aux"][1] is None
    graphs.rt.close()


def test_the_next_replay_overwrites_the_outputs(two: Graphs) -> None:
    first = two.call(x=rows(4))
    second = two.call(x=rows(4, 8.0))
    assert first is second


# ---- the other branches


def test_without_slices_the_graph_of_the_unsplit_shape(two: Graphs) -> None:
    two.body = lambda x: x + (100 if dbo_enabled() else 1)
    for value, branch in ((0.0, "capture"), (3.0, "replay")):
        x = rows(6, value)
        assert two.call(split=False, x=x).tolist() == (x + 1).tolist()
        assert two.wrapper.decided == Decision(branch, None, 6)
    assert two.calls == 1
    assert two.count("thread.start") == 0
    assert [e.args for e in two.trace.events if e.kind == "graph.replay"] == [
        {"graph": "unsplit[6]", "key": 6}
    ]


def test_a_batch_descriptor_says_the_number_of_tokens(two: Graphs) -> None:
    with two.rt.device_context(), two.rt.stream(two.compute):
        with set_forward_context(None, cudagraph_runtime_mode=FULL, batch_descriptor=BatchDescriptor(5)):
            two.wrapper(x=rows(10))
    assert list(two.wrapper.unsplit_cudagraphs) == [5]


def test_an_unsplit_call_of_a_count_that_a_microbatched_graph_owns_is_eager(two: Graphs) -> None:
    two.call(x=rows(8))
    assert two.call(split=False, x=rows(8)).tolist() == (rows(8) * 2).tolist()
    why = "graph_owned_by_split: the graph of 8 tokens is microbatched, so an unsplit call is eager"
    assert two.wrapper.decided == Decision("eager", why)
    assert [e.args for e in two.trace.events if e.kind == "mark"] == [{"text": why}]
    assert two.wrapper.unsplit_cudagraphs == {}
    two.call(split=False, x=rows(6))
    assert two.branch == "capture"


@pytest.mark.parametrize("mode", [NONE, PIECEWISE])
@pytest.mark.parametrize("split", [True, False])
def test_none_and_piecewise_run_although_there_is_a_graph(
    two: Graphs, mode: CUDAGraphMode, split: bool
) -> None:
    two.call(split=split, x=rows(8))
    before = two.calls
    assert two.call(mode, split, x=rows(8)).tolist() == (rows(8) * 2).tolist()
    assert two.wrapper.decided == Decision("eager")
    assert two.calls - before == (2 if split else 1)
    assert two.count("graph.replay") == 0


def test_a_graph_is_off_inside_a_microbatch(two: Graphs) -> None:
    seen = []
    two.body = lambda x: (seen.append(get_forward_context().cudagraph_runtime_mode), x * 2)[1]
    two.call(x=rows(4))
    two.call(split=False, x=rows(6))
    assert seen == [NONE] * 3


# ---- what is refused at once


def test_ht_is_refused_with_the_reason() -> None:
    rt = get_runtime("host")
    model = SimpleNamespace(all2all=SimpleNamespace(style="ht"))
    sentence = (
        "its dispatch blocks the host until the receive counts arrive, and a capture runs nothing; use ll, or"
    )
    with pytest.raises(BadArgument, match=sentence):
        UBatchWrapper(model, runtime=rt, runtime_mode=FULL)  # type: ignore[arg-type]
    wrapper = UBatchWrapper(model, runtime=rt)  # type: ignore[arg-type]
    slices, _ = maybe_create_ubatch_slices(True, [4], 4, 1, 2)
    with pytest.raises(BadArgument, match=sentence):
        with set_forward_context(None, ubatch_slices=slices, cudagraph_runtime_mode=FULL):
            wrapper(x=rows(4))
    rt.close()


def test_the_default_stream_is_refused_and_leaves_no_thread(two: Graphs) -> None:
    slices, _ = maybe_create_ubatch_slices(True, [4], 4, 1, 2)
    with pytest.raises(
        CaptureError, match=r"^the default stream cannot be captured into graph split\[4\]; make one"
    ):
        with set_forward_context(None, ubatch_slices=slices, cudagraph_runtime_mode=FULL):
            two.wrapper(x=rows(4))
    assert two.call(x=rows(4)).tolist() == (rows(4) * 2).tolist()


# ---- failing while capturing


def test_an_exception_in_a_capture_comes_out_and_keeps_no_graph(graphs: Graphs) -> None:
    fault, right, bad = ValueError("as it is"), graphs.body, graphs.n - 1

    def body(x: torch.Tensor) -> torch.Tensor:
        graphs.rt.launch("k", lambda: None)
        dbo_yield()
        if dbo_current_ubatch_id() == bad:
            raise fault
        return x

    graphs.body = body
    with pytest.raises(ValueError, match="as it is") as caught:
        graphs.call(x=rows(4 * graphs.n))
    assert caught.value is fault
    assert [note.split(" (")[0] for note in fault.__notes__] == [f"microbatch {bad}"]
    assert [
        s for s in graphs.trace.spans if s.name == "k"
    ] == []  # nobody launched in earnest while unwinding
    assert graphs.wrapper.cudagraphs == {}
    assert graphs.rt.captures == ()
    graphs.body = right
    for mode, branch in ((NONE, "eager"), (FULL, "capture"), (FULL, "replay")):
        assert graphs.call(mode, x=rows(4 * graphs.n)).tolist() == (rows(4 * graphs.n) * 2).tolist()
        assert graphs.branch == branch


def _reads(graphs: Graphs) -> Callable[..., Any]:
    return lambda x: x * 2 if x.sum().item() > 0 else x


def _forks(graphs: Graphs) -> Callable[..., Any]:
    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_yield_and_switch_from_compute_to_comm()
        return x * 2

    return body


def _merges_badly(graphs: Graphs) -> Callable[..., Any]:
    return lambda x: x if dbo_current_ubatch_id() else (x, x)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (_reads, "the host read .* is not possible while stream compute is captured into graph split"),
        (_forks, "unjoined: stream comm was forked into the capture of graph split.8. and never joined back"),
        (_merges_badly, "the microbatches returned different things"),
    ],
)
def test_what_a_graph_cannot_hold(two: Graphs, body: Callable[..., Any], sentence: str) -> None:
    right, two.body = two.body, body(two)
    with pytest.raises((CaptureError, SlicingError), match=sentence):
        two.call(x=rows(8))
    assert two.wrapper.cudagraphs == {}
    two.body = right
    assert two.call(x=rows(8)).tolist() == (rows(8) * 2).tolist()


@pytest.mark.parametrize("bad", [0, 1])
def test_a_thread_that_cannot_warm_up(graphs: Graphs, monkeypatch: pytest.MonkeyPatch, bad: int) -> None:
    def fail() -> None:
        if threading.current_thread().name == f"ubatch {bad}":
            raise RuntimeError("no handle")

    monkeypatch.setattr(graphs.rt, "warm_up", fail)
    with pytest.raises(RuntimeError, match="no handle") as caught:
        graphs.call(x=rows(4 * graphs.n))
    assert caught.value.__notes__[0].startswith(f"microbatch {bad} (thread 'ubatch {bad}'")
    monkeypatch.undo()
    assert graphs.call(x=rows(4 * graphs.n)).tolist() == (rows(4 * graphs.n) * 2).tolist()


def test_an_interrupt_in_main_while_it_captures(graphs: Graphs) -> None:
    right = graphs.body

    def body(x: torch.Tensor) -> torch.Tensor:
        if dbo_current_ubatch_id() == 0:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # type: ignore[arg-type]
        for _ in range(20_000):
            dbo_yield()
        raise AssertionError("main was interrupted, but nobody told the microbatches")

    graphs.body = body
    with pytest.raises(KeyboardInterrupt):
        graphs.call(x=rows(4 * graphs.n))
    assert (graphs.wrapper.cudagraphs, graphs.rt.captures, microbatch_threads()) == ({}, (), [])
    graphs.body = right
    assert graphs.call(x=rows(4 * graphs.n)).tolist() == (rows(4 * graphs.n) * 2).tolist()


def test_somebody_elses_thread_may_wait_meanwhile(two: Graphs) -> None:
    """As vLLM's background threads do: their calls must not break the capture, and are not in it."""
    other, right = two.rt.Stream("other"), two.body

    def body(x: torch.Tensor) -> torch.Tensor:
        def copy() -> None:
            two.rt.launch("copy", stream=other)
            other.synchronize()

        stranger = two.rt.Thread(copy)
        stranger.start()
        stranger.join()
        return right(x)

    two.body = body
    assert two.call(x=rows(4)).tolist() == (rows(4) * 2).tolist()
    assert "copy" not in [launch.name for launch in two.wrapper.cudagraphs[4].cudagraph.kernels]


# ---- the edges seen at capture


def ht_like(x: torch.Tensor) -> torch.Tensor:
    """A layer on two streams, without the launch that blocks."""
    x = x + 1
    dbo_yield_and_switch_from_compute_to_comm()
    x = x * 2
    dbo_switch_to_compute_sync()
    x = x - 3
    dbo_yield_and_switch_from_compute_to_comm()
    x = x.neg()
    dbo_yield_and_switch_from_comm_to_compute()
    return x


def test_two_streams_in_one_graph(graphs: Graphs) -> None:
    graphs.body = ht_like
    x = rows(4 * graphs.n)
    for value in (1.0, 4.0):
        x = rows(4 * graphs.n, value)
        assert graphs.call(x=x).tolist() == (-((x + 1) * 2 - 3)).tolist()
    assert graphs.branch == "replay"


def test_edges_lie_over_a_replay(graphs: Graphs) -> None:
    graphs.body = ht_like
    graphs.call(x=rows(4 * graphs.n))
    graphs.call(x=rows(4 * graphs.n))
    edges = graphs.trace.meta["graphs"][f"split[{4 * graphs.n}]"]
    spans = {s.args["node"]: s for s in graphs.trace.spans if s.cat == "kernel" and s.args}
    lanes = {lane.id: lane.role for lane in graphs.trace.lanes}
    waits = [edge for edge in edges if edge["kind"] == "record -> wait"]
    assert {edge["event"] for edge in waits} == {
        f"{kind}_done[{i}]" for kind in ("compute", "comm") for i in range(graphs.n)
    }
    assert len(waits) == 4 * graphs.n
    for edge in waits:
        first, then = spans[edge["from_node"]], spans[edge["to_node"]]
        assert first.end_ns <= then.start_ns
        assert lanes[first.lane].startswith(edge["from_stream"])
        assert lanes[then.lane].startswith(edge["to_stream"])
    turns = [edge for edge in edges if edge["kind"] == "set -> wake"]
    assert [(e["from_ubatch"], e["to_ubatch"]) for e in turns] == [
        (i % graphs.n, (i + 1) % graphs.n) for i in range(4 * graphs.n - 1)
    ]
    for edge in turns:
        if edge["to_node"] is not None:
            assert spans[edge["from_node"]].ubatch == edge["from_ubatch"]
            assert spans[edge["to_node"]].ubatch == edge["to_ubatch"]


def test_hooks_are_edges_too(two: Graphs) -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        x = x + 1
        dbo_register_recv_hook(lambda: out.copy_(x))
        dbo_yield()
        dbo_maybe_run_recv_hook()
        return out

    two.body = body
    assert two.call(x=rows(8)).tolist() == (rows(8) + 1).tolist()
    edges = [e for e in two.wrapper.cudagraphs[8].cudagraph.edges if e["kind"] == "register -> run"]
    assert [(e["from_ubatch"], e["to_ubatch"], e["from_node"], e["to_node"]) for e in edges] == [
        (1, 0, 1, 2),
        (0, 1, 0, 3),
    ]


def test_a_comm_stream_without_a_wait_stays_outside(two: Graphs) -> None:
    """Switching without a wait does not bring the stream into the capture: its work runs at once, on no values."""
    seen = []

    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_switch_to_comm()
        seen.append(two.rt.current_stream().capture)
        two.rt.launch("outside")
        x = x * 2
        dbo_switch_to_compute_sync()
        return x

    two.body = body
    with pytest.raises(
        CaptureError,
        match=r"stream compute, which is captured into graph .*, cannot wait for event comm_done",
    ):
        two.call(x=rows(8))
    assert seen == [None]


# ---- two calls at once


def test_a_call_is_refused_from_the_moment_that_another_starts_its_threads(
    two: Graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ubviz.runtime.host_sync import Thread

    plain, other, refused = Thread.start, Graphs(2, two.rt), []

    def start(thread: Thread) -> None:
        with pytest.raises(WrapperBusy) as error:
            other.wrapper(x=rows(4))
        refused.append(str(error.value))
        plain(thread)

    monkeypatch.setattr(Thread, "start", start)
    two.call(x=rows(4))
    assert len(refused) == 2
    assert refused[0].startswith(
        "a wrapper was called while microbatches are running; the forward context is"
    )
    monkeypatch.undo()
    assert other.call(x=rows(4)).tolist() == (rows(4) * 2).tolist()


def test_a_barrier_broken_after_everybody_has_passed_does_not_spoil_the_next_call(two: Graphs) -> None:
    right = two.body
    two.body = lambda x: (two.wrapper.ready_barrier.abort(), right(x))[1]
    assert two.call(x=rows(4)).tolist() == (rows(4) * 2).tolist()
    two.body = right
    assert two.call(NONE, x=rows(4)).tolist() == (rows(4) * 2).tolist()


# ---- slices that are none, and a capture that is left open


@pytest.mark.parametrize("mode", [NONE, FULL])
@pytest.mark.parametrize("second", [(5, 8), (3, 8), (4, 9), (4, 8, 2)])
def test_slices_that_do_not_cover_the_inputs_start_no_thread(
    two: Graphs, mode: CUDAGraphMode, second: tuple[int, ...]
) -> None:
    two.call(mode, x=rows(8))  # so that, with FULL, there is a graph of as many tokens
    before = two.calls
    slices = [UBatchSlice(slice(0, 1), slice(0, 4)), UBatchSlice(slice(0, 1), slice(*second))]
    with pytest.raises(SlicingError):
        with two.rt.device_context(), two.rt.stream(two.compute):
            with set_forward_context(None, ubatch_slices=slices, cudagraph_runtime_mode=mode):
                two.wrapper(x=rows(8))
    assert two.calls == before
    assert microbatch_threads() == []


@pytest.mark.parametrize("captured", [0, 1])
def test_a_device_context_that_is_left_with_an_open_capture_names_the_way_out(captured: int) -> None:
    """Whichever stream is waited for first, the captured one or another."""
    rt = get_runtime("host")
    streams = [rt.Stream("a"), rt.Stream("b")]
    graph = rt.graph("g")
    with pytest.raises(CaptureError, match=r"before or after the capture, which capture_end\(\) ends"):
        with rt.device_context(), rt.stream(streams[captured]):
            graph.capture_begin()
    rt.close()
