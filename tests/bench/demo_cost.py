"""What recording costs a step of the demonstration's model, overlapped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from tests.bench import Row, in_turns, timed
from ubviz import get_runtime, record
from ubviz.engine import GPUModelRunner, LinkModel, ModelConfig, MoETransformer
from ubviz.exploration.programs import requests

TOKENS = 192
LINK = LinkModel(latency_ns=20_000, bytes_per_s=6e7)


def rows() -> Iterator[Row]:
    """Steps in turns, recorded and not; making the trace afterwards is not part of a step."""
    rt = get_runtime("host")
    config = ModelConfig(layers=2)
    torch.manual_seed(0)
    runner = GPUModelRunner(MoETransformer(config, rt, "ht", LINK).eval(), rt)
    batch = requests("ht", TOKENS, config.block_size, config.vocabulary, 0)

    def step() -> Any:
        return runner.execute_model(batch, "overlapped")

    def recorded() -> float:
        with record(rt) as recording:
            time = timed(step)
            recording._facts.clear()
        return time

    step()
    plain, with_recorder = in_turns(lambda: timed(step), recorded)
    yield Row("one overlapped step", plain / 1e6, "ms")
    yield Row("one overlapped step, recorded / not", with_recorder / plain, "", 1.02)
    rt.close()
