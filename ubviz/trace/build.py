"""Building a Trace row by row, in the order in which things were logged.

A builder is told events and spans; it closes blocking events, draws the threads' blocked time as spans, and
joins causes to effects as flows. Objects are told apart by ``key`` (any hashable), since names repeat from step
to step.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from .events import KINDS
from .model import Event, Flow, Lane, Notice, Span, Trace, make_table

Row = tuple[str, int]  # (table, index)


class Builder:
    """Collects rows; ``finish`` makes the Trace.

    >>> b = Builder([Lane(0, 0, "main", "threads"), Lane(1, 0, "ubatch 0", "threads")])
    >>> b.event(10, "host_event.set", {"host_event": "e", "was": False}, lane=0, key="e")
    0
    >>> b.event(25, "host_event.wake", {"host_event": "e"}, lane=1, key="e")
    1
    >>> [flow.kind for flow in b.finish({}).flows]
    ['set -> wake']
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self.lanes = list(lanes)
        self._events: list[list[Any]] = []
        self._spans: list[list[Any]] = []
        self._joins: list[tuple[str, Row, Row]] = []
        self._last: dict[tuple[str, Hashable], int] = {}  # where the newest cause of a kind is, by object
        self._recorded: dict[tuple[Hashable, int], int] = {}
        self._waited: list[tuple[tuple[Hashable, int], int]] = []

    # ---- events

    def event(
        self,
        t_ns: int,
        kind: str,
        args: dict[str, Any],
        *,
        lane: int,
        rank: int = 0,
        step: int | None = None,
        thread: int | None = None,
        ubatch: int | None = None,
        site: str | None = None,
        caller: str | None = None,
        key: Hashable = None,
    ) -> int:
        """Add a trace event; its row number, which is its seq, comes back."""
        row = len(self._events)
        self._events.append([row, t_ns, None, rank, step, thread, ubatch, lane, kind, site, caller, args])
        self._join_event(row, kind, args, key)
        return row

    def _join_event(self, row: int, kind: str, args: dict[str, Any], key: Hashable) -> None:
        if kind == "host_event.set":
            self._last["set", key] = row
        elif kind == "host_event.wake":
            self._flow_from("set -> wake", ("set", key), row)
        elif kind == "barrier.arrive":
            self._last["arrive", (key, args["generation"])] = row  # the last one to arrive releases
        elif kind == "barrier.release":
            self._flow_from("arrive -> release", ("arrive", (key, args["generation"])), row)
        elif kind == "hook.register":
            self._last["register", key] = row
        elif kind == "hook.run":
            self._flow_from("register -> run", ("register", key), row)

    def _flow_from(self, kind: str, cause: tuple[str, Hashable], row: int) -> None:
        if cause in self._last:
            self._joins.append((kind, ("events", self._last[cause]), ("events", row)))

    def close(self, row: int, t_ns: int, *, blocked: bool = True) -> None:
        """The blocking event ``row`` has ended; ``blocked`` draws the time as a span on the thread's lane."""
        event = self._events[row]
        event[2] = t_ns
        if blocked:
            self._blocked(event, t_ns)

    def _blocked(self, event: Sequence[Any], end_ns: int) -> None:
        seq, start, _, rank, step, _, ubatch, lane, kind, _, _, args = event
        self._spans.append(
            [start, end_ns, rank, step, ubatch, lane, "blocked", kind, None, None, None, None, seq, args]
        )

    # ---- spans

    def span(
        self,
        start_ns: int,
        end_ns: int,
        cat: str,
        name: str,
        *,
        lane: int,
        rank: int = 0,
        step: int | None = None,
        ubatch: int | None = None,
        cls: str | None = None,
        operation: str | None = None,
        layer: int | None = None,
        correlation: int | None = None,
        seq: int | None = None,
        args: dict[str, Any] | None = None,
    ) -> int:
        """Add a span; a kernel with ``seq`` is joined to the launch of that number."""
        row = len(self._spans)
        self._spans.append(
            [start_ns, end_ns, rank, step, ubatch, lane, cat, name, cls, operation, layer, correlation, seq,
             args or {}]
        )  # fmt: skip
        if cat == "kernel" and seq is not None:
            self._joins.append(("launch -> kernel", ("events", seq), ("spans", row)))
        return row

    def recorded(self, row: int, key: Hashable, record: int) -> None:
        """The span ``row`` is where record number ``record`` of the event ``key`` fires."""
        self._recorded[key, record] = row

    def waited(self, row: int, key: Hashable, record: int) -> None:
        """The span ``row`` is a stream waiting for record number ``record`` of the event ``key``."""
        self._waited.append(((key, record), row))

    def join_spans(self, kind: str, cause: int, effect: int) -> None:
        """An arrow between two spans."""
        self._joins.append((kind, ("spans", cause), ("spans", effect)))

    # ---- finishing

    def finish(self, meta: dict[str, Any], notices: Sequence[Notice] = ()) -> Trace:
        """The Trace. Blocking events that never ended are drawn as blocked to the end."""
        self._draw_open()
        for key, row in self._waited:
            if key in self._recorded:
                self.join_spans("record -> wait", self._recorded[key], row)
        order = sorted(range(len(self._spans)), key=lambda i: (self._spans[i][0], -self._spans[i][1]))
        place = {old: new for new, old in enumerate(order)}
        spans = [self._spans[i] for i in order]
        flows = [self._flow(kind, cause, effect, place) for kind, cause, effect in self._joins]
        flows.sort(key=lambda flow: (flow[3], flow[7]))
        return Trace(
            make_table(Event, self._events),
            make_table(Span, spans),
            make_table(Flow, flows),
            self.lanes,
            meta,
            notices,
        )

    def _draw_open(self) -> None:
        end = max((row[1] for row in self._events), default=0)
        end = max(end, max((row[1] for row in self._spans), default=0))
        for event in self._events:
            host_wait = event[8] != "kernel.launch" or event[11].get("host_wait")
            if KINDS.get(event[8], KINDS["mark"]).blocks and host_wait and event[2] is None:
                self._blocked(event, end)

    def _flow(self, kind: str, cause: Row, effect: Row, place: dict[int, int]) -> tuple[Any, ...]:
        (from_table, from_row), (to_table, to_row) = cause, effect
        if from_table == "events":
            from_ns, from_lane = self._events[from_row][1], self._events[from_row][7]
        else:
            from_ns, from_lane = self._spans[from_row][1], self._spans[from_row][5]
            from_row = place[from_row]
        if to_table == "events":
            to_ns, to_lane = self._events[to_row][1], self._events[to_row][7]
        else:
            # a stream is released at the end of its wait; a kernel, or a receive, is reached at its start
            to_ns = self._spans[to_row][1 if kind == "record -> wait" else 0]
            to_lane = self._spans[to_row][5]
            to_row = place[to_row]
        return kind, from_table, from_row, from_ns, from_lane, to_table, to_row, to_ns, to_lane
