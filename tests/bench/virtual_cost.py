"""How well virtual time predicts: a step on host, and the same step on virtual with costs from host's recording.

On idle cores. Steps over a link of twice the time are predicted from those over the link as it is. The two take turns
on host, so that a machine that grows slower or faster meanwhile does so for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from statistics import median
from typing import Any

import torch

from tests.bench import Row
from ubviz import costs_from, get_runtime, record
from ubviz.analysis import overlap
from ubviz.engine import GPUModelRunner, LinkModel, ModelConfig, MoETransformer
from ubviz.exploration.demo import DEFAULT_TOKENS
from ubviz.exploration.programs import blocks_needed, contexts_of, requests
from ubviz.trace import Trace

STEPS = 15
LINK = LinkModel(latency_ns=20_000, bytes_per_s=2e8)
TWICE = LinkModel(latency_ns=40_000, bytes_per_s=1e8)


def rows() -> Iterator[Row]:
    """Two rows for each: at most 10 % above what was measured, and at most 10 % below."""
    for style, n in product(("ht", "ll"), (2, 3)):
        measured, doubled = recordings("host", style, n, None, (LINK, TWICE), STEPS)
        predicted = recordings("virtual", style, n, costs_from(measured), (LINK, TWICE), 1)
        for what, real, virtual in zip(
            ("", ", link of twice the time"), (measured, doubled), predicted, strict=True
        ):
            ratio = makespan_ns(virtual) / makespan_ns(real)
            yield Row(f"{style}, N = {n}{what}: measured makespan", makespan_ns(real) / 1e6, "ms")
            yield Row(f"{style}, N = {n}{what}: virtual / measured", ratio, "", 1.10)
            yield Row(f"{style}, N = {n}{what}: measured / virtual", 1 / ratio, "", 1 / 0.90)


def recordings(
    runtime: str, style: str, n: int, costs: Any, links: Sequence[LinkModel], steps: int
) -> list[Trace]:  # fmt: skip
    """Overlapped steps of one model over each link, in turns, after one over each that is not recorded."""
    rt = get_runtime(runtime, **({} if costs is None else {"costs": costs}))
    tokens = DEFAULT_TOKENS[style]
    config = ModelConfig(num_blocks=blocks_needed(style, tokens, ModelConfig.block_size))
    torch.manual_seed(0)
    model = MoETransformer(config, rt, style, links[0]).eval()
    runner = GPUModelRunner(model, rt, n)
    batch = requests(style, tokens, config.block_size, config.vocabulary, 0)
    if style == "ll":
        runner.execute_model(contexts_of(batch, config.vocabulary, 0), "unsplit")

    def in_turns() -> None:
        for link in links:
            model.all2all.link = link
            runner.execute_model(batch, "overlapped")

    in_turns()
    with record(rt) as recording:
        for _ in range(steps):
            in_turns()
    rt.close()
    trace = recording.trace
    return [trace.only(*trace.steps[which :: len(links)]) for which in range(len(links))]


def makespan_ns(trace: Trace) -> float:
    """The median over steps."""
    return median(overlap(trace, step=step).makespan_ns for step in trace.steps)
