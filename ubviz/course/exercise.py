"""What an exercise is, and what checking an answer gives back.

An exercise lies in ``ubviz/course/exercises``, one file each: what is asked, three hints of rising strength, and a
function that judges an answer. Judging looks at values *and* at traces; where threads take turns it tries all orders
(or many), and says which one failed. Solutions do not travel with the package (``solutions``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .told import filled


@dataclass(frozen=True)
class Verdict:
    """What came of checking an answer.

    ``sentence`` says what was right, or what went wrong: which thread, which trace event, which step. ``yours`` and
    ``expected`` are what the answer gave and what was wanted, where that can be said. ``replay`` is the schedule that
    failed; ``ubviz.exploration.replay`` plays it again.

    >>> print(Verdict(False, "ubatch 1 waits for cpu_event[1], which nobody sets.", yours="(2, 3)"))
    Not yet.
    ubatch 1 waits for cpu_event[1], which nobody sets.
      yours:    (2, 3)
    """

    passed: bool
    sentence: str
    yours: str = ""
    expected: str = ""
    replay: str = ""

    def __str__(self) -> str:
        lines = ["Right." if self.passed else "Not yet.", self.sentence]
        for name, text in (("yours", self.yours), ("expected", self.expected), ("replay", self.replay)):
            if text:
                lines.append(f"  {name + ':':<9} {text}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return filled(str(self))

    def __bool__(self) -> bool:
        return self.passed


def right(sentence: str, **more: str) -> Verdict:
    """A passing verdict."""
    return Verdict(True, sentence, **more)


def wrong(sentence: str, *, yours: Any = "", expected: Any = "", replay: str = "") -> Verdict:
    """A failing verdict; values are shown as Python writes them."""
    return Verdict(False, sentence, _shown(yours), _shown(expected), replay)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


@dataclass(frozen=True)
class Exercise:
    """One exercise: its name (``"05.yields"``), what is asked, three hints, and the judge of an answer.

    ``prepare`` does what takes long and is not the answer's: imports, a measurement. No time limit cuts it off.
    """

    name: str
    asks: str
    hints: tuple[str, str, str]
    judge: Callable[[Any], Verdict]
    prepare: Callable[[], Any] | None = None
