"""States and what changes them, as blocks: the page adds no meaning, it only goes along.

``nav`` has for every trace event its time, thread and objects, and for every span the trace event that caused it;
``part:3`` the changes of some trace events with the state before the first, their sentences, and what streams have
queued by then; ``sources`` the text of functions. Each part can be shown without the others, so that any jump is
immediate. A path and a value stand in each part once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...analysis.states import KEYFRAME, States, natural
from ...analysis.states_fold import Change
from ...errors import BadArgument
from ...trace.model import MISSING, Trace
from ..payload.blocks import encode, head_of
from ..payload.pack import deflated

PANELS = ("code", "ring", "flags", "barrier", "hooks", "context", "streams", "events", "calls", "votes")
"""The panels, in the order in which they are shown."""
SECTION = {
    "code": "threads", "ring": "ring", "flags": "flags", "barrier": "barriers", "hooks": "hooks", "context": "context",
    "streams": "streams", "events": "events", "calls": "calls", "votes": "votes",
}  # fmt: skip
"""The section of a state that a panel shows."""
FIRST_EVENTS = 20_000
"""Recordings of fewer trace events come with what all steps need; others ask for it."""

PATH = (
    (0, "execute_model", "", ("inputs", "output", "done")),
    (1, "coordinate_batch_across_dp", "", ("vote",)),
    (1, "the model, at once", "unsplit", ("model",)),
    (1, "the model, one microbatch after the other", "split", ("model",)),
    (1, "UBatchWrapper._run_ubatches", "overlapped", ("threads", "microbatches", "merge")),
    (
        1,
        "UBatchWrapper._capture_ubatches",
        "capture",
        ("capture", "threads", "microbatches", "merge", "replay"),
    ),
    (1, "CUDAGraph.replay", "replay", ("replay", "merge", "model")),
)
"""The call path: depth, name, the branch that it is ("" for all), the stages in which one is there."""


class StepStore:
    """What a page is told of the states of a recording.

    >>> store = StepStore(States(trace), ("ring", "flags"), "a recording", None, passed)  # doctest: +SKIP
    >>> store.block("part:0")  # doctest: +SKIP
    b'x\\x01...'
    """

    def __init__(
        self, states: States, panels: Sequence[str], label: str, title: str | None, passed: np.ndarray
    ) -> None:
        self.states, trace = states, states.trace
        self._passed = np.flatnonzero(passed).tolist()
        begins = trace.events["t_ns"][:1].tolist() or [0]
        self.index: dict[str, Any] = {
            "version": 1, "label": label, "title": title, "count": len(states), "part": KEYFRAME,
            "panels": list(panels), "threads": self._lanes(trace), "origin_ns": begins[0], "path": PATH,
            "keys": self._keys(), "several": states.several,
        }  # fmt: skip

    def _lanes(self, trace: Trace) -> list[dict[str, Any]]:
        """Every thread, and its microbatch."""
        found: dict[str, int | None] = {}
        for key, ubatch in zip(self.states.threads, trace.events["ubatch"].tolist()):
            found.setdefault(key, ubatch if ubatch >= 0 else None)
        order = [name for section, name, _ in self.states.keyframes[0] if section == "threads"]
        names = sorted(found, key=lambda name: order.index(name) if name in order else len(order))
        self._threads = names
        return [{"name": name, "ubatch": found[name]} for name in names]

    def _keys(self) -> dict[str, list[str]]:
        """For each section the objects that ever are in it: what is shown has its place from the beginning."""
        found: dict[str, dict[str, None]] = {}
        for section, key, _ in self.states.paths:
            found.setdefault(section, {})[key] = None
        plain = ("threads", "streams")
        return {
            section: list(keys) if section in plain else sorted(keys, key=natural)
            for section, keys in found.items()
        }

    # ---- what is asked for

    def head(self) -> bytes:
        """The index, and the blocks that come with it."""
        return head_of(self.index, {key: encode(self._makers[key]()) for key in self._first()})

    def block(self, key: str) -> bytes:
        """The block of a name, deflated; BadArgument for a name that there is not."""
        if key not in self._makers:
            raise BadArgument(f"this recording has no block {key!r}")
        return deflated(encode(self._makers[key]()))

    def keys_outside(self) -> Iterator[str]:
        """The names of the blocks that do not come with the index."""
        inside = self._first()
        return (key for key in self._makers if key not in inside)

    def _first(self) -> list[str]:
        return ["nav", "part:0", "sources"] if len(self.states) <= FIRST_EVENTS else []

    @cached_property
    def _makers(self) -> dict[str, Callable[[], Any]]:
        parts = range(max(-(-len(self.states) // KEYFRAME), 1))
        return {
            "nav": self._nav,
            "sources": lambda: self.states.trace.meta.get("sources", []),
            **{f"part:{number}": lambda number=number: self._part(number) for number in parts},  # type: ignore[misc]
        }

    def _nav(self) -> dict[str, Any]:
        states = self.states
        number = {name: at for at, name in enumerate(self._threads)}
        names: dict[str, int] = {}
        objects = [
            [names.setdefault(name, len(names)) for name in dict.fromkeys(found)] for found in states.objects
        ]
        t = states.trace.events["t_ns"]
        gaps = np.diff(t, prepend=t[:1]).tolist()
        return {
            "t0": int(t[0]) if len(t) else 0, "gaps": gaps, "thread": [number[name] for name in states.threads],
            "objects": objects, "names": list(names), "causes": states.causes.tolist(),
            "passed": self._passed,
        }  # fmt: skip

    def _part(self, number: int) -> dict[str, Any]:
        states, pool = self.states, Pool()
        rows = range(number * KEYFRAME, min((number + 1) * KEYFRAME, len(states)))
        frame = [
            index for path, value in states.keyframes[number].items() for index in pool.pair(path, value)
        ]
        changes = [[index for change in states.changes[row] for index in pool.of(change)] for row in rows]
        return {
            "paths": pool.paths, "values": pool.values, "frame": frame, "changes": changes,
            "says": states.says[rows.start : rows.stop], "queues": self._queues(number, rows.stop),
        }  # fmt: skip

    def _queues(self, number: int, stop: int) -> dict[str, Any]:
        """Of each stream what is pending before the part, and what is queued in it."""
        found = {}
        for queue in self.states.queues:
            path = ("streams", queue.key, "done")
            first = self.states.keyframes[number].get(path, 0)
            last = int(np.searchsorted(queue.rows, stop, side="left"))
            items = [
                [queue.labels[i], queue.cats[i], queue.classes[i], queue.ubatches[i]]
                for i in range(min(first, last), last)
            ]
            found[queue.key] = [first, items]
        return found


class Pool:
    """Paths and values by number, each kept once; value 0 is nothing."""

    def __init__(self) -> None:
        self._paths: dict[Any, int] = {}
        self._values: dict[bytes, int] = {b"null": 0}
        self.paths: list[Any] = []
        self.values: list[Any] = [None]

    def pair(self, path: Any, value: Any) -> tuple[int, int]:
        """The numbers of a path and a value."""
        at = self._paths.setdefault(path, len(self.paths))
        if at == len(self.paths):
            self.paths.append(path)
        key = encode(value)
        number = self._values.setdefault(key, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return at, number

    def of(self, change: Change) -> tuple[int, int]:
        """The numbers of what a change leads to."""
        return self.pair(change[0], change[2])


def shown(states: States) -> list[str]:
    """The panels that a recording has something for."""
    sections = {section for section, _, _ in states.paths}
    has = {name: SECTION[name] in sections for name in PANELS}
    has["ring"] = bool((states.trace.events["ubatch"] != MISSING).any())
    has["code"] = any(field == "site" for _, _, field in states.paths)
    return [name for name in PANELS if has[name]]
