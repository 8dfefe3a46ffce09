"""``explore``: run a program in all orders that matter, and say what can go wrong, with a string that shows it.

1. Schedules are searched depth first, plainly or with sleep sets, or drawn at random.
2. Each execution that came to its end is judged (``judged``): by how it ended, and by its recording.
3. For the findings the shortest counterexample is looked for, over states.

Not here: order of accesses to memory between two operations (what is shared is touched with the turn in hand).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..errors import BadArgument
from ..trace.model import Trace
from .execution import Program
from .judged import Found, Judged
from .replay import Branch, play, replay
from .states import States

MODES = ("sleep", "dfs", "random")
LIMITS = {"sleep": 100_000, "dfs": 100_000, "random": 200}
"""How many executions are made at most, where no limit is given."""
SHORTEN = 1_000
"""A shorter counterexample is looked for among at most so many states."""


@dataclass(frozen=True, repr=False)
class Exploration:
    """What an exploration found.

    ``executions`` came to their end, ``pruned`` were dropped since they had been seen in another order;
    ``schedules`` is how many of the former are inequivalent. ``exhaustive`` is true when all orders that matter were
    seen. ``interleavings`` is the exact number of all schedules, None unless it was asked for or all were run.
    ``looks`` says that to look at a flag is a step of its own, since somebody puts one down for which others wait.
    """

    program: Program
    mode: str
    exhaustive: bool
    executions: int
    pruned: int
    schedules: int
    interleavings: int | None
    findings: tuple[Found, ...]
    looks: bool = False

    @property
    def wrong(self) -> bool:
        """Whether an error was found."""
        return any(found.severity == "error" for found in self.findings)

    @cached_property
    def shortest(self) -> Found | None:
        """The counterexample with the fewest steps; None when no error was found."""
        errors = [self._shortened(found) for found in self.findings if found.severity == "error"]
        return min(errors, key=lambda found: found.steps, default=None)

    def _shortened(self, found: Found) -> Found:
        """The same finding by fewer steps, where states tell and there are not too many."""
        if found.kind not in ("deadlock", "raised"):
            return found
        end = self._states.shortest(found.kind)
        if end is None or len(end.steps) >= found.steps:
            return found
        told = next((f for f in play(self.program, end.replay).findings() if f.kind == found.kind), None)
        return found if told is None else replace(found, sentence=told.sentence, replay=end.replay)

    @cached_property
    def _states(self) -> States:
        return States(self.program, SHORTEN, looks=self.looks)

    @property
    def tree(self) -> Branch:
        """The root of the tree of all schedules, to walk through."""
        return Branch(self.program, looks=self.looks)

    def trace(self, found: Found | None = None) -> Trace:
        """The recording of a finding (the shortest counterexample); of the first schedule, where nothing was found."""
        found = found or self.shortest or (self.findings[0] if self.findings else None)
        return replay(self.program, found.replay if found is not None else self.tree.schedule)

    def numbers(self) -> dict[str, Any]:
        """As plain data: what ``ubviz explore --json`` prints."""
        return {
            "mode": self.mode, "exhaustive": self.exhaustive, "executions": self.executions,
            "pruned": self.pruned, "schedules": self.schedules, "interleavings": self.interleavings,
            "findings": [found.facts() for found in self.findings],
        }  # fmt: skip

    def __repr__(self) -> str:
        kinds = ", ".join(found.kind for found in self.findings) or "nothing wrong"
        how = "all" if self.exhaustive else "not all"
        return f"<exploration: {self.executions} executions, {self.schedules} inequivalent, {how}: {kinds}>"


def explore(
    program: Program,
    mode: str = "sleep",
    *,
    stop_at_first: bool = True,
    limit: int | None = None,
    seed: int = 0,
    count: bool = False,
    check: bool = True,
) -> Exploration:
    """Run ``program``, a function of a runtime, in all orders of its threads, and say what can go wrong.

    ``mode`` is "sleep" (one of each class of equal orders, mostly), "dfs" (every order), or "random" (``limit`` of
    them, from ``seed`` on). ``stop_at_first`` ends with the first execution in which an error is found. ``count``
    asks for the exact number of all orders. ``check=False`` judges how runs end, not their recordings.

    >>> def program(rt):
    ...     ready = rt.HostEvent("ready")
    ...     threads = [rt.Thread(ready.set), rt.Thread(ready.clear), rt.Thread(ready.wait)]
    ...     for thread in threads: thread.start()
    ...     for thread in threads: thread.join()
    >>> found = explore(program)
    >>> found.wrong, found.shortest.replay
    (True, 'look:1.0.2.0.3')

    Raises ``BadArgument`` for a mode or a limit that does not exist.
    """
    if mode not in MODES:
        raise BadArgument(f"mode is one of {', '.join(MODES)}, not {mode!r}")
    if limit is not None and limit < 1:
        raise BadArgument(f"limit is a number of executions, at least 1, not {limit}")
    search = Judged(program, mode, LIMITS[mode] if limit is None else limit, seed, check)
    search.run(stop_at_first)
    interleavings = search.ended if mode == "dfs" and search.exhaustive else None
    if count and interleavings is None:
        states = States(program, looks=search.looks)
        interleavings = states.count() if states.complete else None
    return Exploration(
        program, mode, search.exhaustive, search.ended, search.pruned, len(search.classes), interleavings,
        tuple(search.found.values()), search.looks,
    )  # fmt: skip
