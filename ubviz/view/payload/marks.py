"""What happens at a moment, as tracks: trace events on their threads, records and ends of waits on their streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...trace.model import Lane, Trace
from ..paint.columns import chip_words
from .bars import shifted
from .names import Names


@dataclass(frozen=True)
class Marks:
    """The rows of one track; ``layer`` is "events" or "points"."""

    layer: str
    columns: dict[str, np.ndarray]


class Moments:
    """Everything of a trace that is a mark: its kind, what is written on it, and where it stands."""

    def __init__(self, trace: Trace, names: Names) -> None:
        self.trace = trace
        self.names = names
        self.kinds = Names()
        events = trace.events
        self.kind = self.kinds.column(events, "kind")
        self.text = self._texts()
        self.record, self.wait = self.kinds.number("record"), self.kinds.number("wait")
        self.event_name = names.column(trace.spans, "name", absent=names.number(""))
        flows = trace.flows
        answered = flows["to_row"][flows.mask(kind="record -> wait", to_table="spans")]
        self.points = trace.spans.mask(cat="record")
        self.points[answered] |= trace.spans.mask(cat="wait")[answered]

    def _texts(self) -> np.ndarray:
        """What is written on each trace event's mark, asked once for a kind and its arguments; 0 for nothing."""
        events = self.trace.events
        kinds, kind_pool = events.codes("kind")
        args, args_pool = events.codes("args")
        both = kinds.astype(np.int64) * (len(args_pool) + 1) + args
        _, first, place = np.unique(both, return_index=True, return_inverse=True)
        texts = [words_of(kind_pool[kinds[row]], args_pool[args[row]]) for row in first.tolist()]
        return np.array([0 if text is None else self.names.number(text) + 1 for text in texts], np.int64)[
            place
        ]

    def of(self, lane: Lane) -> Iterator[Marks]:
        """The marks of a lane: its trace events, and the points of a stream."""
        events = self.trace.events
        rows = np.flatnonzero(events["lane"] == lane.id)
        rows = rows[np.argsort(events["t_ns"][rows], kind="stable")]
        if len(rows):
            yield Marks("events", self._columns(events["t_ns"][rows], self.kind[rows], self.text[rows],
                                                events["ubatch"][rows], rows))  # fmt: skip
        if lane.group != "threads":
            yield from self._points(lane)

    def _points(self, lane: Lane) -> Iterator[Marks]:
        spans = self.trace.spans
        rows = np.flatnonzero(self.points & (spans["lane"] == lane.id))
        recorded = spans.mask(cat="record")[rows]
        t = np.where(recorded, spans["start_ns"][rows], spans["end_ns"][rows])
        order = np.argsort(t, kind="stable")
        rows, recorded, t = rows[order], recorded[order], t[order]
        if len(rows):
            kind = np.where(recorded, self.record, self.wait)
            yield Marks(
                "points", self._columns(t, kind, self.event_name[rows] + 1, spans["ubatch"][rows], rows)
            )

    def _columns(self, t: Any, kind: Any, text: Any, ubatch: Any, row: Any) -> dict[str, np.ndarray]:
        return {"t": t, "kind": kind, "ubatch": shifted(ubatch), "text": text, "row": row}


def words_of(kind: str, args: dict[str, Any]) -> str | None:
    """What is written on a trace event's mark.

    >>> words_of("host_event.set", {"host_event": "cpu_event[1]"}), words_of("ctx.yield", {"ubatch": 0})
    ('set 1', 'yields')
    """
    match kind:
        case "kernel.launch":
            return str(args.get("operation") or args.get("name") or "launch")
        case "event.record" | "event.wait":
            return f"{kind.partition('.')[2]} {args.get('event', '')}".rstrip()
        case "barrier.arrive":
            return f"{args.get('n', '?')} of {args.get('parties', '?')}"
        case "barrier.release":
            return "barrier opens"
        case "ctx.yield":
            return "yields"
        case "ctx.resume":
            return "resumes"
    found = chip_words(kind, args)
    return None if found is None else found[1]
