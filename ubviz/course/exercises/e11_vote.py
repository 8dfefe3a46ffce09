"""11: the vote among ranks; judged beside the engine's own, on four situations and many more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from ...errors import BadArgument
from ..exercise import Exercise, Verdict, right, wrong

SITUATIONS = (
    ("all are large enough, one is larger", (600, 640), 512),
    ("one rank has too few tokens", (600, 100), 512),
    ("one rank's last microbatch would be empty", (64, 160), 32),
    ("a rank has nothing to do", (600, 0, 900, 700), 512),
)
"""What is the matter, tokens of each rank, threshold."""
MORE = 60


def agreed(tokens: Sequence[int], threshold: int, ubatches: int = 2) -> tuple[bool, list[int]]:
    """What the engine's ranks agree on: microbatches or not, and the tokens of each rank with padding.

    >>> agreed((600, 640), 512)
    (True, [640, 640])
    """
    from ...engine.dp import Coordination, coordinate_batch_across_dp
    from ...engine.votes import ParallelConfig

    def one(rank: int, all_reduce: Callable[[Any, int], object]) -> Coordination:
        config = ParallelConfig(
            data_parallel_size=max(len(tokens), 2), data_parallel_rank=rank, num_ubatches=ubatches,
            dbo_prefill_token_threshold=threshold,
        )  # fmt: skip
        return coordinate_batch_across_dp(tokens[rank], True, config, all_reduce=all_reduce)

    tables: list[Any] = []

    class Seen(Exception):
        pass

    def see(table: Any, step: int) -> None:
        tables.append(table.clone())
        raise Seen

    for rank in range(len(tokens)):
        try:
            one(rank, see)
        except Seen:
            pass
    result = one(0, lambda table, step: table.copy_(sum(tables)))
    return result.should_ubatch, [int(count) for count in result.num_tokens_after_padding]


def judge(vote: Callable[[list[int], int], tuple[bool, list[int]]]) -> Verdict:
    """An answer is a function of all ranks' tokens and the threshold; it gives the decision and the padded tokens."""
    if not callable(vote):
        raise BadArgument(f"the answer is a function vote(tokens, threshold), not {vote!r}")
    random = Random(0)
    more = [
        (
            "as it comes",
            tuple(random.randrange(0, 900) for _ in range(random.randint(2, 4))),
            random.choice((32, 256)),
        )
        for _ in range(MORE)
    ]
    for what, tokens, threshold in (*SITUATIONS, *more):
        expected = agreed(tokens, threshold)
        said = vote(list(tokens), threshold)
        if not isinstance(said, tuple) or len(said) != 2:
            return wrong("The answer gives two things: the decision, and a list of tokens.", yours=said)
        if (bool(said[0]), list(said[1])) != expected:
            return wrong(
                f"Ranks with {', '.join(map(str, tokens))} tokens, threshold {threshold}: {what}.",
                yours=said, expected=expected,
            )  # fmt: skip
    return right(f"The {len(SITUATIONS)} situations, and {MORE} more.")


EXERCISE = Exercise(
    "11.vote",
    "Write vote(tokens, threshold): whether all ranks microbatch, and how many tokens each pads to.",
    (
        "One no is a no for all; and without microbatches nobody pads.",
        "With microbatches all pad to the largest rank. Then cut the padded tokens in two: does every rank have a real "
        "token beyond the cut?",
        "largest = max(tokens); yes = all(t >= threshold for t in tokens) and all(t > largest // 2 for t in tokens); "
        "the tokens are [largest] * len(tokens) if yes, else unchanged.",
    ),
    judge,
    lambda: agreed((600, 640), 512),
)
