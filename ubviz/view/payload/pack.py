"""Columns of integers as bytes: each as narrow as its values allow, one that never changes as none at all.

>>> part = pack("bars:0:0", {"gap": np.array([0, 5, 300]), "style": np.array([3, 3, 3])}, start=0, end=9, row0=0)
>>> part.spec["columns"]
[['gap', 'u2', 0], ['style', 'const', 3]]
>>> len(part.data)
6
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

PART_ROWS = 65_536
"""Rows in a part, at most: a part is well below the 4 MB of a message."""
LEVEL = 1
"""Of zlib: the lowest takes nearly all there is to take, and costs a sixth of the default."""
WIDTHS = (("u1", 1 << 8), ("u2", 1 << 16), ("u4", 1 << 32))


@dataclass(frozen=True)
class Part:
    """Some rows of a track: what the index says of them, and their columns, the widest first."""

    spec: dict[str, Any]
    columns: tuple[np.ndarray, ...]

    @property
    def data(self) -> bytes:
        """The columns, one after the other."""
        return b"".join(column.tobytes() for column in self.columns)


def deflated(data: bytes, level: int = LEVEL) -> bytes:
    """The bytes, as zlib has them."""
    return zlib.compress(data, level)


def pack(key: str, columns: Mapping[str, np.ndarray], *, start: int, end: int, row0: int) -> Part:
    """One part. ``start`` and ``end``: the times in nanoseconds that its rows lie between."""
    kept: list[tuple[list[Any], np.ndarray]] = []
    still: list[list[Any]] = []
    rows = 0
    for name, values in columns.items():
        rows = len(values)
        low, high = int(values.min()), int(values.max())
        if low == high:
            still.append([name, "const", low])
            continue
        dtype = next((code for code, limit in WIDTHS if low >= 0 and high < limit), "f8")
        kept.append(([name, dtype, 0], values.astype("<" + dtype)))
    kept.sort(key=lambda column: -column[1].itemsize)
    arrays = tuple(array for _, array in kept)
    spec = {
        "key": key, "rows": rows, "start": start, "end": end, "row0": row0,
        "bytes": sum(array.nbytes for array in arrays), "columns": [column for column, _ in kept] + still,
    }  # fmt: skip
    return Part(spec, arrays)


def pack_spans(key: str, columns: Mapping[str, np.ndarray], ends: np.ndarray) -> Iterator[Part]:
    """Rows in order of time, in parts: ``t`` becomes the gap to the row before, ``row`` likewise."""
    for number, first in enumerate(range(0, len(ends), PART_ROWS)):
        chosen = slice(first, first + PART_ROWS)
        here = {name: values[chosen] for name, values in columns.items()}
        t, row = here.pop("t"), here.pop("row", None)
        packed = {"gap": np.diff(t, prepend=t[0]), **here}
        if row is not None:
            packed["row"] = np.diff(row, prepend=row[0])
        row0 = 0 if row is None else int(row[0])
        yield pack(f"{key}:{number}", packed, start=int(t[0]), end=int(ends[chosen].max()), row0=row0)
