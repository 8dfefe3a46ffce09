"""12: putting the outputs back together; judged in every order in which microbatches may end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from random import Random
from typing import Any

from ...errors import BadArgument
from ..exercise import Exercise, Verdict, right, wrong

MANY, MORE = 11, 20
"""So many that sorting by name is no sorting by number; and how many of their orders are tried."""


def judge(merge: Callable[[list[tuple[int, list[Any]]]], list[Any]]) -> Verdict:
    """An answer is a function of (ubatch id, rows) in the order of their ends; it gives all rows in order."""
    if not callable(merge):
        raise BadArgument(f"the answer is a function merge(results), not {merge!r}")
    for ids in _orders():
        expected = [row for i in sorted(ids) for row in _rows(i)]
        said = merge([(i, _rows(i)) for i in ids])
        if said != expected:
            return wrong(
                f"The microbatches ended in the order {', '.join(map(str, ids))}{_told(said, expected)}",
                yours=said, expected=expected,
            )  # fmt: skip
    return right(f"Every order of 2, 3 and 4 microbatches, and {MORE} orders of {MANY}.")


def _orders() -> Iterator[tuple[int, ...]]:
    for n in (2, 3, 4):
        yield from permutations(range(n))
    random = Random(0)
    for _ in range(MORE):
        yield tuple(random.sample(range(MANY), MANY))


def _rows(ubatch: int) -> list[str]:
    """The rows of a microbatch: one to three, whose names are in no order."""
    return [f"{'qbxhnckwzaf'[ubatch]}{row}" for row in range((2, 1, 3)[ubatch % 3], 0, -1)]


def _told(said: Any, expected: list[str]) -> str:
    """More than that the two differ, where it can be said."""
    if said is None:
        return "; merge gave None: it has to return the rows."
    if not isinstance(said, list):
        return f"; merge gives a list, not a {type(said).__name__}."
    if said and not isinstance(said[0], str):
        return "; merge gives the rows themselves, in one list."
    if sorted(map(str, said)) == sorted(expected):
        return "; no row is lost, but they stand in another order: whose tokens come first?"
    return "."


EXERCISE = Exercise(
    "12.merge",
    "Write merge(results): all rows, in the order of the microbatches, whoever ended first.",
    (
        "results is in the order in which the threads ended, and that says nothing about the order of the tokens.",
        "Each result carries the number of its microbatch; numbers compare as numbers.",
        "Sort by the first of each pair, then put the lists one after the other.",
    ),
    judge,
)
