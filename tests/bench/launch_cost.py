"""What it costs to launch one PyTorch operator whose layout is known, with the worker parked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import torch

from tests.bench import Row, in_turns, timed
from ubviz import get_runtime, record

LAUNCHES = 400  # fewer than a stream may lag behind


def rows() -> Iterator[Row]:
    """Inference mode, small tensors, so that eager's time is its overhead too."""
    x, w, b = torch.randn(16, 16), torch.randn(16, 16), torch.randn(16)
    operators: dict[str, Callable[[], Any]] = {
        "add": lambda: torch.add(x, w),
        "mm": lambda: torch.mm(x, w),
        "linear": lambda: torch.nn.functional.linear(x, w, b),
    }
    rt = get_runtime("host")
    stream = rt.Stream("bench")
    with torch.inference_mode():
        for name, operator in operators.items():
            eager, launch, recorded = in_turns(
                lambda: timed(repeat(operator)),  # noqa: B023
                lambda: launched(rt, stream, operator),  # noqa: B023
                lambda: launched_recorded(rt, stream, operator),  # noqa: B023
            )
            yield Row(f"eager {name}", median(eager) / LAUNCHES / 1e3, "us")
            yield Row(f"launch of {name}", median(launch) / LAUNCHES / 1e3, "us", 12)
            yield Row(f"launch of {name}, recorded", median(recorded) / LAUNCHES / 1e3, "us")
    rt.close()


def repeat(operator: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(LAUNCHES):
            operator()

    return run


def launched(rt: Any, stream: Any, operator: Callable[[], Any]) -> float:
    gate = threading.Event()
    with rt.device_context(), rt.stream(stream):
        operator()
        rt.launch("gate", gate.wait)
        time = timed(repeat(operator))
        gate.set()
        stream.synchronize()
    return time


def launched_recorded(rt: Any, stream: Any, operator: Callable[[], Any]) -> float:
    with record(rt, watchdog_s=None) as recording:
        time = launched(rt, stream, operator)
        recording._facts.clear()
    return time
