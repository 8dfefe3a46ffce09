"""What is communication: what the recording says of each kernel, or a rule that the reader gives in its place."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from ..errors import BadArgument
from ..trace.model import Span, Table, Trace

CommRule = Callable[[Span], bool] | str
"""A function from a kernel span to a bool, or a regular expression for its name."""

RULED = ("comm", "compute")


def classified(trace: Trace, comm: CommRule | None) -> Trace:
    """The trace with the class that a rule gives to each kernel: "comm", or else "compute".

    >>> set(classified(trace, "nccl").spans["cls"])  # doctest: +SKIP
    {'compute', 'comm', None}

    Without a rule it is the trace itself. Raises ``BadArgument`` where the text is no regular expression.
    """
    if comm is None:
        return trace
    spans = trace.spans
    rows = np.flatnonzero(spans.mask(cat="kernel"))
    codes, names = spans.codes("name")
    cls, pool = spans.codes("cls")
    pool = (*pool, *(name for name in RULED if name not in pool))
    if isinstance(comm, str):
        found = _pattern(comm)
        by_name = np.array([found.search(str(name)) is not None for name in names], dtype=bool)
        is_comm = by_name[codes[rows]]
    else:
        is_comm = np.array([bool(comm(span)) for span in spans.rows(rows)], dtype=bool)
    new = cls.copy()
    new[rows] = np.where(is_comm, pool.index("comm"), pool.index("compute"))
    columns = {**spans._columns, "cls": new}
    told = Table(spans._row, columns, {**spans._pools, "cls": pool})
    return Trace(trace.events, told, trace.flows, trace.lanes, trace.meta, trace.notices)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise BadArgument(f"comm: {text!r} is no regular expression: {error}") from None
