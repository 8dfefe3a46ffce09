"""11: the vote among ranks; judged beside the engine's own, on a few situations and many more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from ...errors import BadArgument
from ..exercise import Exercise, Verdict, right, wrong
from ..ranks import Agreement, agreement

SITUATIONS = (
    ((600, 640), 512),
    ((600, 100), 512),
    ((512, 600), 512),
    ((64, 160), 32),
    ((80, 160), 32),
    ((600, 0, 900, 700), 512),
)
"""Tokens of each rank, threshold: enough, too few, just enough, an empty last microbatch (twice), nothing to do."""
MORE = 60


def agreed(tokens: Sequence[int], threshold: int, ubatches: int = 2) -> tuple[bool, list[int]]:
    """What the engine's ranks agree on: microbatches or not, and the tokens of each rank with padding.

    >>> agreed((600, 640), 512)
    (True, [640, 640])
    """
    found = agreement(tokens, threshold, ubatches)
    return found.should_ubatch, list(found.num_tokens)


def judge(vote: Callable[[list[int], int], tuple[bool, list[int]]]) -> Verdict:
    """An answer is a function of all ranks' tokens and the threshold; it gives the decision and the padded tokens."""
    if not callable(vote):
        raise BadArgument(f"the answer is a function vote(tokens, threshold), not {vote!r}")
    for tokens, threshold in (*SITUATIONS, *_more()):
        expected = agreement(tokens, threshold)
        said = vote(list(tokens), threshold)
        amiss = _shape(said, len(tokens)) or _differs(said, tokens, expected)
        if amiss:
            return wrong(
                f"Ranks with {', '.join(map(str, tokens))} tokens, threshold {threshold}: {amiss}",
                yours=said, expected=(expected.should_ubatch, list(expected.num_tokens)),
            )  # fmt: skip
    return right(f"{len(SITUATIONS)} situations, and {MORE} more.")


def _more() -> Iterator[tuple[tuple[int, ...], int]]:
    random = Random(0)
    for _ in range(MORE):
        tokens = tuple(random.randrange(0, 900) for _ in range(random.randint(2, 4)))
        yield tokens, random.choice((32, 256))


def _shape(said: Any, ranks: int) -> str:
    """What keeps an answer from being read, in words."""
    if said is None:
        return "vote gave None; it has to return the decision and the list of tokens."
    if not isinstance(said, (tuple, list)) or len(said) != 2:
        return "vote gives two things: the decision, and the list of tokens."
    decision, tokens = said
    if isinstance(decision, (list, tuple)):
        return "there is one decision for all ranks, not one for each."
    if not isinstance(decision, bool):
        return "the decision is True or False."
    if not isinstance(tokens, (list, tuple)):
        return f"the tokens are a list with a number for each of the {ranks} ranks."
    if len(tokens) != ranks:
        return f"there are {ranks} ranks, so the list has {ranks} numbers, not {len(tokens)}."
    if not all(isinstance(count, int) for count in tokens):
        return "a number of tokens is an int."
    return ""


def _differs(said: Any, tokens: Sequence[int], expected: Agreement) -> str:
    """What is not as the engine has it, in words."""
    decision, padded = said
    because = f"{expected.why[0].upper()}{expected.why[1:]}."
    if decision != expected.should_ubatch:
        return f"the decision differs. {because}"
    for rank, (yours, wanted) in enumerate(zip(padded, expected.num_tokens, strict=True)):
        if yours != wanted and decision:
            return f"the decision is right, but with microbatches rank {rank} pads to the largest, {max(tokens)}."
        if yours != wanted:
            return f"the decision is right, but without microbatches rank {rank} pads nothing and keeps {wanted}."
    return ""


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
