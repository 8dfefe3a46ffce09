"""Counting schedules, and the shortest way to a bad end: over states instead of schedules.

A state is how far each thread has come, what it is about to do, and how the host events and barriers stand. Different
schedules meet in one state, and what can follow is the same; so the number of schedules from a state is the sum over
its choices, computed once for each state. 2,827,440 schedules of three microbatches on one layer meet in 134 states.

That is exact for programs whose threads do not decide by anything else, as the microbatches' do not. It forgets how a
state was reached; so what depends on that (a race) is not looked for here.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..runtime.schedule import Choice, Dropped
from .execution import Execution, Explored, Program, execute, name_of, visible_of

State = Any
END = None


class States:
    """The graph of a program's states; ``complete`` unless there are more than ``limit``.

    >>> States(lambda rt: None).count()
    1
    """

    def __init__(self, program: Program, limit: int = 20_000, *, looks: bool = False) -> None:
        self.visible = visible_of(program, looks)
        self.edges: dict[State, dict[int, State]] = {}
        self.ends: dict[tuple[State, int], Execution] = {}
        self.root: State = END
        self.executions = 0
        self._runtime: Any = None
        self._todo: list[tuple[int, ...]] = [()]
        while self._todo and len(self.edges) <= limit:
            self._run(program, self._todo.pop())
        self.complete = not self._todo

    # ---- going through them

    def _run(self, program: Program, prefix: tuple[int, ...]) -> None:
        self._begin(prefix)

        def kept(rt: Explored) -> None:
            rt.modelled = getattr(program, "modelled", False)
            self._runtime = rt
            try:
                program(rt)
            finally:
                self._over()

        execution = execute(kept, self)
        if not execution.dropped:
            if self._from is not None:
                self.edges[self._from[0]][self._from[1]] = END
            at = self._from or (END, 0)
            self.ends[at] = execution
            self._came_to_an_end(at, execution)

    def _begin(self, prefix: tuple[int, ...]) -> None:
        self._prefix = prefix
        self._taken: list[int] = []
        self._count: Counter[int] = Counter()
        self._from: tuple[State, int] | None = None
        self._runtime = None
        self.executions += 1

    # ---- for who wants to look at each state

    def _came_to(self, state: State, enabled: Sequence[Choice]) -> None:
        """A state that is new."""

    def _over(self) -> None:
        """The program has come to its end, or was dropped."""

    def _came_to_an_end(self, at: tuple[State, int], execution: Execution) -> None:
        """A last choice, from a state, and what came of it."""

    # ---- the oracle

    def choose(self, enabled: Sequence[Choice]) -> int:
        at = len(self._taken)
        numbers = [choice.thread for choice in enabled]
        thread = self._prefix[at] if at < len(self._prefix) else numbers[0]
        if at >= len(self._prefix) - 1:  # from the last step of the prefix on the edges may be new
            state = self._state(enabled)
            new = state not in self.edges
            if self._from is not None:
                self.edges[self._from[0]][self._from[1]] = state
            elif at == 0:
                self.root = state
            if new:
                self.edges[state] = {}
                self._came_to(state, enabled)
                self._todo += [(*self._taken, other) for other in numbers[1:]]
            elif at >= len(self._prefix):
                raise Dropped
            self._from = (state, thread)
        self._taken.append(thread)
        self._count[thread] += 1
        return numbers.index(thread)

    def _state(self, enabled: Sequence[Choice]) -> State:
        rt: Explored = self._runtime
        pending = [
            (c.thread, c.kind, name_of(c.obj), able)
            for able, choices in ((True, enabled), (False, rt.blocked()))
            for c in choices
        ]
        objects = [
            (
                obj.id,
                tuple(state.values()) if isinstance(state, dict) else state,
                getattr(obj, "broken", None),
            )
            for obj, state in rt.snapshot()
        ]
        return tuple(sorted(self._count.items())), tuple(sorted(pending)), tuple(objects)

    # ---- asking

    def count(self) -> int:
        """The exact number of schedules."""
        known: dict[State, int] = {END: 1}
        stack = [self.root]
        while stack:
            state = stack[-1]
            missing = [after for after in self.edges.get(state, {}).values() if after not in known]
            if missing:
                stack += missing
            else:
                stack.pop()
                if state not in known:
                    known[state] = sum(known[after] for after in self.edges[state].values())
        return known[self.root]

    def shortest(self, kind: str) -> Execution | None:
        """The execution with the fewest steps that ends in a finding of ``kind``, by breadth-first search."""
        way: dict[State, tuple[int, ...]] = {self.root: ()}
        queue = deque([self.root])
        while queue:
            state = queue.popleft()
            for thread, after in self.edges.get(state, {}).items():
                end = self.ends.get((state, thread))
                if end is not None and any(finding.kind == kind for finding in end.findings()):
                    return self._as_reached(end, (*way[state], thread))
                if after is not END and after not in way:
                    way[after] = (*way[state], thread)
                    queue.append(after)
        return None

    @staticmethod
    def _as_reached(end: Execution, steps: tuple[int, ...]) -> Execution:
        return replace(end, steps=steps)
