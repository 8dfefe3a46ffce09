"""12: putting the outputs back together; judged in every order in which microbatches may end."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

from ...errors import BadArgument
from ..exercise import Exercise, Verdict, right, wrong


def judge(merge: Callable[[list[tuple[int, list[Any]]]], list[Any]]) -> Verdict:
    """An answer is a function of (ubatch id, rows) in the order of their ends; it gives all rows in order."""
    if not callable(merge):
        raise BadArgument(f"the answer is a function merge(results), not {merge!r}")
    parts = {0: ["a", "b", "c"], 1: ["d"], 2: ["e", "f"], 10: ["g"]}
    for n in (2, 3, 4):
        ids = list(parts)[:n]
        expected = [row for i in ids for row in parts[i]]
        for order in permutations(ids):
            said = merge([(i, list(parts[i])) for i in order])
            if said != expected:
                return wrong(
                    f"The microbatches ended in the order {', '.join(map(str, order))}.",
                    yours=said, expected=expected,
                )  # fmt: skip
    return right("Every order of 2, 3 and 4 microbatches.")


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
