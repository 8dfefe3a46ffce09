"""Making a dependency graph smaller without changing a time that one looks at.

A point with one cause, whose lag is fixed, is its cause and a number. Of edges with fixed lags between the same two
points, the longest counts. Where a broken recording has a circle nothing is left out: its points need their clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .lab_plan import FIXED


class Edges(NamedTuple):
    """Columns of equal length; ``name`` is the row that each had before."""

    source: np.ndarray
    target: np.ndarray
    lag: np.ndarray
    own: np.ndarray
    by: np.ndarray
    name: np.ndarray


class Smaller(NamedTuple):
    """What is left: for each old point the new point and the nanoseconds after it; the edges; old number of each."""

    place: np.ndarray
    after_ns: np.ndarray
    edges: Edges
    kept: np.ndarray
    circular: bool


def smaller(points: int, edges: Edges, needed: Iterable[int]) -> Smaller:
    """The graph without what nobody looks at; ``needed`` are points that stay.

    >>> line = Edges(*map(np.array, ([0, 1], [1, 2], [5, 7], [0, 0], [0, 0], [0, 1])))
    >>> smaller(3, line, [2]).edges.lag.tolist()
    [12]
    """
    order = _order(points, edges)
    place, after = np.arange(points), np.zeros(points, dtype=np.int64)
    if order is not None:
        causes = np.bincount(edges.target, minlength=points)
        stays = np.ones(points, dtype=bool)
        stays[edges.target[(causes[edges.target] == 1) & (edges.by == FIXED)]] = False
        stays[list(needed)] = True
        only = np.empty(points, dtype=np.int64)
        only[edges.target] = np.arange(len(edges.target))
        for point in order:
            if not stays[point]:
                edge = only[point]
                cause = edges.source[edge]
                place[point], after[point] = place[cause], after[cause] + edges.lag[edge]
    kept = np.flatnonzero(place == np.arange(points))
    number = np.full(points, -1)
    number[kept] = np.arange(len(kept))
    here = number[edges.target] >= 0
    left = Edges(*(column[here] for column in edges))
    left = left._replace(
        source=number[place[left.source]], target=number[left.target], lag=left.lag + after[left.source]
    )
    return Smaller(number[place], after, _sorted(left), kept, order is None)


def _sorted(edges: Edges) -> Edges:
    """By target and source; of fixed ones between the same points the longest."""
    at = np.lexsort((-edges.lag, edges.by, edges.source, edges.target))
    edges = Edges(*(column[at] for column in edges))
    again = (np.diff(edges.target) == 0) & (np.diff(edges.source) == 0) & (edges.by[1:] == FIXED)
    again &= edges.by[:-1] == FIXED
    keep = np.concatenate([[True], ~again]) if len(at) else np.zeros(0, dtype=bool)
    return Edges(*(column[keep] for column in edges))


def _order(points: int, edges: Edges) -> list[int] | None:
    """Points, causes first; None where they form a circle."""
    by_source = np.argsort(edges.source, kind="stable")
    first = np.searchsorted(edges.source[by_source], np.arange(points + 1)).tolist()
    to = edges.target[by_source].tolist()
    left = np.bincount(edges.target, minlength=points).tolist()
    ready = [point for point in range(points) if left[point] == 0]
    order = []
    while ready:
        point = ready.pop()
        order.append(point)
        for effect in to[first[point] : first[point + 1]]:
            left[effect] -= 1
            if left[effect] == 0:
                ready.append(effect)
    return order if len(order) == points else None
