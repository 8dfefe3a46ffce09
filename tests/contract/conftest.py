"""Fixtures of the contract. A runtime to come adds its name here, and how it holds a stream."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.language import Listener, Running
from ubviz import get_runtime
from ubviz.errors import AsyncError
from ubviz.runtime.choose import NAMES

KNOWN = ("host", "cuda")


def missing(name: str) -> str | None:
    """Why this machine cannot run a runtime, if it cannot."""
    if name not in NAMES:
        return f"this version has no {name} runtime"
    if name == "cuda":
        import torch

        return None if torch.cuda.is_available() else "no CUDA device"
    return None


RUNTIMES = tuple(name for name in KNOWN if missing(name) is None)


@pytest.fixture(params=RUNTIMES)
def rt(request: pytest.FixtureRequest) -> Iterator[Any]:
    runtime = get_runtime(request.param)
    yield runtime
    for _ in runtime.streams():
        try:
            runtime.synchronize()
        except AsyncError:
            continue  # each one raised is one cleared
        break
    runtime.close()


@pytest.fixture
def other(rt: Any) -> Iterator[Any]:
    """Another runtime of the same kind."""
    runtime = get_runtime(rt.name)
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
        gate = threading.Event()
        gates.append(gate)
        rt.launch("gate", gate.wait, stream=stream)
        return gate

    yield hold_stream
    for gate in gates:
        gate.set()


@pytest.fixture
def start(rt: Any) -> Callable[[Callable[[], Any]], Running]:
    """``start(f)`` runs ``f`` on a thread of the runtime."""
    return lambda target: Running(rt.Thread, target)
