"""Where in the code a thread stands, by its frames: the place outside the runtime, and the one outside the mechanism.

Each place gets a number when it is first asked for; the text of the functions that they lie in is kept.
"""

from __future__ import annotations

from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from ..recording.sites import MECHANISM, SKIP, USER, Levels, Sites

Where = tuple[CodeType, int] | None
"""A piece of code and an instruction in it."""

_HERE = Path(__file__).resolve().parent
_OWN = str(_HERE / "execution.py")
"""Calls the program; who stands there does nothing of its own."""
_RINGS = (_HERE / "bare_ring.py", _HERE.parent / "ubatch" / "ring_run.py")
"""Mechanism, too, for who looks at what it does."""


def levels() -> Levels:
    """Of the files: what is runtime, what mechanism, what the program's own."""
    found = Levels()
    found.update({str(path): MECHANISM for path in _RINGS})
    return found


def standing(frame: FrameType | None, levels: Levels) -> tuple[Where, Where]:
    """The place of a thread that is at an operation, and that of its caller.

    The frames of who asks come first, then the runtime's.
    """
    while frame is not None and levels[frame.f_code.co_filename] != SKIP:
        frame = frame.f_back
    found: dict[int, Where] = {}
    while frame is not None and USER not in found and frame.f_code.co_filename != _OWN:
        level = levels[frame.f_code.co_filename]
        if level != SKIP:
            found.setdefault(level, (frame.f_code, frame.f_lasti))
        frame = frame.f_back
    caller = found.get(USER)
    return found.get(MECHANISM, caller), caller


class Places:
    """Numbers of places."""

    def __init__(self) -> None:
        self._sites = Sites()
        self._numbers: dict[tuple[str, str, int], int] = {}

    def number(self, where: Where) -> int | None:
        """The number of a place; None of none."""
        if where is None:
            return None
        file, _, line = self._sites.name(*where).rpartition(":")
        return self._numbers.setdefault((file, where[0].co_qualname, int(line)), len(self._numbers))

    def facts(self) -> list[dict[str, Any]]:
        """All places so far, by number."""
        return [{"file": file, "function": function, "line": line} for file, function, line in self._numbers]

    def sources(self) -> list[dict[str, Any]]:
        """The text of every function that a place lies in."""
        return self._sites.sources()
