"""Trace: an immutable recording, as columns.

Three tables (``events``, ``spans``, ``flows``), the lanes they are drawn on, ``meta`` and ``notices``. Times are
integer nanoseconds since the recording began; ``meta["base_ns"]``, where known, is that moment in Unix time. A
value that is absent is None when a row is read and ``MISSING`` in a column of integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import BadArgument, MissingExtra

if TYPE_CHECKING:
    import os

    import pandas as pd

MISSING = -(2**63)

EVENT_FIELDS = (
    "seq", "t_ns", "until_ns", "rank", "step", "thread", "ubatch", "lane", "kind", "site", "caller", "args",
)  # fmt: skip
SPAN_FIELDS = (
    "start_ns", "end_ns", "rank", "step", "ubatch", "lane", "cat", "name", "cls", "operation", "layer",
    "correlation", "seq", "args",
)  # fmt: skip
FLOW_FIELDS = (
    "kind",
    "from_table",
    "from_row",
    "from_ns",
    "from_lane",
    "to_table",
    "to_row",
    "to_ns",
    "to_lane",
)


class Event(NamedTuple):
    """One trace event."""

    seq: int
    t_ns: int
    until_ns: int | None
    rank: int
    step: int | None
    thread: int | None
    ubatch: int | None
    lane: int
    kind: str
    site: str | None
    caller: str | None
    args: dict[str, Any]


class Span(NamedTuple):
    """Something that lasts: ``[start_ns, end_ns)`` on a lane. ``seq`` is the trace event that caused it."""

    start_ns: int
    end_ns: int
    rank: int
    step: int | None
    ubatch: int | None
    lane: int
    cat: str
    name: str
    cls: str | None
    operation: str | None
    layer: int | None
    correlation: int | None
    seq: int | None
    args: dict[str, Any]

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


class Flow(NamedTuple):
    """An arrow from one row to another; a row is (table, index) with table "events" or "spans"."""

    kind: str
    from_table: str
    from_row: int
    from_ns: int
    from_lane: int
    to_table: str
    to_row: int
    to_ns: int
    to_lane: int


class Lane(NamedTuple):
    """One drawn row. ``group`` is "threads", "streams" or "network"; ``role`` its name within the rank."""

    id: int
    rank: int
    role: str
    group: str


class Notice(NamedTuple):
    """Something the reader must know about the recording: what, how often, in a sentence."""

    kind: str
    count: int  # type: ignore[assignment]  # tuple.count is not needed here
    sentence: str


class Table(Sequence[Any]):
    """Columns of equal length; a row is a named tuple made on demand.

    Integer columns are int64 arrays, text columns are codes into a tuple of strings, ``args`` is an array of
    indices into a tuple of dicts (equal ones are kept once).
    """

    __slots__ = ("_columns", "_pools", "_row")

    def __init__(
        self, row: type[Any], columns: Mapping[str, np.ndarray], pools: Mapping[str, tuple[Any, ...]]
    ) -> None:
        self._row = row
        self._columns = dict(columns)
        self._pools = dict(pools)
        for column in self._columns.values():
            column.flags.writeable = False

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(self._row._fields)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, key: Any) -> Any:
        """A column by name, a row by number, rows by slice (as a list)."""
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, slice):
            return [self._make(i) for i in range(*key.indices(len(self)))]
        index = int(key)
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of a table of {len(self)}")
        return self._make(index % len(self))

    def __iter__(self) -> Iterator[Any]:
        lists = [self._values(name) for name in self.fields]
        return map(self._row, *lists)

    def codes(self, field: str) -> tuple[np.ndarray, tuple[Any, ...]]:
        """The integer codes of a text column and the strings they stand for (-1 is None)."""
        return self._columns[field], self._pools[field]

    def mask(self, **equal: Any) -> np.ndarray:
        """Rows in which every named field equals its value (None matches what is absent).

        >>> trace.spans.mask(cat="kernel", ubatch=0)  # doctest: +SKIP
        """
        keep = np.ones(len(self), dtype=bool)
        for field, value in equal.items():
            column = self._codes(field)
            if field in self._pools:
                pool = self._pools[field]
                code = -1 if value is None else pool.index(value) if value in pool else -2
                keep &= column == code
            else:
                keep &= column == (MISSING if value is None else value)
        return keep

    def rows(self, mask: np.ndarray) -> list[Any]:
        """The rows that a mask or an array of indices selects."""
        indices = np.flatnonzero(mask) if mask.dtype == bool else mask
        return [self._make(int(i)) for i in indices]

    def _codes(self, name: str) -> np.ndarray:
        if name not in self._columns:
            raise BadArgument(f"this table has no column {name!r}; it has {', '.join(self.fields)}")
        return self._columns[name]

    def _column(self, name: str) -> np.ndarray:
        column = self._codes(name)
        if name not in self._pools:
            return column
        out = np.empty(len(column), dtype=object)
        out[:] = self._values(name)
        out.flags.writeable = False
        return out

    def _values(self, name: str) -> list[Any]:
        column = self._columns[name].tolist()
        if name in self._pools:
            pool = (*self._pools[name], None)
            return [pool[code] for code in column]
        return [None if value == MISSING else value for value in column]

    def _make(self, index: int) -> Any:
        return self._row(*(self._cell(name, index) for name in self.fields))

    def _cell(self, name: str, index: int) -> Any:
        value = int(self._columns[name][index])
        if name in self._pools:
            return None if value == -1 else self._pools[name][value]
        return None if value == MISSING else value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self._row is other._row
            and len(self) == len(other)
            and all(self._same(other, name) for name in self.fields)
        )

    def _same(self, other: Table, name: str) -> bool:
        if name in self._pools:
            return self._values(name) == other._values(name)
        return bool(np.array_equal(self._columns[name], other._columns[name]))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self._row, self._columns, self._pools)

    def nbytes(self) -> int:
        """Bytes held by the columns (pools are not counted)."""
        return sum(column.nbytes for column in self._columns.values())

    def __repr__(self) -> str:
        return f"<{len(self):,} rows: {', '.join(self.fields)}>"


NOT_COMPARED = ("created", "path")
"""Keys of ``meta`` that do not take part in equality."""


class Trace:
    """An immutable recording.

    >>> trace = ubviz.load("overlapped.json.gz")  # doctest: +SKIP
    >>> trace.events["kind"][:2]  # doctest: +SKIP
    array(['step.begin', 'context.set'], dtype=object)
    >>> [event for event in trace.events if event.kind == "host_event.set"][0].args  # doctest: +SKIP
    {'host_event': 'cpu_event[0]', 'was': False}
    """

    __slots__ = ("events", "flows", "lanes", "meta", "notices", "spans")

    def __init__(
        self,
        events: Table,
        spans: Table,
        flows: Table,
        lanes: Sequence[Lane],
        meta: Mapping[str, Any],
        notices: Sequence[Notice] = (),
    ) -> None:
        for name, value in (
            ("events", events), ("spans", spans), ("flows", flows), ("lanes", tuple(lanes)),
            ("meta", dict(meta)), ("notices", tuple(notices)),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    events: Table
    spans: Table
    flows: Table
    lanes: tuple[Lane, ...]
    meta: dict[str, Any]
    notices: tuple[Notice, ...]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Trace is immutable; {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Trace is immutable; {name} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return Trace, (self.events, self.spans, self.flows, self.lanes, self.meta, self.notices)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        return (
            self.lanes == other.lanes
            and self.notices == other.notices
            and self._compared_meta() == other._compared_meta()
            and self.events == other.events
            and self.spans == other.spans
            and self.flows == other.flows
        )

    __hash__ = None  # type: ignore[assignment]

    def _compared_meta(self) -> dict[str, Any]:
        return {key: value for key, value in self.meta.items() if key not in NOT_COMPARED}

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps this trace holds, in order."""
        found = np.unique(self.events["step"])
        return tuple(int(step) for step in found if step != MISSING)

    @property
    def duration_ns(self) -> int:
        """From the first trace event or span to the last."""
        starts = np.concatenate([self.events["t_ns"], self.spans["start_ns"]])
        ends = np.concatenate([self.events["t_ns"], self.events["until_ns"], self.spans["end_ns"]])
        return int(ends.max()) - int(starts.min()) if len(starts) else 0

    def only(self, *steps: int) -> Trace:
        """Some steps of this trace, as a trace of its own: ``trace.only(3, 4)``."""
        from .select import only_steps

        return only_steps(self, steps)

    def lane(self, role: str, rank: int = 0) -> Lane:
        """The lane of a role, e.g. ``trace.lane("ubatch 0")``."""
        for lane in self.lanes:
            if lane.role == role and lane.rank == rank:
                return lane
        names = ", ".join(lane.role for lane in self.lanes if lane.rank == rank)
        raise BadArgument(f"rank {rank} has no lane {role!r}; it has {names}")

    def to_pandas(self, table: str = "events") -> pd.DataFrame:
        """One table ("events", "spans" or "flows") as a DataFrame; absent integers are ``<NA>``."""
        if table not in ("events", "spans", "flows"):
            raise BadArgument(f'to_pandas takes "events", "spans" or "flows", not {table!r}')
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("to_pandas needs pandas: pip install 'ubviz[view]'") from None
        rows: Table = getattr(self, table)
        columns = {}
        for name in rows.fields:
            values = rows._values(name)
            columns[name] = pd.array(values, dtype="Int64") if name not in rows._pools else values
        return pd.DataFrame(columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write Chrome Trace Event JSON (``.json`` or ``.json.gz``) that ``ubviz.load`` and Perfetto read."""
        from .chrome import save

        save(self, path)

    def __repr__(self) -> str:
        steps = len(self.steps)
        return (
            f"<Trace: {len(self.events):,} trace events, {len(self.spans):,} spans, {len(self.flows):,} flows, "
            f"{len(self.lanes)} lanes, {steps} step{'' if steps == 1 else 's'}>"
        )


def make_table(row: type[Any], rows: Sequence[Sequence[Any]]) -> Table:
    """A table out of row values in field order; None is absent.

    >>> make_table(Flow, [])
    <0 rows: kind, from_table, from_row, from_ns, from_lane, to_table, to_row, to_ns, to_lane>
    """
    text = {
        Event: ("kind", "site", "caller"),
        Span: ("cat", "name", "cls", "operation"),
        Flow: ("kind", "from_table", "to_table"),
    }[row]
    columns: dict[str, np.ndarray] = {}
    pools: dict[str, tuple[Any, ...]] = {}
    by_field = list(zip(*rows, strict=True)) if rows else [()] * len(row._fields)
    for name, values in zip(row._fields, by_field, strict=True):
        if name in text:
            columns[name], pools[name] = _pool_text(values)
        elif name == "args":
            columns[name], pools[name] = _pool_args(values)
        else:
            columns[name] = np.array([MISSING if v is None else v for v in values], dtype=np.int64)
    return Table(row, columns, pools)


def _pool_text(values: Sequence[str | None]) -> tuple[np.ndarray, tuple[str, ...]]:
    pool: dict[str, int] = {}
    codes = [-1 if v is None else pool.setdefault(v, len(pool)) for v in values]
    return np.array(codes, dtype=np.int32), tuple(pool)


def _pool_args(values: Sequence[dict[str, Any]]) -> tuple[np.ndarray, tuple[dict[str, Any], ...]]:
    pool: dict[Any, int] = {}
    kept: list[dict[str, Any]] = []
    codes = []
    for value in values:
        key = _frozen(value)
        code = pool.get(key)
        if code is None:
            code = pool[key] = len(kept)
            kept.append(value)
        codes.append(code)
    return np.array(codes, dtype=np.int32), tuple(kept)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return ("d", *((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, (list, tuple)):
        return ("l", *(_frozen(item) for item in value))
    return (value.__class__, repr(value) if isinstance(value, float) else value)  # 0.0 is not -0.0
