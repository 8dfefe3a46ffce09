"""What a wait on an event is bound to, and whether that is the record that it meant.

A wait binds to the record that is current when wait is called: ``wait_before_record`` where there is none, so that it
orders nothing. ``late_binding`` where an event is recorded again at the wrong moment:

- The reader waited, and the record that would have helped came later: two accesses race which that record orders.
- A record was replaced by one on another stream before anybody waited for it, so that a wait for "all of them" waits
  for the last one only.
- The host waits for a record that nobody can wait for any more, since the event was recorded again behind more work:
  it wakes late.

Source: CUDA runtime API, ``cudaStreamWaitEvent``, ``cudaEventRecord``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ..trace.model import Event, Trace
from .findings import Finding
from .kept import told, told_rows
from .order import Order
from .races import Race, described, race_groups
from .waits import waits as find_waits
from .words import at, lane_name, stream_name, times

Key = tuple[int, str]


def bindings(
    trace: Trace, order: Order | None = None, groups: list[list[Race]] | None = None
) -> list[Finding]:
    """Findings about waits and the records that they are bound to.

    >>> [finding.kind for finding in bindings(trace)]  # doctest: +SKIP
    ['wait_before_record']
    """
    if groups is None:
        groups = race_groups(trace, order or Order(trace))
    return [*_unbound(trace), *_replaced(trace), *_too_early(trace, groups)]


def _key(event: Event) -> Key:
    return event.rank, event.args["event"]


def _unbound(trace: Trace) -> Iterator[Finding]:
    groups: dict[tuple[int, str, str, str], list[Event]] = defaultdict(list)
    for event in told(trace, "event.wait"):
        if event.args.get("record") is None:
            groups[*_key(event), event.args["stream"], at(event)].append(event)
    for (_, name, stream, _), same in groups.items():
        first = same[0]
        yield Finding(
            "wait_before_record", "warning",
            f"{lane_name(trace, first)} makes the {stream_name(stream)} wait for {name} at {at(first)}, which has "
            f"not been recorded: the wait orders nothing; record it first{times(len(same))}",
            tuple(event.seq for event in same),
        )  # fmt: skip


# ---- records that were replaced


class _Made(NamedTuple):
    """A record, its row, and the row of its stream's last launch before it."""

    row: int
    event: Event
    launched: int

    @property
    def stream(self) -> str:
        return str(self.event.args["stream"])

    def told(self) -> str:
        return f"{self.event.args['record']} on the {stream_name(self.stream)} at {at(self.event)}"


def _replaced(trace: Trace) -> Iterator[Finding]:
    """Waits for an event of which earlier records were replaced before anybody waited for them."""
    pending: dict[Key, list[_Made]] = defaultdict(list)  # records that nobody has waited for
    launched: dict[tuple[int, str], int] = {}
    kinds = ("kernel.launch", "event.record", "event.wait", "event.synchronize", "event.query")
    for row, event in told_rows(trace, *kinds):
        if event.kind == "kernel.launch":
            launched[event.rank, event.args["stream"]] = row
        elif event.kind == "event.record":
            records = pending[_key(event)]
            if records and records[-1].event.step != event.step and "[" in event.args["event"]:
                records.clear()  # a role: another step's event of the same name
            records.append(_Made(row, event, launched.get((event.rank, event.args["stream"]), -1)))
        else:
            records = pending.pop(_key(event), [])
            if event.kind == "event.wait" and event.args.get("record") is not None:
                yield from _others(trace, event, records)
            elif event.kind == "event.synchronize":
                yield from _late(trace, event, records)


def _others(trace: Trace, wait: Event, records: list[_Made]) -> Iterator[Finding]:
    """Records on other streams, none of which the wait covers."""
    covered = {wait.args["stream"], *(record.stream for record in records[-1:])}
    lost = [record for record in records[:-1] if record.stream not in covered]
    if lost:
        yield Finding(
            "late_binding", "warning",
            f"{lane_name(trace, wait)} makes the {stream_name(wait.args['stream'])} wait for {wait.args['event']} "
            f"at {at(wait)}, which is bound to record {records[-1].told()} only: nobody has waited for record "
            f"{', '.join(record.told() for record in lost)}; take an event for each",
            (*(record.event.seq for record in lost), records[-1].event.seq, wait.seq),
        )  # fmt: skip


def _late(trace: Trace, wait: Event, records: list[_Made]) -> Iterator[Finding]:
    """The host waits for the newest record, with work between it and one that nobody has waited for."""
    for old, new in pairwise(records):
        if new.launched > old.row:
            yield Finding(
                "late_binding", "warning",
                f"{lane_name(trace, wait)} waits for {wait.args['event']} at {at(wait)}: the wait is bound to record "
                f"{records[-1].told()}, and wakes after the work before it; record {old.told()} was replaced before "
                "anybody waited for it",
                (old.event.seq, records[-1].event.seq, wait.seq),
            )  # fmt: skip
            return


# ---- waits that came before the record that they meant


def _too_early(trace: Trace, groups: list[list[Race]]) -> Iterator[Finding]:
    """Races that a record orders which was made after the wait that should have been bound to it."""
    waits = _by_stream(trace, "event.wait") if groups else {}
    records = _by_stream(trace, "event.record") if groups else {}
    useful = {(w.rank, w.wait_seq) for w in find_waits(trace) if w.needed is not None} if groups else set()
    found: dict[tuple[int, int], list[Race]] = defaultdict(list)
    for same in groups:
        bound = _meant(same[0], waits, records, useful)
        if bound is not None:
            found[bound].append(same[0])
    for (wait_row, record_row), races in found.items():
        yield _early(trace, trace.events[wait_row], trace.events[record_row], races)


Rows = dict[tuple[int, str], list[tuple[int, Event]]]


def _by_stream(trace: Trace, kind: str) -> Rows:
    found: Rows = defaultdict(list)
    for row, event in told_rows(trace, kind):
        found[event.rank, event.args["stream"]].append((row, event))
    return found


def _meant(race: Race, waits: Rows, records: Rows, useful: set[tuple[int, int]]) -> tuple[int, int] | None:
    """The wait of the later access's stream, and the record of the earlier one's, if they fit but for their order.

    A wait for a record that something needed was meant for that one: where it races, another wait is missing.
    """
    a, b = race.earlier, race.later
    for wait_row, wait in reversed(waits.get((b.event.rank, b.stream), [])):
        if not a.row < b.row or wait_row > b.row:
            continue
        if (wait.rank, wait.seq) in useful:
            continue
        for record_row, record in records.get((a.event.rank, a.stream), []):
            same = record.args["event"] == wait.args["event"]
            if same and record_row > max(a.row, wait_row) and wait.args.get("record") is not None:
                return wait_row, record_row
    return None


def _early(trace: Trace, wait: Event, record: Event, races: list[Race]) -> Finding:
    a, b = races[0].earlier, races[0].later
    return Finding(
        "late_binding", "error",
        f"{lane_name(trace, wait)} makes the {stream_name(b.stream)} wait for {wait.args['event']} at {at(wait)}, "
        f"bound to record {wait.args['record']}, and record {record.args['record']}, which covers {described(a)}, is "
        f"made later, at {at(record)}: {described(b)} is not ordered after it{times(len(races))}",
        (wait.seq, a.event.seq, record.seq, b.event.seq),
    )  # fmt: skip
