"""Making a Lab's plan from a recording: which edges scale with what, and what is drawn (see ``lab_plan``)."""

from __future__ import annotations

import numpy as np

from ..analysis.graph import Graph, graph
from ..analysis.graph_points import CODE
from ..errors import BadArgument
from ..trace.model import Trace
from .lab_plan import COLUMNS, FIXED, THREADS, WORK, Plan
from .lab_small import Edges, Smaller, smaller
from .paint.frame import last_complete_step

MOST_EDGES = 60_000
"""More cannot be worked out again within a moment."""
_GROUPS = {"threads": 0, "streams": 1, "network": 2}


def plan_of(trace: Trace, step: int | None = None, launch_ns: int | None = None) -> Plan:
    """The plan of a step: the one asked for, or the last complete one; without steps, of the whole trace.

    What scales with the threads is what a launch takes where ``launch_ns`` says it (a simulation knows), else all the
    time in which a thread is awake.

    >>> plan_of(ubviz.example("whole_game_overlapped")).operations[:3]  # doctest: +SKIP
    ['inputs', 'embed', 'attention']

    Raises ``BadArgument`` for a step that is not there, one without kernels, and one too large to play with.
    """
    return plan_and_graph(trace, step, launch_ns)[0]


def plan_and_graph(
    trace: Trace, step: int | None = None, launch_ns: int | None = None, whole: bool = False
) -> tuple[Plan, Graph, int]:
    """``plan_of``, the graph that it was made from, and when the plan's time begins; ``whole``: with all points."""
    if step is None:
        step = last_complete_step(trace)
    elif step not in trace.steps:
        raise BadArgument(f"this trace has the steps {list(trace.steps)}, not {step}")
    drawn = graph(trace, step)
    if len(drawn.source) > MOST_EDGES:
        raise BadArgument(
            f"a Lab is for steps of up to {MOST_EDGES:,} causes and effects; this one has {len(drawn.source):,}"
        )
    making = _Making(drawn, launch_ns)
    return making.plan(whole), drawn, making.zero


class _Making:
    """A plan, in the making."""

    def __init__(self, drawn: Graph, launch_ns: int | None) -> None:
        self.drawn, self.trace, self.launch_ns = drawn, drawn.trace, launch_ns
        spans = self.trace.spans
        device = spans.mask(cat="kernel") | spans.mask(cat="transfer")
        rows = np.flatnonzero((drawn.start_point >= 0) & device)
        if not len(rows):
            raise BadArgument("this step has no kernels or transfers: there is nothing to change")
        self.rows = rows[np.lexsort((spans["start_ns"][rows], spans["lane"][rows]))]
        begins = drawn.event_point[self.trace.events.mask(kind="step.begin")]
        self.begins: list[int] = begins[begins >= 0].tolist()
        at = drawn.time_ns[self.begins + drawn.start_point[rows].tolist()]
        self.zero = int(at.min())
        self.works: dict[tuple[str, str, str], int] = {}
        self.work_of = {row: self._work(row) for row in rows[np.argsort(spans["start_ns"][rows])].tolist()}

    def _work(self, row: int) -> int:
        span = self.trace.spans[row]
        key = (span.cls or "other", span.operation or span.name, span.cat)
        return self.works.setdefault(key, len(self.works))

    def plan(self, whole: bool) -> Plan:
        drawn = self.drawn
        edges, points = self._edges(), len(drawn.time_ns)
        looked_at = [
            *drawn.start_point[self.rows].tolist(),
            *drawn.end_point[self.rows].tolist(),
            *self.begins,
        ]
        small = smaller(points, edges, range(points) if whole else looked_at)
        time = drawn.time_ns[small.kept] - self.zero
        if not small.circular:
            time[small.edges.target] = 0  # their causes say when
        awake, of_awake = self._awake(small)
        lanes, place = self._lanes([*self.trace.spans["lane"][self.rows].tolist(), *of_awake])
        awake["lane"] = [place[lane] for lane in of_awake]
        return Plan(
            time.tolist(), small.circular,
            {name: getattr(small.edges, name).tolist() for name in COLUMNS["edges"]},
            self._bars(small, place), awake, [list(work) for work in self.works], lanes,
            small.place[self.begins].tolist(),
        )  # fmt: skip

    # ---- what scales with what

    def _edges(self) -> Edges:
        drawn = self.drawn
        lag, by = drawn.lag_ns.copy(), np.full(len(drawn.lag_ns), FIXED)
        own = self._threads(lag)
        by[own > 0] = THREADS
        row_of = np.full(len(drawn.time_ns), -1)
        row_of[drawn.end_point[self.rows]] = self.rows
        row = row_of[drawn.target]
        runs = np.isin(drawn.kind, [CODE["run"], CODE["flight"]]) & (row >= 0)
        arrivals = (drawn.kind == CODE["arrival"]) & (row >= 0) & (lag >= 0)
        own_of = dict(zip(row[runs].tolist(), lag[runs].tolist(), strict=True))
        lag[arrivals] = [own_of[r] for r in row[arrivals].tolist()]
        scaled = runs | arrivals
        own[scaled] = lag[scaled]
        by[scaled] = [WORK + self.work_of[r] for r in row[scaled].tolist()]
        self.run_of = dict(zip(row[runs].tolist(), np.flatnonzero(runs).tolist(), strict=True))
        self.receives = set(row[drawn.kind == CODE["arrival"]].tolist())
        return Edges(drawn.source, drawn.target, lag, own, by, np.arange(len(lag)))

    def _threads(self, lag: np.ndarray) -> np.ndarray:
        """How much of each edge scales with the threads' own time."""
        drawn, own = self.drawn, np.zeros_like(lag)
        program = drawn.kind == CODE["program"]
        if self.launch_ns is None:
            own[program] = np.maximum(lag[program], 0)
            return own
        launches = drawn.event_point[self.trace.events.mask(kind="kernel.launch")]
        of_launch = (program & np.isin(drawn.source, launches)) | (drawn.kind == CODE["launch"])
        own[of_launch] = np.clip(lag[of_launch], 0, self.launch_ns)
        return own

    # ---- what is drawn

    def _bars(self, small: Smaller, place: dict[int, int]) -> dict[str, list[int]]:
        spans, rows = self.trace.spans, self.rows
        edge_of = {name: i for i, name in enumerate(small.edges.name.tolist())}
        ubatch = spans["ubatch"][rows]
        return {
            "start": small.place[self.drawn.start_point[rows]].tolist(),
            "end": small.place[self.drawn.end_point[rows]].tolist(),
            "lane": [place[lane] for lane in spans["lane"][rows].tolist()],
            "ubatch": np.where(ubatch < 0, -1, ubatch).tolist(),
            "work": [self.work_of[row] for row in rows.tolist()],
            "edge": [edge_of[self.run_of[row]] for row in rows.tolist()],
            "slows": [int(self._slows(row)) for row in rows.tolist()],
        }

    def _slows(self, row: int) -> bool:
        """A kernel that computes or communicates; not one that waits for data meanwhile."""
        cls, cat = self.trace.spans._cell("cls", row), self.trace.spans._cell("cat", row)
        return cat == "kernel" and cls in ("compute", "comm") and row not in self.receives

    def _awake(self, small: Smaller) -> tuple[dict[str, list[int]], list[int]]:
        """Stretches in which a thread is awake, and their lanes."""
        drawn, events = self.drawn, self.trace.events
        program = np.flatnonzero(drawn.kind == CODE["program"])
        after = dict(zip(drawn.source[program].tolist(), drawn.target[program].tolist(), strict=True))
        lane_of: dict[int, int] = {}
        for points in (drawn.event_point, drawn.return_point):
            rows = np.flatnonzero(points >= 0)
            lane_of |= dict(zip(points[rows].tolist(), events["lane"][rows].tolist(), strict=True))
        table: dict[str, list[int]] = {name: [] for name in COLUMNS["awake"]}
        lanes = []
        for first in sorted(set(after) - set(after.values())):
            last = first
            while last in after:
                last = after[last]
            if drawn.time_ns[last] > drawn.time_ns[first]:
                for name, point in (("start", first), ("end", last)):
                    table[name].append(int(small.place[point]))
                    table[f"{name}_ns"].append(int(small.after_ns[point]))
                lanes.append(lane_of[first])
        return table, lanes

    def _lanes(self, used: list[int]) -> tuple[list[list[str | int]], dict[int, int]]:
        """The lanes that hold something, rank by rank, threads first; and the place of each."""
        lanes = [lane for lane in self.trace.lanes if lane.id in set(used)]
        lanes.sort(key=lambda lane: (lane.rank, _GROUPS.get(lane.group, 9), lane.id))
        place = {lane.id: i for i, lane in enumerate(lanes)}
        return [[lane.role, lane.group, lane.rank] for lane in lanes], place
