"""The file format: what stands in a recording's JSON, as the structures that are written and read.

A recording is an object of the Chrome Trace Event format, and Perfetto opens it::

    {"traceEvents": [...], "displayTimeUnit": "ns", "baseTimeNanoseconds": 1735689600000000000,
     "ubviz": {"version": 1, "lanes": [...], "meta": {...}, "notices": [...]}}

| ``ph`` | what | carries |
|---|---|---|
| ``M`` | names and order of processes and threads | for Perfetto only; reading skips it |
| ``i`` | a trace event, ``cat "ubviz"``, its kind as name | its args and ``args.ubviz``: an EventMark |
| ``X`` | a span | its args and ``args.ubviz``: a SpanMark |
| ``s`` ``f`` | a flow, ``cat "ubviz"``; ``id - 1`` is its row | ``args.ubviz`` of the ``s``: a FlowMark |

``ts`` and ``dur`` are decimal microseconds, exact to the nanosecond. Lane number i, counted from 0 in
``ubviz.lanes``, has tid i + 1; rank r has pid 2r + 1 for its threads and 2r + 2 for its streams and network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Raw, Struct

from .model import MISSING, Lane

VERSION = 1
Int = Annotated[int, Meta(ge=MISSING + 1, le=2**63 - 1)]
Row = Annotated[int, Meta(ge=0, le=2**63 - 1)]
TableName = Literal["events", "spans"]


class Mark(Struct, gc=False, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """``args.ubviz``. ``row`` is written where the order in the file is not that of the table; ``own_ubviz``
    is the row's own argument of the name "ubviz", if it has one."""

    row: Row | None = None
    own_ubviz: Any = UNSET


class EventMark(Mark):
    """The fields of an Event that the format has no place for."""

    seq: Int
    until_ns: Int | None = None
    step: Int | None = None
    thread: Int | None = None
    ubatch: Int | None = None
    site: str | None = None
    caller: str | None = None


class SpanMark(Mark):
    """The fields of a Span that the format has no place for."""

    cls: str | None = None
    operation: str | None = None
    layer: Int | None = None
    correlation: Int | None = None
    seq: Int | None = None
    step: Int | None = None
    ubatch: Int | None = None


class FlowMark(Struct, forbid_unknown_fields=True, gc=False):
    """The rows that a flow joins."""

    from_table: TableName
    from_row: Row
    to_table: TableName
    to_row: Row


class FlowArgs(Struct, gc=False):
    ubviz: FlowMark


class Instant(Struct, tag="i", tag_field="ph", gc=False):
    """A trace event; ``s "t"`` (drawn on its own thread) is for Perfetto."""

    cat: Literal["ubviz"]
    name: str
    pid: int
    tid: int
    ts: Raw
    args: Raw
    s: str = "t"


class Complete(Struct, tag="X", tag_field="ph", gc=False):
    """A span."""

    cat: str
    name: str
    pid: int
    tid: int
    ts: Raw
    dur: Raw
    args: Raw


class FlowStart(Struct, tag="s", tag_field="ph", gc=False):
    """The tail of an arrow."""

    cat: Literal["ubviz"]
    name: str
    id: Row
    pid: int
    tid: int
    ts: Raw
    args: FlowArgs


class FlowEnd(Struct, tag="f", tag_field="ph", gc=False):
    """The head of an arrow; ``bp "e"`` (ends in the enclosing span) is for Perfetto."""

    cat: Literal["ubviz"]
    name: str
    id: Row
    pid: int
    tid: int
    ts: Raw
    bp: str = "e"


class Metadata(Struct, tag="M", tag_field="ph", omit_defaults=True):
    """A name or a position of a process or thread."""

    name: str
    pid: int
    tid: int = 0
    args: Any = UNSET


Entry = Instant | Complete | FlowStart | FlowEnd | Metadata


class LaneEntry(Struct, forbid_unknown_fields=True):
    id: Int
    rank: Int
    role: str
    group: str


class NoticeEntry(Struct, forbid_unknown_fields=True):
    kind: str
    count: int
    sentence: str


class Header(Struct):
    """The entry "ubviz" at the top of the file."""

    version: int
    lanes: list[LaneEntry]
    meta: dict[str, Any]
    notices: list[NoticeEntry]


def tracks(lanes: Sequence[Lane | LaneEntry]) -> list[tuple[int, int]]:
    """The (pid, tid) of each lane.

    >>> tracks([Lane(0, 0, "main", "threads"), Lane(1, 0, "compute", "streams")])
    [(1, 1), (2, 2)]
    """
    return [
        (2 * lane.rank + (2 if lane.group in ("streams", "network") else 1), number)
        for number, lane in enumerate(lanes, 1)
    ]
