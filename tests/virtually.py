"""The small model in virtual time, with compute operations that last some factor longer."""

from __future__ import annotations

from functools import cache

from tests.small import Small
from ubviz.recording import record
from ubviz.runtime import get_runtime
from ubviz.runtime.virtual_costs import Costs, model
from ubviz.trace import Trace


@cache
def recorded(style: str, n: int, compute: float = 1.0, layers: int = 2) -> Trace:
    """An overlapped step; the same every time."""
    return run(style, n, compute, layers)


def run(style: str, n: int, compute: float = 1.0, layers: int = 2) -> Trace:
    """``recorded``, made anew: for a mechanism that a test has changed."""

    def lasts(name: str, cls: str, layer: int | None, nbytes: int) -> int:
        return round(model(name, cls, layer, nbytes) * (compute if cls == "compute" else 1.0))

    small = Small(style, n, layers, rt=get_runtime("virtual", costs=Costs(model=lasts)))
    with record(small.rt) as recording:
        small.runner.execute_model(small.batch, "overlapped")
    small.close()
    return recording.trace
