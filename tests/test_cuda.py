"""The cuda runtime over a fake that obeys CUDA's rules: operations, launches, wires, graphs, errors, recordings.

What it has in common with other runtimes is in ``tests/contract``; its clock is in ``test_cuda_timing``.
"""

from __future__ import annotations

import inspect
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from tests import small
from tests.contract.language import Listener, Running, until
from tests.fake_cuda import FakeCuda, FakeEvent, FakeGraph, FakeStream, Gate
from tests.faults import Broken, Walk, note_of
from tests.graph_calls import Graphs, rows
from ubviz import get_runtime
from ubviz.cli import doctor
from ubviz.errors import AsyncError, BadArgument, CaptureError, MixedRuntimes, RuntimeUnavailable
from ubviz.recording import record
from ubviz.runtime import choose
from ubviz.runtime.cuda import CudaRuntime
from ubviz.trace import load
from ubviz.trace.valid import problems
from ubviz.ubatch import ForwardContext, make_ubatch_contexts

MS = 1_000_000


def on(fake: FakeCuda) -> CudaRuntime:
    return CudaRuntime(cuda=fake, now_ns=fake.clock.now_ns)


HOSTS_MEMORY = torch.device("cpu")
"""The fake has streams and no memory of its own: tensors of a whole model stay on the host."""


@pytest.fixture
def fake() -> FakeCuda:
    return FakeCuda(drift_ppm=-20.0)


@pytest.fixture
def rt(fake: FakeCuda) -> Iterator[CudaRuntime]:
    runtime = on(fake)
    yield runtime
    runtime.close()


@pytest.fixture
def s(rt: CudaRuntime) -> Any:
    return rt.Stream("s")


@pytest.fixture
def told(rt: CudaRuntime) -> Listener:
    listener = Listener()
    rt.hooks.subscribe(listener)
    return listener


def kernels(told: Listener) -> list[tuple[str, str | None, str]]:
    """Stream, operation and name of each kernel, in order."""
    facts = ((fact.obj, fact.arg[0]) for fact in told.of("kernel"))
    return [
        (stream.name, launch.operation and launch.operation.name, launch.name) for stream, launch in facts
    ]


def test_what_is_asked_of_cuda_is_there_in_pytorch_too() -> None:
    files = Path(choose.__file__).parent.glob("cuda*.py")
    asked = {name for file in files for name in re.findall(r"\bcuda\.(\w+)\b(?!``)", file.read_text("utf-8"))}
    assert {"Event", "Stream", "CUDAGraph", "set_stream", "is_current_stream_capturing", "_sleep"} <= asked
    assert {name for name in asked if not hasattr(torch.cuda, name)} == set()
    for call, word in (
        (torch.cuda.CUDAGraph.capture_begin, "pool"), (torch.cuda.CUDAGraph.capture_begin, "capture_error_mode"),
        (torch.cuda.Event.__new__, "enable_timing"), (torch.cuda.Stream.__new__, "device"),
    ):  # fmt: skip
        assert word in inspect.signature(call).parameters


# ---- operations


def test_an_operation_is_one_kernel_from_edge_to_edge(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener
) -> None:
    x = torch.zeros(4)
    with rt.stream(s), rt.op("experts", layer=3, reads=(x,)) as op:
        for _ in range(5):
            fake.kernel(1 * MS)
    rt.synchronize()
    (fact,) = told.of("kernel")
    launch, start_ns, end_ns = fact.arg
    assert (launch.operation, launch.name, launch.cls, launch.reads, launch.writes) == (
        op, "experts", "compute", rt.buffers([x]), None,
    )  # fmt: skip
    assert 5 * MS - 1_000 < end_ns - start_ns < 5 * MS + 10_000
    kinds = [fact.kind for fact in told.facts if fact.kind in ("op.begin", "kernel.launch", "op.end")]
    assert kinds == ["op.begin", "kernel.launch", "op.end"]


def test_the_launch_in_an_operation_is_its_kernel(rt: CudaRuntime, s: Any, told: Listener) -> None:
    with rt.stream(s), rt.op("dispatch", cls="comm"):
        rt.launch("send", cls="copy", duration_ns=1_000)
    rt.synchronize()
    assert kernels(told) == [("s", "dispatch", "send")]
    assert [(fact.arg.name, fact.arg.cls, fact.arg.duration_ns) for fact in told.of("kernel.launch")] == [
        ("send", "copy", 1_000)
    ]


def test_what_ends_a_piece_begins_the_next_and_pieces_tile_the_stream(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener
) -> None:
    with rt.stream(s), rt.op("outer"):
        fake.kernel(1 * MS)
        with rt.op("inner"):
            rt.launch("a", duration_ns=2 * MS)
            rt.launch("b", duration_ns=3 * MS)
        fake.kernel(4 * MS)
    rt.synchronize()
    assert kernels(told) == [
        ("s", "outer", "outer"), ("s", "inner", "a"), ("s", "inner", "b"), ("s", "outer", "outer"),
    ]  # fmt: skip
    ran = told.ran(s)
    assert [round((kernel.end_ns - kernel.start_ns) / MS) for kernel in ran] == [1, 2, 3, 4]
    assert all(first.end_ns <= second.start_ns for first, second in pairwise(ran))


def test_an_operation_goes_on_on_the_stream_that_becomes_current(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener
) -> None:
    with rt.stream(s), rt.op("copy"):
        fake.kernel(1 * MS)
        with rt.stream(rt.Stream("other")):
            fake.kernel(2 * MS)
        fake.kernel(3 * MS)
    rt.synchronize()
    assert Counter(kernels(told)) == {("s", "copy", "copy"): 2, ("other", "copy", "copy"): 1}


def test_a_launch_on_another_stream_leaves_the_operation_alone(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener
) -> None:
    with rt.op("o"):
        rt.launch("away", stream=s, duration_ns=1_000)
        fake.kernel(1_000)
    rt.synchronize()
    assert sorted(kernels(told)) == [("default", "o", "o"), ("s", "o", "away")]


def test_an_operation_whose_listener_raises_leaves_nothing_behind(rt: CudaRuntime, s: Any) -> None:
    class Bad:
        def host(self, kind: str, obj: Any, arg: Any) -> None:
            if kind == "kernel.launch":
                raise Broken

        def device(self, kind: str, obj: Any, arg: Any) -> None:
            pass

    bad, listener = Bad(), Listener()
    rt.hooks.subscribe(bad)
    with pytest.raises(Broken), rt.op("o"):
        pass
    rt.hooks.unsubscribe(bad)
    rt.hooks.subscribe(listener)
    rt.launch("k", stream=s)
    assert [fact.arg.operation for fact in listener.of("kernel.launch")] == [None]


# ---- launches and wires


@pytest.mark.parametrize("takes", [1, 5])
def test_the_longer_of_function_and_duration_counts(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener, takes: int
) -> None:
    rt.launch("k", fake.kernel, takes * MS, stream=s, duration_ns=3 * MS)
    s.synchronize()
    (kernel,) = told.ran(s)
    assert round((kernel.end_ns - kernel.start_ns) / MS) == max(takes, 3)


def test_a_launch_calls_its_function_at_once_on_its_stream(fake: FakeCuda, rt: CudaRuntime, s: Any) -> None:
    said = []
    rt.launch("k", lambda: said.append((rt.current_stream(), fake.current_stream())), stream=s)
    assert said == [(s, s.raw)]
    with pytest.raises(KeyError, match="mine"):
        rt.launch("k", {}.__getitem__, "mine", stream=s)
    assert rt.current_stream() is rt.default_stream()


def test_a_switch_back_is_made_whatever_a_listener_raises(rt: CudaRuntime, s: Any) -> None:
    class Bad:
        def host(self, kind: str, obj: Any, arg: Any) -> None:
            if obj is rt.default_stream():
                raise Broken

        def device(self, kind: str, obj: Any, arg: Any) -> None:
            pass

    rt.hooks.subscribe(Bad())
    with pytest.raises(Broken), rt.stream(s):
        pass
    assert rt.current_stream() is rt.default_stream()


def test_a_wire_carries_one_transfer_after_another_from_where_the_send_ends(
    rt: CudaRuntime, s: Any, told: Listener
) -> None:
    link, receiving = rt.Link("wire"), rt.Stream("receiving")
    flights = [link.flight(2 * MS, nbytes=64) for _ in range(3)]
    for flight in flights:
        rt.launch("send", stream=s, duration_ns=1 * MS, sends=flight)
    for flight in flights:
        rt.launch("receive", stream=receiving, receives=flight)
    rt.synchronize()
    spans = [fact.arg[2:] for fact in told.of("transfer")]
    assert [fact.arg[0] for fact in told.of("transfer")] == flights
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert all(2 * MS <= end - start < 2.1 * MS for start, end in spans)
    for (start_ns, end_ns), send, receive in zip(spans, told.ran(s), told.ran(receiving), strict=True):
        assert send.end_ns <= start_ns + 2_000  # a launch of the host apart
        assert end_ns - 1_000 <= receive.end_ns


def test_the_memory_that_a_launch_declares_is_kept_for_its_stream(rt: CudaRuntime, s: Any) -> None:
    said = []

    class OnDevice:
        is_cuda = True

        def record_stream(self, raw: Any) -> None:
            said.append((self, raw))

    x, y = OnDevice(), OnDevice()
    rt.launch("k", stream=s, reads=iter((x, torch.zeros(1))), writes=(y,))
    assert said == [(x, s.raw), (y, s.raw)]


def test_a_receive_before_its_send_is_refused(rt: CudaRuntime, s: Any, told: Listener) -> None:
    with pytest.raises(
        BadArgument,
        match=r"^the launch r receives a flight that was not sent yet: on cuda the send is launched first$",
    ):
        rt.launch("r", stream=s, receives=rt.Link().flight(1))


def test_without_a_kernel_that_spins_durations_are_refused() -> None:
    rt = on(FakeCuda(sleeps=False))
    rt.launch("k")
    with pytest.raises(
        RuntimeUnavailable,
        match=r"^this PyTorch has no torch\.cuda\._sleep, so the device cannot wait for a time$",
    ):
        rt.launch("k", duration_ns=1)


# ---- streams


def test_what_plain_pytorch_makes_current_is_current(fake: FakeCuda, rt: CudaRuntime, s: Any) -> None:
    bare = fake.Stream()
    with fake.stream(bare):
        adopted = rt.current_stream()
        assert (adopted.raw, adopted.runtime) == (bare, rt)
        assert rt.current_stream() is adopted
    with fake.stream(s.raw):
        assert rt.current_stream() is s


def test_bare_streams_mean_the_cuda_runtime(
    fake: FakeCuda, rt: CudaRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "Stream", FakeStream)
    monkeypatch.setattr(choose, "_adopting", {0: rt})
    bare = fake.Stream(), fake.Stream()
    contexts = make_ubatch_contexts(2, *bare, [ForwardContext(), ForwardContext()], rt.Barrier(3))
    assert {context.runtime for context in contexts} == {rt}
    assert {(c.compute_stream.raw, c.comm_stream.raw) for c in contexts} == {bare}
    assert contexts[0].compute_stream is contexts[1].compute_stream
    with pytest.raises(
        MixedRuntimes, match=r"^7 belongs to no runtime of ubviz; make it with rt.Stream\(\)$"
    ):
        choose.runtime_stream(7)


def test_closing_puts_the_default_stream_back(fake: FakeCuda, rt: CudaRuntime, s: Any) -> None:
    rt.set_stream(s)
    rt.close()
    assert fake.current_stream() is fake.default_stream()


def test_a_thread_in_one_runtimes_device_context_does_not_enter_anothers(
    fake: FakeCuda, rt: CudaRuntime
) -> None:
    with rt.device_context():
        with pytest.raises(
            MixedRuntimes, match=r"^this thread is already inside the device context of another"
        ):
            with on(fake).device_context():
                pass


def test_leaving_the_device_context_waits_and_the_end_of_a_thread_does_not(
    fake: FakeCuda, rt: CudaRuntime, s: Any
) -> None:
    before = fake.synchronizes
    Running(rt.Thread, lambda: rt.launch("k", stream=s, duration_ns=9 * MS)).end()
    assert (fake.synchronizes, rt.idle()) == (before, False)
    with rt.device_context():
        pass
    assert (fake.synchronizes, rt.idle()) == (before + 1, True)


# ---- errors of the device

LOST = (
    r"^work on device 0 failed: CUDA error: device-side assert triggered; its context is lost, and CUDA does not say "
    r"which kernel it was: run again with CUDA_LAUNCH_BLOCKING=1 to be told at its launch$"
)


@pytest.mark.parametrize("where", ["stream", "event", "runtime", "host_wait", "later record", "query"])
def test_an_error_of_the_device_surfaces_and_stays(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener, where: str
) -> None:
    event = rt.Event("e")
    rt.launch("bad", fake.fail, stream=s)
    event.record(s)
    calls: dict[str, Callable[[], Any]] = {
        "stream": s.synchronize, "event": event.synchronize, "runtime": rt.synchronize, "query": event.query,
        "host_wait": lambda: rt.launch("k", stream=rt.default_stream(), host_wait=True),
        "later record": lambda: event.record(s),
    }  # fmt: skip
    if where in ("query", "host_wait", "later record"):
        fake.clock.pass_ns(1 * MS)
    for _ in range(2):
        with pytest.raises(AsyncError, match=LOST) as error:
            calls[where]()
        assert isinstance(error.value.__cause__, RuntimeError)
    assert rt.idle()  # nothing will move any more
    assert told.names(s) == []


def test_an_operation_in_which_the_device_fails_is_left(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener
) -> None:
    with pytest.raises(AsyncError, match=LOST), rt.stream(s), rt.op("o"):
        fake.fail()
        fake.clock.pass_ns(1 * MS)
    assert (rt.local.op, rt.local.piece) == (None, None)
    assert rt.current_stream() is rt.default_stream()


def test_a_recording_survives_the_device(fake: FakeCuda, rt: CudaRuntime, s: Any) -> None:
    with pytest.raises(AsyncError, match=LOST), record(rt) as recording:
        rt.launch("good", stream=s, host_wait=True)
        rt.launch("bad", fake.fail, stream=s)
        s.synchronize()
    trace = recording.trace
    assert [span.name for span in trace.spans if span.cat == "kernel"] == ["good"]
    assert [notice.kind for notice in trace.notices] == ["kernels_unfinished"]
    assert trace.events["kind"][-1] == "error"


# ---- graphs


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_a_capture_is_neither_timed_nor_asked_while_others_look(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener, restless: None
) -> None:
    comm, waited, over, gate = rt.Stream("comm"), fake.synchronizes, threading.Event(), Gate(fake)

    def watch() -> None:  # as a watchdog, and a thread with work of its own
        while not over.is_set():
            rt.idle()
            rt.timing.look(now=True)

    rt.launch("pending", fake.hold, gate, stream=rt.Stream("busy"))
    running = Running(rt.Thread, watch)
    try:
        for i in range(100):
            graph = rt.graph(f"g{i}")
            with graph.capture(s):
                with rt.op("a"):
                    fake.kernel(1_000)
                comm.wait_stream(s)
                rt.launch("b", stream=comm, duration_ns=1_000)
                s.wait_stream(comm)
            assert [launch.name for launch in graph.kernels] == ["a", "b"]
    finally:
        over.set()
    running.end()
    gate.set()
    assert (fake.timed_in_capture, fake.synchronizes) == (0, waited)


def test_no_capture_begins_while_the_device_is_asked(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: dict[str, set[bool]] = {"query": set(), "begin": set()}

    def noted(what: str, call: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: (locked[what].add(rt.capture_lock.locked()), call(*args, **kwargs))[1]

    monkeypatch.setattr(FakeEvent, "query", noted("query", FakeEvent.query))
    monkeypatch.setattr(FakeEvent, "elapsed_time", noted("query", FakeEvent.elapsed_time))
    monkeypatch.setattr(FakeStream, "query", noted("query", FakeStream.query))
    monkeypatch.setattr(FakeGraph, "capture_begin", noted("begin", FakeGraph.capture_begin))
    rt.launch("k", stream=s)
    fake.clock.pass_ns(1 * MS)
    rt.timing.look(now=True)
    assert told.names(s) == ["k"]
    rt.idle()
    with rt.graph("g").capture(s):
        pass
    assert locked == {"query": {True}, "begin": {True}}


def test_a_captured_stream_is_not_timed_where_another_one_is_current(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener
) -> None:
    graph = rt.graph("g")
    graph.capture_begin(s)
    s.record_event()
    rt.launch("k", stream=s)
    graph.capture_end()
    assert fake.timed_in_capture == 0


def test_a_capture_that_pytorch_began_is_left_alone(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener
) -> None:
    rt.launch("pending", stream=rt.Stream("busy"), duration_ns=1_000)
    fake.clock.pass_ns(1 * MS)
    graph = fake.CUDAGraph()
    with fake.stream(s.raw):
        graph.capture_begin()
        with rt.op("a"):
            fake.kernel(1_000)
        rt.Event("e").record()
        graph.capture_end()
    assert (graph.nodes, fake.timed_in_capture) == (["kernel"], 0)


def test_a_replay_is_one_kernel_and_not_beside_itself(
    fake: FakeCuda, rt: CudaRuntime, s: Any, told: Listener
) -> None:
    graph = rt.graph("step")
    with graph.capture(s):
        rt.launch("k", duration_ns=2 * MS)
        rt.launch("k", duration_ns=1 * MS)
    streams = [rt.Stream("a"), rt.Stream("b")]
    for stream in streams:
        with rt.stream(stream):
            graph.replay()
    rt.synchronize()
    assert kernels(told) == [("a", None, "graph step"), ("b", None, "graph step")]
    first, second = (told.ran(stream)[0] for stream in streams)
    assert second.end_ns - first.end_ns >= 3 * MS
    correlations = [fact.arg[1] for fact in told.of("graph.replay")]
    assert [fact.arg[0].correlation for fact in told.of("kernel")] == correlations


def test_durations_and_flights_are_captured_and_joined(rt: CudaRuntime, fake: FakeCuda, s: Any) -> None:
    flight = rt.Link().flight(4 * MS)
    graph = rt.graph("g")
    with graph.capture(s):
        rt.launch("with function", fake.kernel, 1 * MS, duration_ns=2 * MS)
        rt.launch("send", sends=flight)
        rt.launch("receive", receives=flight)
    assert 6 * MS <= graph._raw.duration_ns < 6.2 * MS
    with pytest.raises(
        CaptureError, match=r"^the flight was sent inside the capture of graph g; each replay has its own$"
    ):
        rt.launch("stray", stream=s, receives=flight)


def test_a_graph_takes_the_memory_of_another(rt: CudaRuntime, s: Any) -> None:
    first = rt.graph("first")
    with pytest.raises(CaptureError, match=r"^graph first has no memory yet: capture into it first$"):
        first.pool()
    with first.capture(s):
        rt.launch("k")
    second = rt.graph("second", pool=first.pool())
    with second.capture(s):
        rt.launch("k")
    third = rt.graph("third")
    with third.capture(s):
        rt.launch("k")
    assert first.pool() == second.pool() != third.pool()


def test_a_capture_ends_on_its_thread_and_stays_open_for_it(rt: CudaRuntime, s: Any) -> None:
    graph = rt.graph("g")
    graph.capture_begin(s)
    with pytest.raises(
        CaptureError, match=r"^the capture of graph g was begun by thread 'MainThread' and must end"
    ):
        Running(rt.Thread, graph.capture_end).end()
    graph.capture_end()
    s.synchronize()


def test_a_runtime_that_is_closed_gives_up_its_capture(fake: FakeCuda, rt: CudaRuntime, s: Any) -> None:
    rt.graph("g").capture_begin(s)
    rt.close()
    assert (fake.captures, rt.captures, s.capture) == ([], (), None)


def test_while_a_capture_is_under_way_the_runtime_is_not_idle(rt: CudaRuntime, s: Any) -> None:
    with rt.graph("g").capture(s):
        assert not rt.idle()
    assert rt.idle()


def test_microbatches_are_captured_once_and_replayed(fake: FakeCuda) -> None:
    graphs = Graphs(2, on(fake))
    branches, inputs = [], []
    for i in range(3):
        graphs.call(x=rows(8, i))
        branches.append(graphs.branch)
        inputs.append(Counter(s.name for s in graphs.trace.spans if s.cat == "kernel"))
    assert branches == ["capture", "replay", "replay"]
    assert inputs == [{"inputs": 1, "graph split[8]": 1}] * 3
    assert fake.timed_in_capture == 0
    assert graphs.count("host_event.set") == 0
    graphs.rt.close()


# ---- the mechanism and the engine


@pytest.mark.parametrize(("style", "n"), [("ht", 2), ("ht", 3), ("ll", 2), ("ll", 3)])
def test_an_engine_step_is_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, style: str, n: int
) -> None:
    fake = FakeCuda(drift_ppm=20.0)
    monkeypatch.setattr(small, "get_runtime", lambda _: on(fake))
    monkeypatch.setattr(CudaRuntime, "device", HOSTS_MEMORY)
    model, host = small.Small(style, n), small.recorded(style, n)
    with record(model.rt) as recording:
        waited = fake.synchronizes
        model.runner.execute_model(model.batch, "overlapped")
        waited = fake.synchronizes - waited
    trace = recording.trace
    count = Counter(trace.spans["cat"].tolist())
    assert count["kernel"] == count["operation"] == (host.spans["cat"] == "operation").sum()
    assert count["transfer"] == (host.spans["cat"] == "transfer").sum()
    dispatches = 2 * n if style == "ht" else 0
    assert waited <= dispatches + 2  # the synchronizes at the end of a step
    assert (list(problems(trace)), list(trace.notices)) == ([], [])
    assert (trace.meta["kernels"], trace.meta["device"]) == ("operations", "a fake")
    assert 0 < trace.meta["clock"]["error_ns"] < 100_000
    trace.save(tmp_path / "t.json")
    assert load(tmp_path / "t.json") == trace
    model.close()


def operations(trace: Any, ubatch: int) -> list[tuple[str, str]]:
    kinds = ("barrier.arrive", "host_event.set", "host_event.wait", "host_event.clear", "event.record", "event.wait",
             "stream.switch", "hook.register", "hook.run")  # fmt: skip
    return [(event.kind, str(event.args)) for event in trace.events if event.ubatch == ubatch and event.kind in kinds
            and event.kind != "barrier.arrive"]  # fmt: skip


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_the_mechanism_does_what_it_does_on_host(monkeypatch: pytest.MonkeyPatch, style: str) -> None:
    monkeypatch.setattr(small, "get_runtime", lambda _: on(FakeCuda()))
    monkeypatch.setattr(CudaRuntime, "device", HOSTS_MEMORY)
    model, host = small.Small(style, 2), small.recorded(style, 2)
    with record(model.rt) as recording:
        model.runner.execute_model(model.batch, "overlapped")
    for ubatch in range(2):
        assert operations(recording.trace, ubatch) == operations(host, ubatch)
    model.close()


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_a_fault_at_every_operation_of_a_microbatch(fake: FakeCuda, style: str) -> None:
    walk = Walk(style, rt=on(fake))
    for k, kind in enumerate(walk.facts("ubatch 1"), 1):
        fault = Broken(f"at {kind}")
        assert walk.survives({("ubatch 1", k): fault}) is fault
        assert note_of(fault, 1)
    walk.rt.close()


def test_the_watchdog_fires_on_a_stream_that_is_idle_and_not_on_one_that_works(
    fake: FakeCuda, rt: CudaRuntime, s: Any
) -> None:
    gate, turn = Gate(fake), rt.HostEvent("turn")
    rt.launch("gate", fake.hold, gate, stream=s)
    assert not rt.idle()
    running = Running(rt.Thread, turn.wait)
    until(lambda: rt.parking.waiting, "the thread is parked")
    gate.set()
    s.synchronize()
    assert rt.idle()
    turn.set()
    running.end()


# ---- choosing


def test_auto_prefers_cuda_where_there_is_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_runtime("auto").name == "host"
    monkeypatch.setattr(torch, "cuda", FakeCuda())
    for name in ("auto", "cuda"):
        rt = get_runtime(name)
        assert (rt.name, rt.describe()["device"], rt.device) == ("cuda", "a fake", torch.device("cuda", 0))
    assert get_runtime("host").name == "host"


def test_a_runtime_that_cannot_be_had_says_why_and_how_as_doctor_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = choose.Missing("this torch is built without CUDA", "get another")
    monkeypatch.setattr(choose, "why_no_cuda", lambda: missing)
    with pytest.raises(RuntimeUnavailable) as error:
        get_runtime("cuda")
    assert str(error.value) == "there is no cuda runtime here: this torch is built without CUDA; get another"
    monkeypatch.setattr(doctor, "why_no_cuda", lambda: missing)
    monkeypatch.setattr(doctor, "missing_for_cuda", lambda _: missing)
    told = doctor.report(doctor.torch_rows())
    width = len("CUDA devices") + 2
    assert f"\n{'CUDA devices':{width}}none: {missing.why}\n" in told
    assert f"\n{'runtime cuda':{width}}no: {missing.why}\n" in told
    assert told.endswith(f"\n\nTo get what is missing:\n{'CUDA devices':{width}}{missing.how}")
