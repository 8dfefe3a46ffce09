"""Faults that notebooks are known for, each tried on every view: nothing left of it without a kernel, blank exports,
messages too long for a connection, outputs that differ from run to run, warnings of a library.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

import ubviz
from tests.many import many
from ubviz.course.site.run import run
from ubviz.exploration.variants import program_of
from ubviz.view.widget import STATIC, View

ROOT = Path(__file__).resolve().parent.parent
CONNECTION_BYTES = 10_000_000
"""Longer messages close the connection between kernel and page."""

VIEWS: dict[str, Callable[[], View]] = {
    "Timeline": lambda: ubviz.Timeline(ubviz.example("whole_game_overlapped")),
    "Stepper": lambda: ubviz.Stepper(ubviz.example("whole_game_overlapped")),
    "Compare": lambda: ubviz.Compare(*map(ubviz.example, ("whole_game_unsplit", "whole_game_overlapped"))),
    "Scheduler": lambda: ubviz.Scheduler(program_of("none")),
    "Lab": lambda: ubviz.Lab(),
}
each = pytest.mark.parametrize("name", VIEWS)


def shown(view: View, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a view puts under its cell, as outputs of a saved notebook."""
    import IPython.display

    outputs = []

    def publish(data: dict[str, Any], metadata: dict[str, Any] | None = None, **_: Any) -> None:
        outputs.append(nbformat.v4.new_output("display_data", data, metadata=metadata or {}))

    monkeypatch.setattr(IPython.display, "publish_display_data", publish)
    view._ipython_display_()
    return outputs


@each
def test_without_a_kernel_words_with_numbers_stay(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of the view is gone with the kernel: what stands in for it is in outputs of its own."""
    first, *rest = shown(VIEWS[name](), monkeypatch)
    assert "application/vnd.jupyter.widget-view+json" in first.data
    words = [output.data["text/html"] for output in rest if "text/html" in output.data]
    assert any(re.search(r"\d", text) for text in words)
    assert all("application/vnd.jupyter.widget-view+json" not in output.data for output in rest)


@each
@pytest.mark.parametrize("with_state", [False, True])
def test_an_exported_notebook_is_not_blank(
    name: str, with_state: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbconvert import HTMLExporter

    outputs = shown(VIEWS[name](), monkeypatch)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("view", outputs=outputs)])
    if with_state:
        state = {"version_major": 2, "version_minor": 0, "state": {}}
        book.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": state}
    text, _ = HTMLExporter().from_notebook_node(book)
    body = text[text.index("<body") :]
    assert outputs[-1].data["text/html"] in body
    for output in outputs:
        if "image/png" in output.data:
            assert output.metadata["image/png"]["alt"]
            assert "<img" in body


def test_no_message_is_too_long_for_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = ubviz.Timeline(many(200_000))
    sizes: list[int] = [len(timeline._head)]
    monkeypatch.setattr(
        timeline, "send", lambda _, buffers=(): sizes.append(sum(len(buffer) for buffer in buffers))
    )
    timeline._answer(None, {"ask": [*timeline._store.keys_outside(), "code:tools"]}, [])
    assert len(sizes) > 2
    assert max(sizes) < CONNECTION_BYTES


@pytest.mark.parametrize("script", sorted(path.name for path in STATIC.glob("*.js")))
def test_a_script_asks_for_nothing_that_an_editor_forbids(script: str) -> None:
    """VS Code and Colab load it from memory: it finds no other module, no network, and may not make code of text."""
    text = (STATIC / script).read_text(encoding="utf-8")
    calls = r"\b(?:require|eval|importScripts|fetch|XMLHttpRequest|WebSocket|Function)\("
    assert not re.search(rf"{calls}|\bnew (?:Worker|Function)\b", text)
    assert not re.search(r"(?:^|[;}])import[\s{*\"']|https?://(?!www\.w3\.org/)", text)
    assert re.search(r"\bexport\s*\{", text)


@each
def test_nothing_is_sent_before_a_page_asks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message to a page that is not there yet is lost in Colab: all that a view begins with is in its state."""
    sent: list[Any] = []
    monkeypatch.setattr(View, "send", lambda self, content, buffers=None: sent.append(content))
    view = VIEWS[name]()
    shown(view, monkeypatch)
    assert sent == []
    assert len(view._head) < CONNECTION_BYTES


@pytest.mark.slow
def test_twenty_runs_of_a_notebook_say_the_same() -> None:
    runs = set()
    for _ in range(20):
        cells = run(ROOT / "notebooks" / "04_a_sticky_flag.ipynb")
        runs.add(tuple(output.text for cell in cells for output in cell.shown))
    assert len(runs) == 1


@pytest.mark.timeout(120)
def test_a_warning_of_a_library_changes_no_comparison(tmp_path: Path) -> None:
    """The comparison of notebooks is made without Python's warnings, as ``make notebooks`` makes it."""
    assert re.search(
        r"PYTHONWARNINGS=ignore \$\(PYTEST\) \$\(NBVAL\)", (ROOT / "Makefile").read_text("utf-8")
    )
    code = "import warnings\nwarnings.warn('old', DeprecationWarning, stacklevel=1)\nprint('done')"
    output = nbformat.v4.new_output("stream", name="stdout", text="done\n")
    cell = nbformat.v4.new_code_cell(code, outputs=[output], execution_count=1)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "x.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--nbval", "--nbval-current-env",
               "-p", "no:cacheprovider", "x.ipynb"]  # fmt: skip
    for warnings, code_expected in (("ignore", 0), ("always", 1)):
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, "PYTHONWARNINGS": warnings}, capture_output=True, check=False
        )  # fmt: skip
        assert done.returncode == code_expected, done.stdout.decode()
