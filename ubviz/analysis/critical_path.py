"""The critical path: why the makespan is no shorter, as a chain of causes from its end back to its beginning.

From the end of a step's last kernel, each moment is followed to its latest cause (``graph``). An entry is the
time between a cause and its effect. What an entry is spent on is said by its edge: ``run`` is a kernel running,
``program`` a thread at work, ``launch`` the way from the host to the device, ``slack`` what nothing explains.
The entries of a step add up to its makespan exactly. Where clocks differ, an entry may be less than 0; a step from
one lane to another may take none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..trace.model import Trace
from .graph import EDGES, Graph, graph
from .windows import DEVICE, windows

JUMPS = ("launch", "event", "wake", "barrier", "release", "create", "join", "done", "send", "arrival")
"""Edges from one lane to another: they are entries also where they take no time, since they say why."""

TABLES = (None, "spans", "events")


class Entry(NamedTuple):
    """``ns`` spent before something begins or ends: ``table`` ("spans", "events"; None for a barrier's opening) and
    ``row``. ``start_ns`` is when the cause came; ``edge`` is how it is joined to the effect."""

    table: str | None
    row: int | None
    start_ns: int
    ns: int
    edge: str

    def as_json(self) -> dict[str, int | str | None]:
        """``{"span" or "event": row, "ns", "edge"}``."""
        where = {"spans": "span", "events": "event", None: "span"}[self.table]
        return {where: self.row, "ns": self.ns, "edge": self.edge}


def critical_path(trace: Trace, step: int | None = None, drawn: Graph | None = None) -> list[Entry]:
    """Entries in order of time, of one step or of each of them.

    >>> path = critical_path(trace)  # doctest: +SKIP
    >>> sum(entry.ns for entry in path) == overlap(trace).makespan_ns  # doctest: +SKIP
    True
    """
    paths = critical_paths(trace, drawn)
    return paths.get(step, []) if step is not None else [entry for path in paths.values() for entry in path]


def critical_paths(trace: Trace, drawn: Graph | None = None) -> dict[int | None, list[Entry]]:
    """The entries of each step, by step (None where the recording knows no steps)."""
    drawn = graph(trace) if drawn is None else drawn
    walk, ends = _Walk(drawn), _last_spans(trace)
    return {
        step: walk.back(int(drawn.end_point[ends[step]]), start_ns, end_ns)
        for step, (start_ns, end_ns) in windows(trace).items()
    }


def _rows(drawn: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Which row a point belongs to: 1 for spans, 2 for trace events, 0 for neither; and its number."""
    table = np.zeros(len(drawn.time_ns), dtype=np.int64)
    row = np.full(len(drawn.time_ns), -1, dtype=np.int64)
    for code, points in (
        (1, drawn.start_point), (1, drawn.end_point), (2, drawn.event_point), (2, drawn.return_point),
    ):  # fmt: skip
        has = np.flatnonzero(points >= 0)
        table[points[has]], row[points[has]] = code, has
    return table, row


def _last_spans(trace: Trace) -> dict[int | None, int]:
    """Step -> the row of the kernel or transfer that ends last."""
    spans = trace.spans
    device = np.flatnonzero(spans.mask(cat=DEVICE[0]) | spans.mask(cat=DEVICE[1]))
    order = device[np.argsort(spans["end_ns"][device], kind="stable")]
    if not trace.steps:
        return {None: int(order[-1])} if len(order) else {}
    return dict(zip(spans["step"][order].tolist(), order.tolist(), strict=True))  # the last one stays


class _Walk:
    """The graph as lists, which are quicker to walk one point at a time."""

    def __init__(self, drawn: Graph) -> None:
        binding = drawn.binding()
        caused, edge = binding >= 0, np.maximum(binding, 0)
        some = len(drawn.source) > 0
        self.cause = (np.where(caused, drawn.source[edge], -1) if some else binding).tolist()
        self.slack = (drawn.slack_ns[edge] if some else binding).tolist()
        self.kind = (drawn.kind[edge] if some else binding).tolist()
        self.time = drawn.time_ns.tolist()
        table, row = _rows(drawn)
        self.table, self.row = table.tolist(), row.tolist()

    def back(self, point: int, start_ns: int, end_ns: int) -> list[Entry]:
        """From a point to its latest cause, and so on, until the beginning."""
        path: list[Entry] = []
        seen: set[int] = set()
        now = end_ns
        while now > start_ns and point not in seen:
            seen.add(point)
            cause = self.cause[point]
            if cause < 0:
                break
            before = max(self.time[cause], start_ns)
            slack = max(min(self.slack[point], now - before), 0)
            self._add(path, point, before, now, slack, EDGES[self.kind[point]])
            point, now = cause, before
        if now != start_ns:
            self._add(path, point, start_ns, now, 0, "start")
        return path[::-1]

    def _add(self, path: list[Entry], point: int, before: int, now: int, slack: int, edge: str) -> None:
        """The edge's own time, and before its effect the slack that it carries; latest first."""
        name = TABLES[self.table[point]]
        at = None if name is None else self.row[point]
        if slack:
            path.append(Entry(name, at, now - slack, slack, "slack"))
        if now - slack != before or edge in JUMPS:
            path.append(Entry(name, at, before, now - slack - before, edge))
