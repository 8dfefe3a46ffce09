"""Happens-before: which trace events and spans must come before which, whatever the durations.

Every node of ``causes`` gets a vector clock with one component for each thread and stream: how many of that lane's
nodes come before it. A thread that starts when an ended one of the same drawn lane is known to be over takes on its
component, so that a clock is as long as the lanes are many, not as the threads of all steps. Time and space are
linear in the events for a given number of lanes.

Source: Fidge 1988, Mattern 1989 (vector clocks); Flanagan and Freund 2009 (FastTrack).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..trace.model import Trace
from .causes import Causes, Lane, causes
from .sound import sound

Row = int | tuple[str, int]
"""A row of ``events``, by its number, or ("events" | "spans", number) as in a flow."""


class Cone(NamedTuple):
    """What comes before, or after, one row: rows of ``events`` and of ``spans``."""

    events: np.ndarray
    spans: np.ndarray


class Order:
    """The happens-before order of one trace.

    A trace event stands for what its thread does, a span for what its stream does: a launch comes before its kernel.

    >>> order = Order(trace)  # doctest: +SKIP
    >>> order.before(3, ("spans", 0)), order.concurrent(("spans", 4), ("spans", 7))  # doctest: +SKIP
    (True, True)
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = sound(trace)
        self.causes = causes(self.trace)
        self._component, self._count, self._clocks = _clocks(self.causes)

    # ---- nodes

    def node(self, row: Row) -> int:
        """The node of a row; -1 where it has none (an operation, a thread's life)."""
        table, index = row if isinstance(row, tuple) else ("events", row)
        return self.causes.host[index] if table == "events" else int(self.causes.spans[index])

    def device(self, row: int) -> int:
        """The node of what trace event ``row`` put into a stream; -1 for nothing."""
        return self.causes.device.get(row, -1)

    def node_before(self, a: int, b: int) -> bool:
        """Whether node ``a`` happens before node ``b``."""
        return a != b and min(a, b) >= 0 and self._reaches(a, b)

    def _reaches(self, a: int, b: int) -> bool:
        clock, component = self._clocks[b], self._component[a]
        return component < len(clock) and clock[component] >= self._count[a]

    # ---- rows

    def before(self, a: Row, b: Row) -> bool:
        """Whether row ``a`` happens before row ``b``; False where one of them has no place in the order."""
        return self.node_before(self.node(a), self.node(b))

    def concurrent(self, a: Row, b: Row) -> bool:
        """Whether neither comes before the other: two rows of the order that are not the same."""
        m, n = self.node(a), self.node(b)
        return min(m, n) >= 0 and m != n and not self._reaches(m, n) and not self._reaches(n, m)

    def past(self, row: Row) -> Cone:
        """Every row that happens before ``row``.

        >>> order.past(("spans", 7)).spans  # doctest: +SKIP
        array([0, 1, 4])
        """
        node = self.node(row)
        inside = np.zeros(len(self._count), dtype=bool)
        if node >= 0:
            clock = np.zeros(self.components, dtype=np.int64)
            clock[: len(self._clocks[node])] = self._clocks[node]
            inside = clock[np.asarray(self._component, dtype=np.int64)] >= np.asarray(self._count)
            inside[node] = False
        return self._cone(inside)

    def future(self, row: Row) -> Cone:
        """Every row that ``row`` happens before."""
        node = self.node(row)
        inside = np.zeros(len(self._count), dtype=bool)
        if node >= 0:
            component, count = self._component[node], self._count[node]
            inside = np.array(
                [len(c) > component and c[component] >= count for c in self._clocks], dtype=bool
            )
            inside[node] = False
        return self._cone(inside)

    @property
    def components(self) -> int:
        """How many components a clock has at most."""
        return 1 + max(self._component, default=-1)

    def _cone(self, inside: np.ndarray) -> Cone:
        host = np.asarray(self.causes.host, dtype=np.int64)
        spans = self.causes.spans
        padded = np.concatenate([inside, [False]])  # -1: no node
        return Cone(np.flatnonzero(padded[host]), np.flatnonzero(padded[spans]))


def _clocks(found: Causes) -> tuple[list[int], list[int], list[list[int]]]:
    """Component, number within it, and clock of every node."""
    into: list[list[int]] = [[] for _ in found.lanes]
    for edge in found.edges:
        into[edge.effect].append(edge.cause)
    parts = _Components(found)
    component: list[int] = []
    count: list[int] = []
    clocks: list[list[int]] = []
    newest: dict[Lane, list[int]] = {}
    for node, lane in enumerate(found.lanes):
        clock = list(newest.get(lane, ()))
        for cause in into[node]:
            _join(clock, clocks[cause])
        part = parts.of(node, lane, clock)
        clock.extend([0] * (part + 1 - len(clock)))
        parts.counts[part] += 1
        clock[part] = parts.counts[part]
        component.append(part)
        count.append(clock[part])
        clocks.append(clock)
        newest[lane] = clock
    return component, count, clocks


def _join(clock: list[int], other: list[int]) -> None:
    clock.extend([0] * (len(other) - len(clock)))
    for i, value in enumerate(other):
        if value > clock[i]:
            clock[i] = value


class _Components:
    """Which component of the clocks a lane counts in."""

    def __init__(self, found: Causes) -> None:
        self._drawn = found.drawn
        self._last = {lane: node for node, lane in enumerate(found.lanes)}
        self._of: dict[Lane, int] = {}
        self._holder: list[Lane] = []  # who counts in each component
        self._free: dict[Lane, list[int]] = {}  # drawn lane -> components of its threads
        self.counts: list[int] = []

    def of(self, node: int, lane: Lane, clock: list[int]) -> int:
        if lane not in self._of:
            self._of[lane] = self._find(node, lane, clock)
        return self._of[lane]

    def _find(self, node: int, lane: Lane, clock: list[int]) -> int:
        known = self._free.setdefault(self._drawn[node], [])
        for part in known:
            is_over = self._last[self._holder[part]] < node
            if is_over and part < len(clock) and clock[part] == self.counts[part]:
                self._holder[part] = lane
                return part
        self.counts.append(0)
        self._holder.append(lane)
        known.append(len(self.counts) - 1)
        return known[-1]
