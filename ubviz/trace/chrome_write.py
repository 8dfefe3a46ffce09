"""A Trace as the bytes of its file. The structures are in ``chrome_format``.

Order in the file: names first, then by time. At one time: ends of arrows on spans under way; spans, longer ones
first; trace events by row. Perfetto binds an end of an arrow to what it read last on that lane, so an end at the
start of a row stands right behind it; a tail never stands behind its head.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw

from .chrome_format import (
    VERSION,
    Complete,
    EventMark,
    FlowArgs,
    FlowEnd,
    FlowMark,
    FlowStart,
    Header,
    Instant,
    LaneEntry,
    Metadata,
    NoticeEntry,
    SpanMark,
    tracks,
)  # fmt: skip
from .decimal_ns import us_text
from .model import Lane, Table, Trace

_encode = msgspec.json.Encoder().encode
_UNDER_WAY, _SPANS, _EVENTS = range(3)
_ROW, _TAIL, _HEAD = range(3)


class Place(NamedTuple):
    """Where an entry stands in the file. ``first`` and ``second`` order what shares ``ns`` and ``stage``."""

    ns: int
    stage: int
    first: int
    second: int
    part: int = _ROW
    flow: int = 0


def to_json(trace: Trace) -> bytes:
    """The text of the file; one entry a line.

    Takes a trace that ``valid.problems`` finds nothing wrong with. Equal traces with equal order of keys give
    equal bytes.
    """
    lanes = dict(zip((lane.id for lane in trace.lanes), tracks(trace.lanes), strict=True))
    event_places = [Place(ns, _EVENTS, row, 0) for row, ns in enumerate(trace.events["t_ns"].tolist())]
    span_places = [_span_place(row, span) for row, span in enumerate(_ends(trace.spans))]
    placed = [*zip(event_places, _instants(trace.events, event_places, lanes), strict=True)]
    placed += zip(span_places, _completes(trace.spans, span_places, lanes), strict=True)
    placed += _arrows(trace.flows, {"events": event_places, "spans": span_places}, lanes)
    placed.sort()
    lines = [*_names(trace.lanes), *(line for _, line in placed)]
    return b'{"traceEvents":[\n' + b",\n".join(lines) + b"\n],\n" + _encode(_top(trace))[1:] + b"\n"


def _top(trace: Trace) -> dict[str, Any]:
    top: dict[str, Any] = {"displayTimeUnit": "ns"}
    base_ns = trace.meta.get("base_ns")
    if isinstance(base_ns, int) and not isinstance(base_ns, bool):
        top["baseTimeNanoseconds"] = base_ns
    meta = {key: value for key, value in trace.meta.items() if key != "path"}
    lanes = [LaneEntry(*lane) for lane in trace.lanes]
    notices = [NoticeEntry(*notice) for notice in trace.notices]
    return {**top, "ubviz": Header(VERSION, lanes, meta, notices)}


def _names(lanes: Sequence[Lane]) -> Iterator[bytes]:
    processes = {}
    for lane, (pid, _) in zip(lanes, tracks(lanes), strict=True):
        processes[pid] = f"rank {lane.rank}: {'CPU threads' if pid % 2 else 'Streams'}"
    for pid, name in sorted(processes.items()):
        yield _encode(Metadata("process_name", pid, args={"name": name}))
        yield _encode(Metadata("process_sort_index", pid, args={"sort_index": pid}))
    for lane, (pid, tid) in zip(lanes, tracks(lanes), strict=True):
        yield _encode(Metadata("thread_name", pid, tid, {"name": lane.role}))
        yield _encode(Metadata("thread_sort_index", pid, tid, {"sort_index": tid}))


def _ends(spans: Table) -> Iterator[tuple[int, int]]:
    return zip(spans["start_ns"].tolist(), spans["end_ns"].tolist(), strict=True)


def _span_place(row: int, span: tuple[int, int]) -> Place:
    start_ns, end_ns = span
    return Place(start_ns, _SPANS, start_ns - end_ns, row)


def _instants(events: Table, places: list[Place], lanes: dict[int, tuple[int, int]]) -> Iterator[bytes]:
    args = _Args(events, places)
    for row, event in enumerate(events):
        mark = EventMark(
            seq=event.seq, until_ns=event.until_ns, step=event.step, thread=event.thread, ubatch=event.ubatch,
            site=event.site, caller=event.caller,
        )  # fmt: skip
        ts = Raw(us_text(event.t_ns))
        yield _encode(Instant("ubviz", event.kind, *lanes[event.lane], ts, args.with_mark(row, mark)))


def _completes(spans: Table, places: list[Place], lanes: dict[int, tuple[int, int]]) -> Iterator[bytes]:
    args = _Args(spans, places)
    for row, span in enumerate(spans):
        mark = SpanMark(
            cls=span.cls, operation=span.operation, layer=span.layer, correlation=span.correlation, seq=span.seq,
            step=span.step, ubatch=span.ubatch,
        )  # fmt: skip
        ts, dur = Raw(us_text(span.start_ns)), Raw(us_text(span.duration_ns))
        yield _encode(Complete(span.cat, span.name, *lanes[span.lane], ts, dur, args.with_mark(row, mark)))


class _Args:
    """The args of a table's rows: each distinct dict is encoded once, the mark is put behind it."""

    def __init__(self, table: Table, places: list[Place]) -> None:
        codes, pool = table.codes("args")
        self._codes = codes.tolist()
        self._own = [_own_args(args) for args in pool]
        self._numbered = any(after < before for before, after in pairwise(places))

    def with_mark(self, row: int, mark: EventMark | SpanMark) -> Raw:
        own, mark.own_ubviz = self._own[self._codes[row]]
        if self._numbered:
            mark.row = row
        return Raw(b"{" + own + b'"ubviz":' + _encode(mark) + b"}")


def _own_args(args: dict[str, Any]) -> tuple[bytes, Any]:
    """The inside of the object, with a comma behind it, and the argument that our own key would hide."""
    inside = _encode({key: value for key, value in args.items() if key != "ubviz"})[1:-1]
    return inside + b"," if inside else b"", args.get("ubviz", UNSET)


def _arrows(
    flows: Table, rows: dict[str, list[Place]], lanes: dict[int, tuple[int, int]]
) -> Iterator[tuple[Place, bytes]]:
    for number, flow in enumerate(flows, 1):
        mark = FlowMark(flow.from_table, flow.from_row, flow.to_table, flow.to_row)
        tail = _beside(rows[flow.from_table][flow.from_row], flow.from_ns)._replace(part=_TAIL, flow=number)
        head = _beside(rows[flow.to_table][flow.to_row], flow.to_ns)._replace(part=_HEAD, flow=number)
        if head.ns == tail.ns:
            head = max(head, tail._replace(part=_HEAD))
        start, end = Raw(us_text(flow.from_ns)), Raw(us_text(flow.to_ns))
        args = FlowArgs(mark)
        yield tail, _encode(FlowStart("ubviz", flow.kind, number, *lanes[flow.from_lane], start, args))
        yield head, _encode(FlowEnd("ubviz", flow.kind, number, *lanes[flow.to_lane], end))


def _beside(row: Place, ns: int) -> Place:
    """The place of an arrow's end at ``ns`` on a row: behind the row, or at a later time before all else."""
    return row if row.ns == ns else Place(ns, _UNDER_WAY, 0, 0)
