"""Checking an answer, asking for a hint, looking at a solution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import BadArgument, raised_at
from . import progress
from .exercise import Verdict, wrong
from .exercises import named
from .limit import TookTooLong, within

LIMIT_S = 5.0
"""Seconds that judging an answer may take."""
SOLUTIONS = Path(__file__).resolve().parents[2] / "tests" / "course_solutions"


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
    except Exception as error:
        where = raised_at(error)
        at = f" at line {where[1]}" if where is not None else ""
        return wrong(f"The answer raised {type(error).__name__}{at}: {error}")
    return verdict


def hint(name: str, number: int = 1) -> str:
    """The first, second or third hint, each stronger than the one before.

    >>> hint("05.yields", 2)  # doctest: +SKIP
    """
    hints = named(name).hints
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(hints):
        raise BadArgument(f"hints are numbered 1 to {len(hints)}, there is none {number!r}")
    return hints[number - 1]


def solution(name: str) -> str:
    """The text of a solution, where this package runs from its checkout; else where to find one."""
    file = f"s{named(name).name.replace('.', '_')}.py"
    path = SOLUTIONS / file
    if path.is_file():
        return path.read_text(encoding="utf-8")
    return f"Solutions do not travel with the package: this one is tests/course_solutions/{file} of its repository."
