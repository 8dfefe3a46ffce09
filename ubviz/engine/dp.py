"""The vote among data-parallel ranks: does this step run as microbatches, and padded to how many tokens?

1. Each rank asks its thresholds (``check_ubatch_thresholds``): are its tokens worth two half batches?
2. One all-reduce of a small table shows every rank the vote and the tokens of all (``_synchronize_dp_ranks``).
3. Microbatches only if all voted yes, and no rank's last microbatch would be empty.
4. With microbatches, or CUDA graphs on all ranks, everybody pads to the largest rank, since their all-to-alls must
   line up.

Every rank has to take part in every step, also with nothing to do: a rank that skips one vote is answered by the
others' next one. Our table therefore carries the step, and what each vote was made of, beside vLLM's four rows.

With one rank the same code runs, without the all-reduce (vLLM never microbatches then: DBO needs two ranks).
In vLLM's V2 runner a last microbatch without tokens runs as a dummy instead of ending the attempt
(``run_empty_ubatch``), and one rank that is no uniform decode holds all ranks to the prefill threshold.

Source: vLLM ``vllm/v1/worker/dp_utils.py``; what a vote is made of: ``votes``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from ..errors import BadArgument, MissedCollective
from .votes import ParallelConfig, Vote, check_ubatch_thresholds, threshold, why, why_not

__all__ = [
    "AllReduce", "Coordination", "DPMetadata", "ParallelConfig", "Vote", "check_ubatch_thresholds",
    "coordinate_batch_across_dp", "why", "why_not",
]  # fmt: skip

AllReduce = Callable[[torch.Tensor, int], object]
"""Adds up a tensor over all ranks, in place; told the step, to name it where a rank is missing."""


_ROWS = tuple(name for name in Vote.__dataclass_fields__ if name != "rank")


class Coordination(NamedTuple):
    """What the ranks agreed on: vLLM's three answers, and the votes behind them."""

    should_ubatch: bool
    num_tokens_after_padding: tuple[int, ...]  # of each rank
    cudagraph_mode: int
    votes: tuple[Vote, ...]


def coordinate_batch_across_dp(
    num_tokens_unpadded: int,
    allow_microbatching: bool,
    parallel_config: ParallelConfig,
    num_tokens_padded: int | None = None,
    uniform_decode: bool = False,
    cudagraph_mode: int = 0,
    *,
    step: int = 0,
    all_reduce: AllReduce | None = None,
    on_vote: Callable[[Vote], None] = lambda vote: None,
) -> Coordination:
    """Agree with all ranks on this step.

    ``cudagraph_mode``: 0 none, 1 piecewise, 2 full. ``all_reduce`` (default: ``torch.distributed``'s, on the
    default group) is called when there are several ranks. ``on_vote`` is told this rank's vote before it.

    >>> config = ParallelConfig(num_ubatches=2, dbo_prefill_token_threshold=128)
    >>> coordinate_batch_across_dp(256, True, config)[:2]
    (True, (256,))

    Raises ``MissedCollective`` when the ranks are not at the same step.
    """
    padded = num_tokens_unpadded if num_tokens_padded is None else num_tokens_padded
    if padded < num_tokens_unpadded:
        raise BadArgument(f"{num_tokens_unpadded} tokens cannot be padded to {padded}; padding only adds")
    large_enough = check_ubatch_thresholds(parallel_config, num_tokens_unpadded, uniform_decode)
    vote = Vote(
        rank=parallel_config.data_parallel_rank,
        num_tokens=num_tokens_unpadded,
        num_tokens_padded=padded,
        vote=allow_microbatching and large_enough,
        cudagraph_mode=cudagraph_mode,
        step=step,
        uniform_decode=uniform_decode,
        allow_microbatching=allow_microbatching,
        use_ubatching=parallel_config.use_ubatching,
        threshold=threshold(parallel_config, uniform_decode),
    )
    on_vote(vote)
    return _synchronize_dp_ranks(vote, parallel_config, all_reduce)


def _synchronize_dp_ranks(vote: Vote, config: ParallelConfig, all_reduce: AllReduce | None) -> Coordination:
    """Show every rank all votes, and draw from them what each draws alike."""
    votes = _run_ar(vote, config, all_reduce)
    check_same_step(votes)
    mode = min(v.cudagraph_mode for v in votes)  # one rank without a graph, and nobody replays one
    should_ubatch = why_not(votes, config) is None
    padded = [v.num_tokens_padded for v in votes]
    if mode or should_ubatch:
        padded = [max(padded)] * len(padded)
    return Coordination(should_ubatch, tuple(padded), mode, votes)


def _run_ar(vote: Vote, config: ParallelConfig, all_reduce: AllReduce | None) -> tuple[Vote, ...]:
    """Each rank fills its own column of a table of zeros; the sum is the whole table."""
    if config.data_parallel_size == 1:
        return (vote,)
    table = torch.zeros(len(_ROWS), config.data_parallel_size, dtype=torch.int64)
    table[:, config.data_parallel_rank] = torch.tensor([int(getattr(vote, name)) for name in _ROWS])
    if all_reduce is None:
        table = table.to(default_group_device())
        torch.distributed.all_reduce(table)
    else:
        all_reduce(table, vote.step)
    return tuple(_vote_of(rank, column) for rank, column in enumerate(table.T.tolist()))


def default_group_device() -> torch.device:
    """Where a tensor must be for ``torch.distributed``'s default group: NCCL adds up on GPUs, gloo on CPUs."""
    return torch.device("cuda" if torch.distributed.get_backend() == "nccl" else "cpu")


def _vote_of(rank: int, column: Sequence[int]) -> Vote:
    flags = ("vote", "uniform_decode", "allow_microbatching", "use_ubatching")
    values: dict[str, Any] = dict(zip(_ROWS, column, strict=True))
    return Vote(rank, **{name: bool(value) if name in flags else value for name, value in values.items()})


def check_same_step(votes: Sequence[Vote]) -> None:
    """A rank that is ahead has missed the vote of the step that the others are at."""
    first = min(v.step for v in votes)
    ahead = [v for v in votes if v.step > first]
    if ahead:
        who = " and ".join(f"rank {v.rank}" for v in ahead)
        raise MissedCollective(
            f"{who} missed the vote of step {first} and went on to that of step {ahead[0].step}; every rank takes "
            "part in every step, also with nothing to do: call execute_model([])"
        )


@dataclass(frozen=True)
class DPMetadata:
    """How many tokens each rank runs in this forward pass, padding included."""

    num_tokens_across_dp: tuple[int, ...]

    @property
    def max_tokens_across_dp(self) -> int:
        return max(self.num_tokens_across_dp)

    def of_ubatch(self, num_tokens: int) -> DPMetadata:
        """The same for one microbatch; all ranks cut alike, so all have as many tokens."""
        return DPMetadata((num_tokens,) * len(self.num_tokens_across_dp))
