"""Where in the code something happened: which frame counts, and what it is called.

A *site* is the innermost frame outside the runtime, the recorder, PyTorch and the standard library; the
*caller* is the first frame that is outside the mechanism's own module too. While recording, a site is a code
object and an instruction offset; it becomes ``file:line`` when the trace is built.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from ..errors import notebook_cells

_PACKAGE = Path(__file__).resolve().parent.parent
USER, MECHANISM, SKIP = 0, 1, 2
_MECHANISM = {str(_PACKAGE / "ubatch" / "contexts.py"), str(_PACKAGE / "ubatch" / "dbo.py")}


def _torch_folder() -> str:
    torch = sys.modules.get("torch")
    return str(Path(torch.__file__).parent) + "/" if torch is not None and torch.__file__ else "\0"


class Levels(dict[str, int]):
    """File name -> USER, MECHANISM or SKIP, decided once."""

    def __init__(self) -> None:
        super().__init__()
        stdlib = sysconfig.get_paths()["stdlib"]
        own = (str(_PACKAGE / "runtime") + "/", str(_PACKAGE / "recording") + "/")
        self._skipped = (*own, _torch_folder(), "<frozen")
        self._stdlib = stdlib + "/"

    def __missing__(self, file: str) -> int:
        in_stdlib = file.startswith(self._stdlib) and "site-packages" not in file
        if in_stdlib or file.startswith(self._skipped):
            level = SKIP
        else:
            level = MECHANISM if file in _MECHANISM else USER
        self[file] = level
        return level


class Sites:
    """Names sites, and keeps the text of the functions that they lie in."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, int], str] = {}
        self._codes: dict[int, CodeType] = {}
        self._cells = notebook_cells()

    def name(self, code: CodeType, offset: int) -> str:
        """``file:line`` of an instruction."""
        key = (id(code), offset)
        found = self._names.get(key)
        if found is None:
            self._codes[id(code)] = code
            found = self._names[key] = f"{self.file(code.co_filename)}:{_line(code, offset)}"
        return found

    def file(self, path: str) -> str:
        """A file's name as it is shown: relative to its package, or the number of its notebook cell."""
        if path in self._cells:
            return f"cell[{self._cells[path]}]"
        for folder in (str(_PACKAGE.parent), *sorted((p for p in sys.path if p), key=len, reverse=True)):
            if path.startswith(folder.rstrip("/") + "/"):
                return path[len(folder.rstrip("/")) + 1 :]
        return Path(path).name

    def sources(self) -> list[dict[str, Any]]:
        """The text of every function that a site lies in: file, function, first line, text."""
        found = []
        for code in self._codes.values():
            found.append(
                {
                    "file": self.file(code.co_filename),
                    "function": code.co_qualname,
                    "line": 1 if code.co_name == "<module>" else max(code.co_firstlineno, 1),
                    "text": _text(code),
                }
            )
        return sorted(found, key=lambda source: (source["file"], source["line"], source["function"]))


def _line(code: CodeType, offset: int) -> int:
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return line
    return code.co_firstlineno


@lru_cache(maxsize=4096)
def _text(code: CodeType) -> str:
    """Once for each function, since finding its end takes longer than all else about it."""
    lines = linecache.getlines(code.co_filename)
    return "".join(lines if code.co_name == "<module>" else _block(lines[max(code.co_firstlineno, 1) - 1 :]))


def _block(lines: list[str]) -> list[str]:
    try:
        return inspect.getblock(lines)
    except (SyntaxError, IndentationError):  # e.g. a lambda in the middle of an expression
        return lines[:1]
