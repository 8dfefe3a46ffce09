"""What a Trace must keep so that it can be saved and comes back equal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from .chrome_format import VERSION, Header
from .model import MISSING, Table, Trace

DEEPEST = 100
MOST_BITS = 13_000
"""Of an integer: Python and msgspec read up to 4,300 digits."""

_REQUIRED = {
    "events": ("seq", "t_ns", "rank", "lane", "kind"),
    "spans": ("start_ns", "end_ns", "rank", "lane", "cat", "name"),
    "flows": (
        "kind", "from_table", "from_row", "from_ns", "from_lane", "to_table", "to_row", "to_ns", "to_lane",
    ),
}  # fmt: skip


def problems(trace: Trace) -> Iterator[str]:
    """One sentence for each kind of thing that is wrong.

    >>> next(problems(trace), None)  # doctest: +SKIP
    'row 2 of spans ends before it starts'
    """
    yield from _lane_ids(trace)
    for name in _REQUIRED:
        yield from _absent(name, getattr(trace, name))
    for name in ("events", "spans"):
        yield from _lanes(name, trace)
        yield from _args(name, getattr(trace, name))
    for row in np.flatnonzero(trace.spans["end_ns"] < trace.spans["start_ns"])[:1]:
        yield f"row {row} of spans ends before it starts"
    yield from _flows(trace)
    yield from _header(trace)


def json_problem(value: Any, where: str, deepest: int = DEEPEST) -> str | None:
    """What in a value has no place in JSON.

    >>> json_problem({"reads": (1, 2)}, "args")
    'args.reads is a tuple, which JSON does not have'
    """
    if value is None:
        return None
    if isinstance(value, int):
        return f"{where} has too many digits" if value.bit_length() > MOST_BITS else None
    if isinstance(value, str):
        return _surrogate(value, where)
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{where} is {value}, which JSON does not have"
    if not isinstance(value, (dict, list)):
        return f"{where} is a {type(value).__name__}, which JSON does not have"
    if deepest == 0:
        return f"{where} is nested more than {DEEPEST} deep"
    return next(filter(None, _inside(value, where, deepest - 1)), None)


def _inside(value: dict[Any, Any] | list[Any], where: str, deepest: int) -> Iterator[str | None]:
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield json_problem(item, f"{where}[{i}]", deepest)
        return
    for key, item in value.items():
        if not isinstance(key, str):
            yield f"{where} has the key {key!r}, and keys in JSON are text"
        yield _surrogate(str(key), f"a key of {where}")
        yield json_problem(item, f"{where}.{key}", deepest)


def _surrogate(text: str, where: str) -> str | None:
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return None
    return f"{where} holds half of a surrogate pair, which no file can hold"


def _lane_ids(trace: Trace) -> Iterator[str]:
    seen: set[int] = set()
    for lane in trace.lanes:
        if lane.id in seen:
            yield f"two lanes have the id {lane.id}"
        seen.add(lane.id)


def _absent(name: str, table: Table) -> Iterator[str]:
    for field in _REQUIRED[name]:
        column = table._columns[field]
        absent = column == (-1 if field in table._pools else MISSING)
        for row in np.flatnonzero(absent)[:1]:
            yield f"row {row} of {name} has no {field}"
    for field, pool in table._pools.items():
        if field != "args":
            yield from filter(None, (json_problem(text, f"a {field} of {name}") for text in pool))


def _lanes(name: str, trace: Trace) -> Iterator[str]:
    ranks = {lane.id: lane.rank for lane in trace.lanes}
    table: Table = getattr(trace, name)
    for row, (lane, rank) in enumerate(zip(table["lane"].tolist(), table["rank"].tolist(), strict=True)):
        if ranks.get(lane) != rank:
            yield f"row {row} of {name} is of rank {rank} and on lane {lane}, which that rank does not have"
            return


def _args(name: str, table: Table) -> Iterator[str]:
    codes, pool = table.codes("args")
    for code, args in enumerate(pool):
        problem = json_problem(args, "args")
        if problem:
            rows = np.flatnonzero(codes == code)
            if len(rows):
                yield f"row {rows[0]} of {name}: {problem}"


def _flows(trace: Trace) -> Iterator[str]:
    lanes = {lane.id for lane in trace.lanes}
    lengths = {"events": len(trace.events), "spans": len(trace.spans)}
    for row, flow in enumerate(trace.flows):
        for table, index in ((flow.from_table, flow.from_row), (flow.to_table, flow.to_row)):
            if table not in lengths:
                yield f'row {row} of flows joins a row of {table!r}; flows join "events" and "spans"'
            elif not 0 <= index < lengths[table]:
                yield f"row {row} of flows joins row {index} of {table}, which has {lengths[table]} rows"
        for lane in {flow.from_lane, flow.to_lane} - lanes:
            yield f"row {row} of flows is on lane {lane}, which the trace does not have"


def _header(trace: Trace) -> Iterator[str]:
    meta = {key: value for key, value in trace.meta.items() if key != "path"}
    lanes = [lane._asdict() for lane in trace.lanes]
    notices = [notice._asdict() for notice in trace.notices]
    for value, where in ((meta, "meta"), (lanes, "lanes"), (notices, "notices")):
        problem = json_problem(value, where)
        if problem:
            yield problem
            return
    try:
        msgspec.convert({"version": VERSION, "lanes": lanes, "meta": meta, "notices": notices}, Header)
    except msgspec.ValidationError as error:
        yield f"its lanes, meta or notices are malformed ({error})"
