"""12: cutting a batch into microbatches; judged beside the package's own cut, on many batches."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ...errors import BadArgument
from ...ubatch.slices import maybe_create_ubatch_slices
from ..exercise import Exercise, Verdict, right, wrong

BATCHES = 200
Cut = list[tuple[tuple[int, int], tuple[int, int]]]


def expected_of(lengths: list[int], n: int) -> Cut:
    """Half-open ranges of requests and of tokens, by the package's own rule.

    >>> expected_of([42, 999], 2)
    [((0, 2), (0, 520)), ((1, 2), (520, 1041))]
    """
    slices, _ = maybe_create_ubatch_slices(True, lengths, sum(lengths), len(lengths), n)
    assert slices is not None
    return [
        ((s.request_slice.start, s.request_slice.stop), (s.token_slice.start, s.token_slice.stop))
        for s in slices
    ]


def judge(cut: Callable[[list[int], int], Any]) -> Verdict:
    """An answer is a function of the requests' lengths and of how many microbatches; it gives pairs of ranges."""
    if not callable(cut):
        raise BadArgument(f"the answer is a function cut(lengths, n), not {cut!r}")
    for seed in range(BATCHES):
        random = Random(seed)
        n = 2 if seed < BATCHES // 2 else random.randint(2, 4)
        lengths = [random.randint(1, 9) for _ in range(random.randint(n, n + 3))]
        expected = expected_of(lengths, n)
        said = [tuple(map(tuple, part)) for part in cut(list(lengths), n)]
        if said != expected:
            return wrong(_told(lengths, n, said, expected), yours=said, expected=expected)
    return right(f"{BATCHES} batches, odd sizes and requests cut in the middle among them.")


def _told(lengths: list[int], n: int, said: list[Any], expected: Cut) -> str:
    what = f"Requests of {', '.join(map(str, lengths))} tokens in {n} microbatches"
    if len(said) != n:
        return f"{what}: there are {len(said)} parts."
    number = next(i for i, (a, b) in enumerate(zip(said, expected, strict=True)) if a != b)
    which = "tokens" if len(said[number]) == 2 and said[number][1] != expected[number][1] else "requests"
    return f"{what}: the {which} of microbatch {number} differ."


EXERCISE = Exercise(
    "12.cut",
    "Write cut(lengths, n): for each microbatch its range of requests and its range of tokens, both half-open.",
    (
        "Cut the tokens first, at every total // n; the last microbatch takes what is left.",
        "A request belongs to a microbatch if at least one of its tokens does: request i holds the tokens from "
        "sum(lengths[:i]) to sum(lengths[:i + 1]).",
        "For tokens [a, b): the first request is the one that holds token a, the last the one that holds token b - 1; "
        "the range of requests ends one after it.",
    ),
    judge,
)
