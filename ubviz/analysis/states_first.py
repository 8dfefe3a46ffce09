"""What a recording tells of its objects before they are first touched: the state that a fold begins with.

A host event that is first set, cleared, or found set was what ``was`` says of it all the time before. Also which
microbatches take part in each step, and when what was put into streams was over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..trace.model import MISSING, Event, Trace


def thread_number(event: Event) -> tuple[int, int | None]:
    return event.rank, event.thread


def ends_of(trace: Trace, cat: str) -> dict[tuple[int, int], int]:
    """When what a trace event put into a stream was over, by (rank, seq)."""
    spans = trace.spans
    rows = np.flatnonzero(spans.mask(cat=cat) & (spans["seq"] != MISSING))
    keys = zip(spans["rank"][rows].tolist(), spans["seq"][rows].tolist())
    return dict(zip(keys, spans["end_ns"][rows].tolist()))


class First:
    """What a recording tells of its objects before they are first touched."""

    def __init__(self, trace: Trace, rows: Sequence[Event]) -> None:
        events = trace.events
        self.steady: dict[tuple[int, str], bool] = {}
        self.flags: dict[tuple[int, int | None], dict[str, bool]] = defaultdict(dict)
        self.events: dict[tuple[int, int | None], dict[str, None]] = defaultdict(dict)
        self.stream: dict[tuple[int, int | None], str] = {}
        self.names: dict[tuple[int, Any], str] = {}
        self.hooks = bool((events.mask(kind="hook.register") | events.mask(kind="hook.run")).any())
        self._flags(trace, rows)
        for event in of_kinds(trace, rows, "event.record", "event.wait"):
            name = str(event.args.get("event"))
            self.events[event.rank, event.step if "[" in name else None][name] = None
        for event in _firsts(trace, "stream.switch", "kernel.launch"):
            stream = event.args.get("from" if event.kind == "stream.switch" else "stream")
            if stream is not None:
                self.stream.setdefault(thread_number(event), str(stream))
        for event in of_kinds(trace, rows, "thread.create", "thread.start"):
            self.names[event.rank, event.args.get("thread")] = str(event.args.get("name"))
        self.members = _members(trace)
        self.known = {(event.rank, event.step) for event in of_kinds(trace, rows, "step.begin", "step.end")}
        self.step: dict[int, int | None] = {}
        ranks = np.unique(events["rank"])
        for rank in ranks.tolist():
            steps = events["step"][(events["rank"] == rank) & (events["step"] != MISSING)]
            self.step[rank] = int(steps[0]) if len(steps) else None

    def _flags(self, trace: Trace, rows: Sequence[Event]) -> None:
        telling = ("host_event.set", "host_event.clear", "host_event.wake")
        for event in of_kinds(trace, rows, *telling):
            self._was(event, bool(event.args.get("was", event.kind == "host_event.wake")))
        for event in of_kinds(trace, rows, "host_event.wait"):
            self._was(event, False)  # nobody ever set it

    def _was(self, event: Event, was: bool) -> None:
        name = str(event.args.get("host_event"))
        if "[" in name:
            self.flags[event.rank, event.step].setdefault(name, was)
        else:
            self.steady.setdefault((event.rank, name), was)


def of_kinds(trace: Trace, rows: Sequence[Event], *kinds: str) -> Iterator[Event]:
    """The trace events of some kinds, in order."""
    codes, pool = trace.events.codes("kind")
    wanted = [code for code, kind in enumerate(pool) if kind in kinds]
    return (rows[row] for row in np.flatnonzero(np.isin(codes, wanted)).tolist())


def _firsts(trace: Trace, *kinds: str) -> list[Event]:
    """The first trace event of each kind in each thread, in the order of the kinds."""
    events = trace.events
    found: list[Event] = []
    for kind in kinds:
        rows = np.flatnonzero(events.mask(kind=kind))
        if len(rows):
            threads = np.stack([events["rank"][rows], events["thread"][rows]])
            first = np.unique(threads, axis=1, return_index=True)[1]
            found += events.rows(rows[np.sort(first)])
    return found


def _members(trace: Trace) -> dict[tuple[int, int | None], int]:
    """How many microbatches take part in each step of each rank."""
    events = trace.events
    rows = np.flatnonzero(events["ubatch"] != MISSING)
    if not len(rows):
        return {}
    columns = np.stack([events[name][rows] for name in ("rank", "step", "ubatch")])
    found: dict[tuple[int, int | None], int] = {}
    for rank, step, ubatch in np.unique(columns, axis=1).T.tolist():
        key = rank, None if step == MISSING else step
        found[key] = max(found.get(key, 0), ubatch + 1)
    return found
