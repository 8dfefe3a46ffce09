"""An exploration under way: each execution that came to its end is judged, and what was found is kept.

1. How an execution ended says whether it is a deadlock, what was raised, what the program noted.
2. The first execution of each class of equal orders is played again, recorded, and its trace is judged too. One of
   a class is enough: what a trace is asked depends on order alone.
3. When a flag turns out to be put down by another thread than the one that waits for it, all begins again, with
   each look at a flag as a step of its own (``LOOK`` in ``ubviz.runtime.schedule``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..analysis.findings import Finding
from ..runtime.schedule import AtRandom, read_schedule
from .execution import Execution, Program, execute, visible_of
from .replay import play
from .search import DepthFirst


@dataclass(frozen=True)
class Found:
    """One thing that can go wrong: the sentence, the schedule that shows it, and in how many executions it was seen.

    ``replay`` is the string of that schedule, ``steps`` its length.
    """

    kind: str
    severity: str
    sentence: str
    replay: str
    executions: int

    @property
    def steps(self) -> int:
        """How many choices the schedule makes."""
        return len(read_schedule(self.replay))

    def facts(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "kind": self.kind, "severity": self.severity, "sentence": self.sentence, "replay": self.replay,
            "steps": self.steps, "executions": self.executions,
        }  # fmt: skip


class Judged:
    """One exploration under way."""

    def __init__(self, program: Program, mode: str, limit: int, seed: int, check: bool) -> None:
        self.program, self.mode, self.limit, self.seed, self.check = program, mode, limit, seed, check
        self.looks = self.exhaustive = False
        self._begin()

    def _begin(self) -> None:
        self.ended = self.pruned = 0
        self.classes: dict[Any, dict[Any, Finding]] = {}
        self.found: dict[Any, Found] = {}

    def run(self, stop_at_first: bool) -> None:
        """Search; what was found is in ``found``."""
        if self._searched(stop_at_first):
            self.looks = True
            self._begin()
            self._searched(stop_at_first)

    def _searched(self, stop_at_first: bool) -> bool:
        """Search once; True when that has to be done again, with looks as steps."""
        depth_first = DepthFirst(self.program, reduced=self.mode == "sleep", looks=self.looks)
        executions = self._random() if self.mode == "random" else depth_first.executions()
        for execution in executions:
            if execution.contested and not self.looks:
                return True
            if execution.dropped:
                self.pruned += 1
            else:
                self.ended += 1
                key = (
                    execution.steps if self.mode == "random" else (depth_first.signature(), _ended(execution))
                )
                if self._judge(execution, key) and stop_at_first:
                    self.exhaustive = self.mode != "random" and depth_first.at_the_end
                    return False
            if self.ended + self.pruned >= self.limit and not depth_first.at_the_end:
                return False
        self.exhaustive = depth_first.exhaustive
        return False

    def _random(self) -> Iterator[Execution]:
        for seed in range(self.seed, self.seed + self.limit):
            yield execute(self.program, AtRandom(seed, visible_of(self.program, self.looks)))

    def _judge(self, execution: Execution, key: Any) -> bool:
        """Keep what was found; True when one of it is an error."""
        if key not in self.classes:
            judged = play(self.program, execution.replay, recorded=True) if self.check else execution
            found = judged.findings()
            self.classes[key] = {_what(f, execution): f for f in reversed(found)}  # the first one of each
        for what, finding in reversed(self.classes[key].items()):
            seen = self.found.get(what)
            if seen is None:
                self.found[what] = Found(
                    finding.kind, finding.severity, finding.sentence, execution.replay, 1
                )
            else:
                self.found[what] = replace(seen, executions=seen.executions + 1)
        return any(finding.severity == "error" for finding in self.classes[key].values())


def _ended(execution: Execution) -> Any:
    """How it ended, which the order of operations need not tell of a program that decides by something else."""
    return execution.stuck, tuple((name, type(error)) for name, error in execution.raised), execution.noted


def _what(finding: Finding, execution: Execution) -> Any:
    """What makes two findings of two executions the same one: times and places may differ."""
    if finding.kind == "deadlock":
        return finding.kind, execution.stuck
    if finding.kind == "raised":
        return finding.kind, finding.sentence
    return finding.kind, finding.severity
