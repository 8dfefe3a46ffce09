"""Depth-first search over schedules, by running the program again and again.

1. The first execution takes, at each choice, the thread that ran last if it can go on, else the lowest.
2. Each choice is kept as a node on a stack. After an execution, the deepest node with a thread left to try gets it,
   the nodes below go, and the program runs again: along the stack, then freely as in 1.
3. When the stack is empty, all has been seen. With sleep sets (``sleep``) most of it is dropped or never begun.

Nothing of the program is kept between executions, so memory grows with the length of one, not with their number.

Source: Godefroid, "Model checking for programming languages using VeriSoft".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..runtime.schedule import Choice, Dropped
from .execution import Execution, Program, execute, visible_of
from .sleep import Signature, sleeping_after


class Node:
    """One choice: who could go on, who sleeps, who has been tried, and who is being tried."""

    __slots__ = ("asleep", "chosen", "enabled", "tried")

    def __init__(self, enabled: Sequence[Choice], asleep: frozenset[int], chosen: int) -> None:
        self.enabled, self.asleep, self.chosen = tuple(enabled), asleep, chosen
        self.tried: set[int] = set()

    def of(self, threads: frozenset[int]) -> dict[int, Choice]:
        """The choices of some threads."""
        return {choice.thread: choice for choice in self.enabled if choice.thread in threads}

    def last(self) -> bool:
        """Whether nobody is left to try after who is being tried."""
        now = self.enabled[self.chosen].thread
        return all(c.thread in self.tried or c.thread in self.asleep or c.thread == now for c in self.enabled)

    def next(self) -> bool:
        """Go on to a thread that has not been tried; False when there is none."""
        self.tried.add(self.enabled[self.chosen].thread)
        for index, choice in enumerate(self.enabled):
            if choice.thread not in self.tried and choice.thread not in self.asleep:
                self.chosen = index
                return True
        return False


class DepthFirst:
    """An oracle that goes through all schedules; ``executions`` gives them one after the other.

    >>> [e.replay for e in DepthFirst(lambda rt: None).executions()]
    ['']
    """

    def __init__(self, program: Program, *, reduced: bool = True, looks: bool = False) -> None:
        self.program, self.reduced = program, reduced
        self.visible = visible_of(program, looks)
        self.exhaustive = False
        self._stack: list[Node] = []
        self._depth = 0

    def executions(self) -> Iterator[Execution]:
        """Every execution, also those that were dropped."""
        while True:
            self._depth = 0
            yield execute(self.program, self)
            while self._stack and not self._stack[-1].next():
                self._stack.pop()
            if not self._stack:
                self.exhaustive = True
                return

    @property
    def at_the_end(self) -> bool:
        """Whether the execution that was given last is the last one."""
        return all(node.last() for node in self._stack)

    def choose(self, enabled: Sequence[Choice]) -> int:
        depth, self._depth = self._depth, self._depth + 1
        if depth < len(self._stack):
            return self._stack[depth].chosen
        node = self._new(enabled)
        self._stack.append(node)
        return node.chosen

    def _new(self, enabled: Sequence[Choice]) -> Node:
        before = self._stack[-1] if self._stack else None
        asleep: frozenset[int] = frozenset()
        if before is not None and self.reduced and (seen := before.asleep | before.tried):
            asleep = sleeping_after(before.enabled[before.chosen], before.of(seen))
        last = before.enabled[before.chosen].thread if before is not None else 0
        awake = [i for i, choice in enumerate(enabled) if choice.thread not in asleep]
        if not awake:
            raise Dropped
        again = next((i for i in awake if enabled[i].thread == last), awake[0])
        return Node(enabled, asleep, again)

    def signature(self) -> object:
        """What the execution that was given last has in common with its equals."""
        signature = Signature()
        for node in self._stack:
            signature.add(node.enabled[node.chosen])
        return signature.key()
