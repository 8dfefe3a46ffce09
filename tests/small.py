"""A model small enough for a unit test, its runner, and a recorded step of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from ubviz.engine import GPUModelRunner, LinkModel, ModelConfig, MoETransformer, Request
from ubviz.exploration.programs import blocks_needed, contexts_of, requests
from ubviz.recording import record
from ubviz.runtime import get_runtime
from ubviz.trace import Trace

LINK = LinkModel(latency_ns=200_000, bytes_per_s=1e9)


class Small:
    """One small model on one runtime, host if none is given."""

    def __init__(
        self, style: str, n: int = 2, layers: int = 2, tokens: int = 25, dtype: Any = torch.float32, rt: Any = None
    ) -> None:  # fmt: skip
        self.rt = get_runtime("host") if rt is None else rt
        config = ModelConfig(
            layers=layers, hidden=32, heads=4, inner=48, shared=16, vocabulary=64, block_size=4,
            num_blocks=blocks_needed(style, tokens, 4),
        )  # fmt: skip
        with torch.random.fork_rng():
            torch.manual_seed(1)
            model = MoETransformer(config, self.rt, style, LINK).to(dtype).eval()
        self.runner = GPUModelRunner(model, self.rt, n)
        self.batch: list[Request] = requests(style, tokens, 4, 64, seed=2)
        if style == "ll":
            self.runner.execute_model(contexts_of(self.batch, 64, seed=2), "unsplit")

    def close(self) -> None:
        self.rt.close()


@cache
def recorded(style: str, n: int = 2, layers: int = 2, steps: int = 1, runtime: str = "host") -> Trace:
    """A recording of overlapped steps; made once in a test process."""
    small = Small(style, n, layers, rt=get_runtime(runtime))
    with record(small.rt) as recording:
        for _ in range(steps):
            small.runner.execute_model(small.batch, "overlapped")
    small.close()
    return recording.trace
