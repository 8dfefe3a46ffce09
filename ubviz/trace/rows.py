"""The rows of a trace's tables, and its lanes and notices."""

from __future__ import annotations

from typing import Any, NamedTuple


class Event(NamedTuple):
    """One trace event."""

    seq: int
    t_ns: int
    until_ns: int | None
    rank: int
    step: int | None
    thread: int | None
    ubatch: int | None
    lane: int
    kind: str
    site: str | None
    caller: str | None
    args: dict[str, Any]


class Span(NamedTuple):
    """Something that lasts: ``[start_ns, end_ns)`` on a lane. ``seq`` is the trace event that caused it."""

    start_ns: int
    end_ns: int
    rank: int
    step: int | None
    ubatch: int | None
    lane: int
    cat: str
    name: str
    cls: str | None
    operation: str | None
    layer: int | None
    correlation: int | None
    seq: int | None
    args: dict[str, Any]

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


class Flow(NamedTuple):
    """An arrow from one row to another; a row is (table, index) with table "events" or "spans"."""

    kind: str
    from_table: str
    from_row: int
    from_ns: int
    from_lane: int
    to_table: str
    to_row: int
    to_ns: int
    to_lane: int


class Lane(NamedTuple):
    """One drawn row. ``group`` is "threads", "streams" or "network"; ``role`` its name within the rank."""

    id: int
    rank: int
    role: str
    group: str


class Notice(NamedTuple):
    """Something the reader must know about the recording: what, how often, in a sentence."""

    kind: str
    count: int  # type: ignore[assignment]  # tuple.count is not needed here
    sentence: str
