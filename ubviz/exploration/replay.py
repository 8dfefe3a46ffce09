"""Playing a schedule again, and walking through the tree of all schedules.

A schedule is a list of thread numbers, written as a short string: ``0x3.1.2x14`` lets main take three steps, thread 1
one, thread 2 fourteen. The same program under the same string is the same run, and the same recording.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..errors import BadArgument, Deadlock
from ..runtime.schedule import Choice, Dropped, Replay, looks_in, read_schedule, written
from ..trace.model import Trace
from .execution import Execution, Program, execute, visible_of


class Following(Replay):
    """The order of a list of threads, then that of ``Replay``; with ``stop`` the run is dropped at its end."""

    def __init__(
        self, program: Program, threads: Sequence[int], *, stop: bool = False, looks: bool = False
    ) -> None:
        super().__init__(threads, visible_of(program, looks))
        self.refused: BaseException | None = None
        self.enabled: tuple[Choice, ...] = ()
        self._left = len(threads)
        self._stop = stop

    def choose(self, enabled: Sequence[Choice]) -> int:
        self._left -= 1
        if self._left < 0 and self._stop:
            self.enabled = tuple(enabled)
            raise Dropped
        try:
            return super().choose(enabled)
        except BadArgument as error:
            self.refused = error
            raise


def replay(program: Program, schedule: str) -> Trace:
    """The recording of ``program`` under a schedule; past the schedule's end the thread that ran last goes on.

    >>> replay(program, "0x3.1.2x14")  # doctest: +SKIP
    <Trace: 96 trace events, 28 spans, 40 flows, 5 lanes, 0 steps>

    Raises ``BadArgument`` for a string that is no schedule, or that of another program.
    """
    return _trace(play(program, schedule, recorded=True))


def play(program: Program, schedule: str, *, recorded: bool = False) -> Execution:
    """The execution of ``program`` under a schedule, ``recorded`` or not."""
    threads = read_schedule(schedule)
    oracle = Following(program, threads, looks=looks_in(schedule))
    execution = execute(program, oracle, recorded=recorded)
    if execution.steps[: len(threads)] != threads:
        raise BadArgument(
            f"the schedule has {len(threads)} steps, but the program ends after {len(execution.steps)}: "
            "it is a schedule of another program"
        )
    return execution


class Branch:
    """A place in the tree of schedules: what has been chosen so far, and who could go on.

    >>> tree = Branch(program)  # doctest: +SKIP
    >>> tree.child(1).child(0).is_leaf  # doctest: +SKIP
    False

    A leaf is where nobody can go on: all have ended, or all wait (``deadlock``).
    """

    def __init__(self, program: Program, threads: Sequence[int] = (), *, looks: bool = False) -> None:
        self.program, self.threads, self.looks = program, tuple(threads), looks

    def _oracle(self) -> Following:
        return Following(self.program, self.threads, stop=True, looks=self.looks)

    @cached_property
    def _seen(self) -> tuple[Execution, tuple[Choice, ...]]:
        oracle = self._oracle()
        return execute(self.program, oracle), oracle.enabled

    @property
    def schedule(self) -> str:
        """The string that leads here."""
        return written(self.threads, self.looks)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Who can go on, and what each would do."""
        return self._seen[1]

    @property
    def is_leaf(self) -> bool:
        """Whether the run is over here."""
        return not self._seen[0].dropped

    @property
    def deadlock(self) -> Deadlock | None:
        """Who waits for what, where that is all that is left."""
        return self._seen[0].deadlock

    @property
    def execution(self) -> Execution:
        """The run up to here, not recorded."""
        return self._seen[0]

    def child(self, thread: int) -> Branch:
        """Where ``thread``'s going on leads; ``BadArgument`` when it cannot."""
        able = [choice.thread for choice in self.choices]
        if thread not in able:
            raise BadArgument(f"thread {thread} cannot go on here; {_those(able)} can")
        return Branch(self.program, (*self.threads, thread), looks=self.looks)

    def trace(self) -> Trace:
        """The recording up to here."""
        return _trace(execute(self.program, self._oracle(), recorded=True))

    def __repr__(self) -> str:
        able = " ".join(str(choice.thread) for choice in self.choices)
        return f"<schedule {self.schedule or 'empty'}: {'over' if self.is_leaf else 'next ' + able}>"


def _those(threads: Sequence[int]) -> str:
    return " and ".join(map(str, threads)) or "nobody"


def _trace(execution: Execution) -> Trace:
    assert execution.trace is not None
    return execution.trace
