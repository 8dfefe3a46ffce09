"""What recording costs a step of the demonstration's model, overlapped."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import process_time_ns

import torch

from tests.bench import Row, in_turns, ratio, timed
from ubviz import get_runtime, record
from ubviz.engine import GPUModelRunner, LinkModel, ModelConfig, MoETransformer
from ubviz.exploration.demo import DEFAULT_TOKENS, Options
from ubviz.exploration.programs import requests
from ubviz.recording.story import STRIDE

TOKENS = DEFAULT_TOKENS["ht"]
LINK = LinkModel(latency_ns=20_000, bytes_per_s=6e7)  # about what the demonstration finds on two cores


def rows() -> Iterator[Row]:
    """Steps in turns, recorded and not; making the trace afterwards is not part of a step."""
    rt = get_runtime("host")
    config = ModelConfig(layers=Options().layers)
    torch.manual_seed(0)
    runner = GPUModelRunner(MoETransformer(config, rt, "ht", LINK).eval(), rt)
    batch = requests("ht", TOKENS, config.block_size, config.vocabulary, 0)

    def step(spent: list[float]) -> float:
        before = process_time_ns()
        time = timed(lambda: runner.execute_model(batch, "overlapped"))
        spent.append(process_time_ns() - before)
        return time

    def recorded(spent: list[float]) -> float:
        with record(rt) as recording:
            time = step(spent)
            counts.append(len(recording._facts) // STRIDE)
            recording._facts.clear()
        return time

    step([])
    plain_spent: list[float] = []
    recorded_spent: list[float] = []
    counts: list[int] = []
    plain, with_recorder = in_turns(lambda: step(plain_spent), lambda: recorded(recorded_spent))
    yield Row("facts told in one overlapped step", median(counts), "")
    yield Row("one overlapped step", median(plain) / 1e6, "ms")
    yield Row("one overlapped step, recorded / not", ratio(with_recorder, plain), "", 1.02)
    yield Row("processor time of it, recorded / not", ratio(recorded_spent, plain_spent), "")
    rt.close()
