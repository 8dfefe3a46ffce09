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
        given = cut(list(lengths), n)
        what = f"Requests of {', '.join(map(str, lengths))} tokens in {n} microbatches"
        if not _is_cut(given):
            return wrong(
                f"{what}: cut gives a list with a pair of ranges for each microbatch, each range two ints: "
                "((first request, end), (first token, end)).",
                yours=given, expected=expected,
            )  # fmt: skip
        said = [(tuple(requests), tuple(tokens)) for requests, tokens in given]
        if said != expected:
            return wrong(f"{what}: {_told(said, expected)}", yours=said, expected=expected)
    return right(f"{BATCHES} batches, odd sizes and requests cut in the middle among them.")


def _is_cut(given: Any) -> bool:
    """Whether it has the shape of a cut; lists are as good as tuples."""
    return _is_list(given) and all(
        _is_list(part, 2)
        and all(_is_list(ends, 2) and all(isinstance(end, int) for end in ends) for ends in part)
        for part in given
    )


def _is_list(value: Any, length: int | None = None) -> bool:
    return isinstance(value, (list, tuple)) and (length is None or len(value) == length)


def _told(said: list[Any], expected: Cut) -> str:
    """The first microbatch that differs, and in what."""
    if len(said) != len(expected):
        return f"there are {len(said)} parts."
    number = next(i for i, (a, b) in enumerate(zip(said, expected, strict=True)) if a != b)
    (yours, tokens), (wanted, right_tokens) = said[number], expected[number]
    if tokens != right_tokens:
        end = f", up to {right_tokens[1]}" if tokens[0] == right_tokens[0] else f", from {right_tokens[0]} on"
        return f"the tokens of microbatch {number} differ; it takes {right_tokens[1] - right_tokens[0]} of them{end}."
    end = "first" if yours[0] != wanted[0] else "last"
    token = right_tokens[0] if end == "first" else right_tokens[1] - 1
    request = wanted[0] if end == "first" else wanted[1] - 1
    return (
        f"the requests of microbatch {number} differ; its {end} token is {token}, which belongs to request {request}, "
        "and ranges are half-open."
    )


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
