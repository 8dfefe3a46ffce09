"""What the tools of a page ask of the analysis: why a stream was idle, the critical path, what a number is the sum of,
what happens before what, and the edges that a capture saw.

They are blocks like all others, so that a saved page has them too; of a large recording only a kernel has them,
since a page would be slow to write and to open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ...analysis.causes import causes
from ...analysis.cone import Cones
from ...analysis.critical_path import Entry, critical_paths
from ...analysis.gaps import gaps
from ...analysis.graph import Graph, graph
from ...analysis.overlap import Overlap, overlap
from ...analysis.sound import judged
from ...analysis.steps import split
from ...analysis.windows import windows
from ...errors import BadArgument
from ...trace.model import Trace
from ..paint.frame import extent

MOST_ROWS = 200_000
"""Trace events and spans together of which a page has all answers."""
MOST_GAPS = 1000
"""The longest of a recording are explained."""


class Answers:
    """The answers about one trace; ``place``: lane id -> its place in the picture."""

    def __init__(self, trace: Trace, place: Mapping[int, int]) -> None:
        self.trace, self._place = trace, place
        self._steps: dict[str, int | None] = {str(step): step for step in trace.steps} or {"": None}

    @property
    def all_at_hand(self) -> bool:
        """Whether a page has them; else it asks for each cone, and a page without a kernel has none."""
        return len(self.trace.events) + len(self.trace.spans) <= MOST_ROWS

    def makers(self) -> dict[str, Callable[[str], Any]]:
        """The kinds of blocks by the first word of their names, each with what gives its value."""
        return {
            "gaps": self._gaps_of, "critical": self._critical_of, "intervals": self._intervals_of,
            "order": lambda _: self._order, "cone": self._cone, "graphs": lambda _: self._graphs(),
        }  # fmt: skip

    def keys(self) -> Iterator[str]:
        """The names of the blocks that a saved page holds."""
        if not self.all_at_hand:
            return
        for step in self._steps:
            yield from (f"{kind}:{step}" for kind in ("gaps", "critical", "intervals"))
        yield "order"
        if self.trace.meta.get("graphs"):
            yield "graphs"

    @cached_property
    def steps(self) -> dict[int | None, Trace]:
        """Each step's rows alone: what is asked of every step is quick to count there."""
        return split(self.trace)

    def _step(self, which: str) -> int | None:
        if which not in self._steps:
            raise BadArgument(f"this recording has no step {which!r}")
        return self._steps[which]

    @cached_property
    def _graph(self) -> Graph:
        return graph(self.trace)

    # ---- gaps, and the critical path

    @cached_property
    def _gaps(self) -> dict[int | None, list[list[Any]]]:
        lanes = {(lane.rank, lane.role): lane.id for lane in self.trace.lanes}
        found: dict[int | None, list[list[Any]]] = defaultdict(list)
        for gap in gaps(self.trace, MOST_GAPS, drawn=self._graph).longest:
            lane = self._place.get(lanes.get((gap.rank, gap.stream), -1), -1)
            found[gap.step].append([lane, gap.start_ns, gap.end_ns, gap.cause, gap.sentence])
        return found

    def _gaps_of(self, which: str) -> list[list[Any]]:
        """``[lane, start_ns, end_ns, cause, sentence]`` of each idle stretch of a step, in order of time."""
        return self._gaps.get(self._step(which), [])

    @cached_property
    def _critical(self) -> dict[int | None, list[Entry]]:
        return critical_paths(self.trace, self._graph)

    def _critical_of(self, which: str) -> list[list[Any]]:
        """``[table, row, lane, start_ns, ns, edge]`` of each entry; a barrier's opening has no row."""
        found = []
        for entry in self._critical.get(self._step(which), ()):
            lane = -1
            if entry.table is not None and entry.row is not None:
                lane = self._place.get(int(getattr(self.trace, entry.table)["lane"][entry.row]), -1)
            found.append([entry.table, entry.row, lane, entry.start_ns, entry.ns, entry.edge])
        return found

    # ---- what a number is the sum of

    def _intervals_of(self, which: str) -> list[dict[str, Any]]:
        """For each number of the line under the picture the intervals that it is the sum of; ``hidden``: the part
        of them that its share is about."""
        part = self.steps[self._step(which)]
        return [
            {"all": whole.tolist(), "hidden": hidden.tolist()} for whole, hidden in _sums(part, overlap(part))
        ]

    # ---- what happens before what

    @cached_property
    def _order(self) -> dict[str, list[int]]:
        """The nodes of happens-before, causes first, by number: the thread or stream of each; the edges between
        them; and the node of each row (-1: none). All but the lanes as differences, which deflate to little."""
        found = causes(judged(self.trace))
        lanes: dict[object, int] = {}
        of = {"causes": found.causes, "effects": found.effects, "host": found.host, "spans": found.spans}
        numbers = {
            name: np.diff(np.asarray(values, np.int64), prepend=0).tolist() for name, values in of.items()
        }
        return {"lanes": [lanes.setdefault(lane, len(lanes)) for lane in found.lanes], **numbers}

    @cached_property
    def _cones(self) -> Cones:
        return Cones(self.trace)

    def _cone(self, which: str) -> dict[str, list[int]]:
        """A cone, ``past:spans:12`` or ``future:events:3``; with ``:1`` behind it one hop."""
        way, _, rest = which.partition(":")
        table, _, rest = rest.partition(":")
        row, _, hops = rest.partition(":")
        known = way in ("past", "future") and table in ("events", "spans") and hops in ("", "1")
        if not known or not row.isdecimal() or int(row) >= len(getattr(self.trace, table)):
            raise BadArgument(f"this recording has no cone {which!r}")
        cone = getattr(self._cones, way)((table, int(row)), hops=1 if hops else None)
        return {"events": cone.events.tolist(), "spans": cone.spans.tolist()}

    # ---- captures

    def _graphs(self) -> list[list[Any]]:
        """``[from span, to span, kind]`` of each edge that a capture saw, for each of its replays."""
        graphs = self.trace.meta.get("graphs")
        if not isinstance(graphs, dict):
            return []
        nodes = self._nodes()
        found: list[list[Any]] = []
        for event in self.trace.events.rows(self.trace.events.mask(kind="graph.replay")):
            edges, at = graphs.get(str(event.args.get("graph"))), nodes.get((event.rank, event.seq), {})
            for edge in edges if isinstance(edges, list) else ():
                ends = [edge.get(end) for end in ("from_node", "to_node")] if isinstance(edge, dict) else []
                rows = [at[node] for node in ends if isinstance(node, int) and node in at]
                if len(rows) == 2:
                    found.append([*rows, str(edge.get("kind"))])
        return found

    def _nodes(self) -> dict[tuple[int, int], dict[Any, int]]:
        """Rank and trace event of a replay -> node of its graph -> row of the kernel."""
        spans = self.trace.spans
        rows = np.flatnonzero(spans.mask(cat="kernel"))
        found: dict[tuple[int, int], dict[Any, int]] = defaultdict(dict)
        for row, span in zip(rows.tolist(), spans.rows(rows), strict=True):
            node = span.args.get("node")
            if isinstance(node, int) and span.seq is not None:
                found[span.rank, span.seq][node] = row
        return found


def _sums(part: Trace, found: Overlap) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """In the order in which ``in_words`` says them; of several ranks one after the other, as they are summed."""
    nothing, sets = np.empty((0, 2), np.int64), found.intervals
    within = list(windows(part).values()) or [extent(part, None)]
    yield np.array(within, np.int64), nothing
    if found.compute_busy_ns:
        yield sets["compute_busy_ns"], nothing
    if found.comm_busy_ns:
        yield sets["comm_busy_ns"], nothing if found.overlap_ratio is None else sets["overlap_ns"]
    if found.transfer_ns:
        yield sets["transfer_ns"], sets["hidden_transfer_ns"]
