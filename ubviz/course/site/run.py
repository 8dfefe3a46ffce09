"""Running the cells of a notebook in this process, so that the views it shows are at hand as objects.

A kernel would send a view's state away and keep the view. Here its page is written from the view itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from ...errors import UbvizError
from ...view.boxes import views_in
from ...view.widget import shown as widget_of

WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Shown:
    """One output of a cell: a text, HTML, a picture with its words, or a widget."""

    kind: str
    text: str = ""
    widget: Any = None


@dataclass(frozen=True)
class Ran:
    """A cell: its source as HTML or code, its tags, and what it showed."""

    kind: str
    source: str
    tags: tuple[str, ...] = ()
    shown: tuple[Shown, ...] = ()


class NotebookFailed(UbvizError):
    """A cell of a notebook raised."""


def run(path: Path) -> list[Ran]:
    """The cells of a notebook after running them all; raises ``NotebookFailed`` where one fails."""
    from IPython.core.interactiveshell import InteractiveShell

    notebook = nbformat.read(path, as_version=4)
    shell = InteractiveShell.instance()
    shell.reset()  # names and numbers of cells are those of this notebook alone
    ran = []
    for number, cell in enumerate(notebook.cells):
        tags = tuple(cell.metadata.get("tags", ()))
        if cell.cell_type != "code":
            ran.append(Ran(cell.cell_type, cell.source, tags))
            continue
        ran.append(
            Ran("code", cell.source, tags, tuple(_ran(shell, cell.source, f"{path.name}, cell {number}")))
        )
    return ran


def _ran(shell: Any, source: str, where: str) -> Iterator[Shown]:
    from IPython.core.displayhook import CapturingDisplayHook
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        # what a cell ends with comes by another way than what it displays; both go to one list, in order
        shell.display_trap.hook = CapturingDisplayHook(shell=shell, outputs=captured._outputs)
        result = shell.run_cell(source, store_history=True)
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        raise NotebookFailed(f"{where} raised {type(error).__name__}: {error}") from error
    if captured.stdout:
        yield Shown("text", captured.stdout)
    view_before = False
    for output in captured.outputs:
        data = output.data or {}
        if view_before and _stands_for_a_view(data):
            continue
        shown = _shown(data, output.metadata or {})
        view_before = any(views_in(shown.widget))
        if shown.kind != "text" or shown.text.strip():
            yield shown


def _stands_for_a_view(data: Mapping[str, Any]) -> bool:
    """Whether an output after a view is its still picture, or its words: the view itself is in the page."""
    if "ubviz-still" in str(data.get("text/html", "")):
        return True
    return "image/png" in data and not str(data.get("text/plain", "")).startswith("<Picture")


def _shown(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> Shown:
    if WIDGET in data:
        return Shown("widget", str(data.get("text/plain", "")), widget_of(data[WIDGET]["model_id"]))
    if "text/html" in data:
        return Shown("html", str(data["text/html"]))
    if "image/png" in data:
        alt = metadata.get("image/png", {}).get("alt", "")
        return Shown("picture", alt, _as_bytes(data["image/png"]))
    return Shown("text", str(data.get("text/plain", "")))


def _as_bytes(picture: Any) -> str:
    """A picture in base64, as IPython has it or as bytes."""
    import base64

    return picture if isinstance(picture, str) else base64.b64encode(picture).decode("ascii")
