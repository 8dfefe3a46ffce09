"""Which exercises were solved: one small file beside the notebooks, which the learner may read and delete."""

from __future__ import annotations

import json
import os
from pathlib import Path

FILE = "ubviz_progress.json"


def path() -> Path:
    """Where it is: in the folder that one works in."""
    return Path(os.environ.get("UBVIZ_PROGRESS", FILE))


def solved() -> list[str]:
    """The names of the exercises that were solved; none where the file is missing or is no list of names."""
    try:
        names = json.loads(path().read_text(encoding="utf-8"))["solved"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return sorted({name for name in names if isinstance(name, str)}) if isinstance(names, list) else []


def note(name: str) -> None:
    """Add a name; where the folder cannot be written to, nothing is kept and nothing is said."""
    names = solved()
    if name in names:
        return
    text = json.dumps({"solved": sorted([*names, name])}, indent=1) + "\n"
    try:
        path().write_text(text, encoding="utf-8")
    except OSError:
        pass
