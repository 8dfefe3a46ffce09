"""A page with the widget in it, whose kernel is the test: it answers late, refuses, sets traits, has several views."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from tests.browser.watched import Watched
from ubviz.trace import Trace
from ubviz.view.payload import Payload, store
from ubviz.view.widget import code

HERE = Path(__file__).parent
STATIC = Path(store.__file__).parents[2] / "static"

TRAITS = {
    "cursor": None, "selection": [], "hovered": None, "theme": "auto", "order": "wall", "query": "", "area": None,
    "measure": None, "pinned": [], "hidden": [], "tool": "", "_problem": "",
}  # fmt: skip


def text_of(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


class Fake(Watched):
    """What the widget did is in ``asked()`` and ``saved()``; what the kernel does, the test calls."""

    def __init__(self, context: Any, folder: Path) -> None:
        super().__init__(context)
        self.folder = folder

    def start(self, trace: Trace, *, small_head: bool = False, prompt: bool = True, **traits: Any) -> Payload:
        """A kernel with a timeline of this trace. ``small_head``: tracks are asked for, as those of a long one."""
        payload = Payload(trace, label="Timeline of a test")
        payload_head = head_without_tracks(payload) if small_head else payload.head()
        blocks = {key: text_of(payload.block(key)) for key in payload.keys()} | {
            "code:tools": text_of(code("tools"))
        }
        state = TRAITS | {"view_range": list(payload.index["home"])} | traits
        css = (STATIC / "widget.css").read_text(encoding="utf-8")
        shell = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>fake</title><style>{css}</style>'
        )
        path = self.folder / "fake.html"
        path.write_text(shell, encoding="utf-8")
        self.page.goto(path.as_uri())
        self.page.evaluate((HERE / "kernel.js").read_text(encoding="utf-8"))
        source = (STATIC / "widget.js").read_text(encoding="utf-8")
        self.page.evaluate("(args) => window.start(...args)", [source, state, text_of(payload_head), blocks])
        self.page.evaluate("(prompt) => { kernel.prompt = prompt; }", prompt)
        return payload

    def view(self, width: int = 1000) -> int:
        """One more view; its number."""
        return int(self.page.evaluate("(width) => kernel.view(width)", width))

    def remove(self, view: int, how: str = "both") -> None:
        self.page.evaluate("(args) => kernel.remove(...args)", [view, how])

    # ---- the kernel's side

    def set(self, name: str, value: Any) -> None:
        """Set a trait from the kernel."""
        self.page.evaluate("(args) => { kernel.set(...args); }", [name, value])

    def get(self, name: str) -> Any:
        return self.page.evaluate("(name) => kernel.state[name]", name)

    def asked(self) -> list[str]:
        found: list[str] = self.page.evaluate("() => kernel.asked")
        return found

    def until_asked(self, key: str) -> None:
        self.page.wait_for_function("(key) => kernel.asked.includes(key)", arg=key)

    def answer(self, *keys: str, pieces: int = 1) -> None:
        self.page.evaluate("(args) => kernel.answer(...args)", [list(keys), pieces])

    def answer_all(self) -> None:
        """From now on answer at once, and what is still open first."""
        self.page.evaluate("() => kernel.answerAll()")

    def refuse(self, key: str, sentence: str) -> None:
        self.page.evaluate("(args) => kernel.refuse(...args)", [key, sentence])

    def saved(self) -> list[dict[str, Any]]:
        """What each save_changes() brought to the kernel."""
        found: list[dict[str, Any]] = self.page.evaluate("() => kernel.saved")
        return found

    def listening(self) -> int:
        """How many listeners the model has."""
        return int(self.page.evaluate("() => kernel.listening()"))


def head_without_tracks(payload: Payload) -> bytes:
    """As if the recording were a long one."""
    limit, store.HEAD_BYTES = store.HEAD_BYTES, 0
    try:
        return payload.head()
    finally:
        store.HEAD_BYTES = limit
