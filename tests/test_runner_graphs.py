"""The runner with CUDA graphs: decode steps are captured once and replayed, and sample the eager runner's tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.small import Small
from ubviz.engine import GPUModelRunner, Request
from ubviz.engine.dp import ParallelConfig, Vote
from ubviz.errors import BadArgument
from ubviz.recording import record
from ubviz.trace import Trace
from ubviz.ubatch import CUDAGraphMode

LONGEST = 32
MODE = [name for name in Vote.__dataclass_fields__ if name != "rank"].index(
    "cudagraph_mode"
)  # its row in the table


def runner_of(small: Small, mode: CUDAGraphMode, n: int) -> GPUModelRunner:
    return GPUModelRunner(
        small.runner.model.unwrap(), small.rt, n, cudagraph_mode=mode, max_model_len=LONGEST
    )


def decode(
    runner: GPUModelRunner, requests: list[Request], steps: int, mode: str
) -> tuple[list[list[int]], list[str]]:
    """Tokens and branches of some decode steps; each request goes on with the token that it sampled."""
    tokens, branches = [], []
    for _ in range(steps):
        output = runner.execute_model(requests, mode)
        tokens.append(output.sampled)
        branches.append(output.branch)
        requests = [
            replace(r, num_computed_tokens=r.num_computed_tokens + 1, token_ids=(token,))
            for r, token in zip(requests, output.sampled, strict=True)
        ]
    return tokens, branches


def first(small: Small) -> list[Request]:
    """Sequences short enough that each can go on for some steps within its blocks."""
    return [replace(r, num_computed_tokens=min(r.num_computed_tokens, 1)) for r in small.batch]


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("mode", ["overlapped", "unsplit"])
def test_a_graph_samples_what_eager_samples(n: int, mode: str) -> None:
    found = {}
    for graphs in (CUDAGraphMode.NONE, CUDAGraphMode.FULL):
        small = Small("ll", n, tokens=12)
        found[graphs] = decode(runner_of(small, graphs, n), first(small), 3, mode)
        small.close()
    assert found[CUDAGraphMode.FULL][0] == found[CUDAGraphMode.NONE][0]
    assert found[CUDAGraphMode.FULL][1] == ["capture", "replay", "replay"]
    assert found[CUDAGraphMode.NONE][1] == [mode] * 3


@pytest.fixture(scope="module")
def recorded() -> Trace:
    """A capture and a replay of it."""
    small = Small("ll", 2, tokens=12)
    runner = runner_of(small, CUDAGraphMode.FULL, 2)
    with record(small.rt) as recording:
        decode(runner, first(small), 2, "overlapped")
    small.close()
    return recording.trace


def test_a_replay_starts_no_thread_and_sets_no_host_event(recorded: Trace) -> None:
    captured, replayed = ({e.kind for e in recorded.events if e.step == step} for step in recorded.steps)
    python_only = {"thread.start", "barrier.arrive", "host_event.set", "ctx.yield", "hook.run"}
    assert python_only <= captured
    assert not python_only & replayed
    assert "graph.replay" in replayed
    begins = [e.args["branch"] for e in recorded.events if e.kind == "step.begin"]
    assert begins == ["capture", "replay"]


def test_a_replay_runs_the_kernels_that_both_microbatches_launched(recorded: Trace) -> None:
    _, step = recorded.steps
    kernels = recorded.spans.rows(recorded.spans.mask(cat="kernel", step=step))
    for ubatch in (0, 1):
        names = {span.operation for span in kernels if span.ubatch == ubatch}
        assert {"attention", "experts", "dispatch send", "combine receive"} <= names


def test_a_step_that_is_no_decode_is_eager() -> None:
    small = Small("ll", 2, tokens=12)
    runner = runner_of(small, CUDAGraphMode.FULL, 2)
    longer = [replace(r, num_computed_tokens=0, token_ids=(1, 2)) for r in small.batch]
    assert runner.execute_model(longer, "overlapped").branch == "overlapped"
    small.close()


def test_a_vote_tells_whether_a_step_could_be_a_graph() -> None:
    small = Small("ll", 2, tokens=12)
    runner = runner_of(small, CUDAGraphMode.FULL, 2)
    longer = [replace(r, num_computed_tokens=0, token_ids=(1, 2)) for r in small.batch]
    with record(small.rt) as recording:
        for batch, mode in ((first(small), "overlapped"), (first(small), "split"), (longer, "overlapped")):
            runner.execute_model(batch, mode)
        small.runner.execute_model(small.batch, "overlapped")  # without graphs
    votes = [e for e in recording.trace.events if e.kind == "vote"]
    assert [vote.args["inputs"]["cudagraph_mode"] for vote in votes] == [2, 0, 0, 0]
    small.close()


def test_a_graph_that_another_rank_cannot_have_is_had_by_none() -> None:
    """The other rank votes for an eager step of as many tokens."""
    small = Small("ll", 2, tokens=12)
    shape = ParallelConfig(2, 0, dbo_decode_token_threshold=2)

    def eager_peer(table: torch.Tensor, step: int) -> None:
        table[:, 1] = table[:, 0]
        table[MODE, 1] = 0

    runner = GPUModelRunner(
        small.runner.model.unwrap(), small.rt, 2, shape, eager_peer, CUDAGraphMode.FULL, LONGEST
    )
    with record(small.rt) as recording:
        assert runner.execute_model(first(small)).branch == "overlapped"
    (begin,) = [e for e in recording.trace.events if e.kind == "step.begin"]
    assert begin.args["why"] == (
        "every rank voted yes: rank 0: 12 tokens reach the decode threshold of 2; rank 1: 12 tokens reach the decode "
        "threshold of 2; rank 1 voted for cudagraph_mode NONE, which holds for all"
    )
    small.close()


def test_an_unsplit_step_of_a_size_that_microbatches_own_is_eager_and_says_why() -> None:
    small = Small("ll", 2, tokens=12)
    runner = runner_of(small, CUDAGraphMode.FULL, 2)
    runner.execute_model(first(small), "overlapped")
    with record(small.rt) as recording:
        assert runner.execute_model(first(small), "unsplit").branch == "unsplit"
    (begin,) = [e for e in recording.trace.events if e.kind == "step.begin"]
    assert begin.args["why"].startswith("graph_owned_by_split: ")
    small.close()


def test_what_a_graph_cannot_be_made_of_is_said_at_once() -> None:
    small = Small("ht", 2)
    with pytest.raises(BadArgument, match=r"^CUDAGraphMode.FULL needs max_model_len"):
        GPUModelRunner(small.runner.model.unwrap(), small.rt, 2, cudagraph_mode=CUDAGraphMode.FULL)
    with pytest.raises(BadArgument, match=r"blocks the host"):
        runner_of(small, CUDAGraphMode.FULL, 2)
    small.close()


def test_outputs_of_one_step_outlive_the_next() -> None:
    small = Small("ll", 2, tokens=12)
    runner = runner_of(small, CUDAGraphMode.FULL, 2)
    kept = runner.execute_model(first(small), "overlapped").hidden
    before = kept.clone()
    runner.execute_model([replace(r, token_ids=(5,)) for r in first(small)], "overlapped")
    assert torch.equal(kept, before)
    small.close()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"cudagraph_mode": "FULL"},
            r"^cudagraph_mode is a CUDAGraphMode \(NONE, PIECEWISE, FULL\), not 'FULL'$",
        ),
        ({"max_model_len": 0}, "^max_model_len is a whole number from 1 on, not 0$"),
        ({"max_model_len": 2.5}, "^max_model_len is a whole number from 1 on, not 2.5$"),
        ({"max_model_len": True}, "^max_model_len is a whole number from 1 on, not True$"),
        ({"num_ubatches": 2.0}, "^num_ubatches is a whole number, not 2.0$"),
        ({"num_ubatches": "2"}, "^num_ubatches is a whole number, not '2'$"),
    ],
)
def test_options_that_are_none(changed: dict[str, Any], sentence: str) -> None:
    small = Small("ll", 2, tokens=12)
    with pytest.raises(BadArgument, match=sentence):
        GPUModelRunner(small.runner.model.unwrap(), small.rt, **changed)
    small.close()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"token_ids": ()}, "^request 1 has no tokens"),
        ({"blocks": (3, -1, 4, 5)}, "^request 1 has block -1, but the KV cache has the blocks 0 to 47$"),
        ({"blocks": (3, 48, 4, 5)}, "^request 1 has block 48, but the KV cache has the blocks 0 to 47$"),
        ({"blocks": (3,)}, "^request 1 has 1 blocks of 4 tokens, but its 16 tokens need 4$"),
        ({"num_computed_tokens": -1}, "^request 1 has -1 computed tokens"),
        (
            {"num_computed_tokens": LONGEST},
            rf"^request 1 is {LONGEST + 1} tokens long, more than max_model_len \({LONGEST}\) allows$",
        ),
    ],
)
@pytest.mark.parametrize("mode", [CUDAGraphMode.NONE, CUDAGraphMode.FULL])
def test_a_request_that_cannot_be_run_is_named(
    mode: CUDAGraphMode, changed: dict[str, Any], sentence: str
) -> None:
    small = Small("ll", 2, tokens=12)
    runner = runner_of(small, mode, 2)
    batch = [small.batch[0], replace(small.batch[1], **changed), *small.batch[2:]]
    with pytest.raises(BadArgument, match=sentence):
        runner.execute_model(batch)
    assert runner.step == 0  # nothing was begun
    small.close()
