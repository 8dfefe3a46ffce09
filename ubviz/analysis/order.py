"""Happens-before: which trace events and spans must come before which, whatever the durations.

Every node of ``causes`` gets a vector clock with one component for each thread and stream: how many of that lane's
nodes come before it. A thread that starts when an ended one of the same drawn lane is known to be over takes on its
component, so that a clock is as long as the lanes are many, not as the threads of all steps. Time and space are
linear in the events for a given number of lanes.

Source: Fidge 1988, Mattern 1989 (vector clocks); Flanagan and Freund 2009 (FastTrack).
"""

from __future__ import annotations

from ..trace.model import Trace
from .causes import Causes, causes
from .cone import Row
from .nodes import Lane
from .sound import judged


class Order:
    """The happens-before order of one trace.

    A trace event stands for what its thread does, a span for what its stream does: a launch comes before its kernel.

    >>> order = Order(trace)  # doctest: +SKIP
    >>> order.before(3, ("spans", 0)), order.concurrent(("spans", 4), ("spans", 7))  # doctest: +SKIP
    (True, True)
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = judged(trace)
        self.causes = causes(self.trace)
        self._component, self._count, self._clocks = _clocks(self.causes)

    # ---- nodes

    def node(self, row: Row) -> int:
        """The node of a row; -1 where it has none (an operation, a thread's life)."""
        table, index = row if isinstance(row, tuple) else ("events", row)
        return int((self.causes.host if table == "events" else self.causes.spans)[index])

    def device(self, row: int) -> int:
        """The node of what trace event ``row`` put into a stream; -1 for nothing."""
        return int(self.causes.device[row])

    def node_before(self, a: int, b: int) -> bool:
        """Whether node ``a`` happens before node ``b``."""
        return a != b and min(a, b) >= 0 and self._reaches(a, b)

    def _reaches(self, a: int, b: int) -> bool:
        component = self._component[a]
        if component == self._component[b]:
            return self._count[b] >= self._count[a]
        clock = self._clocks[b]
        return component < len(clock) and clock[component] >= self._count[a]

    # ---- rows

    def before(self, a: Row, b: Row) -> bool:
        """Whether row ``a`` happens before row ``b``; False where one of them has no place in the order."""
        return self.node_before(self.node(a), self.node(b))

    def concurrent(self, a: Row, b: Row) -> bool:
        """Whether neither comes before the other: two rows of the order that are not the same."""
        m, n = self.node(a), self.node(b)
        return min(m, n) >= 0 and m != n and not self._reaches(m, n) and not self._reaches(n, m)

    @property
    def components(self) -> int:
        """How many components a clock has at most."""
        return 1 + max(self._component, default=-1)


def _clocks(found: Causes) -> tuple[list[int], list[int], list[list[int]]]:
    """Component, number within it, and clock of every node.

    A clock's own component is in ``count``; the rest of it is the lane's, and shared until something is joined to it.
    """
    into = _into(found)
    parts = _Components(found)
    component: list[int] = []
    count: list[int] = []
    clocks: list[list[int]] = []
    newest: dict[Lane, int] = {}
    for node, lane in enumerate(found.lanes):
        before = newest.get(lane)
        clock = clocks[before] if before is not None else []
        causes = into.get(node)
        if causes is not None:
            clock = clock.copy()
            for cause in causes:
                _join(clock, clocks[cause], component[cause], count[cause])
        part = parts.of(node, lane, clock) if before is None else component[before]
        parts.counts[part] += 1
        component.append(part)
        count.append(parts.counts[part])
        clocks.append(clock)
        newest[lane] = node
    return component, count, clocks


def _into(found: Causes) -> dict[int, list[int]]:
    """Effect -> its causes on other lanes."""
    into: dict[int, list[int]] = {}
    for cause, effect in zip(found.causes.tolist(), found.effects.tolist(), strict=True):
        if effect in into:
            into[effect].append(cause)
        else:
            into[effect] = [cause]
    return into


def _join(clock: list[int], other: list[int], part: int, count: int) -> None:
    """``clock`` comes after a node of number ``count`` in component ``part``, whose clock is ``other``."""
    longer = max(len(other), part + 1) - len(clock)
    if longer > 0:
        clock.extend([0] * longer)
    for i, value in enumerate(other):
        if value > clock[i]:
            clock[i] = value
    if count > clock[part]:
        clock[part] = count


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
