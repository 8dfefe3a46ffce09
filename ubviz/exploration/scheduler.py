"""The scheduler in your hands: at every step you choose which thread goes on.

Not here: how it looks (``ubviz.view``).
"""

from __future__ import annotations

from ..analysis.words import either
from ..errors import BadArgument, Deadlock
from ..runtime.schedule import Choice, looks_in, read_schedule
from ..trace.model import Trace
from .execution import Program, execute, name_of
from .replay import Branch, Following


class Scheduler:
    """Run a program step by step: ``enabled`` says who can go on, ``choose`` lets one, ``undo`` takes it back.

    A thread is chosen by its name or its number. A deadlock is told as soon as it is there. Where a thread puts a flag
    down for which another one waits, each look at a flag is a step, too.

    >>> s = Scheduler(program)  # doctest: +SKIP
    >>> s.enabled  # doctest: +SKIP
    {'main': 'barrier.arrive ready_barrier', 'ubatch 0': 'barrier.arrive ready_barrier'}
    >>> s.choose("main").replay  # doctest: +SKIP
    '0'
    """

    def __init__(self, program: Program, schedule: str = "") -> None:
        self.program = program
        looks = looks_in(schedule) if schedule else execute(program, Following(program, ())).contested
        self._way = [Branch(program, looks=looks)]
        for thread in read_schedule(schedule):
            self.choose(thread)

    @property
    def here(self) -> Branch:
        """The place in the tree of schedules."""
        return self._way[-1]

    @property
    def enabled(self) -> dict[str, str]:
        """Who can go on, by name, and what each would do."""
        return {choice.name: said(choice) for choice in self.here.choices}

    def choose(self, thread: str | int) -> Scheduler:
        """Let a thread carry out its operation and run to its next one; this scheduler again.

        Raises ``BadArgument`` when that thread cannot go on.
        """
        for choice in self.here.choices:
            if thread in (choice.name, choice.thread):
                self._way.append(self.here.child(choice.thread))
                return self
        able = ", ".join(self.enabled) or "nobody: the run is over"
        raise BadArgument(f"{thread!r} cannot go on now; able to go on: {able}")

    def undo(self, steps: int = 1) -> Scheduler:
        """Take the last choices back; ``BadArgument`` when there are fewer."""
        if not 0 <= steps < len(self._way):
            raise BadArgument(f"{len(self._way) - 1} choices were made, {steps} cannot be taken back")
        del self._way[len(self._way) - steps :]
        return self

    @property
    def replay(self) -> str:
        """The string of what was chosen so far: ``Scheduler(program, replay)`` is here again."""
        return self.here.schedule

    @property
    def over(self) -> bool:
        """Whether all have ended, or nobody can go on."""
        return self.here.is_leaf

    @property
    def deadlock(self) -> Deadlock | None:
        """Who waits for what, where nobody can go on; else None."""
        return self.here.deadlock

    @property
    def findings(self) -> list[str]:
        """What has gone wrong so far, one sentence each."""
        return [finding.sentence for finding in self.here.execution.findings()]

    def trace(self) -> Trace:
        """The recording of what has happened so far."""
        return self.here.trace()

    @property
    def stands(self) -> str:
        """Where it stands in a few words: "3 choices made, next: main or ubatch 1"."""
        made = len(self._way) - 1
        over = "deadlock" if self.deadlock else "all have ended" if self.over else None
        return (
            f"{made} choice{'' if made == 1 else 's'} made, {over or f'next: {either(list(self.enabled))}'}"
        )

    def __repr__(self) -> str:
        return f"<Scheduler: {self.stands}>"


def said(choice: Choice) -> str:
    """An operation in words: its kind and what it is about."""
    return f"{choice.kind} {name_of(choice.obj)}"
