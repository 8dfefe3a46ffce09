"""Fixtures of the contract. A runtime to come adds its name here, and how it holds a stream."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract import on_cuda
from tests.contract.language import Listener, Running, VirtualGate, stepping_aside
from ubviz import get_runtime
from ubviz.errors import AsyncError
from ubviz.runtime.choose import NAMES

KNOWN = ("host", "cuda", "virtual")


def missing(name: str) -> str | None:
    """Why this machine cannot run a runtime, if it cannot."""
    if name not in NAMES:
        return f"this version has no {name} runtime"
    if name == "cuda":
        import torch

        return None if torch.cuda.is_available() else "no CUDA device"
    return None


RUNTIMES = tuple(name for name in KNOWN if missing(name) is None)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test over every runtime."""
    if "rt" in metafunc.fixturenames:
        metafunc.parametrize("rt", (*RUNTIMES, on_cuda.FAKE), indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """But for what cannot hold on cuda."""
    left_out = [item for item in items if on_cuda.left_out(item.name)]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


def make(name: str) -> Any:
    return on_cuda.made(name) if name == on_cuda.FAKE else get_runtime(name)


@pytest.fixture
def rt(request: pytest.FixtureRequest) -> Iterator[Any]:
    runtime = make(request.param)
    with stepping_aside(runtime):
        yield runtime
    for _ in runtime.streams():
        try:
            runtime.synchronize()
        except AsyncError:
            continue  # each one raised is one cleared
        break
    runtime.close()


@pytest.fixture
def other(request: pytest.FixtureRequest, rt: Any) -> Iterator[Any]:
    """Another runtime of the same kind."""
    runtime = make(request.node.callspec.params["rt"])
    yield runtime
    runtime.close()


@pytest.fixture
def told(rt: Any) -> Iterator[Listener]:
    listener = Listener()
    rt.hooks.subscribe(listener)
    yield listener
    rt.hooks.unsubscribe(listener)


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as the interpreter lets them, so that a gap in a protocol is fallen into."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def hold(rt: Any) -> Iterator[Callable[[Any], threading.Event]]:
    """``gate = hold(stream)``: the stream's work stops here until ``gate.set()``, or the test's end."""
    gates = []

    def hold_stream(stream: Any) -> threading.Event:
        if rt.name == "cuda":
            gates.append(on_cuda.hold(rt, stream))
        elif rt.name == "virtual":
            gates.append(VirtualGate(rt, stream))
        else:
            gates.append(threading.Event())
            rt.launch("gate", gates[-1].wait, stream=stream)
        return gates[-1]

    yield hold_stream
    for gate in gates:
        gate.set()


@pytest.fixture
def start(rt: Any) -> Callable[[Callable[[], Any]], Running]:
    """``start(f)`` runs ``f`` on a thread of the runtime."""
    return lambda target: Running(rt.Thread, target)
