"""Drawing the edges of the dependency graph from the rows of a trace; ``graph`` says what they mean."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..trace.model import MISSING, Event, Trace
from .graph_points import Edges, Points


def draw(trace: Trace, step: int | None) -> Edges:
    """Points and edges of a step, or of the whole trace."""
    points = Points(trace, step)
    _threads(points)
    _streams(points)
    _launches(points)
    _flows(points)
    _barriers(points)
    _lives(points)
    _host_waits(points)
    return points.finish()


def _threads(points: Points) -> None:
    """Program order: a thread's trace events, in the order in which it emitted them."""
    events = points.trace.events
    rows = np.flatnonzero(points.event >= 0)
    thread = np.where(events["thread"] == MISSING, -1 - events["lane"], events["thread"])[rows]
    rank = events["rank"][rows]
    order = np.lexsort((rows, thread, rank))
    rows, same = rows[order], (np.diff(thread[order]) == 0) & (np.diff(rank[order]) == 0)
    left = np.where(points.returned >= 0, points.returned, points.event)
    a, b = left[rows[:-1]][same], points.event[rows[1:]][same]
    until = np.where(points.returned >= 0, events["until_ns"], events["t_ns"])
    awake = (events["t_ns"][rows[1:]] - until[rows[:-1]])[same]
    parked = points.parked[rows[:-1]][same]
    points.edges("program", a[~parked], b[~parked], awake[~parked])
    points.edges("blocked", a[parked], b[parked])
    points.edges("blocked", points.event, np.where(points.event >= 0, points.returned, -1))


def _streams(points: Points) -> None:
    """First in, first out on each stream and on the network, and how long each span lasts."""
    spans = points.trace.spans
    rows = np.flatnonzero(points.start >= 0)
    seq, start, end = spans["seq"][rows], spans["start_ns"][rows], spans["end_ns"][rows]
    # a record has no length: at the same moment it comes before the kernel that begins then
    rows = rows[np.lexsort((seq, end, start, spans["lane"][rows]))]
    same = np.diff(spans["lane"][rows]) == 0
    flying, waiting = spans.mask(cat="transfer")[rows], spans.mask(cat="wait")[rows]
    a, b = points.end[rows[:-1]], points.start[rows[1:]]
    points.edges("stream", a[same & ~flying[1:]], b[same & ~flying[1:]])
    points.edges("link", a[same & flying[1:]], b[same & flying[1:]])
    lasts = spans["end_ns"] - spans["start_ns"]
    arrived = _arrivals(points)
    for name, these in (("flight", rows[flying]), ("run", rows[~flying & ~waiting])):
        own = lasts[these] if name == "flight" else spans["end_ns"][these] - arrived[these]
        points.edges(name, points.start[these], points.end[these], own)
    points.edges("stall", points.start[rows[waiting]], points.end[rows[waiting]])


def _arrivals(points: Points) -> np.ndarray:
    """When each span can begin its own work: a receive waits for its data, other kernels for nothing."""
    spans, flows = points.trace.spans, points.trace.flows
    ready = spans["start_ns"].copy()
    flying = np.flatnonzero(spans.mask(cat="transfer") & (points.start >= 0))
    keys = zip(spans["rank"][flying].tolist(), spans["seq"][flying].tolist(), strict=True)
    flight_of = dict(zip(keys, flying.tolist(), strict=True))
    for flow in flows.rows(flows.mask(kind="send -> receive", from_table="spans", to_table="spans")):
        send, receive = flow.from_row, flow.to_row
        flight = flight_of.get((int(spans["rank"][send]), int(spans["seq"][send])))
        if flight is None:
            points.edges("send", [points.end[send]], [points.end[receive]])
            continue
        points.edges("send", [points.end[send]], [points.start[flight]])
        if points.end[receive] >= 0:
            ready[receive] = np.clip(spans["end_ns"][flight], ready[receive], spans["end_ns"][receive])
            own = spans["end_ns"][receive] - ready[receive]
            points.edges("arrival", [points.end[flight]], [points.end[receive]], own)
    return ready


def _launches(points: Points) -> None:
    """No stream does anything before it has been told to."""
    spans = points.trace.spans
    rows = np.flatnonzero((points.start >= 0) & ~spans.mask(cat="transfer"))
    keys = zip(spans["rank"][rows].tolist(), spans["seq"][rows].tolist(), strict=True)
    told = np.array([points.row_of.get(key, -1) for key in keys], dtype=np.int64)
    kernel = spans.mask(cat="kernel")[rows]
    source = np.where(told >= 0, points.event[told] if len(points.event) else -1, -1)
    points.edges("launch", source[kernel], points.start[rows][kernel])
    points.edges("enqueue", source[~kernel], points.start[rows][~kernel])


def _flows(points: Points) -> None:
    flows = points.trace.flows
    for kind, name in (("record -> wait", "event"), ("set -> wake", "wake")):
        table = "spans" if name == "event" else "events"
        rows = flows.mask(kind=kind, from_table=table, to_table=table)
        a, b = flows["from_row"][rows], flows["to_row"][rows]
        if len(a):
            cause, effect = (points.end, points.end) if table == "spans" else (points.event, points.event)
            points.edges(name, cause[a], effect[b])


def _told(points: Points, *kinds: str, point: np.ndarray | None = None) -> Iterator[tuple[int, Event]]:
    """Trace events of some kinds that have a point (of their own, or that is given), by row, in order."""
    events = points.trace.events
    mask = np.zeros(len(events), dtype=bool)
    for kind in kinds:
        mask |= events.mask(kind=kind)
    rows = np.flatnonzero(mask & ((points.event if point is None else point) >= 0))
    return zip(rows.tolist(), events.rows(rows), strict=True)


def _barriers(points: Points) -> None:
    """A barrier lets all go when the last has come; waking those who sleep takes longer."""
    times = points.trace.events["t_ns"]
    came: dict[Any, list[int]] = defaultdict(list)
    came_by: dict[Any, int] = {}
    went: dict[Any, list[int]] = defaultdict(list)
    for row, e in _told(points, "barrier.arrive", "barrier.release"):
        key = (e.rank, e.step, e.args.get("barrier"), e.args.get("generation"))
        if e.kind == "barrier.arrive":
            came[key].append(row)
            came_by[key, e.thread] = int(times[row])
        else:
            went[key].append(row)
    threads = points.trace.events["thread"]
    for key, rows in went.items():
        if not came[key]:
            continue
        last = int(times[came[key]].max())
        full = points.extra(last)
        points.edges("arrive", points.event[came[key]], [full] * len(came[key]))
        for row in rows:
            slept = came_by.get((key, int(threads[row])), last) < last
            points.edges("release" if slept else "barrier", [full], points.event[[row]])


def _lives(points: Points) -> None:
    """A thread begins after it was made, and is joined after it has ended."""
    made: dict[Any, int] = {}
    over: dict[Any, int] = {}
    for row, e in _told(points, "thread.create", "thread.start", "thread.end"):
        key = (e.rank, e.args.get("thread"))
        if e.kind == "thread.start" and key in made:
            points.edges("create", [points.event[made[key]]], [points.event[row]])
        (over if e.kind == "thread.end" else made)[key] = row
    for row, e in _told(points, "thread.join"):
        end = over.get((e.rank, e.args.get("thread")))
        if end is not None:
            points.edges("join", [points.event[end]], [points.returned[row]])


def _host_waits(points: Points) -> None:
    """A host call that waits for the device returns when the device has come so far."""
    device = _Device(points)
    for row, e in _told(points, *_WAIT_FOR_THE_DEVICE, point=points.returned):
        done = device.last(e)
        points.edges("done", [points.end[done] if done >= 0 else -1], [points.returned[row]])


_WAIT_FOR_THE_DEVICE = ("kernel.launch", "stream.synchronize", "host.read", "event.synchronize")


class _Device:
    """What was last given to each stream, and last recorded in each event, before a trace event."""

    def __init__(self, points: Points) -> None:
        spans = points.trace.spans
        device = (points.start >= 0) & (spans["seq"] != MISSING) & ~spans.mask(cat="transfer")
        rows = np.flatnonzero(device)
        rows = rows[np.argsort(spans["seq"][rows], kind="stable")]
        roles = {lane.id: lane.role for lane in points.trace.lanes}
        records = spans.mask(cat="record")
        self._given: dict[Any, tuple[list[int], list[int]]] = defaultdict(lambda: ([-1], [-1]))
        for row, rank, seq, lane in zip(
            rows.tolist(), *(spans[name][rows].tolist() for name in ("rank", "seq", "lane")), strict=True
        ):
            keys = [("kernel", rank, seq), ("stream", rank, roles[lane])]
            if records[row]:
                keys.append(("event", rank, spans._cell("name", row)))
            for key in keys:
                self._given[key][0].append(seq)
                self._given[key][1].append(row)

    def last(self, e: Event) -> int:
        """The row of the span that ``e`` waits for, -1 where there is none."""
        if e.kind == "kernel.launch":
            return self._given["kernel", e.rank, e.seq][1][-1]
        what = "event" if e.kind == "event.synchronize" else "stream"
        seqs, rows = self._given[what, e.rank, e.args.get(what)]
        return rows[max(bisect_left(seqs, e.seq) - 1, 0)]
