"""Cut the tokens, then ask which requests they belong to."""

from typing import Any


def holder(lengths: list[int], token: int) -> int:
    end = 0
    for i, length in enumerate(lengths):
        end += length
        if token < end:
            return i
    raise IndexError(token)


def answer(lengths: list[int], n: int) -> Any:
    total = sum(lengths)
    edges = [i * (total // n) for i in range(n)] + [total]
    return [((holder(lengths, a), holder(lengths, b - 1) + 1), (a, b)) for a, b in zip(edges, edges[1:])]  # noqa: RUF007


def by_requests(lengths: list[int], n: int) -> Any:
    edges = [i * (len(lengths) // n) for i in range(n)] + [len(lengths)]
    return [((a, b), (sum(lengths[:a]), sum(lengths[:b]))) for a, b in zip(edges, edges[1:])]  # noqa: RUF007


def no_rest(lengths: list[int], n: int) -> Any:
    share = sum(lengths) // n
    return [((holder(lengths, i * share), holder(lengths, i * share + share - 1) + 1), (i * share, i * share + share))
            for i in range(n)]  # fmt: skip


def cut_once(lengths: list[int], n: int) -> Any:
    """A request that is cut belongs to the first part alone."""
    parts = answer(lengths, n)
    return [parts[0], *(((max(first, before), last), tokens)
            for ((_, before), _), ((first, last), tokens) in zip(parts, parts[1:]))]  # fmt: skip # noqa: RUF007


def rounded_up(lengths: list[int], n: int) -> Any:
    share = -(-sum(lengths) // n)
    edges = [min(i * share, sum(lengths)) for i in range(n + 1)]
    return [((holder(lengths, a), holder(lengths, b - 1) + 1), (a, b)) for a, b in zip(edges, edges[1:])]  # noqa: RUF007


def closed(lengths: list[int], n: int) -> Any:
    return [((a, b - 1), tokens) for (a, b), tokens in answer(lengths, n)]


wrong = {
    "cut between requests": (by_requests, "the tokens of microbatch 0 differ"),
    "what is left over is left out": (no_rest, "the tokens of microbatch 1 differ"),
    "a request belongs to one microbatch": (cut_once, "the requests of microbatch 1 differ"),
    "two, always": (lambda lengths, n: answer(lengths, 2), "there are 2 parts"),
    "the first part is the larger one": (
        rounded_up,
        "the tokens of microbatch 0 differ; it takes 4 of them, up to 4",
    ),
    "ranges hold their ends": (closed, "which belongs to request 3, and ranges are half-open"),
    "ranges of tokens alone": (
        lambda lengths, n: [tokens for _, tokens in answer(lengths, n)],
        "a pair of ranges",
    ),
    "slices": (
        lambda lengths, n: [(slice(*a), slice(*b)) for a, b in answer(lengths, n)],
        "each range two ints",
    ),
    "no return": (lambda lengths, n: None, "cut gives a list"),
}
