"""A comparison as the page is given it: lanes of both sides as columns, and the table of aligned operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.compare import Comparison
from ..analysis.operations import Operation, Part
from .compare_sides import Side
from .paint.frame import GROUPS
from .payload.bars import NEW_BLOCK, STYLES, Bars, Spans, bars_of
from .payload.blocks import Blocks
from .payload.names import Names

Key = tuple[int | None, int | None, str, int] | tuple[int | None, int | None, str, int, int]
"""Microbatch, layer, name, occurrence, and the rank where there are several: what ``selection`` calls an operation."""
Row = tuple[Operation, Part | None, Part | None]
"""An operation, and its part in each of the two; None where it has none."""


def key_of(operation: Operation) -> Key:
    """The key of an operation: what it is called without its step.

    >>> key_of(Operation(8, 0, 1, "experts", 0)), key_of(Operation(8, 0, 1, "experts", 0, rank=3))
    ((0, 1, 'experts', 0), (0, 1, 'experts', 0, 3))
    """
    _, *key, rank = operation
    return tuple(key) if rank is None else (*key, rank)  # type: ignore[return-value]


def rows_of(found: Comparison) -> list[Row]:
    """Every operation of either, by its start in a, else in b."""
    rows: list[Row] = [(pair.operation, pair.a, pair.b) for pair in found.pairs]
    rows += [(lone.operation, lone.part, None) for lone in found.only_a]
    rows += [(lone.operation, None, lone.part) for lone in found.only_b]
    return sorted(rows, key=lambda row: next(part.offset_ns for part in row[1:] if part is not None))


def store_of(
    sides: tuple[Side, Side], found: Comparison, align: str, title: str | None, label: str
) -> Blocks:
    """All that the page is told: the numbers at once, the lanes and the table with them."""
    rows = rows_of(found)
    index = {
        "title": title, "label": label, "align": align, "names": [side.name for side in sides],
        "steps": [side.step for side in sides],
        "totals": {name: [total.a, total.b] for name, total in found.totals.items()},
        "styles": list(STYLES), "notices": notices_of(sides, found),
    }  # fmt: skip
    lanes = {f"side:{at}": side_data(side, rows, at) for at, side in enumerate(sides)}
    return Blocks(index, {"operations": _table(rows), **lanes})


def notices_of(sides: tuple[Side, Side], found: Comparison) -> list[str]:
    """What the reader must know of either recording, and of the comparison."""
    own = [f"{side.name}: {notice.sentence}" for side in sides for notice in side.trace.notices]
    return [*own, *(notice.sentence for notice in found.notices)]


def _table(rows: list[Row]) -> dict[str, Any]:
    """The operations, as columns; of each part where it begins and ends in its step, and how long it ran."""
    names = Names()
    return {
        "name": [names.number(operation.name) for operation, _, _ in rows],
        "ubatch": [operation.ubatch for operation, _, _ in rows],
        "layer": [operation.layer for operation, _, _ in rows],
        "occurrence": [operation.occurrence for operation, _, _ in rows],
        "rank": [operation.rank for operation, _, _ in rows],
        "a": [_part(part) for _, part, _ in rows], "b": [_part(part) for _, _, part in rows],
        "names": names.texts,
    }  # fmt: skip


def _part(part: Part | None) -> list[int] | None:
    if part is None:
        return None
    return [part.offset_ns, part.offset_ns + part.end_ns - part.start_ns, part.duration_ns, part.lane]


def side_data(side: Side, rows: list[Row], at: int) -> dict[str, Any]:
    """The lanes of one side, from top to bottom; each bar says which operation it is of."""
    trace, names = side.trace, Names()
    spans = Spans(trace, names)
    of = np.full(len(trace.spans), -1, dtype=np.int64)
    for number, row in enumerate(rows):
        part = row[1:][at]
        if part is not None:
            of[list(part.rows)] = number
    ordered = sorted(trace.lanes, key=lambda lane: (lane.rank, GROUPS.index(lane.group)))
    lanes = []
    for lane in ordered:
        tracks = [_track(bars, of, side.begin_ns) for bars in bars_of(spans, lane) if bars.layer != "inner"]
        if tracks:
            lanes.append(
                {"id": lane.id, "name": lane.role, "group": lane.group, "rank": lane.rank, "tracks": tracks}
            )
    return {"lanes": lanes, "names": names.texts}


def _track(bars: Bars, of: np.ndarray, begin_ns: int) -> dict[str, Any]:
    columns = bars.columns
    row = columns["row"]
    operation = np.where(row >= 0, of[np.maximum(row, 0)], -1) if len(of) else np.full(len(row), -1)
    if bars.layer == "waits":
        operation = np.full(len(row), -1)
    return {
        "layer": bars.layer, "sub": bars.sub, "t": (columns["t"] - begin_ns).tolist(),
        "dur": columns["dur"].tolist(), "style": (columns["style"] % NEW_BLOCK).tolist(),
        "ubatch": (columns["ubatch"] - 1).tolist(), "op": operation.tolist(),
        "label": np.where(columns["op"] > 0, columns["op"] - 1, columns["name"]).tolist(),
    }  # fmt: skip
