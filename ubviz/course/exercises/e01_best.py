"""01: the best makespan that overlap can give, with what it costs; judged by properties, and by playing it out."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ...errors import BadArgument
from ..exercise import Exercise, Verdict, right, wrong
from ..numbers import is_number

CASES = 300


def played_out(compute: float, comm: float, split_cost: float, contention: float) -> float:
    """Both queues work at once, at 1 / (1 + contention) of their speed, until one is empty; then the other alone.

    >>> played_out(100, 60, 0, 0), played_out(100, 60, 10, 0.5)
    (100.0, 140.0)
    """
    left = [compute + split_cost, comm]
    time = 0.0
    while min(left) > 0:
        step = min(left)
        left = [queue - step for queue in left]
        time += step * (1 + contention)
    return time + max(left)


def judge(best: Callable[[float, float, float, float], float]) -> Verdict:
    """An answer is a function of computation, communication, cost of the split, and contention."""
    if not callable(best):
        raise BadArgument(
            f"the answer is a function best(compute, comm, split_cost, contention), not {best!r}"
        )
    random = Random(0)
    for number in range(CASES):
        compute, comm = random.randint(10, 300), random.randint(10, 300)
        split_cost = 0 if number < 40 else random.randint(0, 30)
        contention = 0.0 if number < 80 else random.randint(0, 8) / 10
        expected = min(played_out(compute, comm, split_cost, contention), compute + comm)
        said: Any = best(compute, comm, split_cost, contention)
        if not is_number(said) or abs(said - expected) > 1e-6 * expected:
            load = (compute, comm, split_cost, contention)
            return wrong(
                f"With compute {compute}, comm {comm}, split cost {split_cost}, contention {contention}: "
                f"{_property(said, load, expected)}.",
                yours=f"{said:.6g}" if is_number(said) else repr(said), expected=f"{expected:.6g}",
            )  # fmt: skip
    return right(f"{CASES} loads, each as played out piece by piece.")


def _property(said: Any, load: tuple[float, float, float, float], expected: float) -> str:
    """Which property is broken."""
    compute, comm, split_cost, contention = load
    if said is None:
        return "best gives nothing back; it has to return its number"
    if not is_number(said):
        return "the answer is no number"
    for value, words in _models(*load).items():
        if abs(said - value) <= 1e-6 * value:
            return words
    overlapped = played_out(*load)
    if said > compute + comm:
        return "not to split at all would be better: then there is no overlap, and no cost"
    if said < max(compute, comm):
        return "the longer queue alone takes longer than that"
    if abs(said - expected) < 1:
        return "this is the number, rounded; leave it as it is"
    if contention and said < overlapped:
        return "while both queues work, both are slower"
    if split_cost and said < overlapped:
        return "two small pieces cost more than one large one: the split cost is missing"
    return "there is a better way: hide all of the shorter queue"


def _models(compute: float, comm: float, split_cost: float, contention: float) -> dict[float, str]:
    """What an answer that is nearly right makes of a load, and the mistake in it."""
    whole = compute + comm

    def made(of_compute: float, of_comm: float, of_all: float = 0) -> float:
        return min(played_out(compute, comm + of_comm, of_compute, contention) + of_all, whole)

    missing = "two small pieces cost more than one large one: for the computation the split cost is missing"
    misplaced = "the split cost stands in the wrong place: it makes the computation longer, and nothing else"
    everywhere = "contention was put on the whole pass; only while both queues work are both slower"
    return {
        made(split_cost, split_cost): misplaced, made(0, split_cost): misplaced, made(0, 0, split_cost): misplaced,
        min(max(compute + split_cost, comm) * (1 + contention), whole): everywhere,
        made(0, 0): missing,  # where several give one number, the last is meant
    }  # fmt: skip


EXERCISE = Exercise(
    "01.best",
    "Write best(compute, comm, split_cost, contention): the shortest makespan, with overlap or without.",
    (
        "Leave the costs out first: two queues at once take as long as the longer one.",
        "The split makes the computation longer by split_cost. While both queues work, everything takes "
        "(1 + contention) times as long: for how long do both work?",
        "a = compute + split_cost; overlapped = max(a, comm) + contention * min(a, comm); the best is the smaller of "
        "that and compute + comm.",
    ),
    judge,
)
