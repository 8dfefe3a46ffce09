"""``python -m tests.notebooks_ran REPORT FOLDER``: fail unless every notebook was compared, cell by cell.

REPORT is the JUnit file of the nbval run; a skipped cell counts as not run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree


def not_run(report: Path, folder: Path) -> Iterator[str]:
    """One sentence for each notebook, or cell, that was not compared."""
    notebooks = sorted(path.stem for path in folder.glob("*.ipynb"))
    if not notebooks:
        yield f"{folder.name}/ holds no notebook"
        return
    cases = list(ElementTree.parse(report).getroot().iter("testcase")) if report.is_file() else []
    for notebook in notebooks:
        cells = [case for case in cases if notebook in case.get("classname", "")]
        skipped = [case.get("name", "") for case in cells if case.find("skipped") is not None]
        if not cells:
            yield f"{notebook}: no cell was compared"
        yield from (f"{notebook}: {name} was skipped" for name in skipped)


def main(report: str, folder: str) -> int:
    sentences = list(not_run(Path(report), Path(folder)))
    for sentence in sentences:
        print(f"Notebook tests: {sentence}.", file=sys.stderr)
    return 1 if sentences else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
