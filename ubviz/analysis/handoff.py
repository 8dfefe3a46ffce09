"""The hand-over of the turn: is one microbatch awake at a time, and does everybody come to an end?

A microbatch has the turn from its wake-up until it sets a host event of the ring (``cpu_event[i]``). Between, it
may do anything; without the turn it may only put its own flag down and wait. What breaks this is ``two_batons``; a
wait that never came back is told by ``deadlock``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

import numpy as np

from ..trace.model import MISSING, Event, Trace
from .deadlock import deadlock, open_waits
from .findings import Finding
from .kept import told, told_rows
from .words import in_step

T = TypeVar("T")

_FREE = ("host_event.", "barrier.", "thread.", "ctx.", "error", "mark", "step.", "event.query")
"""Kinds that need no turn: waiting, arriving, and leaving (the flag is put down after the turn is handed on)."""


def handoff(trace: Trace) -> list[Finding]:
    """Findings about the turn, in the order in which they happened.

    >>> handoff(trace)  # doctest: +SKIP
    []
    """
    return [*_two_batons(trace), *_unequal_yields(trace), *_no_interleaving(trace), *deadlock(trace)]


def yields(trace: Trace, step: int | None = None) -> dict[int, int]:
    """How often each microbatch yielded, in one step or in all; also one that came and never did."""
    count: Counter[int] = Counter()
    for each, of_step in _yields(trace).items():
        if step is None or each == step:
            count.update({ubatch: len(events) - 1 for ubatch, events in of_step.items()})
    return dict(count)


def turns(trace: Trace, step: int | None = None) -> list[int]:
    """Which microbatch got the turn, in order."""
    return [ubatch for ubatch, event in _turns(trace) if step is None or event.step == step]


def _yields(trace: Trace) -> dict[int | None, dict[int, list[Event | None]]]:
    """Of each microbatch that came, its entering (None where it was not told) and its yields, step by step."""
    found: dict[int | None, dict[int, list[Event | None]]] = defaultdict(dict)
    for event in told(trace, "ctx.enter"):
        found[event.step][event.args["ubatch"]] = [event]
    for event in told(trace, "ctx.yield"):
        found[event.step].setdefault(event.args["ubatch"], [None]).append(event)
    return found


def _turns(trace: Trace) -> list[tuple[int, Event]]:
    """Microbatch and wake-up of every turn, in order."""
    return [
        (event.ubatch, event)
        for event in told(trace, "host_event.wake")
        if event.ubatch is not None and _own(event)
    ]


def _two_batons(trace: Trace) -> Iterator[Finding]:
    holder: int | None = None
    since: Event | None = None
    turns_are_told = False  # a trace without host events says nothing about turns
    needs = _needing_the_turn(trace)
    of, at = trace.events["ubatch"][needs], 0
    for row, event in [*told_rows(trace, "step.begin", "host_event."), (len(trace.events), None)]:
        until = int(np.searchsorted(needs, row))
        if turns_are_told:
            others = np.flatnonzero(of[at:until] != (MISSING if holder is None else holder)) + at
            yield from (_without(trace.events[int(needs[i])], holder) for i in others)
        at = until
        if event is None:
            return
        if event.kind == "step.begin":
            holder, turns_are_told = None, False
        turns_are_told = turns_are_told or _of_the_ring(event)
        if event.ubatch is None:
            continue
        if event.kind == "host_event.wake" and _own(event):
            if holder is not None and holder != event.ubatch and since is not None:
                yield _both(event, holder, since)
            holder, since = event.ubatch, event
        elif event.kind == "host_event.set" and holder == event.ubatch and _of_the_ring(event):
            holder = None


def _needing_the_turn(trace: Trace) -> np.ndarray:
    """Rows of what a microbatch may do only in its turn."""
    kinds, pool = trace.events.codes("kind")
    free = [i for i, kind in enumerate(pool) if kind.startswith(_FREE)]
    return np.flatnonzero(~np.isin(kinds, free) & (trace.events["ubatch"] != MISSING))


def _without(event: Event, holder: int | None) -> Finding:
    return Finding(
        "two_batons", "error",
        f"microbatch {event.ubatch} does {event.kind} at {event.caller} without having the turn"
        + (f", which microbatch {holder} has" if holder is not None else ""),
        (event.seq,),
    )  # fmt: skip


def _own(event: Event) -> bool:
    return bool(event.args.get("host_event") == f"cpu_event[{event.ubatch}]")


def _of_the_ring(event: Event) -> bool:
    """A flag that carries the turn, not a host event of the program's own."""
    return str(event.args.get("host_event")).startswith("cpu_event[")


def _both(event: Event, holder: int, since: Event) -> Finding:
    return Finding(
        "two_batons", "error",
        f"microbatch {event.ubatch} wakes at {event.caller} while microbatch {holder} still has the turn "
        f"that it got at {since.caller}",
        (since.seq, event.seq),
    )  # fmt: skip


def _unequal_yields(trace: Trace) -> Iterator[Finding]:
    cut_short = {event.step for event in (*told(trace, "error"), *open_waits(trace))}
    for step, of_step in _in_order(_yields(trace)):
        if step in cut_short:
            continue  # who was stopped has yielded less, and that is not why
        if len({len(events) for events in of_step.values()}) > 1:
            said = ", ".join(f"microbatch {u} {len(e) - 1} times" for u, e in sorted(of_step.items()))
            last = tuple(event.seq for _, (*_, event) in sorted(of_step.items()) if event is not None)
            yield Finding(
                "unequal_yields", "warning", f"the microbatches yield unequally{in_step(step)}: {said}", last
            )


def _no_interleaving(trace: Trace) -> Iterator[Finding]:
    """Every microbatch got its turns in one block, although each of them yielded: nobody ran between."""
    counts = _yields(trace)
    got: dict[int | None, list[tuple[int, Event]]] = defaultdict(list)
    for turn in _turns(trace):
        got[turn[1].step].append(turn)
    for step, of_step in _in_order(got):
        first = [next(block) for _, block in groupby(of_step, key=itemgetter(0))]
        yielded = counts[step].values()
        if (
            len({ubatch for ubatch, _ in first}) == len(first) > 1
            and yielded
            and all(len(e) > 1 for e in yielded)
        ):
            yield Finding(
                "no_interleaving", "warning",
                f"the microbatches yielded, but ran one after the other{in_step(step)}: no yield handed the turn on",
                tuple(event.seq for _, event in first),
            )  # fmt: skip


def _in_order(by_step: dict[int | None, T]) -> list[tuple[int | None, T]]:
    return sorted(by_step.items(), key=lambda item: (item[0] is not None, item[0] or 0))
