"""A page of which every request and every error is known, and what the tests ask of a timeline in it.

Nothing here sleeps: what has to happen is waited for, as a condition on the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE_MS = 15_000
"""How long a condition is waited for: far longer than it takes, as another process may have the processor."""

LOCAL = ("file:", "data:", "blob:", "about:")

# Two animation frames: what an event has set in motion is painted then.
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))"

# How many pixels of a canvas, within [left, top, right, bottom] in CSS pixels, have each of some colours.
PIXELS = """([index, box, colours]) => {
  const canvas = document.querySelectorAll(".ubviz-timeline")[index].querySelector(".ubviz-base");
  const scale = canvas.width / canvas.getBoundingClientRect().width;
  const [left, top, right, bottom] = (box ?? [0, 0, canvas.width / scale, canvas.height / scale])
    .map((value) => Math.round(value * scale));
  const image = canvas.getContext("2d").getImageData(left, top, right - left, bottom - top).data;
  const wanted = colours.map((colour) => parseInt(colour.slice(1), 16));
  const found = colours.map(() => 0);
  for (let i = 0; i < image.length; i += 4) {
    const at = wanted.indexOf((image[i] << 16) | (image[i + 1] << 8) | image[i + 2]);
    if (at >= 0) found[at] += 1;
  }
  return found;
}"""


class Watched:
    """A page that may load what begins with one of ``allowed``; all else is refused and written down."""

    def __init__(self, context: Any, *allowed: str) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.refused: list[str] = []
        self.errors: list[str] = []
        self.ignored: list[str] = []
        self._allowed = (*LOCAL, *allowed)
        self.page.route("**/*", self._route)
        self.page.on("pageerror", lambda error: self._note(error.stack or str(error)))
        self.page.on("console", self._console)

    def _route(self, route: Any) -> None:
        if route.request.url.startswith(self._allowed):
            route.continue_()
        else:
            self.refused.append(route.request.url)
            route.abort()

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self._note(f"{message.text} ({message.location['url']})")

    def _note(self, text: str) -> None:
        if not any(part in text for part in self.ignored):
            self.errors.append(text)

    def clean(self) -> None:
        """Fail if the page asked for something outside, or met an error."""
        assert not self.refused, f"the page asked for {self.refused}"
        assert not self.errors, f"the page met {self.errors}"

    # ---- what a timeline says of itself

    def root(self, index: int = 0) -> Any:
        return self.page.locator(".ubviz-timeline").nth(index)

    def stage(self, index: int = 0) -> Any:
        return self.page.locator(".ubviz-stage").nth(index)

    def painted(self, count: int = 1) -> None:
        """Wait until there are so many timelines, all painted; fail at once where one says that it cannot be."""
        self.page.wait_for_function(
            """(count) => {
              const states = [...document.querySelectorAll(".ubviz-timeline")].map((root) => root.dataset.ubvizState);
              return states.includes("error") || states.length === count && states.every((is) => is === "painted");
            }""",
            arg=count,
        )
        failed = self.page.locator(".ubviz-timeline[data-ubviz-state=error] [role=alert]").all_inner_texts()
        assert not failed, f"the page says {failed}"

    def fact(self, name: str, index: int = 0) -> str:
        """One of the root's ``data-ubviz-...``."""
        return self.root(index).get_attribute(f"data-ubviz-{name}") or ""

    def json(self, name: str, index: int = 0) -> Any:
        return json.loads(self.fact(name, index) or "null")

    def range(self, index: int = 0) -> tuple[int, int]:
        start, end = self.fact("range", index).split(",")
        return int(start), int(end)

    def seq(self, index: int = 0) -> int:
        return int(self.fact("seq", index))

    def until(self, condition: str, arg: Any = None) -> None:
        """Wait until a JavaScript expression of ``root`` (the first timeline) and ``arg`` is true."""
        self.page.wait_for_function(
            f'(arg) => {{ const root = document.querySelector(".ubviz-timeline"); return {condition}; }}',
            arg=arg,
        )

    @contextmanager
    def repainted(self, index: int = 0) -> Iterator[None]:
        """What is done within makes this timeline paint anew."""
        before = self.seq(index)
        yield
        self.page.wait_for_function(
            """([index, before]) => {
              const { ubvizSeq, ubvizState } = document.querySelectorAll(".ubviz-timeline")[index].dataset;
              return Number(ubvizSeq) > before && ubvizState === "painted";
            }""",
            arg=[index, before],
        )

    def frames(self) -> None:
        """Wait until what an event has set in motion is painted."""
        self.page.evaluate(FRAMES)

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.frames()

    def at(self, x: float, y: float, index: int = 0) -> tuple[float, float]:
        """A point of the stage, on the screen, brought to where the mouse gets at it."""
        stage = self.stage(index)
        box = stage.bounding_box()
        height = self.page.viewport_size["height"]
        if not 0 < box["y"] + y < height:
            stage.evaluate(
                "(stage, y) => scrollBy(0, stage.getBoundingClientRect().top + y - innerHeight / 2)", y
            )
            box = stage.bounding_box()
        return box["x"] + x, box["y"] + y

    def pixels(self, *colours: str, box: Any = None, index: int = 0) -> list[int]:
        """How many pixels have each colour, in the picture or in a box of it."""
        found: list[int] = self.page.evaluate(PIXELS, [index, box, list(colours)])
        return found

    def live(self) -> int:
        """How many views there are that have not been taken down."""
        return int(self.page.evaluate("() => globalThis.__ubvizLive?.size ?? 0"))

    # ---- where things lie

    def lane(self, lane: int, index: int = 0) -> tuple[float, float]:
        """Top and bottom of a lane, within the stage."""
        return next((top, bottom) for found, top, bottom in self.json("lanes", index) if found == lane)

    def x(self, ns: float, index: int = 0) -> float:
        """Where a moment lies, within the stage (by the clock)."""
        left, right = map(float, self.fact("plot", index).split(","))
        start, end = self.range(index)
        assert start <= ns <= end, f"{ns} ns is not in view"
        return left + (ns - start) / (end - start) * (right - left)

    def ns(self, x: float, index: int = 0) -> float:
        """The moment that lies there."""
        left, right = map(float, self.fact("plot", index).split(","))
        start, end = self.range(index)
        return start + (x - left) / (right - left) * (end - start)

    def lane_box(self, lane: int, index: int = 0) -> list[float]:
        """Left, top, right, bottom of a lane's bars, within the stage."""
        left, right = map(float, self.fact("plot", index).split(","))
        top, bottom = self.lane(lane, index)
        return [left, top, right, bottom]
