"""PyTorch code on the host runtime's streams: threads and modes, guards, lifetimes, errors, and the end.

That results are those of eager code is in test_host_ops.py.
"""

from __future__ import annotations

import copy
import gc
import io
import pickle
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest
import torch

from tests.contract.language import Running, until
from ubviz import get_runtime
from ubviz.errors import AsyncError, MixedRuntimes, StreamStuck

RAW_READS = (
    "tolist", "numpy", "__array__", "__dlpack__", "__repr__", "__format__", "__deepcopy__", "__reduce_ex__", "cpu",
    "data",
)  # fmt: skip


@pytest.fixture
def rt():
    runtime = get_runtime("host")
    yield runtime
    runtime.close()


@pytest.fixture
def stream(rt):
    return rt.Stream("s")


# ---- reads that reach the bytes without an operator


READS = {
    "tolist": lambda t: t.tolist() == [1, 1],
    "item": lambda t: t[0].item() == 1,
    "float": lambda t: float(t[0]) == 1,
    "int": lambda t: int(t[0]) == 1,
    "bool": lambda t: bool(t[0]),
    "numpy": lambda t: (t.numpy() == 1).all(),
    "asarray": lambda t: (np.asarray(t) == 1).all(),
    "dlpack": lambda t: torch.equal(torch.from_dlpack(t), torch.ones(2)),
    "numpy dlpack": lambda t: (np.from_dlpack(t) == 1).all(),
    "repr": lambda t: repr(t) == "tensor([1., 1.])",
    "format": lambda t: f"{t[0]}" == "1.0",
    "deepcopy": lambda t: torch.equal(copy.deepcopy(t), torch.ones(2)),
    "pickle": lambda t: torch.equal(pickle.loads(pickle.dumps(t)), torch.ones(2)),
    "save": lambda t: saved(t).tolist() == [1, 1],
    "cpu": lambda t: t.cpu().tolist() == [1, 1],
    "iterate": lambda t: list(t) == [1, 1],
    "contains": lambda t: 1 in t,
    "allclose": lambda t: t.allclose(torch.ones(2)),
    "equal": lambda t: torch.equal(t, torch.ones(2)),
    "nonzero": lambda t: len(t.nonzero()) == 2,
}


def saved(tensor):
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize("name", READS)
def test_reading_values_waits_for_them(rt, stream, name):
    with rt.device_context(), rt.stream(stream):
        for _ in range(2):  # the first time, layouts are learned
            rt.launch("pause", duration_ns=3_000_000)
            tensor = torch.zeros(2) + 1
            assert READS[name](tensor)


def test_a_read_is_told_with_what_reads(rt, stream):
    told = []

    class Listener:
        def host(self, kind, obj, arg):
            told.append((kind, obj, arg))

        def device(self, kind, obj, arg):
            pass

    with rt.device_context(), rt.stream(stream):
        x = torch.ones(2)
        listener = Listener()
        rt.hooks.subscribe(listener)
        x.tolist()
        x.sum().item()
        rt.hooks.unsubscribe(listener)
    reads = [fact for fact in told if fact[0] in ("host.read", "returned")]
    assert reads == [
        ("host.read", stream, "tolist"), ("returned", stream, None),
        ("host.read", stream, "_local_scalar_dense"), ("returned", stream, None),
    ]  # fmt: skip


@pytest.fixture
def interval():
    """A switch interval of this test's own, 3 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(3e-3)
    yield
    sys.setswitchinterval(before)


def attributes():
    return {name: torch.Tensor.__dict__.get(name) for name in RAW_READS}


def test_guards_are_there_only_while_a_device_context_is_open(rt, interval):
    before = attributes()
    with rt.device_context():
        assert all(torch.Tensor.__dict__[name] is not before[name] for name in RAW_READS)
        assert sys.getswitchinterval() == pytest.approx(2e-4)
        gate = threading.Event()
        running = Running(rt.Thread, gate.wait)
    assert attributes() != before  # the thread is inside still
    gate.set()
    running.end()
    assert attributes() == before
    assert sys.getswitchinterval() == pytest.approx(3e-3)


def test_an_error_removes_the_guards_too(rt, interval):
    before = attributes()
    with pytest.raises(KeyError), rt.device_context():
        raise KeyError
    assert attributes() == before
    assert sys.getswitchinterval() == pytest.approx(3e-3)


def test_a_guard_passes_arguments_and_results_through(rt, stream):
    with rt.device_context(), rt.stream(stream):
        x = torch.ones(2)
        assert x.__array__(np.float64).dtype == np.float64
        assert x.numpy(force=True).tolist() == [1, 1]
        assert torch.Tensor.tolist.__name__ == "tolist"
        assert x.data.tolist() == [1, 1]


# ---- threads and their modes


def test_a_thread_of_the_runtime_is_inside_the_device_context(rt, stream):
    gate = threading.Event()
    rt.launch("gate", gate.wait, stream=stream)

    def launch():
        rt.set_stream(stream)
        return torch.ones(2) + 1

    result = Running(rt.Thread, launch).end()  # returns although the stream is held
    assert not stream.query()
    gate.set()
    stream.synchronize()
    assert result.tolist() == [2, 2]


@pytest.mark.parametrize("inference", [False, True])
@pytest.mark.parametrize("grad", [False, True])
def test_a_thread_takes_over_inference_and_grad_mode(rt, inference, grad):
    def modes():
        return torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    with torch.inference_mode(inference), torch.set_grad_enabled(grad):
        running = Running(rt.Thread, modes)
    assert running.end() == (inference, grad)


def test_a_thread_is_inside_one_runtime_only(rt):
    other = get_runtime("host")
    with rt.device_context():
        with pytest.raises(
            MixedRuntimes, match=r"^this thread is already inside the device context of another host runtime$"
        ):
            other.device_context().__enter__()
    with other.device_context():
        pass
    other.close()


def test_many_threads_launch_on_one_stream(rt, stream):
    def count():
        rt.set_stream(stream)
        with torch.inference_mode():
            x = torch.zeros(16)
            for _ in range(500):
                x = x + 1
            return x.tolist()

    running = [Running(rt.Thread, count) for _ in range(4)]
    assert [r.end() for r in running] == [[500.0] * 16] * 4


# ---- lifetimes


def test_queued_work_keeps_its_tensors_and_a_worker_at_rest_keeps_none(rt, stream):
    gate = threading.Event()
    rt.launch("gate", gate.wait, stream=stream)
    with rt.device_context(), rt.stream(stream), torch.inference_mode():
        x = torch.full((1000,), 3.0)
        y = x * 2
        held = [weakref.ref(x), weakref.ref(y)]
        del x
        gc.collect()
        assert held[0]() is not None
        gate.set()
        assert y.sum().item() == 6000.0
        del y
    stream.synchronize()
    until(lambda: [ref() for ref in held] == [None, None], "the worker has let go")


def test_a_worker_lets_go_of_a_launchs_arguments(rt, stream):
    class Thing:
        pass

    thing = Thing()
    held = weakref.ref(thing)
    rt.launch("k", lambda thing: None, thing, stream=stream)
    del thing
    stream.synchronize()
    until(lambda: held() is None, "the worker has let go")


def test_a_reported_error_keeps_nothing_alive(rt, stream):
    class Thing:
        pass

    def fail(thing):
        raise KeyError

    thing = Thing()
    held = weakref.ref(thing)
    rt.launch("bad", fail, thing, stream=stream)
    del thing
    with pytest.raises(AsyncError):
        stream.synchronize()
    gc.collect()
    assert held() is None


def test_a_stream_that_nobody_holds_ends_its_worker(rt):
    stream = rt.Stream("lonely")
    worker, held = stream._thread, weakref.ref(stream)
    said = []
    rt.launch("k", said.append, 1, stream=stream)
    assert worker.is_alive()
    del stream
    worker.join(30)
    assert not worker.is_alive()
    assert held() is None
    assert said == [1]  # what was queued has run
    assert rt.streams() == []


def test_closing_the_runtime_ends_its_workers(rt):
    streams = [rt.Stream("a"), rt.Stream("b"), rt.current_stream()]
    said = []
    rt.launch("k", said.append, 1, stream=streams[0])
    rt.close()
    assert [stream._thread.is_alive() for stream in streams] == [False] * 3
    assert said == [1]
    assert rt.streams() == []
    rt.launch("k", said.append, 2)  # a new default stream
    rt.synchronize()
    assert said == [1, 2]


def test_streams_can_be_listed_while_others_make_them(rt):
    over = threading.Event()

    def make():
        try:
            for _ in range(200):
                rt.HostEvent("e")
                rt.Stream().close()
        finally:
            over.set()

    running = Running(threading.Thread, make)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        while not over.is_set():
            rt.idle()
            rt.snapshot()
    finally:
        sys.setswitchinterval(interval)
    running.end()


# ---- errors


def test_an_error_of_shapes_is_raised_at_launch(rt, stream):
    gate = threading.Event()
    with rt.device_context(), rt.stream(stream):
        x = torch.zeros(4)
        for call in (
            lambda: x @ torch.zeros(5, 5),
            lambda: x.add_(torch.zeros(3)),
            lambda: torch.cat([x, x[None]]),
        ):
            with pytest.raises(RuntimeError, match=r"size|shape|dimension") as error:
                call()
            assert not isinstance(error.value, AsyncError)
        stream.synchronize()
        rt.launch("gate", gate.wait)
        (x + 1).mul_(2)  # what fits is queued
        gate.set()


def test_an_error_of_values_is_raised_at_the_next_read(rt, stream):
    with rt.device_context(), rt.stream(stream):
        table, row = torch.zeros(4), torch.tensor([9])
        text = r"^index_select on stream s failed: IndexError: .*out of range"
        for read in (
            lambda t: t.tolist(),
            lambda t: (t + 1).sum().item(),
            repr,
            lambda t: stream.synchronize(),
        ):
            with pytest.raises(AsyncError, match=text):
                read(table.index_select(0, row))
            stream.synchronize()
        assert (table + 1).tolist() == [1] * 4


def test_an_operator_of_others_is_not_tried_on_copies(rt, stream):
    """Its kernel may have effects: it is queued once, and runs once."""
    library, seen, gate = torch.library.Library("ubviz_test", "FRAGMENT"), [], threading.Event()
    library.define("note(Tensor(a!) x) -> ()")

    def note(x):
        seen.append(x.tolist())
        x.add_(1)

    library.impl("note", note, "CPU")
    with rt.device_context(), rt.stream(stream):
        x = torch.ones(2)
        rt.launch("gate", lambda: gate.wait(30))
        torch.ops.ubviz_test.note(x)
        torch.ops.ubviz_test.note(x)
        assert seen == []
        gate.set()
        assert x.tolist() == [3, 3]
    assert seen == [[1, 1], [2, 2]]
    library._destroy()


def test_a_stream_that_lags_too_far_behind_makes_launching_wait(rt, stream, monkeypatch):
    from ubviz.runtime import host_streams

    monkeypatch.setattr(host_streams, "DEPTH", 8)
    gate, launched = threading.Event(), []
    rt.launch("gate", gate.wait, stream=stream)

    def launch():
        for i in range(20):
            rt.launch("k", stream=stream)
            launched.append(i)

    running = Running(rt.Thread, launch)
    until(lambda: stream._launched - stream._done > 8, "the stream is full")
    assert len(launched) <= 8
    gate.set()
    running.end()
    stream.synchronize()
    assert len(launched) == 20


def test_a_stuck_stream_is_named_with_what_it_is_in(rt, stream, monkeypatch):
    from ubviz.runtime import host_streams

    monkeypatch.setattr(host_streams, "STUCK_S", 0.01)
    gate = threading.Event()
    rt.launch("endless", gate.wait, stream=stream)
    until(lambda: stream._running, "the kernel has begun")
    text = r"^<stream s: 2 queued> has been in endless for over 0 s$"
    with pytest.raises(StreamStuck, match=text):
        stream.synchronize()
    monkeypatch.setattr(host_streams, "DEPTH", 2)
    with pytest.raises(StreamStuck, match=r"^<stream s: 3 queued> has been in endless"):
        rt.launch("k", stream=stream)
    gate.set()


# ---- the end of the process


def python(code):
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=100
    )
    return run.returncode, run.stdout, run.stderr


def test_errors_never_synchronized_are_printed_at_exit():
    code, out, err = python("""
        from ubviz import get_runtime
        rt = get_runtime("host")
        a, b, told = rt.Stream("a"), rt.Stream("b"), rt.Stream("told")
        for stream in (a, told):
            rt.launch("bad", lambda: 1 / 0, stream=stream)
        b.wait_stream(a)
        try:
            told.synchronize()
        except Exception as error:
            print(error)
        del rt, a, b
    """)
    assert code == 0
    assert out == "bad on stream told failed: ZeroDivisionError: division by zero\n"
    assert err == "ubviz: never synchronized: bad on stream a failed: ZeroDivisionError: division by zero\n"


def test_a_process_ends_with_work_queued_and_a_context_open():
    code, out, err = python("""
        import torch
        from ubviz import get_runtime
        rt = get_runtime("host")
        rt.device_context().__enter__()
        for _ in range(100):
            x = torch.ones(4) + 1
        rt.launch("say", print, "done")
    """)
    assert (code, out, err) == (0, "done\n", "")


def test_importing_the_runtime_does_not_import_the_compiler():
    code, out, err = python("""
        import sys, torch
        from ubviz import get_runtime
        rt = get_runtime("host")
        with rt.device_context():
            (torch.ones(2) + 1).tolist()
        print("torch._dynamo" in sys.modules)
    """)
    assert (code, out, err) == (0, "False\n", "")
