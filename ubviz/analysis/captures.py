"""Which trace events a capture noted for its graph, so that they ran at no time but in the replays.

A capture begins on the stream that is current in its thread, and spreads to every stream that waits for an event
recorded in it. It is over at its end, or at the error that broke it. Where the stream that it began on is not known,
nothing is known of it.

Source: CUDA programming guide, "Graphs: creating a graph using stream capture".
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from ..trace.model import Event, Trace
from .kept import told_rows
from .streams import current_streams

_NOTED = ("kernel.launch", "event.record", "event.wait")
_SEEN = (*_NOTED, "stream.synchronize", "host.read", "graph.capture_begin", "graph.capture_end", "error")


@dataclass
class Capture:
    """One capture: its streams, each with the trace event that brought it in, and how it came to its end."""

    rank: int
    graph: str
    begin: Event
    origin: str | None
    streams: dict[str, Event] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)  # what it noted
    end: Event | None = None
    error: Event | None = None
    problems: list[tuple[Event, str]] = field(default_factory=list)  # what a capture cannot hold


def captures(trace: Trace) -> list[Capture]:
    """Every capture of a trace, in order.

    >>> [capture.graph for capture in captures(trace)]  # doctest: +SKIP
    ['split[12]']
    """
    if not trace.events.mask(kind="graph.capture_begin").any():
        return []
    return _Walk(trace).found


def captured_rows(trace: Trace) -> dict[int, str]:
    """Row of a launch, a record or a wait that a capture noted -> the graph."""
    return {row: capture.graph for capture in captures(trace) for row in capture.rows}


class _Walk:
    """One pass over the rows, with the captures that are under way."""

    def __init__(self, trace: Trace) -> None:
        self.found: list[Capture] = []
        self._under_way: dict[Hashable, Capture] = {}  # stream -> its capture
        self._records: dict[Hashable, Capture | None] = {}  # newest record of an event, by its number
        self._ran = _ran(trace)
        streams = current_streams(trace)
        for row, event in told_rows(trace, *_SEEN):
            if event.kind == "graph.capture_begin":
                self._begin(event, streams.get(row))
            elif event.kind in ("graph.capture_end", "error"):
                self._end(event)
            else:
                self._event(row, event)

    def _begin(self, event: Event, origin: str | None) -> None:
        capture = Capture(event.rank, event.args["graph"], event, origin)
        self.found.append(capture)
        if origin is not None:
            capture.streams[origin] = event
            self._under_way[event.rank, origin] = capture

    def _end(self, event: Event) -> None:
        for capture in {id(c): c for c in self._under_way.values() if c.rank == event.rank}.values():
            if event.kind == "error":
                capture.error = event
            elif capture.graph == event.args["graph"]:
                capture.end = event
            else:
                continue
            self._leave(capture)

    def _leave(self, capture: Capture) -> None:
        for stream in capture.streams:
            self._under_way.pop((capture.rank, stream), None)

    def _event(self, row: int, event: Event) -> None:
        args = event.args
        inside = self._under_way.get((event.rank, args.get("stream")))
        if inside is not None and event.kind == "kernel.launch" and (event.rank, event.seq) in self._ran:
            self._leave(inside)  # it runs: the capture has been given up
            return
        if event.kind == "event.record":
            self._records[event.rank, args["event"], args["record"]] = inside
        elif event.kind == "event.wait":
            inside = self._wait(event, inside)
        elif event.kind in ("stream.synchronize", "host.read") and inside is not None:
            inside.problems.append((event, f"{event.kind} of {args['stream']}, which is captured"))
        if inside is not None and event.kind in _NOTED:
            inside.rows.append(row)

    def _wait(self, event: Event, inside: Capture | None) -> Capture | None:
        """A wait brings its stream into the capture of the record that it is bound to."""
        args = event.args
        source = self._records.get((event.rank, args["event"], args["record"]))
        source = source if source in self._under_way.values() else None
        if inside is None and source is not None:
            source.streams[args["stream"]] = event
            self._under_way[event.rank, args["stream"]] = source
            return source
        if inside is not None and args["record"] is not None and source is not inside:
            problem = f"{args['stream']}, which is captured, waits for {args['event']}, recorded outside"
            inside.problems.append((event, problem))
        return inside


def _ran(trace: Trace) -> set[tuple[int, int]]:
    """Launches that have a kernel of their own."""
    spans = trace.spans
    kernel = spans.mask(cat="kernel")
    return set(zip(spans["rank"][kernel].tolist(), spans["seq"][kernel].tolist(), strict=True))
