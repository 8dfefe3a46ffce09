"""One execution of a program under an oracle, and what came of it.

A program is a function of a runtime. It makes streams, host events and threads with it, as it would on any other
runtime; the thread that runs the exploration is its main thread. It has to be deterministic but for the schedule.

Not here: choosing schedules (``search``), and judging a recording (``ubviz.analysis``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from ..analysis.checks import findings_of
from ..analysis.findings import Finding
from ..errors import BadArgument, Deadlock, Stalled
from ..recording import record
from ..runtime.schedule import LOOK, SYNC, Choice, Dropped, Oracle, written
from ..runtime.virtual import VirtualRuntime
from ..trace.model import Trace

Program = Callable[[Any], Any]
"""What is explored: a function of a runtime. It may have attributes: ``visible``, the kinds of operation that are a
choice, and ``modelled``, true where it does without PyTorch."""


def visible_of(program: Program, looks: bool = False) -> frozenset[str]:
    """The kinds of operation at which ``program``'s threads may be interleaved; with ``looks``, each look at a flag.

    Raises ``BadArgument`` if it is no program.
    """
    if not callable(program):
        raise BadArgument(
            f"a program is a function of a runtime, as in explore(lambda rt: ...), not {program!r}"
        )
    return frozenset(getattr(program, "visible", SYNC)) | ({LOOK} if looks else set())


class Explored(VirtualRuntime):
    """A virtual runtime that keeps what its threads raise, and what the program notes about itself."""

    def __init__(self, oracle: Oracle | None, modelled: bool = False) -> None:
        super().__init__(schedule=oracle)
        self.modelled = modelled
        self.raised: list[tuple[str, BaseException]] = []
        self.noted: list[Finding] = []

    def thread_context(self) -> Any:
        """Where all kernels are modelled there is no PyTorch to look after, which costs half of an execution."""
        return nullcontext() if self.modelled else super().thread_context()

    def keeps(self, error: BaseException) -> bool:
        if isinstance(error, Stalled):
            return True  # a deadlock, which the runtime tells
        if isinstance(error, Exception):
            self.raised.append((threading.current_thread().name, error))
            return True
        return False

    def note(self, finding: Finding) -> None:
        """Keep what the program itself has seen go wrong."""
        if finding not in self.noted:
            self.noted.append(finding)


@dataclass(frozen=True)
class Execution:
    """What came of one run: its schedule, and how it ended.

    ``dropped`` is true when the oracle did not want to see the end of it. ``looks`` says whether to look at a flag was
    a step of its own, ``contested`` whether it has to be.
    """

    steps: tuple[int, ...]
    dropped: bool
    deadlock: Deadlock | None
    raised: tuple[tuple[str, BaseException], ...]
    noted: tuple[Finding, ...]
    trace: Trace | None
    looks: bool = False
    contested: bool = False

    @property
    def replay(self) -> str:
        """The string that plays it again."""
        return written(self.steps, self.looks)

    @property
    def stuck(self) -> tuple[tuple[str, str, str], ...]:
        """Who waits for what, where it ended in a deadlock."""
        waiting = self.deadlock.waiting if self.deadlock is not None else ()
        return tuple((c.name, c.kind, name_of(c.obj)) for c in waiting if isinstance(c, Choice))

    def findings(self) -> list[Finding]:
        """All that is wrong with it; its trace, where there is one, is asked too."""
        found = list(findings_of(self.trace)) if self.trace is not None else []
        if self.deadlock is not None:  # the runtime knows it at first hand
            report = "; ".join(line.strip() for line in str(self.deadlock).splitlines()[1:])
            found = [finding for finding in found if finding.kind not in ("deadlock", "stalled")]
            found.insert(0, Finding("deadlock", "error", report))
        for thread, error in self.raised:
            found.append(Finding("raised", "error", f"{thread} raised {type(error).__name__}: {error}"))
        told = {finding.kind for finding in found}
        return found + [finding for finding in self.noted if finding.kind not in told]


def execute(program: Program, oracle: Oracle | None, *, recorded: bool = False) -> Execution:
    """Run ``program`` once, in the order that ``oracle`` chooses.

    >>> execute(lambda rt: None, None).replay
    ''
    """
    rt = Explored(oracle, getattr(program, "modelled", False))
    runtime: Any = rt
    recording: Any = record(runtime, watchdog_s=None) if recorded else nullcontext()
    dropped = False
    try:
        with recording:
            program(rt)
    except Dropped:
        dropped = True
    except Exception as error:
        if error is getattr(oracle, "refused", None):
            raise
        if not isinstance(error, Stalled):
            rt.raised.append(("main", error))
    finally:
        rt.close()
    trace = recording.trace if recorded else None
    looks = LOOK in rt.baton.visible
    ended = (rt.deadlock, tuple(rt.raised), tuple(rt.noted))
    return Execution(tuple(rt.steps), dropped, *ended, trace, looks, rt.contested)


def name_of(obj: Any) -> str:
    """What an object is called in words and in keys: its name, else its number."""
    return str(getattr(obj, "name", None) or getattr(obj, "id", None) or type(obj).__name__)
