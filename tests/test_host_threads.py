"""PyTorch code on the host runtime's streams: threads and modes, lifetimes, errors, and the end of the process.

That results are those of eager code is in test_host_ops.py.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading
import weakref

import pytest
import torch

from tests.contract.language import Running, until
from ubviz import get_runtime
from ubviz.errors import AsyncError, MixedRuntimes, StreamStuck

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


def test_a_listener_that_raises_leaves_the_stream_that_was_current(rt, stream):
    class Raises:
        def host(self, kind, obj, arg):
            if kind == "stream.switch" and arg is stream:  # away from it
                raise ZeroDivisionError

        def device(self, kind, obj, arg):
            pass

    before, listener = rt.current_stream(), Raises()
    rt.hooks.subscribe(listener)
    with pytest.raises(ZeroDivisionError):
        with rt.stream(stream):
            pass
    rt.hooks.unsubscribe(listener)
    assert rt.current_stream() is before


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
    assert held() is None


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
    over, kept = threading.Event(), []

    def make():
        try:
            for _ in range(2000):
                kept.append(rt.HostEvent("e"))
            for _ in range(50):
                kept.append(rt.Stream())
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
    assert len(kept) == 2050
    assert len(rt.snapshot()) == 2000


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
