"""The critical path: why the makespan is no shorter, as a chain of causes from its end back to its beginning.

From the end of a step's last kernel, each moment is followed to its latest cause (``graph``). An entry is the
time between a cause and its effect. What an entry is spent on is said by its edge: ``run`` is a kernel running,
``program`` a thread at work, ``launch`` the way from the host to the device, ``slack`` what nothing explains.
The entries of a step add up to its makespan exactly. Where clocks differ, an entry may be less than 0; a step from
one lane to another may take none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..trace.model import Trace
from .graph import EDGES, Graph, graph
from .steps import DEVICE, windows

JUMPS = ("launch", "event", "wake", "barrier", "release", "create", "join", "done", "send", "arrival")
"""Edges from one lane to another: they are entries also where they take no time, since they say why."""


@dataclass(frozen=True)
class Entry:
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
    drawn = graph(trace) if drawn is None else drawn
    rows, binding = _rows(drawn), drawn.binding()
    path = []
    ends = _last_spans(trace)
    for of, (start_ns, end_ns) in windows(trace).items():
        if step is None or of == step:
            path += _walk(drawn, rows, binding, int(drawn.end_point[ends[of]]), start_ns, end_ns)
    return path


def _rows(drawn: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Which row a point belongs to: 0 for spans, 1 for trace events, -1 for neither; and its number."""
    table = np.full(len(drawn.time_ns), -1, dtype=np.int64)
    row = np.full(len(drawn.time_ns), -1, dtype=np.int64)
    for code, points in (
        (0, drawn.start_point), (0, drawn.end_point), (1, drawn.event_point), (1, drawn.return_point),
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


def _walk(
    drawn: Graph, rows: tuple[np.ndarray, np.ndarray], binding: np.ndarray, point: int, start_ns: int, end_ns: int
) -> list[Entry]:  # fmt: skip
    path: list[Entry] = []
    seen: set[int] = set()
    now = end_ns
    while now > start_ns and point not in seen:
        seen.add(point)
        edge = int(binding[point])
        if edge < 0:
            break
        cause = int(drawn.source[edge])
        before = max(int(drawn.time_ns[cause]), start_ns)
        slack = min(int(drawn.slack_ns[edge]), now - before)
        path += _entries(rows, point, before, now, max(slack, 0), EDGES[int(drawn.kind[edge])])
        point, now = cause, before
    if now != start_ns:
        path += _entries(rows, point, start_ns, now, 0, "start")
    return path[::-1]


def _entries(
    rows: tuple[np.ndarray, np.ndarray], point: int, before: int, now: int, slack: int, edge: str
) -> list[Entry]:  # fmt: skip
    """The edge's own time, and before its effect the slack that it carries; latest first."""
    table, row = int(rows[0][point]), int(rows[1][point])
    name = (None, "spans", "events")[table + 1]
    at = None if table < 0 else row
    out = []
    if slack:
        out.append(Entry(name, at, now - slack, slack, "slack"))
    if now - slack != before or edge in JUMPS:
        out.append(Entry(name, at, before, now - slack - before, edge))
    return out
