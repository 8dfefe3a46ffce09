"""The scheduler in the learner's hands, as a widget and as a file of its own: who runs next is chosen by clicks.

The view is handed the graph of all states of a program as plain data (``ubviz.exploration.game`` makes it), or a
function that makes it when a page first asks. The page plays in the graph, without Python; ``schedule``, the replay
string of what was chosen so far, is synced both ways.

Not here: programs and running them (``ubviz.play`` hands them over).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import traitlets as t

from ..errors import BadArgument
from .fallback import Still
from .graph_walk import walked
from .graph_words import Graph, in_short, sentences, state_of
from .paint.state import paint_state
from .palette import theme_of
from .payload.blocks import encode, head_of
from .payload.pack import deflated
from .picture import Picture, points_of
from .widget import STATIC, Checked, View

MOST_EXACT = 2**53
GAME = "game"
"""The name of the block with the graph."""


class SchedulerView(View):
    """Play in a graph of states: choose who goes on, take choices back, see how it ends.

    >>> view = SchedulerView(game(program))  # doctest: +SKIP
    >>> view.schedule = "0x3.1"  # doctest: +SKIP
    >>> view.to_html("scheduler.html")  # doctest: +SKIP

    graph: the states as plain data, or a function that makes them. schedule: the replay string to begin with. theme:
    "auto" (the notebook's), "light" or "dark". hints: whether the page says if a bad end can still be avoided.

    Traits: ``schedule``, ``theme``, ``hints``. Raises BadArgument for a schedule of another program.
    """

    SCRIPT = "scheduler"
    STATE = ("schedule", "theme", "hints")
    _esm = STATIC / "scheduler.js"
    _css = STATIC / "scheduler.css"

    schedule = Checked("").tag(sync=True)
    hints = Checked(False).tag(sync=True)

    def __init__(
        self,
        graph: Graph | Callable[[], Graph],
        *,
        schedule: str = "",
        theme: str = "auto",
        hints: bool = False,
    ) -> None:
        self._make = graph if callable(graph) else lambda: graph
        self._store = _Later({"label": "Scheduler: you choose which thread goes on."}, self._graph_of)
        super().__init__(schedule=schedule, theme=theme, hints=hints)

    @property
    def graph(self) -> Graph:
        """All states of the program, as plain data; ``BadArgument`` where there are too many of them."""
        if isinstance(self._made, BadArgument):
            raise self._made.with_traceback(None)
        return self._made

    @cached_property
    def _made(self) -> Graph | BadArgument:
        """To find out that there are too many takes as long as to make as many: once is enough."""
        try:
            return self._make()
        except BadArgument as error:
            return error

    def _graph_of(self) -> Graph:
        return self.graph

    # ---- traits

    @t.validate("schedule")
    def _valid_schedule(self, proposal: Any) -> str:
        if not isinstance(proposal["value"], str):
            raise BadArgument(f'schedule is a replay string like "0x3.1", not {proposal["value"]!r}')
        return self._opened(proposal["value"])

    @t.validate("hints")
    def _valid_hints(self, proposal: Any) -> bool:
        if not isinstance(proposal["value"], bool):
            raise BadArgument(f"hints is True or False, not {proposal['value']!r}")
        return proposal["value"]

    def _opened(self, schedule: str) -> str:
        """The schedule as it is written; ``BadArgument`` where it is none of this program."""
        return walked(self.graph, schedule).schedule

    # ---- in words

    @property
    def _words(self) -> str:  # type: ignore[override]
        return in_short(self.graph, walked(self.graph, self.schedule))

    @property
    def alt(self) -> str:
        """Where it stands, in a few sentences."""
        try:
            graph = self.graph
        except BadArgument as error:  # Python goes on all the same
            return f"Scheduler, {self._words}. {error}."
        walk = walked(graph, self.schedule)
        return " ".join([f"Scheduler, {self._words}.", *sentences(graph, walk)])

    @property
    def title(self) -> str:
        """Where it stands, in a few words."""
        return f"Scheduler, {self._words}"

    def to_picture(self, path: str | os.PathLike[str]) -> None:
        """Write where it stands as a still picture, ``.svg``, ``.png`` or ``.pdf``."""
        self._picture("light" if self.theme == "auto" else self.theme).save(path)

    def _picture(self, theme: str) -> Picture:
        state = state_of(self.graph, walked(self.graph, self.schedule))
        return Picture(*paint_state(state, theme_of(theme), points_of(None)), self.alt, self._words)

    def _still(self) -> Still:
        try:
            drawn = self._picture("light" if self.theme == "auto" else self.theme)
        except BadArgument:  # too many states for a page
            return Still(None, self.alt)
        return Still(drawn, self.alt)


class _Later:
    """A store whose one block is made when it is first asked for."""

    def __init__(self, index: dict[str, Any], graph: Callable[[], Graph]) -> None:
        self.index, self._graph = index, graph

    def head(self) -> bytes:
        return head_of(self.index, {})

    def block(self, key: str) -> bytes:
        if key != GAME:
            raise BadArgument(f"a scheduler has no block {key!r}")
        graph = self._graph()
        count = graph["interleavings"]
        if count > MOST_EXACT:  # a page counts in doubles, and JSON's encoder in 64 bits
            graph = {**graph, "interleavings": float(min(count, 10**300))}
        return deflated(encode(graph))

    def keys_outside(self) -> Iterator[str]:
        return iter((GAME,))
