"""The engine's decode step as a graph: bitwise what the eager microbatches give, step after step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
import torch

from tests.small import Small
from ubviz.engine.attention import build_attention_metadata
from ubviz.engine.batch import Request, prepare
from ubviz.errors import BadArgument
from ubviz.recording import record
from ubviz.runtime import get_runtime
from ubviz.ubatch import (
    CUDAGraphMode,
    maybe_create_ubatch_slices,
    set_forward_context,
    split_attn_metadata,
)

LONGEST = 16  # tokens that every request's attention gathers, whatever it has now


@pytest.fixture(params=product(("host", "virtual"), (2, 3)), ids=str)
def small(request: pytest.FixtureRequest) -> Iterator[Small]:
    runtime, n = request.param
    small = Small("ll", n, tokens=12, rt=get_runtime(runtime))
    yield small
    small.close()


def batch(small: Small, step: int) -> list[Request]:
    """Other tokens, and other lengths of the sequences, at every step."""
    return [
        Request(r.blocks, r.num_computed_tokens - (i + step) % 4, ((r.token_ids[0] + 7 * step) % 64,))
        for i, r in enumerate(small.batch)
    ]


def forward(small: Small, requests: list[Request], mode: CUDAGraphMode, split: bool = True) -> torch.Tensor:
    """The hidden states of one forward pass."""
    runner = small.runner
    with small.rt.device_context(), small.rt.stream(runner.compute_stream), torch.inference_mode():
        inputs, common = prepare(requests, runner.config.block_size)
        n = len(requests)
        slices, _ = maybe_create_ubatch_slices(
            split, [len(r.token_ids) for r in requests], common.num_tokens, n, runner.num_ubatches
        )
        shares = [common] if slices is None else split_attn_metadata(slices, common)
        parts = [
            build_attention_metadata(share, runner.config.block_size, runner.config.num_slots, LONGEST)
            for share in shares
        ]
        with set_forward_context(
            parts if slices is not None else parts[0], ubatch_slices=slices, cudagraph_runtime_mode=mode
        ):
            return runner.model(**inputs).clone()


def caches(small: Small) -> list[torch.Tensor]:
    return [attention.cache for attention in small.runner.model.attention]


@pytest.mark.parametrize("split", [True, False])
def test_replays_are_bitwise_the_eager_outputs(small: Small, split: bool) -> None:
    outputs = []
    for step in range(4):
        requests = batch(small, step)
        before = [cache.clone() for cache in caches(small)]
        eager = forward(small, requests, CUDAGraphMode.NONE, split)
        written = [cache.clone() for cache in caches(small)]
        for cache, old in zip(caches(small), before, strict=True):
            cache.copy_(old)  # a step writes its keys and values: the graph must do it too
        replayed = forward(small, requests, CUDAGraphMode.FULL, split)
        assert small.runner.model.decided.branch == ("replay" if step else "capture")
        assert torch.equal(replayed, eager)
        assert all(torch.equal(a, b) for a, b in zip(caches(small), written, strict=True))
        outputs.append(replayed)
    assert all(not torch.equal(a, b) for a, b in product(outputs, outputs) if a is not b)


def test_transfers_and_microbatches_of_a_replay_are_in_the_recording(small: Small) -> None:
    n = small.runner.num_ubatches
    forward(small, batch(small, 0), CUDAGraphMode.FULL)
    with record(small.rt) as recording:
        forward(small, batch(small, 1), CUDAGraphMode.FULL)
    trace = recording.trace
    flights = [span for span in trace.spans if span.cat == "transfer"]
    assert sorted(s.ubatch for s in flights) == sorted([*range(n)] * 4)  # layers, dispatch and combine
    assert len(trace.flows.rows(trace.flows.mask(kind="send -> receive"))) == n * 4
    of_graph = [s for s in trace.spans if s.cat == "kernel" and s.args]
    assert {(s.ubatch, s.operation) for s in of_graph if s.operation == "experts"} == {
        (i, "experts") for i in range(n)
    }
    assert trace.notices == ()
    kinds = {edge["kind"] for edge in trace.meta["graphs"]["split[12]"]}
    assert kinds == {"set -> wake", "register -> run"}  # ll stays on one stream


def test_ht_is_refused() -> None:
    small = Small("ht")
    with pytest.raises(
        BadArgument, match="the ht style of all-to-all cannot be captured: its dispatch blocks the host"
    ):
        forward(small, small.batch, CUDAGraphMode.FULL)
    small.close()
