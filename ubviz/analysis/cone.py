"""The past and the future of one row in the happens-before order: all that must come before it, or after it.

Where ``Order`` answers for two rows whether one comes before the other, ``Cones`` lists everything on one side of a
row, the whole cone or the first hops of it. What a lane has in a cone is a beginning of the lane (of a past) or an
end (of a future), so a cone is one position a lane; a lane's edges are looked at once. Linear to make, and to ask.

Source: Mattern 1989, "Virtual time and global states of distributed systems", for the name and the picture.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..trace.model import Trace
from .causes import Causes, causes
from .sound import judged

Row = int | tuple[str, int]
"""A row of ``events``, by its number, or ("events" | "spans", number) as in a flow."""


class Cone(NamedTuple):
    """What comes before, or after, one row: rows of ``events`` and of ``spans``, in order, without the row itself."""

    events: np.ndarray
    spans: np.ndarray


class Cones:
    """Cones of one trace; made once.

    >>> cones = Cones(trace)  # doctest: +SKIP
    >>> cones.past(("spans", 7)).spans, cones.past(("spans", 7), hops=1).events  # doctest: +SKIP
    (array([0, 1, 4]), array([12]))

    A row that has no place in the order (an operation, a thread's life) has empty cones.
    """

    def __init__(self, trace: Trace, found: Causes | None = None) -> None:
        found = causes(judged(trace)) if found is None else found
        self._host = np.asarray(found.host, dtype=np.int64)
        self._spans = found.spans
        lanes: dict[object, int] = {}
        self._lane = np.array([lanes.setdefault(lane, len(lanes)) for lane in found.lanes], dtype=np.int64)
        self._place, self._nodes = _places(self._lane)
        cause, effect = np.asarray(found.causes, dtype=np.int64), np.asarray(found.effects, dtype=np.int64)
        self._into = _Jumps(self, len(lanes), effect, cause)
        self._out = _Jumps(self, len(lanes), cause, effect)

    def node(self, row: Row) -> int:
        """The node of a row; -1 where it has none."""
        table, index = row if isinstance(row, tuple) else ("events", row)
        return int((self._host if table == "events" else self._spans)[index])

    def past(self, row: Row, hops: int | None = None) -> Cone:
        """All that happens before ``row``; with ``hops``, what is at most so many edges away.

        An edge leads to the neighbour on the same thread or stream, or along a cause: a launch, a record, a wake-up.
        """
        return self._cone(row, hops, self._into, -1)

    def future(self, row: Row, hops: int | None = None) -> Cone:
        """All that ``row`` happens before; ``hops`` as in ``past``."""
        return self._cone(row, hops, self._out, 1)

    def _cone(self, row: Row, hops: int | None, jumps: _Jumps, way: int) -> Cone:
        node = self.node(row)
        inside = np.zeros(len(self._lane) + 1, dtype=bool)  # the last one is for -1: no node
        if node >= 0 and hops is None:
            inside[:-1] = jumps.whole(node, way)
        elif node >= 0 and hops is not None:
            inside[self._near(node, hops, jumps, way)] = True
        if node >= 0:
            inside[node] = False
        return Cone(np.flatnonzero(inside[self._host]), np.flatnonzero(inside[self._spans]))

    def _near(self, node: int, hops: int, jumps: _Jumps, way: int) -> list[int]:
        seen, edge = {node}, [node]
        for _ in range(hops):
            reached = (n for of in edge for n in (*self._beside(of, way), *jumps.of(of)))
            edge = [n for n in dict.fromkeys(reached) if n not in seen]
            seen.update(edge)
        return list(seen)

    def _beside(self, node: int, way: int) -> list[int]:
        """The neighbour on the same lane."""
        at = int(self._nodes[1][node]) + way
        order = self._nodes[0]
        known = 0 <= at < len(order) and self._lane[order[at]] == self._lane[node]
        return [int(order[at])] if known else []


def _places(lane: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Of each node its place on its lane; the nodes lane by lane, and where each is in that list."""
    order = np.argsort(lane, kind="stable")
    at = np.empty_like(order)
    at[order] = np.arange(len(order))
    first = np.searchsorted(lane[order], lane, side="left")
    return at - first, (order, at)


class _Jumps:
    """Edges between lanes, from each node to the nodes beyond, for going one way."""

    def __init__(self, cones: Cones, lanes: int, near: np.ndarray, far: np.ndarray) -> None:
        self._lane, self._place, self._lanes = cones._lane, cones._place, lanes
        order = np.lexsort((self._place[near], self._lane[near]))
        self._near, self._far = near[order], far[order]
        self._far_lane, self._far_place = self._lane[self._far], self._place[self._far]
        lane, self._at = self._lane[self._near], self._place[self._near]
        self._first = np.searchsorted(lane, np.arange(lanes + 1)).tolist()

    def _slice(self, lane: int, low: int, high: int) -> slice:
        """Edges of a lane's places from ``low`` to ``high``, both included."""
        first, last = self._first[lane], self._first[lane + 1]
        at = self._at[first:last]
        return slice(
            first + int(np.searchsorted(at, low)), first + int(np.searchsorted(at, high, side="right"))
        )

    def of(self, node: int) -> list[int]:
        """The nodes one edge away."""
        lane, place = int(self._lane[node]), int(self._place[node])
        found: list[int] = self._far[self._slice(lane, place, place)].tolist()
        return found

    def whole(self, node: int, way: int) -> np.ndarray:
        """Which nodes are in the cone, the node itself included: as far as ``reach`` on each lane."""
        far = np.iinfo(np.int64).max
        reach = np.full(self._lanes, far if way > 0 else -1)
        reach[self._lane[node]] = self._place[node]
        done = np.full(self._lanes, far if way > 0 else -1)  # up to where a lane's edges have been followed
        todo = [int(self._lane[node])]
        farther = np.minimum if way > 0 else np.maximum
        while todo:
            lane = todo.pop()
            if reach[lane] == done[lane]:
                continue
            low, high = (reach[lane], done[lane] - 1) if way > 0 else (done[lane] + 1, reach[lane])
            done[lane] = reach[lane]
            edges = self._slice(lane, int(low), int(high))
            before = reach.copy()
            farther.at(reach, self._far_lane[edges], self._far_place[edges])
            todo += np.flatnonzero(reach != before).tolist()
        inside: np.ndarray = (self._place - reach[self._lane]) * way >= 0
        return inside
