"""Reads of a tensor's bytes wait for the stream, and the guards that see to it are there only while needed."""

from __future__ import annotations

import copy
import io
import pickle
import sys
import threading

import numpy as np
import pytest
import torch

from tests.contract.language import Running

RAW_READS = (
    "tolist", "numpy", "__array__", "__dlpack__", "__repr__", "__format__", "__deepcopy__", "__reduce_ex__", "cpu",
    "data",
)  # fmt: skip


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
