"""What each stream has queued, runs and has done at every trace event, from the spans.

A stream is first in, first out, so three numbers say all: how many items were queued, how many are done, and
whether the next one has begun. An item that was not timed is done when a later one of its stream begins; a stream of
which no span is known has no number of items done. What is captured is queued by each replay, not by the capture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..trace.model import MISSING, Event, Lane, Trace
from .captures import captured_rows
from .states_fold import Change

QUEUES = {"kernel.launch": "kernel", "event.record": "record", "event.wait": "wait"}
_VERBS = {"kernel": "", "record": "record ", "wait": "wait for "}
NEVER = 2**63 - 1


@dataclass(frozen=True)
class Queue:
    """A stream's items in the order in which they were queued: ``rows`` are the trace events that queued them."""

    key: str
    rows: np.ndarray
    labels: list[str]
    cats: list[str]
    classes: list[str | None]
    ubatches: list[int | None]
    begins: np.ndarray
    ends: np.ndarray
    timed: bool


def queues(trace: Trace, events: Sequence[Event], several: bool) -> list[Queue]:
    """The queue of every stream, in the order of the lanes; ``events`` are the trace's, as rows."""
    made = []
    found = _items(trace, events)
    for lane in _streams(trace, found):
        items = found.get((lane.rank, lane.role), [])
        items.sort(key=lambda item: (item.row, item.begin, item.end))
        key = f"{lane.role} of rank {lane.rank}" if several else lane.role
        begins = np.array([item.begin for item in items], np.int64)
        ends = np.array([item.end for item in items], np.int64)
        timed = bool((ends != NEVER).any()) or not items
        # first in, first out: what is not timed is over when a later one begins
        later = np.minimum.accumulate(np.append(begins, NEVER)[::-1])[::-1][1:]
        ends = np.maximum.accumulate(np.where(ends == NEVER, later, ends)) if len(items) else ends
        made.append(
            Queue(
                key, np.array([item.row for item in items], np.int64), [item.label for item in items],
                [item.cat for item in items], [item.cls for item in items], [item.ubatch for item in items],
                begins, ends, timed,
            )
        )  # fmt: skip
    return made


class Item(NamedTuple):
    """One thing in a stream's queue: a kernel, a record or a wait."""

    row: int
    label: str
    cat: str
    cls: str | None
    ubatch: int | None
    begin: int
    end: int


def _items(trace: Trace, told: Sequence[Event]) -> dict[tuple[int, str], list[Item]]:
    """What streams were given, by rank and stream."""
    events, spans = trace.events, trace.spans
    role = {lane.id: lane.role for lane in trace.lanes}
    row_of = dict(zip(zip(events["rank"].tolist(), events["seq"].tolist()), range(len(events))))
    timed: set[int] = set()
    found: dict[tuple[int, str], list[Item]] = {}
    device = spans.mask(cat="kernel") | spans.mask(cat="record") | spans.mask(cat="wait")
    for span in compress(spans, (device & (spans["seq"] != MISSING)).tolist()):
        row = row_of.get((span.rank, span.seq))
        if row is not None:
            timed.add(row)
            item = Item(row, _label(span), span.cat, span.cls, span.ubatch, span.start_ns, span.end_ns)
            found.setdefault((span.rank, role[span.lane]), []).append(item)
    captured = captured_rows(trace)
    for kind, cat in QUEUES.items():
        for row in np.flatnonzero(events.mask(kind=kind)).tolist():
            if row in timed or row in captured:
                continue
            event = told[row]
            bound = event.kind != "event.wait" or event.args.get("record") is not None
            if bound and event.args.get("stream") is not None:
                name = event.args.get("operation") or event.args.get("name") or event.args.get("event")
                cls = event.args.get("cls")
                item = Item(row, _VERBS[cat] + str(name), cat, cls, event.ubatch, NEVER, NEVER)
                found.setdefault((event.rank, str(event.args["stream"])), []).append(item)
    return found


def _label(span: Any) -> str:
    return _VERBS[span.cat] + str((span.operation if span.cat == "kernel" else None) or span.name)


def _streams(trace: Trace, found: dict[tuple[int, str], list[Item]]) -> list[Lane]:
    """The streams that have a lane or an item."""
    lanes = [lane for lane in trace.lanes if lane.group == "streams"]
    known = {(lane.rank, lane.role) for lane in lanes}
    return lanes + [Lane(-1, rank, role, "streams") for rank, role in found if (rank, role) not in known]


def stream_changes(trace: Trace, found: list[Queue]) -> tuple[list[Change], Iterator[tuple[int, Change]]]:
    """What streams are before the first trace event, and what each trace event changes, row by row."""
    clock = np.maximum.accumulate(trace.events["t_ns"]) if len(trace.events) else np.empty(0, np.int64)
    start: list[Change] = []
    changes: list[tuple[int, Change]] = []
    for queue in found:
        queued = np.searchsorted(queue.rows, np.arange(len(clock)), side="right")
        columns: list[tuple[str, np.ndarray]] = [("queued", queued)]
        if queue.timed:
            done = np.minimum(np.searchsorted(queue.ends, clock, side="right"), queued)
            begins = np.append(queue.begins, NEVER)
            runs = (done < queued) & (begins[np.minimum(done, len(queue.begins))] <= clock)
            columns += [("done", done), ("runs", runs)]
        for field, values in columns:
            path = ("streams", queue.key, field)
            before = np.concatenate([np.zeros(1, values.dtype), values[:-1]])
            start.append((path, None, before[0].item()))
            rows = np.flatnonzero(values != before)
            moved = zip(rows.tolist(), before[rows].tolist(), values[rows].tolist())
            changes += [(row, (path, old, new)) for row, old, new in moved]
    changes.sort(key=itemgetter(0))
    return start, iter(changes)
