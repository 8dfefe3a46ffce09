"""The states of a recording: what everything is after each trace event, forward and backward.

A state is plain data, ``state["flags"]["cpu_event[1]"]["set"]``, by section, key and field:

- ``threads``: status (not started, runs, waits, ended), on (what it waits for), site, caller, stream, sees (the
  microbatch that it runs as), error
- ``ring``: members, holds (whose turn it is), handing [from, to] (-1: main), left
- ``flags``: set, waiting, by; ``barriers``: n, parties, arrived, generation, state (filling, open, broken)
- ``streams``: queued, done, runs, pending (what was queued and is not done); no done: not timed
- ``events``: record (0: none), stream, by, fired, waits [stream, record, row]
- ``hooks``: from, since, lost; ``context``: ubatch, digest, by
- ``calls``: step, tokens, branch, why, stage; ``votes``: vote, what it was made of, collective

What a trace event changes is the same going forward and back: ``changes[n]`` lists (path, old, new).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import BadArgument
from ..trace.model import Event, Trace
from .states_fold import Change, Fold, Path
from .states_streams import Queue, queues, stream_changes
from .states_words import Sayer, in_words

State = dict[str, dict[str, dict[str, Any]]]
KEYFRAME = 2_000
"""Trace events from one kept state to the next."""
BY_NAME = ("flags", "barriers", "events", "hooks", "ring", "context", "calls", "votes")
"""Sections whose keys stand in the order of their names; threads and streams stand as their lanes do."""
_OBJECTS = ("host_event", "barrier", "event", "stream", "from", "to", "graph")
"""Arguments that name an object, the one that a trace event is about first."""


class States:
    """What everything in a recording is after each trace event.

    >>> states = States(ubviz.example("whole_game_overlapped"))  # doctest: +SKIP
    >>> states.says[23]  # doctest: +SKIP
    'main sets cpu_event[0]: nobody waits for it, it stays set'
    >>> states.at(23)["flags"]["cpu_event[0]"]["set"]  # doctest: +SKIP
    True

    trace: a recording. ``at(-1)`` is what is before the first trace event. It is one pass over the trace events.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        events = list(trace.events)
        fold = Fold(trace, events)
        self.several = fold.several
        self.queues: list[Queue] = queues(trace, events, fold.several)
        start, streams = stream_changes(trace, self.queues)
        first = dict(fold.now)
        first.update((path, value) for path, _, value in start)
        self.paths = fold.paths  # all that ever are; the fold adds to them
        self.paths.update((path, None) for path, _, _ in start)
        self.keyframes: list[dict[Path, Any]] = [first]
        self.changes: list[list[Change]] = []
        self.says: list[str] = []
        self.threads: list[str] = []
        self.objects: list[tuple[str, ...]] = []
        now = dict(first)
        known: dict[tuple[int, str, int], tuple[str, ...]] = {}
        sayer = Sayer(fold)
        coming = next(streams, None)
        for row, event in enumerate(events):
            changes = fold.take(row, event)
            if coming is not None and coming[0] == row:
                changes = list(changes)
                while coming is not None and coming[0] == row:
                    changes.append(coming[1])
                    coming = next(streams, None)
            self.changes.append(changes)
            self.says.append(sayer.say(event, changes))
            self.threads.append(fold.who(event))
            kept = event.rank, event.kind, id(event.args)  # a recording keeps equal arguments once
            objects = known.get(kept)
            if objects is None:
                objects = known[kept] = _objects(fold, event, event.args)
            self.objects.append(objects)
            _apply(now, changes)
            if (row + 1) % KEYFRAME == 0:
                self.keyframes.append(dict(now))

    def __len__(self) -> int:
        return len(self.changes)

    def flat(self, n: int) -> dict[Path, Any]:
        """The state after trace event ``n``, by path; -1: before the first."""
        if not -1 <= n < len(self):
            raise BadArgument(f"this recording has no trace event {n}; it has 0 to {len(self) - 1}")
        frame = (n + 1) // KEYFRAME
        found = dict(self.keyframes[frame])
        for row in range(frame * KEYFRAME, n + 1):
            _apply(found, self.changes[row])
        return found

    def at(self, n: int) -> State:
        """The state after trace event ``n`` as plain data; -1: before the first."""
        state = nested(self.flat(n))
        for queue in self.queues:
            fields = state["streams"][queue.key]
            if "done" in fields:
                items = range(fields["done"], fields["queued"])
                fields["pending"] = [
                    {"label": queue.labels[i], "cat": queue.cats[i], "cls": queue.classes[i],
                     "ubatch": queue.ubatches[i], "row": int(queue.rows[i])}
                    for i in items
                ]  # fmt: skip
        return state

    def text(self, n: int, sections: Sequence[str] | None = None) -> str:
        """The state after trace event ``n`` in plain words, the same every time.

        >>> print(states.text(23))  # doctest: +SKIP
        trace event 23 of 716
        main sets cpu_event[0]: nobody waits for it, it stays set
        threads: main runs at ubviz/ubatch/wrapper.py:161 on compute; ubatch 0 waits for ready_barrier ...
        """
        state = self.at(n)
        shown = {name: state[name] for name in state if sections is None or name in sections}
        said = self.says[n] if n >= 0 else "before the first trace event"
        return "\n".join([f"trace event {n} of {len(self)}", said, *in_words(shown)])

    def row_at(self, t_ns: int) -> int:
        """The last trace event up to a moment; the first one where there is none.

        Trace events of different threads may stand in another order than their times: what counts is how far the
        recording had come.
        """
        return max(int(np.searchsorted(self._clock, t_ns, side="right")) - 1, 0)

    @cached_property
    def _clock(self) -> np.ndarray:
        return np.maximum.accumulate(self.trace.events["t_ns"])

    @cached_property
    def causes(self) -> np.ndarray:
        """For each span the row of the trace event that caused it, -1 where none is known."""
        events, spans = self.trace.events, self.trace.spans
        known = dict(zip(zip(events["rank"].tolist(), events["seq"].tolist()), range(len(events))))
        keys = zip(spans["rank"].tolist(), spans["seq"].tolist())
        return np.array([known.get(key, -1) for key in keys], np.int64)

    def along(self, n: int, by: int, *, thread: str | None = None, object: str | None = None) -> int | None:
        """The next trace event (``by`` 1) or the one before (-1) of a thread or an object; None: there is none."""
        rows = self._rows_of(thread, object)
        place = bisect_left(rows, n + 1) if by > 0 else bisect_left(rows, n) - 1
        return rows[place] if 0 <= place < len(rows) else None

    def _rows_of(self, thread: str | None, object: str | None) -> list[int]:
        return [
            row
            for row, (who, objects) in enumerate(zip(self.threads, self.objects))
            if (thread is None or who == thread) and (object is None or object in objects)
        ]


def _objects(fold: Fold, event: Event, args: dict[str, Any]) -> tuple[str, ...]:
    """The objects of a trace event, the one it is about first."""
    if event.kind == "stream.switch":
        return fold.key(event.rank, args.get("to")), fold.key(event.rank, args.get("from"))
    if event.kind.startswith("hook."):
        return (fold.key(event.rank, f"hook for ubatch {args.get('to_ubatch')}"),)
    if event.kind.startswith("buffer."):
        return (fold.key(event.rank, f"buffer {args.get('buffer')}"),)
    if event.kind == "context.set":
        return (fold.key(event.rank, "forward context"),)
    return tuple(fold.key(event.rank, args[name]) for name in _OBJECTS if args.get(name) is not None)


def _apply(now: dict[Path, Any], changes: Sequence[Change]) -> None:
    for path, _, new in changes:
        if new is None:
            now.pop(path, None)
        else:
            now[path] = new


def nested(flat: dict[Path, Any]) -> State:
    """Paths as dictionaries within each other.

    >>> nested({("flags", "cpu_event[0]", "set"): True})
    {'flags': {'cpu_event[0]': {'set': True}}}
    """
    state: State = {}
    for (section, key, field), value in flat.items():
        state.setdefault(section, {}).setdefault(key, {})[field] = value
    for section in BY_NAME:
        if section in state:
            state[section] = dict(sorted(state[section].items(), key=lambda item: natural(item[0])))
    return state


def natural(name: str) -> list[Any]:
    """A key by which names with numbers stand in the order of the numbers.

    >>> sorted(["e[10]", "e[9]"], key=natural)
    ['e[9]', 'e[10]']
    """
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name)]
