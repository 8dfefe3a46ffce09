"""The model: the same outputs however it is run, and the hand-overs of each style."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import pytest
import torch

from tests.small import Small, recorded
from ubviz.analysis import handoff, turns, yields
from ubviz.engine import Request
from ubviz.engine.all2all import LinkModel
from ubviz.errors import BadArgument
from ubviz.exploration.programs import requests

CASES = list(product(("ht", "ll"), (2, 3, 4)))
YIELDS_A_LAYER = {"ht": 3, "ll": 2}


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}{case[1]}")
def small(request: pytest.FixtureRequest) -> Iterator[Small]:
    small = Small(*request.param)
    yield small
    small.close()


def test_three_ways_give_the_same(small: Small) -> None:
    outputs = {}
    for mode in ("unsplit", "split", "overlapped"):
        small.runner.forget(small.batch)
        outputs[mode] = small.runner.execute_model(small.batch, mode)
    unsplit, split, overlapped = outputs.values()
    assert torch.equal(split.hidden, overlapped.hidden)
    torch.testing.assert_close(unsplit.hidden, overlapped.hidden, rtol=1e-5, atol=1e-5)
    assert unsplit.sampled == split.sampled == overlapped.sampled
    assert overlapped.hidden.isfinite().all()


def test_forgetting_is_real(small: Small) -> None:
    """What a step leaves in the KV cache is needed: without it, the outputs are not numbers."""
    small.runner.forget(small.batch)
    later = [Request(r.blocks, r.num_computed_tokens + len(r.token_ids), (1,)) for r in small.batch[:1]]
    if later[0].num_computed_tokens < len(later[0].blocks) * 4:
        out = small.runner.execute_model(later, "unsplit")
        assert out.hidden.isnan().all()


@pytest.mark.parametrize(("style", "n"), CASES)
@pytest.mark.parametrize("layers", [1, 2])
def test_yields_a_layer(style: str, n: int, layers: int) -> None:
    trace = recorded(style, n, layers)
    assert yields(trace) == dict.fromkeys(range(n), YIELDS_A_LAYER[style] * layers)
    assert turns(trace) == [*range(n)] * (YIELDS_A_LAYER[style] * layers + 1)
    assert handoff(trace) == []


def test_ht_dispatch_blocks_the_host_and_combine_does_not() -> None:
    trace = recorded("ht")
    launches = trace.events.rows(trace.events.mask(kind="kernel.launch"))
    waits = {
        (e.args["name"], e.args["host_wait"], e.args["stream"]) for e in launches if e.args["cls"] == "comm"
    }
    assert waits == {("dispatch", True, "comm"), ("combine", False, "comm")}
    blocked = trace.spans.rows(trace.spans.mask(cat="blocked", name="kernel.launch"))
    assert len(blocked) == 2 * 2
    assert all(span.duration_ns >= 200_000 for span in blocked)


def test_ll_sends_and_receives_on_compute_and_the_peer_receives() -> None:
    trace = recorded("ll")
    kernels = trace.spans.rows(trace.spans.mask(cat="kernel", cls="comm"))
    assert {trace.lanes[span.lane].role for span in kernels} == {"compute"}
    by_operation = {}
    for span in kernels:
        by_operation.setdefault(span.operation, set()).add(span.ubatch)
    assert by_operation == {
        name: {0, 1} for name in ("dispatch send", "dispatch receive", "combine send", "combine receive")
    }
    sends = trace.flows.rows(trace.flows.mask(kind="send -> receive"))
    assert len(sends) == 2 * 2 * 2  # microbatches, layers, dispatch and combine
    for flow in sends:
        sent, received = trace.spans[flow.from_row], trace.spans[flow.to_row]
        assert {sent.ubatch, received.ubatch} == {0, 1}
        assert received.end_ns >= sent.end_ns + 200_000  # not before it has arrived


def test_transfers_are_labelled_and_one_after_another() -> None:
    trace = recorded("ll", 3)
    flights = trace.spans.rows(trace.spans.mask(cat="transfer"))
    assert len(flights) == 3 * 2 * 2
    assert {trace.lanes[span.lane].role for span in flights} == {"network"}
    assert {span.args["label"] for span in flights} == {"modelled"}
    assert all(b.start_ns >= a.end_ns for a, b in pairwise(flights))


def test_attention_never_leaves_the_compute_stream() -> None:
    for style in ("ht", "ll"):
        trace = recorded(style)
        lanes = {s.lane for s in trace.spans.rows(trace.spans.mask(cat="kernel", operation="attention"))}
        assert {trace.lanes[lane].role for lane in lanes} == {"compute"}


def test_bfloat16_is_bitwise_too() -> None:
    for style in ("ht", "ll"):
        small = Small(style, 2, dtype=torch.bfloat16)
        split = small.runner.execute_model(small.batch, "split")
        overlapped = small.runner.execute_model(small.batch, "overlapped")
        assert torch.equal(split.hidden, overlapped.hidden)
        small.close()


def test_the_cut_goes_through_a_request() -> None:
    assert [len(r.token_ids) for r in requests("ht", 384, 16, 512, 0)] == [154, 115, 115]


def test_a_link_takes_latency_and_bytes() -> None:
    assert LinkModel(1_000, 2e9).time_ns(4_000) == 3_000
    assert str(LinkModel(20_000, 1.5e9)) == "20 us + 1.5 GB/s, modelled"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: s.runner.execute_model(s.batch, "sideways"), "mode is one of unsplit, split, overlapped"),
        (lambda s: Small("xx"), 'the style of all-to-all is "ht" or "ll", not \'xx\''),
    ],
)
def test_bad_words(call: Any, sentence: str) -> None:
    small = Small("ht")
    with pytest.raises(BadArgument, match=sentence):
        call(small)
    small.close()
