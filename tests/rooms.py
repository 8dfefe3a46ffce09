"""Reads the imports of every module of ``ubviz`` and holds them against the table of rooms.

A room is a package or module directly under ``ubviz/``. What counts is what is written: an import
inside a function or under ``TYPE_CHECKING`` counts as well. Not seen: names built at run time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ubviz import _PUBLIC

ALL = None

#: Room -> the rooms that it may import, besides itself and ``errors``.
TABLE: dict[str, set[str] | None] = {
    "errors": set(),
    "runtime": set(),
    "ubatch": {"runtime"},
    "engine": {"ubatch", "runtime"},
    "trace": set(),
    "recording": {"runtime", "trace", "analysis"},  # analysis: to say who waits for whom in a live run
    "analysis": {"trace"},
    "exploration": {"runtime", "ubatch", "engine", "recording", "trace", "analysis"},
    "view": {"trace", "analysis"},
    "play": ALL,
    "course": ALL,
    "magic": ALL,
    "cli": ALL,
    # The package's own face, `python -m ubviz`, and the list of extras for the command.
    "__init__": ALL,
    "__main__": ALL,
    "extras": {"errors"},
}

#: Only this room draws.
DRAWING, DRAWING_ROOM = {"anywidget", "ipywidgets", "matplotlib"}, "view"

#: These rooms work on the bare install: what an extra brings is imported where it is used.
EXTRAS = {*DRAWING, "pandas", "torch", "jupyterlab", "IPython"}
BARE_ROOMS = {"errors", "trace", "analysis", "cli", "extras", "__init__", "__main__"}


class Import(NamedTuple):
    """One imported name, where it stands, and whether importing the module runs it."""

    line: int
    name: str
    at_import: bool


def violations(package: Path) -> list[str]:
    """One sentence, with file and line, for each import that the table forbids."""
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package)
        if inside.parts[0] in {"frontend", "static", "recordings"}:
            continue
        room = inside.parts[0].removesuffix(".py")
        for line, why in forbidden(room, list(imports(path, package))):
            found.append(f"{package.name}/{inside.as_posix()}:{line}: {why}")
    return found


def forbidden(room: str, written: list[Import]) -> Iterator[tuple[int, str]]:
    if room not in TABLE:
        yield 1, f"{room} is not a room of the table"
        return
    for line, name, at_import in written:
        top, _, rest = name.partition(".")
        if top == "ubviz":
            target = room_of(rest)
            if not may_import(room, target):
                yield line, f"{room} may not import {target}"
        elif top in DRAWING and room != DRAWING_ROOM:
            yield line, f"{room} may not import {top}: only {DRAWING_ROOM} draws"
        elif top in EXTRAS and at_import and room in BARE_ROOMS:
            yield line, f"{room} works without {top}: import it in the function that needs it"


def may_import(room: str, target: str) -> bool:
    allowed = TABLE[room]
    return allowed is ALL or target in {room, "errors", "the version"} or target in allowed


def room_of(rest: str) -> str:
    """The room of a dotted name below ``ubviz``: ``trace.model`` and the public ``load`` are ``trace``."""
    first = rest.partition(".")[0]
    if first in _PUBLIC:
        return _PUBLIC[first].partition(":")[0].split(".")[1]
    return {"": "ubviz itself (import the room)", "__version__": "the version"}.get(first, first)


def imports(path: Path, package: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    yield from below(tree, module_name(path, package), at_import=True)


def below(node: ast.AST, package: list[str], at_import: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        for name in names(child, package):
            yield Import(child.lineno, name, at_import)  # type: ignore[attr-defined]
        lazy = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or type_checking(child)
        yield from below(child, package, at_import and not lazy)


def type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def names(node: ast.AST, package: list[str]) -> Iterator[str]:
    """The dotted names that one node imports; ``package`` is the package that relative imports start from."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        start = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*start, *filter(None, [node.module])])
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix("importlib.") == "import_module":
        yield from (str(word.value) for word in node.args[:1] if isinstance(word, ast.Constant))


def module_name(path: Path, package: Path) -> list[str]:
    """``ubviz/trace/model.py`` -> ``["ubviz", "trace"]``: the package that the file belongs to."""
    return ["ubviz", *path.relative_to(package).parent.parts]
