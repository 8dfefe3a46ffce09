"""The vote of several ranks in one process: the engine's own code, asked once for every rank.

Not here: what a learner writes (``exercises.e11_vote``), how it is drawn (``rank_map``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Agreement(NamedTuple):
    """What ranks agree on, and how they came to it."""

    should_ubatch: bool
    num_tokens: tuple[int, ...]
    """Of each rank, with padding."""
    votes: tuple[bool, ...]
    why: str
    """The reason, in a sentence: of the yes, or of the no."""


class _Filled(Exception):
    pass


def agreement(
    tokens: Sequence[int], threshold: int, ubatches: int = 2, allowed: Sequence[bool] | None = None
) -> Agreement:
    """Let ranks with so many tokens vote; ``allowed`` says of each whether its caller allows microbatches.

    >>> agreement((600, 100), 512).why
    'rank 1 voted no: its 100 tokens are below the prefill threshold of 512'

    Raises ``BadArgument`` for a threshold below the number of microbatches.
    """
    from ..engine.dp import Coordination, ParallelConfig, coordinate_batch_across_dp, why, why_not

    ranks = len(tokens)
    may = [True] * ranks if allowed is None else list(allowed)

    def config(rank: int) -> ParallelConfig:
        return ParallelConfig(
            data_parallel_size=ranks, data_parallel_rank=rank, num_ubatches=ubatches,
            dbo_prefill_token_threshold=threshold,
        )  # fmt: skip

    def vote(rank: int, all_reduce: Any) -> Coordination:
        return coordinate_batch_across_dp(tokens[rank], may[rank], config(rank), all_reduce=all_reduce)

    columns: list[Any] = []

    def keep(table: Any, step: int) -> None:
        columns.append(table.clone())
        raise _Filled

    for rank in range(
        ranks if ranks > 1 else 0
    ):  # each fills its own column; the sum is what the all-reduce gives
        try:
            vote(rank, keep)
        except _Filled:
            pass
    agreed = vote(0, lambda table, step: table.copy_(sum(columns)))
    because = why_not(agreed.votes, config(0)) or why(agreed.votes)
    return Agreement(
        agreed.should_ubatch, tuple(map(int, agreed.num_tokens_after_padding)), tuple(v.vote for v in agreed.votes),
        because,
    )  # fmt: skip
