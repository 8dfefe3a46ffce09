"""Sets of half-open intervals as sorted, disjoint [n, 2] arrays of nanoseconds.

>>> a = union(np.array([[0, 10], [5, 20], [30, 40]]))
>>> a.tolist(), length(a)
([[0, 20], [30, 40]], 30)
>>> intersection(a, union(np.array([[15, 35]]))).tolist()
[[15, 20], [30, 35]]
"""

from __future__ import annotations

import numpy as np

Intervals = np.ndarray


def union(spans: np.ndarray) -> Intervals:
    """Everything covered by at least one of ``spans`` [n, 2]; empty spans cover nothing."""
    spans = spans[spans[:, 1] > spans[:, 0]]
    if not len(spans):
        return np.empty((0, 2), dtype=np.int64)
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reach = np.maximum.accumulate(spans[:, 1])
    first = np.concatenate([[True], spans[1:, 0] > reach[:-1]])
    last = np.concatenate([first[1:], [True]])
    return np.stack([spans[first, 0], reach[last]], axis=1)


def intersection(a: Intervals, b: Intervals) -> Intervals:
    """What two sets share."""
    edges = np.concatenate([a[:, 0], b[:, 0], a[:, 1], b[:, 1]])
    change = np.repeat([1, -1], [len(a) + len(b)] * 2)
    order = np.lexsort((change, edges))  # at equal times an end comes first: touching is not sharing
    depth = np.cumsum(change[order])
    starts = np.flatnonzero(depth == 2)
    times = edges[order]
    out = np.stack([times[starts], times[starts + 1]], axis=1) if len(starts) else np.empty((0, 2), np.int64)
    return union(out)


def difference(a: Intervals, b: Intervals) -> Intervals:
    """What is in ``a`` and not in ``b``."""
    if not len(a):
        return a
    low, high = int(a[0, 0]), int(a[-1, 1])
    edges = np.concatenate([[low], np.clip(b, low, high).ravel(), [high]])
    return intersection(a, union(edges.reshape(-1, 2)))


def length(a: Intervals) -> int:
    """Nanoseconds in a set."""
    return int((a[:, 1] - a[:, 0]).sum())
