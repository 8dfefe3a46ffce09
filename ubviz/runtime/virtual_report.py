"""Who waits for what, in words: the text of a deadlock."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..errors import notebook_cells

if TYPE_CHECKING:
    from .virtual_baton import Runner

_DOES = {
    "host_event.wait": "waits for",
    "barrier.release": "waits at",
    "thread.join": "joins",
    "host.wait": "waits for the device to finish",
}
_INNER = ("/ubviz/runtime/", "/threading.py", "/ubviz/ubatch/ring_run.py")


def report(waiting: Sequence[Runner]) -> str:
    """One line a thread: what it waits for, what is known of that, and where it stands."""
    frames = sys._current_frames()
    lines = ["deadlock: no thread can go on"]
    for runner in waiting:
        pending = runner.pending
        assert pending is not None
        does = _DOES.get(pending.kind, f"is in {pending.kind} of")
        known = getattr(pending.obj, "history", None)
        story = f" ({known()})" if known is not None else ""
        where = _where(frames.get(runner.ident or 0))
        lines.append(f"  {runner.name} {does} {_name(pending.obj)}{story}{where}")
    return "\n".join(lines)


def _name(obj: Any) -> str:
    return repr(obj).strip("<>")


def _where(frame: FrameType | None) -> str:
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if not any(part in file for part in _INNER):
            return f", at {_short(file, frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _short(file: str, known_as: str) -> str:
    """A file's name as recordings have it: within the package, a notebook's cell, or the name alone."""
    cells = notebook_cells()
    if known_as in cells:
        return f"cell[{cells[known_as]}]"
    inside = file.rpartition("/ubviz/")
    return "ubviz/" + inside[2] if inside[1] else file.rpartition("/")[2]
