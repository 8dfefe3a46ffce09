"""Table: columns of equal length, read as columns, rows, slices and masks.

A value that is absent is None when a row is read and ``MISSING`` in a column of integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import BadArgument
from .rows import Event, Flow, Span

MISSING = -(2**63)


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

    def _values(self, name: str, rows: np.ndarray | None = None) -> list[Any]:
        column = (self._columns[name] if rows is None else self._columns[name][rows]).tolist()
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
