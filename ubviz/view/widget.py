"""What all views of this package share: a widget for notebooks, one file of its own, a still picture, words.

Only small state is synced. Data is asked for by the page, block by block; a saved page answers the same messages from
what it holds. A notebook that is shown without a kernel, or where no script runs, has the still picture and its words.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets as t

from ..errors import BadArgument, UbvizError, raised_at
from . import boxes, page
from .fallback import Still
from .payload.blocks import Store
from .payload.pack import deflated

STATIC = page.STATIC
MESSAGE_BYTES = 4_000_000
"""A message to the page holds no more."""
CODE = "code:"
"""Before the name of a script that a view asks for once it needs it."""


class Checked(t.Any):
    """A trait whose values are all, None too, held against the rule of its name below."""

    allow_none = False


class View(anywidget.AnyWidget):
    """A view: its data lie in ``_store``, its script in ``static/SCRIPT.js``.

    A subclass sets ``_esm``, ``_css`` and ``SCRIPT``; gives ``_store`` before it calls this class's ``__init__``; says
    what it shows in ``_words`` (a few) and ``alt`` (a sentence); and draws its ``_still``.
    """

    SCRIPT = ""
    """The name of its files in ``static``."""
    CODE: tuple[str, ...] = ()
    """Scripts that it asks for when it needs them."""
    STATE: tuple[str, ...] = ("theme",)
    """The traits that a saved page begins with."""

    theme = Checked("auto").tag(sync=True)
    _problem = t.Unicode("").tag(sync=True)
    _head = t.Bytes(b"").tag(sync=True)
    _store: Store
    _words: str

    def __init__(self, **traits: Any) -> None:
        super().__init__(_head=self._store.head(), **traits)
        self.on_msg(self._answer)
        boxes.noticed()

    @t.validate("theme")
    def _valid_theme(self, proposal: Any) -> str:
        if not isinstance(proposal["value"], str) or proposal["value"] not in ("auto", "light", "dark"):
            raise BadArgument(f'theme must be "auto", "light" or "dark", not {proposal["value"]!r}')
        return str(proposal["value"])

    # ---- the page's side

    def set_state(self, sync_data: Any) -> None:
        """What the page has changed. An observer that fails here has no cell to fail in: the page shows it."""
        try:
            super().set_state(sync_data)
        except Exception as error:
            self._problem = problem_of(error)
            raise
        if self._problem and "_problem" not in sync_data:
            self._problem = ""

    def _block(self, key: str) -> bytes:
        """A block of the data, or a script that the view asks for."""
        name = key.removeprefix(CODE)
        return code(name) if name != key and name in self.CODE else self._store.block(key)

    def _answer(self, _: Any, content: Any, buffers: Any) -> None:
        """Send the blocks that the page asks for; say why where one cannot be had."""
        keys = content.get("ask") if isinstance(content, dict) else None
        if not isinstance(keys, list):
            return
        batch: list[tuple[list[Any], bytes]] = []
        for key in keys:
            try:
                data = self._block(str(key))
            except UbvizError as error:
                self.send({"refused": [[key, str(error)]]})
                continue
            for piece in pieces_of(str(key), data):
                if batch and sum(len(part) for _, part in batch) + len(piece[1]) > MESSAGE_BYTES:
                    self._send_blocks(batch)
                    batch = []
                batch.append(piece)
        if batch:
            self._send_blocks(batch)

    def _send_blocks(self, batch: list[tuple[list[Any], bytes]]) -> None:
        self.send({"blocks": [head for head, _ in batch]}, [data for _, data in batch])

    # ---- elsewhere than in a notebook

    @property
    def alt(self) -> str:
        """What it shows, in a sentence; the few words, unless a view has more to say."""
        return self._words

    @property
    def title(self) -> str:
        """The title of a page that holds nothing else."""
        return self.alt

    def _still(self) -> Still:
        """What stands in for it where no script runs."""
        return Still(None, self.alt)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one interactive file that needs no network.

        >>> view.to_html("overlapped.html")  # doctest: +SKIP
        """
        text = page.standalone(self)
        Path(path).write_text(
            text, encoding="utf-8", errors="replace"
        )  # a half of a surrogate pair is no text

    def _ipython_display_(self, **_: Any) -> None:
        """The view; then what stands in for it, which the view hides: a picture, and its words.

        They are outputs of their own, since JupyterLab shows none of a bundle's other forms where the model of a
        view is gone; the words too, since it gives a picture in an output no alternative text.
        """
        from IPython.display import publish_display_data

        bundle = super()._repr_mimebundle_()
        data, metadata = bundle if bundle is not None else ({}, {})
        publish_display_data({**data, "text/plain": repr(self)}, metadata)
        for data, metadata in self._still().outputs():
            publish_display_data(data, metadata)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._words}>"


def shown(model_id: str) -> Any:
    """The widget of a model, by the number that its output in a notebook has."""
    from ipywidgets.widgets import widget

    return widget._instances[model_id]


def tied(views: Sequence[View]) -> list[Any]:
    """Traits of views that a notebook has tied with jslink or jsdlink: both ends, by number and name; both ways?"""
    from ipywidgets.widgets import widget

    number = {id(view): place for place, view in enumerate(views)}
    found = []
    for each in list(widget._instances.values()):
        ends = getattr(each, "source", None), getattr(each, "target", None)
        if all(isinstance(end, tuple) and id(end[0]) in number for end in ends):
            places = [(number[id(end[0])], end[1]) for end in ends if end is not None]
            found.append([*places, type(each).__name__ == "Link"])
    return found


def code(name: str) -> bytes:
    """A script of this package, deflated like any block."""
    return deflated((STATIC / f"{name}.js").read_bytes())


def problem_of(error: BaseException) -> str:
    """An exception of a user's observer in one line, with where it was raised."""
    text = "".join(traceback.format_exception_only(error)).strip()
    where = raised_at(error)
    if where is None:
        return text
    file, line = where
    name = "a cell" if "ipykernel" in file else Path(file).name
    return f"{text} (in {name}, line {line})"


def pieces_of(key: str, data: bytes) -> Iterator[tuple[list[Any], bytes]]:
    """A block in pieces that fit into a message, each with its name, number and how many there are."""
    count = max(-(-len(data) // MESSAGE_BYTES), 1)
    for number in range(count):
        yield [key, number, count], data[number * MESSAGE_BYTES : (number + 1) * MESSAGE_BYTES]
