"""The scheduler as a widget: a page plays in the graph of all states, Python runs the program itself.

Both are at the same place: the page sends the replay string of what was chosen, and Python goes there; what is chosen
in Python moves the page. The graph is made when a page first asks for it, so that who only uses Python pays nothing.
"""

from __future__ import annotations

from itertools import takewhile
from operator import eq
from typing import Any

from ..errors import BadArgument
from ..exploration import scheduler as live
from ..exploration.execution import Program
from ..exploration.game import game
from ..runtime.schedule import looks_in, read_schedule
from ..view.scheduler import SchedulerView

MOST_STATES = 600
"""A page gets no more: each costs a run or several, while a learner waits. Six microbatches have 1,125: 9 s of work."""


class Scheduler(live.Scheduler, SchedulerView):
    """Run a program step by step, in a cell: click who goes on, undo, see a deadlock the moment it is there.

    >>> s = ubviz.Scheduler(program)  # doctest: +SKIP
    >>> s  # doctest: +SKIP
    <Scheduler: 0 choices made, next: main, ubatch 0 or ubatch 1>
    >>> s.choose("main").undo().replay  # doctest: +SKIP
    ''

    program: a function of a runtime, as for ``explore``. schedule: the replay string to begin with. theme: "auto" (the
    notebook's), "light" or "dark". hints: whether the page says if a bad end can still be avoided.

    Traits: ``schedule``, the replay string of what was chosen, here or in the page; setting it goes there. ``theme``;
    ``hints``. ``enabled``, ``over``, ``deadlock``, ``findings`` and ``trace()`` tell of the same place. Raises
    BadArgument for a schedule of another program, and for a thread that cannot go on.
    """

    def __init__(
        self, program: Program, schedule: str = "", *, theme: str = "auto", hints: bool = False
    ) -> None:
        live.Scheduler.__init__(self, program)
        SchedulerView.__init__(self, self._states, schedule=schedule or self.replay, theme=theme, hints=hints)

    def choose(self, thread: str | int) -> Scheduler:
        """Let a thread carry out its operation and run to its next one; this scheduler again."""
        super().choose(thread)
        self.schedule = self.replay
        return self

    def undo(self, steps: int = 1) -> Scheduler:
        """Take the last choices back; ``BadArgument`` when there are fewer."""
        super().undo(steps)
        self.schedule = self.replay
        return self

    # ---- the view's side

    def _states(self) -> dict[str, Any]:
        try:
            return game(self.program, limit=MOST_STATES)
        except BadArgument as error:
            raise BadArgument(
                f"a page cannot play this program, since it has more than {MOST_STATES:,} states; "
                "in Python choose, undo and trace work all the same"
            ) from error

    def _opened(self, schedule: str) -> str:
        """Go where a replay string leads; what it shares with the way so far is not run again."""
        if schedule == self.replay:
            return schedule
        if schedule and looks_in(schedule) != self.here.looks:
            begins = "begins" if self.here.looks else "does not begin"
            raise BadArgument(f"a schedule of this program {begins} with 'look:', not so {schedule!r}")
        threads = read_schedule(schedule)
        shared = sum(1 for _ in takewhile(bool, map(eq, self.here.threads, threads)))
        way = self._way[: shared + 1]
        for number, thread in enumerate(threads[shared:], shared + 1):
            able = [choice.thread for choice in way[-1].choices]
            if thread not in able:
                raise BadArgument(
                    f"choice {number} of the schedule lets thread {thread} go on, but "
                    f"{' and '.join(map(str, able)) or 'nobody'} can: it is a schedule of another program"
                )
            way.append(way[-1].child(thread))
        self._way = way
        return self.replay

    @property
    def _words(self) -> str:  # type: ignore[override]
        return self.stands
