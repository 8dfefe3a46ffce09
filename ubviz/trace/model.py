"""Trace: an immutable recording, as columns.

Three tables (``events``, ``spans``, ``flows``), the lanes they are drawn on, ``meta`` and ``notices``. Times are
integer nanoseconds since the recording began; ``meta["base_ns"]``, where known, is that moment in Unix time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadArgument, MissingExtra
from .rows import Event, Flow, Lane, Notice, Span
from .table import MISSING, Table, make_table

if TYPE_CHECKING:
    import os

    import pandas as pd

__all__ = ["MISSING", "Event", "Flow", "Lane", "Notice", "Span", "Table", "Trace", "make_table"]

NOT_COMPARED = ("created", "path")
"""Keys of ``meta`` that do not take part in equality."""


class Trace:
    """An immutable recording.

    >>> trace = ubviz.load("overlapped.json.gz")  # doctest: +SKIP
    >>> trace.events["kind"][:2]  # doctest: +SKIP
    array(['step.begin', 'kernel.launch'], dtype=object)
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

    def to_pandas(self, table: str = "events", *, rows: Sequence[int] | None = None) -> pd.DataFrame:
        """One table ("events", "spans" or "flows") as a DataFrame; absent integers are ``<NA>``.

        ``rows``: only these, in this order; the index holds their numbers in the table.
        """
        if table not in ("events", "spans", "flows"):
            raise BadArgument(f'to_pandas takes "events", "spans" or "flows", not {table!r}')
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra(
                "to_pandas needs pandas: install ubviz with its extra view; `ubviz doctor` says how"
            ) from None
        whole: Table = getattr(self, table)
        chosen = None if rows is None else np.asarray(rows, dtype=np.int64)
        columns = {}
        for name in whole.fields:
            values = whole._values(name, chosen)
            columns[name] = pd.array(values, dtype="Int64") if name not in whole._pools else values
        return pd.DataFrame(columns, index=chosen)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write Chrome Trace Event JSON (``.json`` or ``.json.gz``) that ``ubviz.load`` and Perfetto read."""
        from .chrome import save

        save(self, path)

    def __repr__(self) -> str:
        steps = len(self.steps)
        return (
            f"<Trace: {len(self.events):,} trace events, {len(self.spans):,} spans, {len(self.flows):,} flows, "
            f"{len(self.lanes)} lane{'' if len(self.lanes) == 1 else 's'}, {steps} step{'' if steps == 1 else 's'}>"
        )
