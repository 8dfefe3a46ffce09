"""The check that CI makes after `make test`: every notebook was compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notebooks_ran import main

CELL = '<testcase classname="notebooks.00_first.ipynb" name="Cell 0"/>'
SKIPPED = '<testcase classname="notebooks.00_first.ipynb" name="Cell 1"><skipped/></testcase>'


@pytest.mark.parametrize(
    ("notebooks", "cases", "code", "said"),
    [
        (["00_first"], [CELL], 0, ""),
        ([], [CELL], 1, "Notebook tests: notebooks/ holds no notebook.\n"),
        (["00_first", "01_next"], [CELL], 1, "Notebook tests: 01_next: no cell was compared.\n"),
        (["00_first"], [CELL, SKIPPED], 1, "Notebook tests: 00_first: Cell 1 was skipped.\n"),
        (["00_first"], None, 1, "Notebook tests: 00_first: no cell was compared.\n"),
    ],
)
def test_notebooks_ran(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    notebooks: list[str],
    cases: list[str] | None,
    code: int,
    said: str,
) -> None:
    folder, report = tmp_path / "notebooks", tmp_path / "report.xml"
    folder.mkdir()
    for name in notebooks:
        (folder / f"{name}.ipynb").touch()
    if cases is not None:
        report.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    assert main(str(report), str(folder)) == code
    assert capsys.readouterr().err == said
