"""Full rows, as a click shows them: every field that is there, and the arguments.

A span says nothing of the line it came from; the trace event that caused it does, and lends it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import BadArgument
from ...trace.model import MISSING, Trace

ROW_PART = 1024
"""Rows in a block."""


class Rows:
    """The rows of a trace's tables, block by block."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def block(self, which: str) -> list[dict[str, Any]]:
        """The rows of a block, ``spans:12`` or ``events:0``; those of spans with the ``site``, ``caller`` and
        ``event_row`` of the trace event that caused them."""
        found = re.fullmatch(r"(spans|events):([0-9]{1,9})", which)
        table = getattr(self.trace, found[1]) if found else ()
        first = int(found[2]) * ROW_PART if found else 0
        if found is None or first >= len(table):
            raise BadArgument(f"this recording has no rows {which!r}")
        rows = table[first : first + ROW_PART]
        causes = self._causes(slice(first, first + ROW_PART)) if found[1] == "spans" else [{}] * len(rows)
        return [
            {name: value for name, value in {**row._asdict(), **cause}.items() if value is not None}
            for row, cause in zip(rows, causes)
        ]

    @cached_property
    def _by_seq(self) -> tuple[np.ndarray, np.ndarray]:
        seq = self.trace.events["seq"]
        order = np.argsort(seq, kind="stable")
        return seq[order], order

    def _causes(self, chosen: slice) -> list[dict[str, Any]]:
        known, order = self._by_seq
        wanted = self.trace.spans["seq"][chosen]
        place = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        hit = (known[place] == wanted) & (wanted != MISSING) if len(known) else np.zeros(len(wanted), bool)
        rows = order[place] if len(known) else place
        events = self.trace.events.rows(rows[hit])
        causes: list[dict[str, Any]] = [{}] * len(wanted)
        for at, row, event in zip(np.flatnonzero(hit).tolist(), rows[hit].tolist(), events):
            causes[at] = {"site": event.site, "caller": event.caller, "event_row": row}
        return causes
