"""What a learner reads: reports of hangs a thread a line, without places in code that is not the learner's, and
lines that end at a word. JupyterLab breaks lines that are too long at any letter.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

WIDTH = 88
"""Letters that fit beside the list of files in a window 1,200 pixels wide."""
_CELL = re.compile(r"cell\[\d+\]")
_SOME_CELL = "cell[00]"
"""Where a line ends must not depend on how many digits the number of a cell has: it is another one in another run."""
_OURS = re.compile(r"(, (set )?| )?(at )?ubviz/[\w/]+\.py:\d+")


def listed(report: str) -> str:
    """What the threads of a deadlock wait for, one below the other.

    >>> print("It hangs:" + listed("main joins thread ubatch 1, at ubviz/a.py:7; ubatch 1 waits for cpu_event[1]"))
    It hangs:
      main joins thread ubatch 1
      ubatch 1 waits for cpu_event[1]
    """
    return "".join(f"\n  {line}" for line in without_ours(report).split("; "))


def without_ours(sentence: str) -> str:
    """A finding without places in this package.

    >>> without_ours("dispatch (ubatch 0, comm stream, ubviz/course/a.py:46) writes x at cell[3]:2")
    'dispatch (ubatch 0, comm stream) writes x at cell[3]:2'
    """
    return _OURS.sub("", sentence)


def filled(text: str) -> str:
    """The same text in lines that end at a word; a line that goes on is indented as it began, or under its value.

    >>> print(filled("  expected: " + "word " * 17))
      expected: word word word word word word word word word word word word word word word
                word word
    """
    return "\n".join(map(_filled, text.split("\n")))


def _filled(line: str) -> str:
    label = re.match(r" *(?:yours|expected|replay): +| *", line)
    cells = iter(_CELL.findall(line))
    lines = textwrap.fill(
        _CELL.sub(_SOME_CELL, line), WIDTH, subsequent_indent=" " * (label.end() if label else 0),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return re.sub(re.escape(_SOME_CELL), lambda _: next(cells), lines)


def say(*parts: Any) -> None:
    """Print, in lines that end at a word.

    >>> say("race:", "dispatch reads x while attention writes it")
    race: dispatch reads x while attention writes it
    """
    print(filled(" ".join(map(str, parts))))


class Told(str):
    """A text that a cell shows as it is read, not as Python writes it.

    >>> Told("Look at the flag.")
    Look at the flag.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
