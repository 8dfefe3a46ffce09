"""The site: a page for each notebook, each run in a process of its own, and an index."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat

from ...errors import UbvizError
from ...view import page as parts
from ..glossary import text as glossary
from .html import Page, styled
from .run import NotebookFailed, Ran, run


def build(notebooks: Path, folder: Path) -> list[Path]:
    """Write the site of all notebooks of a folder; its first page is the first notebook's.

    Raises ``NotebookFailed`` where a cell fails; then the folder keeps what was written before.
    """
    paths = sorted(notebooks.glob("*.ipynb"))
    if not paths:
        raise UbvizError(f"{notebooks} holds no notebook")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for path in paths:
        print(f"site: {path.name}", file=sys.stderr)
        target = folder / f"{path.stem}.html"
        done = subprocess.run(
            [sys.executable, "-c", "from ubviz.course.site.build import main; main()", str(path), str(target)],
            env={**os.environ, "UBVIZ_PROGRESS": os.devnull}, check=False,
        )  # fmt: skip
        if done.returncode:
            raise NotebookFailed(f"{path.name} could not be made a page")
        written.append(target)
    index, words = folder / "index.html", folder / "GLOSSARY.html"
    index.write_text(contents(paths), encoding="utf-8")
    page = Page("Glossary", notebooks, '<nav><a href="index.html">all notebooks</a></nav>')
    words.write_text(page.text([Ran("markdown", glossary())]), encoding="utf-8")
    return [*written, index, words]


def main() -> None:
    """One page: what a process of ``build`` does."""
    source, target = map(Path, sys.argv[1:])
    paths = sorted(source.parent.glob("*.ipynb"))
    at = paths.index(source)
    page = Page(heading(source)[0], source.parent, links(paths, at))
    try:
        text = page.text(run(source))
    except NotebookFailed as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    target.write_text(text, encoding="utf-8")


def heading(path: Path) -> tuple[str, str]:
    """Title and the one idea of a notebook, from its first cell."""
    source = nbformat.read(path, as_version=4).cells[0].source
    title = re.search(r"^# (.+)$", source, re.MULTILINE)
    idea = re.search(r"^\*\*(.+)\*\*$", source, re.MULTILINE)
    return (title[1] if title else path.stem), (idea[1] if idea else "")


def links(paths: list[Path], at: int) -> str:
    """The notebook before, all, and the one after."""

    def link(number: int, arrow: str) -> str:
        if not 0 <= number < len(paths):
            return "<span></span>"
        title = html.escape(heading(paths[number])[0])
        text = f"{arrow} {title}" if arrow == "←" else f"{title} {arrow}"
        return f'<a href="{paths[number].stem}.html">{text}</a>'

    middle = '<a href="index.html">all notebooks</a>'
    return f"<nav>{link(at - 1, '←')}{middle}{link(at + 1, '→')}</nav>"


def contents(paths: list[Path]) -> str:
    """The index."""
    rows = []
    for path in paths:
        title, idea = heading(path)
        link = f'<a href="{path.stem}.html">{html.escape(title)}</a>'
        rows.append(f"<tr><td>{link}</td><td>{html.escape(idea)}</td></tr>")
    return "\n".join([
        "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">', parts.policy_tag(),
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>ubviz: the course</title><style>{styled()}</style></head><body><main>",
        "<h1>How micro-batching hides communication behind computation</h1>",
        "<p>Each page is a notebook that has run. Its views are alive: drag, step, choose. Nothing is fetched.</p>",
        "<table>", *rows, "</table>", '<p><a href="GLOSSARY.html">Glossary</a>, in English and Chinese.</p>',
        "</main></body></html>\n",
    ])  # fmt: skip
