"""05: which numbers of yields come to an end; judged by all schedules of the bare ring, for every pair."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

from ...errors import BadArgument
from ...exploration import explore
from ...exploration.bare_ring import Switches
from ...exploration.ring_programs import RingProgram
from ..exercise import Exercise, Verdict, right, wrong
from ..told import listed

MOST = 4
"""Yields of a microbatch, at most."""


PAIRS = sorted(product(range(MOST + 1), repeat=2), key=sum)


@cache
def outcome(y0: int, y1: int) -> tuple[int, str, str]:
    """How many schedules were tried; of one that hangs what it ends in and its replay string, else two empty ones."""
    tried = explore(RingProgram(yields=(y0, y1), switches=Switches(asserts=False)))
    for found in tried.findings:
        if found.kind == "deadlock":
            return tried.executions, listed(found.sentence), found.replay
    return tried.executions, "", ""


def measured() -> None:
    """Explore every pair: the same for all answers."""
    for pair in PAIRS:
        outcome(*pair)


def judge(finishes: Callable[[int, int], bool]) -> Verdict:
    """An answer is a function of both numbers of yields: whether all threads come to an end, in every schedule."""
    if not callable(finishes):
        raise BadArgument(f"the answer is a function finishes(y0, y1), not {finishes!r}")
    for y0, y1 in PAIRS:
        said: Any = finishes(y0, y1)
        if not isinstance(said, bool):
            forgot = ": is a return missing?" if said is None else "."
            return wrong(f"finishes({y0}, {y1}) gives neither True nor False{forgot}", yours=repr(said))
        schedules, hang, replay = outcome(y0, y1)
        if said and hang:
            return wrong(
                f"With {y0} and {y1} yields it hangs:{hang}", yours=True, expected=False, replay=replay
            )
        if not said and not hang:
            return wrong(
                f"With {y0} and {y1} yields all threads end, in each of {schedules} different schedules: "
                "a microbatch that leaves hands the turn on, once, as if it yielded.",
                yours=False, expected=True,
            )  # fmt: skip
    return right(f"All {len(PAIRS)} pairs up to {MOST} yields, each in every schedule.")


EXERCISE = Exercise(
    "05.yields",
    "Write finishes(y0, y1): do two microbatches with so many yields come to an end?",
    (
        "Follow the turn for (1, 1), then for (1, 0): who sets the host event that each wait needs?",
        "Leaving the context sets the next one's host event too. So each microbatch hands the turn on once more than "
        "it yields, and microbatch 0 has it first.",
        "Microbatch 0 waits y0 times for microbatch 1, which can hand over y1 + 1 times; microbatch 1 waits y1 + 1 "
        "times (once in enter), microbatch 0 can hand over y0 + 1 times. Both must be enough.",
    ),
    judge,
    measured,
)
