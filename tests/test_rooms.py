"""The rooms of the design: who may import whom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.rooms import violations

ROOT = Path(__file__).resolve().parent.parent


def test_every_import_is_in_the_table() -> None:
    assert violations(ROOT / "ubviz") == []


@pytest.mark.parametrize(
    ("file", "source", "report"),
    [
        ("trace/model.py", "import numpy\nimport ubviz.view.picture\n", ":2: trace may not import view"),
        ("runtime/host.py", "from ubviz.recording import record\n", ":1: runtime may not import recording"),
        ("runtime/host.py", "from ubviz import load\n", ":1: runtime may not import trace"),
        ("runtime/host.py", "from ubviz import trace\n", ":1: runtime may not import trace"),
        ("analysis/overlap.py", "from ..runtime.base import Stream\n", ":1: analysis may not import runtime"),
        ("analysis/order/__init__.py", "from ...ubatch import dbo\n", ":1: analysis may not import ubatch"),
        ("engine/moe.py", "def f():\n    from .. import view\n", ":2: engine may not import view"),
        ("errors.py", "from ubviz.trace import Trace\n", ":1: errors may not import trace"),
        (
            "ubatch/dbo.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ubviz.engine import moe\n",
            ":3: ubatch may not import engine",
        ),
        (
            "view/lab.py",
            "import importlib\nx = importlib.import_module('ubviz.runtime')\n",
            ":2: view may not import runtime",
        ),
        ("trace/chrome.py", "import ubviz\n", ":1: trace may not import ubviz itself (import the room)"),
        ("cli/demo.py", "import matplotlib.pyplot\n", ":1: cli may not import matplotlib: only view draws"),
        (
            "trace/model.py",
            "import pandas\n",
            ":1: trace works without pandas: import it in the function that needs it",
        ),
        ("cupboard/x.py", "", ":1: cupboard is not a room of the table"),
    ],
)
def test_a_forbidden_import_is_reported_with_file_and_line(
    tmp_path: Path, file: str, source: str, report: str
) -> None:
    write(tmp_path, file, source)
    assert violations(tmp_path / "ubviz") == [f"ubviz/{file}{report}"]


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("trace/model.py", "from ubviz.errors import NotATrace\nfrom . import events\n"),
        ("trace/chrome.py", "from .build import Builder\n"),
        ("trace/model.py", "def to_pandas(self):\n    import pandas\n"),
        ("trace/chrome.py", "from ubviz import __version__\n"),
        ("recording/recorder.py", "from ..trace import Trace\nfrom ubviz.runtime import hooks\n"),
        ("view/picture.py", "import matplotlib\nfrom ubviz.analysis import overlap\n"),
        ("cli/demo.py", "from ubviz import engine, record, view\n"),
    ],
)
def test_an_allowed_import_is_not_reported(tmp_path: Path, file: str, source: str) -> None:
    write(tmp_path, file, source)
    assert violations(tmp_path / "ubviz") == []


def test_contributing_lists_the_rooms_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)(?:/|\.py)`", text, re.MULTILINE)
    there = [path.stem for path in (ROOT / "ubviz").glob("*.py") if not path.stem.startswith("__")]
    there += [path.parent.name for path in (ROOT / "ubviz").glob("*/__init__.py")]
    assert sorted(rows) == sorted(there)


def write(folder: Path, file: str, source: str) -> None:
    path = folder / "ubviz" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
