"""How one step is run: the caller's wish, the ranks' votes, and what they come to.

Source: vLLM ``v1/worker/gpu_model_runner.py`` (``_determine_batch_execution_and_padding``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..ubatch.forward_context import CUDAGraphMode
from .batch import Request
from .dp import AllReduce, Coordination, ParallelConfig, Vote, coordinate_batch_across_dp, why, why_not

Announce = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True)
class BatchExecution:
    """How a step is run: one of ``MODES``, why, the tokens of each rank with padding, and whether by a graph."""

    branch: str
    why: str
    num_tokens_across_dp: tuple[int, ...]
    num_tokens_padded: int
    cudagraph_mode: CUDAGraphMode


MODES = ("unsplit", "split", "overlapped")
"""Whole batch at once; microbatches one after the other; microbatches on threads, overlapped."""


def decide(
    requests: Sequence[Request],
    mode: str | None,
    config: ParallelConfig,
    step: int,
    all_reduce: AllReduce | None,
    announce: Announce,
    cudagraph_mode: CUDAGraphMode = CUDAGraphMode.NONE,
) -> BatchExecution:
    """Vote, and say what the votes come to. ``mode`` None lets thresholds decide; else it is what is asked for.

    ``cudagraph_mode`` is the runner's. Only a decode can be a graph, whose shapes depend on nothing but the number of
    tokens; a rank without work can, since its dummy batch is one.
    """
    asked = config if mode is None else config.asked()
    decode = all(len(r.token_ids) == 1 for r in requests)
    graph = cudagraph_mode if decode and mode != "split" else CUDAGraphMode.NONE
    num_tokens = sum(len(r.token_ids) for r in requests)

    def cast(vote: Vote) -> None:
        _announce_vote(vote, announce)
        if config.data_parallel_size > 1:
            announce("collective", {"rank": vote.rank, "step": vote.step, "name": "vote"})

    agreed = coordinate_batch_across_dp(
        num_tokens,
        mode != "unsplit",
        asked,
        num_tokens_padded=max(1, num_tokens),  # a rank without work runs a dummy batch
        uniform_decode=bool(requests) and decode,
        cudagraph_mode=graph.value,
        step=step,
        all_reduce=all_reduce,
        on_vote=cast,
    )
    for vote in agreed.votes:
        if vote.rank != config.data_parallel_rank:
            _announce_vote(vote, announce)
    return _execution(agreed, mode, asked)


def _execution(agreed: Coordination, mode: str | None, config: ParallelConfig) -> BatchExecution:
    if agreed.should_ubatch:
        branch, reason = mode or "overlapped", why(agreed.votes)
    else:
        branch, reason = "unsplit", why_not(agreed.votes, config) or ""
    if branch == mode:
        reason = "asked for by the caller"
    padded, rank = agreed.num_tokens_after_padding, config.data_parallel_rank
    graph = CUDAGraphMode(agreed.cudagraph_mode)
    if agreed.cudagraph_mode < agreed.votes[rank].cudagraph_mode:
        other = min(agreed.votes, key=lambda vote: vote.cudagraph_mode)
        reason += f"; rank {other.rank} voted for cudagraph_mode {graph.name}, which holds for all"
    return BatchExecution(branch, reason, padded, padded[rank], graph)


def _announce_vote(vote: Vote, announce: Announce) -> None:
    announce("vote", {"rank": vote.rank, "step": vote.step, "inputs": vote.inputs(), "vote": vote.vote})
