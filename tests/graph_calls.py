"""A wrapper whose calls may be graphs, each of them recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ubviz.recording import record
from ubviz.runtime import get_runtime
from ubviz.trace import Trace
from ubviz.ubatch import (
    CUDAGraphMode,
    UBatchWrapper,
    dbo_yield,
    maybe_create_ubatch_slices,
    set_forward_context,
)

FULL, NONE, PIECEWISE = CUDAGraphMode.FULL, CUDAGraphMode.NONE, CUDAGraphMode.PIECEWISE


class Graphs:
    """One wrapper whose calls may be graphs."""

    def __init__(self, n: int = 2, rt: Any = None) -> None:
        self.rt, self.n = rt or get_runtime("host"), n
        self.body: Callable[..., Any] = lambda x: (dbo_yield(), x * 2)[1]
        self.calls = 0
        self.wrapper = UBatchWrapper(self._model, runtime=self.rt, num_ubatches=n)
        self.compute = self.rt.Stream("compute")
        self.trace: Trace

    def _model(self, **inputs: Any) -> Any:
        self.calls += 1
        return self.body(**inputs)

    def call(
        self, mode: CUDAGraphMode = FULL, split: bool | list[int] = True, metadata: Any = None, **inputs: Any
    ) -> Any:
        """One call of ``mode``, recorded; ``split`` is whether to use microbatches, or the cuts."""
        tokens = len(next(iter(inputs.values())))
        cuts = split if isinstance(split, list) else None
        slices, _ = maybe_create_ubatch_slices(bool(split), [tokens], tokens, 1, self.n, cuts)
        recording = record(self.rt, watchdog_s=5)
        try:
            with recording, self.rt.device_context(), self.rt.stream(self.compute):
                with set_forward_context(metadata, ubatch_slices=slices, cudagraph_runtime_mode=mode):
                    return self.wrapper(**inputs)
        finally:
            self.trace = recording.trace

    @property
    def branch(self) -> str:
        return self.wrapper.decided.branch

    def count(self, kind: str) -> int:
        return int(self.trace.events.mask(kind=kind).sum())

    def order(self, *kinds: str) -> list[str]:
        """What main did, of these kinds."""
        return [event.kind for event in self.trace.events if event.kind in kinds and event.thread == 0]


def rows(n: int, value: float = 1.0) -> torch.Tensor:
    return torch.arange(n, dtype=torch.float32) + value
