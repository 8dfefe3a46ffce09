"""Arrows, in order of where they begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...trace.model import Trace
from .names import Names
from .pack import Part, pack_spans

TABLES = ("events", "spans")


def flows_of(trace: Trace, place: Mapping[int, int]) -> tuple[list[str], list[Part]]:
    """The kinds of arrows, and the arrows between lanes that are drawn; ``place``: lane id -> its place."""
    flows, kinds = trace.flows, Names()
    kind = kinds.column(flows, "kind")
    columns: dict[str, Any] = {
        "t": flows["from_ns"], "dt": flows["to_ns"] - flows["from_ns"], "kind": kind,
        "from_lane": _placed(flows["from_lane"], place), "to_lane": _placed(flows["to_lane"], place),
        "from_table": _table(flows, "from_table"), "to_table": _table(flows, "to_table"),
        "from_row": flows["from_row"], "to_row": flows["to_row"],
    }  # fmt: skip
    rows = np.flatnonzero((columns["from_lane"] >= 0) & (columns["to_lane"] >= 0))
    rows = rows[np.argsort(columns["t"][rows], kind="stable")]
    chosen = {name: values[rows] for name, values in columns.items()}
    ends = np.maximum(chosen["t"], chosen["t"] + chosen["dt"])
    return kinds.texts, list(pack_spans("flows:0", chosen, ends))


def _placed(lanes: np.ndarray, place: Mapping[int, int]) -> np.ndarray:
    ids, back = np.unique(lanes, return_inverse=True)
    return np.array([place.get(lane, -1) for lane in ids.tolist()], dtype=np.int64)[back]


def _table(flows: Any, field: str) -> np.ndarray:
    codes, pool = flows.codes(field)
    return np.array([*(TABLES.index(name) for name in pool), -1], dtype=np.int64)[codes]
