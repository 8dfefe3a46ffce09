"""The operations of a recording: which kernels each one is made of, when it began and how long it ran.

An operation that was opened several times in one layer has *occurrences*, counted from 0. Kernels belong to the
occurrence that was open on their thread when they were launched. Where no operation was open, or the recording has
no operations (imported ones), each kernel is one of its own, under its name.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from ..trace.model import MISSING, Trace
from .evidence import times_of
from .intervals import length, union
from .nodes import row_of
from .windows import windows


class Operation(NamedTuple):
    """Which operation: what is None is not known, or left out. Ranks are left out where nothing tells them apart."""

    step: int | None
    ubatch: int | None
    layer: int | None
    name: str
    occurrence: int
    rank: int | None = None


class Part(NamedTuple):
    """What it did: ``start_ns`` and ``end_ns`` of the recording, ``offset_ns`` from its step's beginning.

    ``duration_ns`` is how long one of its kernels ran; ``lane`` is where the first of them did, ``rows`` are all of
    them, as rows of ``trace.spans``.
    """

    start_ns: int
    end_ns: int
    offset_ns: int
    duration_ns: int
    lane: int
    rows: tuple[int, ...]


def operations(
    trace: Trace, by: str = "ubatch", whole: bool = False, ranks: bool | None = None
) -> dict[Operation, Part]:
    """Every operation, in order of its start; ``by="name"`` puts the microbatches together, ``whole`` the steps.

    ``ranks`` says whether each is of a rank; unless given, it is where kernels of several ran.

    >>> operations(trace)[Operation(0, 1, 3, "experts", 0)].duration_ns  # doctest: +SKIP
    41200
    """
    spans = trace.spans
    rows = np.flatnonzero(spans.mask(cat="kernel"))
    if not len(rows):
        return {}
    opened = _opened(trace, rows)
    alone = np.flatnonzero(opened < 0)
    opened[alone] = len(spans) + alone  # each of them an operation of its own
    keys = _keys(trace, rows, opened, by, whole, len(ranks_of(trace)) > 1 if ranks is None else ranks)
    order = np.argsort(keys.of, kind="stable")
    each = np.split(rows[order], np.flatnonzero(np.diff(keys.of[order])) + 1)
    begins = {step: start for step, (start, _) in windows(trace).items()}
    beginning = min([*begins.values(), int(spans["start_ns"][rows].min())])
    out = {
        key: _part(trace, of, begins.get(key.step, beginning))
        for key, of in zip(keys.names, each, strict=True)
    }
    return dict(sorted(out.items(), key=lambda item: item[1][:2]))


def _part(trace: Trace, rows: np.ndarray, begin: int) -> Part:
    spans = trace.spans
    if len(rows) == 1:
        row = int(rows[0])
        start, end, lane = (spans._cell(name, row) for name in ("start_ns", "end_ns", "lane"))
        return Part(start, end, start - begin, end - start, lane, (row,))
    times = times_of(trace, rows)
    start, lane = int(times[:, 0].min()), int(spans["lane"][rows[np.argmin(times[:, 0])]])
    return Part(
        start, int(times[:, 1].max()), start - begin, length(union(times)), lane, tuple(rows.tolist())
    )


class _Keys(NamedTuple):
    """Which operation each kernel is of, as an index into ``names``."""

    of: np.ndarray
    names: list[Operation]


def _keys(trace: Trace, rows: np.ndarray, opened: np.ndarray, by: str, whole: bool, ranks: bool) -> _Keys:
    """The microbatches' occurrences are counted apart, also where they are put together; so are the ranks'."""
    spans = trace.spans
    groups, first, of = np.unique(opened, return_index=True, return_inverse=True)
    starts = np.full(len(groups), 2**63 - 1)
    np.minimum.at(starts, of.ravel(), spans["start_ns"][rows])
    in_order = np.lexsort((first, starts))
    leads = rows[first[in_order]]
    columns = [
        spans._values(name, leads) for name in ("step", "ubatch", "layer", "operation", "name", "rank")
    ]
    count: Counter[tuple[object, ...]] = Counter()
    numbers: dict[Operation, int] = {}
    number = np.empty(len(groups), dtype=np.int64)
    for group, step, ubatch, layer, operation, name, rank in zip(in_order.tolist(), *columns, strict=True):
        shown = (None if whole else step, layer, operation or name)
        mine = (rank, ubatch, *shown)
        key = Operation(
            shown[0],
            ubatch if by == "ubatch" else None,
            layer,
            shown[2],
            count[mine],
            rank if ranks else None,
        )
        count[mine] += 1
        number[group] = numbers.setdefault(key, len(numbers))
    return _Keys(number[of.ravel()], list(numbers))


def _opened(trace: Trace, rows: np.ndarray) -> np.ndarray:
    """For each kernel the row of the operation that was open when it was launched; -1 where none was.

    Operations of one name nest on no lane: of those of the kernel's name, the last one that began before the launch.
    """
    spans, events = trace.spans, trace.events
    launch = row_of(spans, events, rows)
    out = np.full(len(rows), -1)
    ops = np.flatnonzero(spans.mask(cat="operation"))
    code = spans.codes("operation")[0]
    known = np.flatnonzero((launch >= 0) & (code[rows] >= 0))
    if not len(ops) or not len(known):
        return out
    lane = events["lane"][launch[known]]
    by_key: dict[tuple[int, int], list[int]] = {}
    for op, at, name in zip(ops.tolist(), spans["lane"][ops].tolist(), code[ops].tolist(), strict=True):
        by_key.setdefault((at, name), []).append(op)
    pairs = np.stack([lane, code[rows[known]]])
    keys, of = np.unique(pairs, axis=1, return_inverse=True)
    for i, key in enumerate(keys.T.tolist()):
        candidates = np.array(by_key.get((key[0], key[1]), ()), dtype=np.int64)
        if len(candidates):
            mine = known[of.ravel() == i]
            told = events["t_ns"][launch[mine]]
            at = np.searchsorted(spans["start_ns"][candidates], told, side="right") - 1
            found = candidates[np.maximum(at, 0)]
            inside = (at >= 0) & (told <= spans["end_ns"][found])
            out[mine[inside]] = found[inside]
    return out


def steps_of(trace: Trace) -> list[int]:
    """The steps in which kernels ran."""
    found = np.unique(trace.spans["step"][trace.spans.mask(cat="kernel")])
    steps: list[int] = found[found != MISSING].tolist()
    return steps


def ranks_of(trace: Trace) -> list[int]:
    """The ranks whose kernels ran."""
    ranks: list[int] = np.unique(trace.spans["rank"][trace.spans.mask(cat="kernel")]).tolist()
    return ranks
