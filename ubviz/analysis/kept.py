"""A trace whose trace events are made into rows once, for many readers; and those of some kinds, in order.

A column of a trace is quick to look through, a row is slow to make: the checkers, which go by rows, share them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..trace.model import Event, Table, Trace


class Kept(Table):
    """A table that keeps the rows it has made. ``unsound``: how many of them ``sound`` has made marks of."""

    __slots__ = ("_kept", "unsound")

    def __init__(self, table: Table, unsound: int | None = None) -> None:
        super().__init__(table._row, table._columns, table._pools)
        self.unsound = unsound
        self._kept: list[Any] | None = None

    @property
    def made(self) -> list[Any]:
        """All rows."""
        if self._kept is None:
            self._kept = list(super().__iter__())
        return self._kept

    def __iter__(self) -> Iterator[Any]:
        return iter(self.made)

    def __getitem__(self, key: Any) -> Any:
        return self._column(key) if isinstance(key, str) else self.made[key]

    def rows(self, mask: np.ndarray) -> list[Any]:
        made = self.made
        indices = np.flatnonzero(mask) if mask.dtype == bool else mask
        return [made[i] for i in indices.tolist()]


def kept(trace: Trace, unsound: int | None = None) -> Trace:
    """The trace with rows that are kept."""
    return Trace(
        Kept(trace.events, unsound), trace.spans, trace.flows, trace.lanes, trace.meta, trace.notices
    )


def of_kinds(trace: Trace, *kinds: str) -> np.ndarray:
    """Rows of the trace events of some kinds; a kind that ends with a dot stands for all that begin so.

    >>> of_kinds(trace, "event.record", "host_event.")  # doctest: +SKIP
    array([ 3,  9, 10])
    """
    codes, pool = trace.events.codes("kind")
    whole, begin = set(kinds), tuple(kind for kind in kinds if kind.endswith("."))
    wanted = [i for i, kind in enumerate(pool) if kind in whole or (begin and kind.startswith(begin))]
    return np.flatnonzero(np.isin(codes, wanted))


def told(trace: Trace, *kinds: str) -> list[Event]:
    """The trace events of some kinds, in order."""
    found: list[Event] = trace.events.rows(of_kinds(trace, *kinds))
    return found


def told_rows(trace: Trace, *kinds: str) -> Iterator[tuple[int, Event]]:
    """``told``, each with its row."""
    rows = of_kinds(trace, *kinds)
    return zip(rows.tolist(), trace.events.rows(rows), strict=True)


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the garbage collector: an analysis makes millions of rows, and no circle of them.

    The collector would look at all of them again and again, for nearly half of the time that an analysis takes.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
