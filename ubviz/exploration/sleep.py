"""Sleep sets: which of the orders of operations need not be tried, since they come to the same.

1. Two operations of different threads commute when they touch different objects, or the same in ways that do not
   matter to each other (two waits, two sets): ``ubviz.runtime.schedule.dependent``.
2. At a choice, threads are tried one after the other. When a later one is tried, those before it *sleep*: what begins
   with one of them has been seen.
3. A thread sleeps on while only operations that commute with its own are carried out, and wakes at the first that
   does not.
4. A run in which everybody who could go on sleeps has been seen in another order: it is dropped.

Arrivals of one generation at a barrier commute, so the number that ``Barrier.wait`` returns, who came first, is not
told apart: a program that decides by it is searched plainly.

Every class of equal orders is still seen at least once, so nothing is missed that a class has in common: who is
stuck, what is raised, the order of operations on each object.

Source: Godefroid, "Partial-order methods for the verification of concurrent systems", chapter 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..runtime.schedule import Choice, Touch, dependent


def sleeping_after(chosen: Choice, asleep: Mapping[int, Choice]) -> frozenset[int]:
    """Which of ``asleep``, threads with the operations that they would do, sleep on after ``chosen`` has gone on."""
    return frozenset(
        thread
        for thread, choice in asleep.items()
        if thread != chosen.thread and not dependent(choice, chosen)
    )


class Signature:
    """What all orders of one class have in common: for each object, who did what, in blocks that follow one another.

    Each operation stands in the earliest block behind all that it does not commute with (Foata's normal form). Two
    executions are inequivalent when their signatures differ.
    """

    def __init__(self) -> None:
        self._blocks: dict[Any, list[list[_Step]]] = {}
        self._count: dict[int, int] = {}
        self._generation: dict[Any, int] = {}

    def add(self, choice: Choice) -> None:
        """The next operation of the execution."""
        number = self._count[choice.thread] = self._count.get(choice.thread, 0) + 1
        for touch in choice.touches:
            generation = self._generation.get(touch.obj, 0)
            step = _Step(choice.thread, number, touch, generation)
            blocks = self._blocks.setdefault(touch.obj, [])
            at = len(blocks)
            while at and all(_commute(step, other) for other in blocks[at - 1]):
                at -= 1
            if at == len(blocks):
                blocks.append([])
            blocks[at].append(step)
            if choice.left == 1:
                self._generation[touch.obj] = generation + 1

    def key(self) -> Any:
        """Equal for executions of one class."""
        return tuple(
            (obj, tuple(frozenset((step.thread, step.number) for step in block) for block in blocks))
            for obj, blocks in sorted(self._blocks.items())
        )


class _Step(NamedTuple):
    thread: int
    number: int
    touch: Touch
    generation: int


def _commute(a: _Step, b: _Step) -> bool:
    """As ``dependent`` has it, for operations that have been carried out."""
    if a.thread == b.thread:
        return False
    if a.touch.how == b.touch.how == "arrive":
        return a.generation == b.generation
    return not dependent(*(Choice(s.thread, "", "", None, (s.touch,), 0, 2) for s in (a, b)))
