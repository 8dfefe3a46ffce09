"""Checking an answer, asking for a hint, looking at a solution."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from typing import Any

from ..errors import BadArgument
from . import progress
from .exercise import Verdict, wrong
from .exercises import named
from .limit import StillRuns, TookTooLong, within
from .told import Told, filled

LIMIT_S = 4.0
"""Seconds that judging an answer may take; to end one takes up to another."""
SOLUTIONS = Path(__file__).resolve().parents[2] / "tests" / "course_solutions"
NOT_ITS = (str(Path(__file__).resolve().parents[1]), *map(sysconfig.get_path, ("stdlib", "purelib")))
"""Folders whose lines are no lines of an answer."""


def check(name: str, answer: Any) -> Verdict:
    """Judge an answer to an exercise; a verdict comes back within five seconds, whatever the answer does.

    >>> check("05.yields", {(1, 1), (2, 3)})  # doctest: +SKIP
    Not yet.
    ubatch 1 waits ...

    A pass is noted in the file of progress. Raises ``BadArgument`` for an exercise that there is not.
    """
    exercise = named(name)
    if exercise.prepare is not None:
        exercise.prepare()
    try:
        verdict = within(LIMIT_S, lambda: _judged(exercise.judge, answer))
    except TookTooLong:
        verdict = wrong(f"This ran for {LIMIT_S:.0f} seconds without coming to an end, and was stopped.")
    except StillRuns:
        verdict = wrong(
            "The answer before this one could not be stopped, and still runs: it may hold what this one needs. "
            "Restart the kernel, run the cells above, and check again."
        )
    if verdict:
        progress.note(name)
    return verdict


def _judged(judge: Any, answer: Any) -> Verdict:
    """What an answer raises is a verdict too: it has a line."""
    if answer is None or answer is Ellipsis:
        return wrong("There is no answer yet: the cell above still holds its stub.", yours=answer)
    try:
        verdict: Verdict = judge(answer)
    except BadArgument as error:
        return wrong(f"{error}.")
    except (
        Exception,
        SystemExit,
        KeyboardInterrupt,
    ) as error:  # by the answer: a real interrupt goes to its caller
        who = {
            note.partition(" (thread")[0] for note in getattr(error, "__notes__", ()) if " (thread" in note
        }
        told = " ".join([str(error), *(f"({each})" for each in sorted(who))])
        return wrong(f"The answer raised {type(error).__name__}{_line_of(answer, error)}: {told}")
    return verdict


def _line_of(answer: Any, error: BaseException) -> str:
    """The line of the answer that raised: in its own cell, or else outside this package; never one of a judge."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(NOT_ITS)
    ]
    cell = getattr(getattr(answer, "__code__", None), "co_filename", None)
    own = [frame for frame in frames if frame.filename == cell] or frames
    return f" at line {own[-1].lineno}" if own else ""


def hint(name: str, number: int = 1) -> str:
    """The first, second or third hint, each stronger than the one before.

    >>> hint("05.yields", 2)  # doctest: +SKIP
    """
    hints = named(name).hints
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(hints):
        raise BadArgument(f"hints are numbered 1 to {len(hints)}, there is none {number!r}")
    return Told(filled(hints[number - 1]))


def solution(name: str) -> str:
    """The text of a solution, where this package runs from its checkout; else where to find one."""
    file = f"s{named(name).name.replace('.', '_')}.py"
    path = SOLUTIONS / file
    if path.is_file():
        return Told(path.read_text(encoding="utf-8"))
    return Told(
        f"Solutions do not travel with the package: this one is tests/course_solutions/{file} of its repository."
    )
