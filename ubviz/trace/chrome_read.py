"""A Trace out of the bytes of its file. The structures are in ``chrome_format``.

What is wrong is refused with one sentence that says where; nothing is repaired and nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct

from ..errors import NotATrace
from .chrome_format import (
    VERSION,
    Complete,
    Entry,
    EventMark,
    FlowEnd,
    FlowStart,
    Header,
    Instant,
    Mark,
    SpanMark,
    tracks,
)  # fmt: skip
from .decimal_ns import ns_from_us
from .model import MISSING, Event, Flow, Lane, Notice, Span, Trace, make_table

AGAIN = "take an unchanged copy of the recording"
FOREIGN = 'it has no "ubviz" entry, and this version reads only recordings that ubviz saved'
NEWLINE = b"\n"
_M = TypeVar("_M", bound=Mark)


class _Top(Struct):
    ubviz: Raw = Raw()
    traceEvents: Raw = Raw()


class _Version(Struct):
    version: int


def from_json(data: bytes) -> Trace:
    """The trace that a file's text holds.

    Raises NotATrace when the text is not JSON (line and column), not a recording, of another version, or
    contradicts itself; the message does not name the file.
    """
    text = _Text(data.removeprefix(b"\xef\xbb\xbf"))
    top = text.top()
    version = text.decode(top.ubviz, _Version, "ubviz").version
    if version != VERSION:
        raise NotATrace(
            f"its file version is {version}, this ubviz reads {VERSION}; use the ubviz that saved it"
        )
    header = text.decode(top.ubviz, Header, "ubviz")
    rows = _Rows(text, header)
    for index, entry in enumerate(text.decode(top.traceEvents, list[Entry], "traceEvents")):
        rows.add(entry, f"traceEvents[{index}]")
    return rows.trace()


class _Text:
    """JSON text that is decoded in parts."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def top(self) -> _Top:
        first = self._data.lstrip()[:1]
        if not first:
            raise NotATrace(f"it is empty; {AGAIN}")
        if first != b"{":
            self.decode(self._data, Raw, "")
            raise NotATrace(FOREIGN if first == b"[" else f"it holds no JSON object; {AGAIN}")
        top = self.decode(self._data, _Top, "")
        if not bytes(top.ubviz):
            raise NotATrace(FOREIGN)
        if not bytes(top.traceEvents):
            raise NotATrace(f'it has no "traceEvents"; {AGAIN}')
        return top

    def decode(self, part: bytes | Raw, kind: Any, where: str) -> Any:
        try:
            return msgspec.json.decode(part, type=kind)
        except msgspec.ValidationError as error:
            raise NotATrace(_misfit(error, where)) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise NotATrace(self._position(error)) from None
        except RecursionError:
            raise NotATrace(f"{where or 'its content'} is nested too deeply; {AGAIN}") from None

    def _position(self, error: ValueError | msgspec.DecodeError) -> str:
        """The error with line and column. Offsets count within the part, so the whole is read once more."""
        try:
            msgspec.json.decode(self._data)
        except (msgspec.ValidationError, UnicodeDecodeError, RecursionError):
            pass  # something else, further ahead, or an error without position
        except msgspec.DecodeError as whole:
            error = whole
            found = re.fullmatch(r"JSON is malformed: (.*) \(byte (\d+)\)", str(whole))
            if found:
                offset = int(found[2]) - (found[1] == "trailing characters")  # msgspec counts their first
                return f"{self._line_column(offset)}: not JSON ({found[1]}); {AGAIN}"
        if "truncated" in str(error):
            return f"{self._line_column(len(self._data))}: the JSON ends too early; take a complete copy"
        bad = _first_not_utf8(self._data)
        return (
            f"not JSON ({error}); {AGAIN}" if bad is None else f"{self._line_column(bad)}: not UTF-8; {AGAIN}"
        )

    def _line_column(self, offset: int) -> str:
        before = self._data[:offset]
        column = len(before[before.rfind(NEWLINE) + 1 :].decode("utf-8", "replace")) + 1
        return f"line {before.count(NEWLINE) + 1}, column {column}"


def _first_not_utf8(data: bytes) -> int | None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def _misfit(error: msgspec.ValidationError, where: str) -> str:
    """msgspec's sentence in our form: the place first."""
    what, _, inside = str(error).partition(" - at `")
    what = what.replace("`", "")
    return f"{where}{inside.rstrip('`').removeprefix('$')}: {what[:1].lower()}{what[1:200]}; {AGAIN}"


class _Rows:
    """The rows of the three tables, as they come out of the file."""

    def __init__(self, text: _Text, header: Header) -> None:
        self._text = text
        self._header = header
        lanes = [Lane(lane.id, lane.rank, lane.role, lane.group) for lane in header.lanes]
        if len({lane.id for lane in lanes}) < len(lanes):
            raise NotATrace(f"ubviz.lanes: two lanes have the same id; {AGAIN}")
        self._lanes = lanes
        self._by_track = dict(zip(tracks(lanes), lanes, strict=True))
        self._events: list[tuple[int | None, tuple[Any, ...]]] = []
        self._spans: list[tuple[int | None, tuple[Any, ...]]] = []
        self._tails: dict[int, tuple[FlowStart, str]] = {}
        self._heads: dict[int, tuple[FlowEnd, str]] = {}

    def add(self, entry: Entry, where: str) -> None:
        if isinstance(entry, Instant):
            self._add_event(entry, where)
        elif isinstance(entry, Complete):
            self._add_span(entry, where)
        elif isinstance(entry, FlowStart):
            _add_once(self._tails, entry, where)
        elif isinstance(entry, FlowEnd):
            _add_once(self._heads, entry, where)

    def trace(self) -> Trace:
        events = make_table(Event, _in_order(self._events, "i"))
        spans = make_table(Span, _in_order(self._spans, "X"))
        flows = make_table(Flow, self._flows({"events": len(events), "spans": len(spans)}))
        notices = [Notice(notice.kind, notice.count, notice.sentence) for notice in self._header.notices]
        return Trace(events, spans, flows, self._lanes, self._header.meta, notices)

    def _add_event(self, entry: Instant, where: str) -> None:
        args, mark = self._args(entry.args, EventMark, where)
        lane = self._lane(entry, where)
        t_ns = _in_range(_ns(entry.ts, f"{where}.ts"), f"{where}.ts")
        row = (
            mark.seq, t_ns, mark.until_ns, lane.rank, mark.step, mark.thread, mark.ubatch, lane.id, entry.name,
            mark.site, mark.caller, args,
        )  # fmt: skip
        self._events.append((mark.row, row))

    def _add_span(self, entry: Complete, where: str) -> None:
        args, mark = self._args(entry.args, SpanMark, where)
        lane = self._lane(entry, where)
        start_ns = _in_range(_ns(entry.ts, f"{where}.ts"), f"{where}.ts")
        duration_ns = _ns(entry.dur, f"{where}.dur")
        if duration_ns < 0:
            raise NotATrace(f"{where}.dur: the span ends before it starts; {AGAIN}")
        end_ns = _in_range(start_ns + duration_ns, f"{where}.dur")
        row = (
            start_ns, end_ns, lane.rank, mark.step, mark.ubatch, lane.id, entry.cat, entry.name, mark.cls,
            mark.operation, mark.layer, mark.correlation, mark.seq, args,
        )  # fmt: skip
        self._spans.append((mark.row, row))

    def _args(self, part: Raw, kind: type[_M], where: str) -> tuple[dict[str, Any], _M]:
        """A row's own args, and our mark out of their midst."""
        args = self._text.decode(part, dict[str, Any], f"{where}.args")
        try:
            mark = msgspec.convert(args.pop("ubviz", None), kind)
        except msgspec.ValidationError as error:
            raise NotATrace(_misfit(error, f"{where}.args.ubviz")) from None
        if mark.own_ubviz is not UNSET:
            args["ubviz"] = mark.own_ubviz
        return args, mark

    def _lane(self, entry: Instant | Complete | FlowStart | FlowEnd, where: str) -> Lane:
        lane = self._by_track.get((entry.pid, entry.tid))
        if lane is None:
            raise NotATrace(f"{where}: no lane has pid {entry.pid} and tid {entry.tid}; {AGAIN}")
        return lane

    def _flows(self, lengths: dict[str, int]) -> list[tuple[Any, ...]]:
        for number in sorted(self._tails.keys() ^ self._heads.keys()):
            _, where = self._tails.get(number) or self._heads[number]
            raise NotATrace(f"{where}: flow {number} lacks its other end; {AGAIN}")
        if self._tails.keys() != set(range(1, len(self._tails) + 1)):
            raise NotATrace(f"traceEvents: the flows are not numbered from 1 to {len(self._tails)}; {AGAIN}")
        return [self._flow(number, lengths) for number in range(1, len(self._tails) + 1)]

    def _flow(self, number: int, lengths: dict[str, int]) -> tuple[Any, ...]:
        (tail, tail_at), (head, head_at) = self._tails[number], self._heads[number]
        if head.name != tail.name:
            raise NotATrace(f"{head_at}.name: flow {number} begins as {tail.name!r}; {AGAIN}")
        ends: list[Any] = [tail.name]
        mark = tail.args.ubviz
        for table, row, end, where in (
            (mark.from_table, mark.from_row, tail, tail_at), (mark.to_table, mark.to_row, head, head_at),
        ):  # fmt: skip
            if row >= lengths[table]:
                raise NotATrace(
                    f"{tail_at}.args.ubviz: row {row} of {table} is joined, and there are {lengths[table]}; {AGAIN}"
                )
            at_ns = _in_range(_ns(end.ts, f"{where}.ts"), f"{where}.ts")
            ends += table, row, at_ns, self._lane(end, where).id
        return tuple(ends)


def _add_once(found: dict[int, tuple[Any, str]], entry: FlowStart | FlowEnd, where: str) -> None:
    if entry.id in found:
        raise NotATrace(f"{where}.id: flow {entry.id} is there twice; {AGAIN}")
    found[entry.id] = entry, where


def _in_order(rows: Sequence[tuple[int | None, tuple[Any, ...]]], ph: str) -> list[tuple[Any, ...]]:
    """The rows by the numbers they carry, or as they stood in the file where none does."""
    numbers = [number for number, _ in rows]
    if all(number is None for number in numbers):
        return [row for _, row in rows]
    ordered: list[tuple[Any, ...] | None] = [None] * len(rows)
    for number, row in rows:
        if number is not None and number < len(rows):
            ordered[number] = row
    complete = [row for row in ordered if row is not None]
    if len(complete) < len(rows):
        raise NotATrace(
            f'traceEvents: entries of ph "{ph}" are not numbered from row 0 to row {len(rows) - 1}; {AGAIN}'
        )
    return complete


def _ns(text: Raw, where: str) -> int:
    try:
        return ns_from_us(bytes(text))
    except ValueError:
        raise NotATrace(f"{where}: not a number of microseconds; {AGAIN}") from None
    except OverflowError:
        raise NotATrace(f"{where}: not within 64 bits of nanoseconds; {AGAIN}") from None


def _in_range(ns: int, where: str) -> int:
    if not MISSING < ns < 2**63:
        raise NotATrace(f"{where}: not within 64 bits of nanoseconds; {AGAIN}")
    return ns
