"""What a Lab computes with: the dependency graph of a step, made small, with what each edge scales with.

``plan_of`` makes it from a recording (``ubviz.analysis.graph`` says what points, edges and lags are). An edge's new
lag is ``lag - own + own * factor``, the factor of what it is ``by``: ``FIXED``, ``THREADS``, or from ``WORK`` on a row
of ``works``, which are kinds of work: their class, operation and category.

What neither changes nor is drawn is left out: a point with one cause, whose lag is fixed, is its cause plus a number.
That changes no time. A plan is plain data, in Python and in the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import BadArgument

FIXED, THREADS, WORK = 0, 1, 2
"""What an edge scales with; from ``WORK`` on, the row of ``works``."""

COLUMNS = {
    "edges": ("source", "target", "lag", "own", "by"),
    "bars": ("start", "end", "lane", "ubatch", "work", "edge", "slows"),
    "awake": ("start", "start_ns", "end", "end_ns", "lane"),
}
"""The tables of a plan. A bar is a kernel or a transfer: ``edge`` is the one on which it runs, ``slows`` is 1 where
contention slows it. A stretch in which a thread is awake begins ``start_ns`` after its point."""


@dataclass(frozen=True)
class Plan:
    """Columns of whole numbers; times are nanoseconds from the step's begin.

    ``time`` [points]: when a point without causes comes, and, if ``circular``, when each was seen. ``lanes``: name,
    group and rank. ``begins``: the points at which the step begins.
    """

    time: list[int]
    circular: bool
    edges: dict[str, list[int]]
    bars: dict[str, list[int]]
    awake: dict[str, list[int]]
    works: list[list[str]]
    lanes: list[list[Any]]
    begins: list[int]

    def data(self) -> dict[str, Any]:
        """As it is stored and sent: sources and targets as differences, which deflate well."""
        targets = self.edges["target"]
        near = {
            "target": [b - a for a, b in zip([0, *targets], targets, strict=False)],
            "source": [target - source for source, target in zip(self.edges["source"], targets, strict=True)],
        }
        edges = [{**self.edges, **near}[name] for name in COLUMNS["edges"]]
        return {
            "time": self.time, "circular": self.circular, "works": self.works, "lanes": self.lanes,
            "begins": self.begins, "edges": edges, "bars": [self.bars[name] for name in COLUMNS["bars"]],
            "awake": [self.awake[name] for name in COLUMNS["awake"]],
        }  # fmt: skip

    @classmethod
    def of(cls, data: dict[str, Any]) -> Plan:
        """The plan of ``data()``."""
        tables = {
            name: dict(zip(columns, map(list, data[name]), strict=True)) for name, columns in COLUMNS.items()
        }
        edges, target = tables["edges"], 0
        for i, (step, back) in enumerate(zip(edges["target"], edges["source"], strict=True)):
            target += step
            edges["target"][i], edges["source"][i] = target, target - back
        return cls(
            data["time"], data["circular"], edges, tables["bars"], tables["awake"], data["works"], data["lanes"],
            data["begins"],
        )  # fmt: skip

    @property
    def operations(self) -> list[str]:
        """The names of the operations that can be scaled, in the order in which they first ran."""
        return list(dict.fromkeys(operation for _, operation, _ in self.works))

    def check_operation(self, name: str | None) -> None:
        """Raise ``BadArgument`` for one that is not there."""
        if name is not None and name not in self.operations:
            raise BadArgument(f"operation is one of {', '.join(self.operations)} or None, not {name!r}")
