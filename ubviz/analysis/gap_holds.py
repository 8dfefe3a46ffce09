"""What held a stream back after it could know of its next kernel: waits, or nothing that was recorded.

A wait holds its stream from when it was called until the record that it is bound to has fired: when the stream came
to look at it does not matter. Of that, the time since the last operation that the stream needs is ``surplus`` (see
``waits``). In a replay, the graph's own edges hold instead. The rest is the ``device``: the stream had the kernel, and
nothing to wait for, and yet did not begin it. That is shown by what is absent, so it is said only where everything
that could hold is recorded: not of a kernel without a launch, nor of a replay whose graph's edges are not known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..trace.model import Event, Span, Trace
from .waits import Wait


class Part(NamedTuple):
    """A share of a gap, with the cause that is behind it."""

    ns: int
    cause: str
    why: str
    events: tuple[int, ...]


class Hold(NamedTuple):
    """Something that kept a stream waiting until ``until_ns``; what came after ``needed_ns`` it did not need."""

    until_ns: int
    needed_ns: int
    why: str
    surplus: str
    events: tuple[int, ...]


class Holds:
    """The waits of a trace's streams, and the edges of its graphs; made once, in linear time."""

    def __init__(self, trace: Trace, waits: list[Wait], names: Names) -> None:
        self.trace, self.names = trace, names
        spans = trace.spans
        self.waits = {wait.row: wait for wait in waits if wait.row is not None}
        self.of_lane: dict[int, list[int]] = defaultdict(list)  # rows of a lane's waits, in order of time
        for row in np.flatnonzero(spans.mask(cat="wait")).tolist():
            self.of_lane[int(spans["lane"][row])].append(row)
        self.ends = {lane: [int(spans["end_ns"][r]) for r in rows] for lane, rows in self.of_lane.items()}
        records = np.flatnonzero(spans.mask(cat="record"))
        keys = zip(spans["rank"][records].tolist(), spans["seq"][records].tolist(), strict=True)
        self.fired = dict(zip(keys, spans["end_ns"][records].tolist(), strict=True))
        self.edges = _edges(trace)
        self._nodes: dict[tuple[int, int], dict[int, int]] = {}

    def parts(self, lane: int, start: int, end: int, after: int, launch: Event | None) -> Iterator[Part]:
        """Shares of ``[start, end)``, before the kernel of row ``after``; together, all of it."""
        span = self.trace.spans[after]
        replayed = "node" in span.args
        found = self._of_graph(span, launch) if replayed else self._of_waits(lane, start, end, after)
        now = start
        for hold in sorted(found or (), key=lambda hold: hold.until_ns):
            high = min(hold.until_ns, end)
            if high > now:
                needed = min(max(hold.needed_ns, now), high)
                yield Part(needed - now, "event", hold.why, hold.events)
                yield Part(high - needed, "surplus", hold.surplus, hold.events)
                now = high
        if launch is None or found is None:
            since = "" if launch is None else f", launched {us(end - launch.t_ns)} before it began,"
            why = f"nothing recorded says why {self.names.kernel(after)}{since} did not start sooner"
            yield Part(end - now, "unknown", why, (launch.seq,) if launch is not None else ())
            return
        yield Part(end - now, "device", self._free(after, launch, end, end - now), (launch.seq,))

    def _free(self, after: int, launch: Event, end: int, ns: int) -> str:
        return (
            f"nothing held it back: {self.names.kernel(after)} was launched {us(end - launch.t_ns)} before it began "
            f"and had nothing to wait for; the stream itself took {us(ns)} to begin it"
        )

    # ---- waits

    def _of_waits(self, lane: int, start: int, end: int, after: int) -> list[Hold]:
        spans, rows, ends = self.trace.spans, self.of_lane.get(lane, []), self.ends.get(lane, [])
        found = []
        for i in range(bisect_left(ends, start), len(rows)):
            if int(spans["start_ns"][rows[i]]) >= end:
                break
            found.append(self._wait(rows[i], after))
        return found

    def _wait(self, row: int, after: int) -> Hold:
        wait, span = self.waits.get(row), self.trace.spans[row]
        event = span.args.get("event", span.name)
        if wait is None:
            return Hold(span.end_ns, span.end_ns, f"waiting for {event}", "", self.names.seq(row))
        until = self.fired.get((wait.rank, wait.record_seq), span.end_ns)
        record, seqs = self.names.event(wait.rank, wait.record_seq), (wait.record_seq, wait.wait_seq)
        needed = "" if wait.needed is None else f" after {self.names.kernel(wait.needed, record.ubatch)}"
        why = f"waiting for {event}, recorded by {self.names.person(record)}{needed}, at {record.caller}"
        if not wait.surplus:
            return Hold(until, until, why, "", seqs)
        first, last = self.names.kernel(wait.surplus[0]), self.names.kernel(wait.surplus[-1])
        covered = first if first == last else f"{first} to {last}"
        surplus = (
            f"waiting for {event}, which {self.names.person(record)} recorded at {record.caller}: it covers "
            f"{covered}, which {self.names.kernel(after)} does not need"
        )
        needed_ns = span.start_ns if wait.needed is None else int(self.trace.spans["end_ns"][wait.needed])
        return Hold(until, min(needed_ns, until), why, surplus, seqs)

    # ---- graphs

    def _of_graph(self, span: Span, replay: Event | None) -> list[Hold] | None:
        """What a replayed kernel comes after on other streams; None where the graph's edges are not known."""
        edges = None if replay is None else self.edges.get(str(replay.args.get("graph")))
        if edges is None or replay is None:
            return None
        of_node = self._replayed(span.rank, replay.seq)
        found = []
        for event, node in edges.get(span.args["node"], ()):
            if node in of_node:
                ended = int(self.trace.spans["end_ns"][of_node[node]])
                why = (
                    f"the replay of {replay.args.get('graph')} waits for {event}, recorded after "
                    f"{self.names.kernel(of_node[node])}"
                )
                found.append(Hold(ended, ended, why, "", (replay.seq,)))
        return found

    def _replayed(self, rank: int, seq: int) -> dict[int, int]:
        """Node -> row of its kernel in one replay."""
        if (rank, seq) not in self._nodes:
            spans = self.trace.spans
            rows = np.flatnonzero(spans.mask(cat="kernel", rank=rank, seq=seq)).tolist()
            self._nodes[rank, seq] = {
                spans[row].args["node"]: row for row in rows if "node" in spans[row].args
            }
        return self._nodes[rank, seq]


def _edges(trace: Trace) -> dict[str, dict[int, list[tuple[str, int]]]]:
    """Graph -> node -> the events that it waits for, each with the last node before their record."""
    graphs = trace.meta.get("graphs")
    out: dict[str, dict[int, list[tuple[str, int]]]] = {}
    for name, edges in graphs.items() if isinstance(graphs, dict) else ():
        of = out.setdefault(str(name), defaultdict(list))
        for edge in edges if isinstance(edges, list) else ():
            if isinstance(edge, dict) and edge.get("kind") == "record -> wait":
                of[edge.get("to_node")].append((str(edge.get("event")), edge.get("from_node")))  # type: ignore[index,arg-type]
    return out


class Names:
    """How the sentences of gaps name things."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        events = trace.events
        keys = zip(events["rank"].tolist(), events["seq"].tolist(), strict=True)
        self.row_of = dict(zip(keys, range(len(events)), strict=True))
        self._roles = {lane.id: lane.role for lane in trace.lanes}

    def event(self, rank: int, seq: int) -> Event:
        """A trace event by its number."""
        event: Event = self.trace.events[self.row_of[rank, seq]]
        return event

    def launch(self, row: int) -> Event | None:
        """What launched a kernel."""
        span = self.trace.spans[row]
        found = self.row_of.get((span.rank, span.seq))
        return None if found is None else self.trace.events[found]

    def seq(self, row: int | None) -> tuple[int, ...]:
        """The trace event of a span, as the proof of a sentence; nothing where the trace does not have it."""
        span = None if row is None else self.trace.spans[row]
        return (span.seq,) if span is not None and (span.rank, span.seq) in self.row_of else ()

    def kernel(self, row: int | None, told: int | None = None) -> str:
        """A kernel's operation, and whose it is unless that is told: ``experts of microbatch 1``."""
        if row is None:
            return "nothing"
        span = self.trace.spans[row]
        name = span.operation or span.name
        return name if span.ubatch in (None, told) else f"{name} of microbatch {span.ubatch}"

    def person(self, event: Event) -> str:
        """Who emitted a trace event."""
        if event.ubatch is not None:
            return f"microbatch {event.ubatch}"
        return self._roles.get(event.lane, f"lane {event.lane}")


def us(ns: int) -> str:
    """Nanoseconds in words.

    >>> us(1_234_500)
    '1,234.5 us'
    """
    return f"{ns / 1000:,.1f} us"
