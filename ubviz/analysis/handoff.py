"""The hand-over of the turn: is one microbatch awake at a time, and does everybody come to an end?

A microbatch has the turn from its wake-up until it sets a host event of the ring (``cpu_event[i]``). Between, it
may do anything; without the turn it may only put its own flag down and wait. What breaks this is ``two_batons``; a
wait that never came back is ``deadlock``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from ..trace.model import Event, Trace
from .findings import Finding

_FREE = ("host_event.", "barrier.", "thread.", "ctx.", "error", "mark", "step.", "event.query")
"""Kinds that need no turn: waiting, arriving, and leaving (the flag is put down after the turn is handed on)."""


def handoff(trace: Trace) -> list[Finding]:
    """Findings about the turn, in the order in which they happened.

    >>> handoff(trace)  # doctest: +SKIP
    []
    """
    return [*_two_batons(trace), *_unequal_yields(trace), *_no_interleaving(trace), *_blocked(trace)]


def yields(trace: Trace, step: int | None = None) -> dict[int, int]:
    """How often each microbatch yielded, in one step or in all; also one that came and never did."""
    count: Counter[int] = Counter()
    for kind, times in (("ctx.enter", 0), ("ctx.yield", 1)):
        for event in trace.events.rows(trace.events.mask(kind=kind)):
            if step is None or event.step == step:
                count[event.args["ubatch"]] += times
    return dict(count)


def turns(trace: Trace, step: int | None = None) -> list[int]:
    """Which microbatch got the turn, in order."""
    wakes = trace.events.rows(trace.events.mask(kind="host_event.wake"))
    return [e.ubatch for e in wakes if _own(e) and (step is None or e.step == step)]


def _two_batons(trace: Trace) -> Iterator[Finding]:
    holder: int | None = None
    since: Event | None = None
    for event in trace.events:
        if event.kind == "step.begin":
            holder = None
        if event.ubatch is None:
            continue
        if event.kind == "host_event.wake" and _own(event):
            if holder is not None and holder != event.ubatch and since is not None:
                yield _both(event, holder, since)
            holder, since = event.ubatch, event
        elif event.kind == "host_event.set" and holder == event.ubatch and _of_the_ring(event):
            holder = None
        elif holder != event.ubatch and not event.kind.startswith(_FREE):
            yield Finding(
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
    cut_short = {event.step for event in trace.events if event.kind == "error" or _never_ended(event)}
    for step in trace.steps or (None,):
        if step in cut_short:
            continue  # who was stopped has yielded less, and that is not why
        counts = yields(trace, step)
        if len(set(counts.values())) > 1:
            said = ", ".join(f"microbatch {u} {n} times" for u, n in sorted(counts.items()))
            where = "" if step is None else f" in step {step}"
            yield Finding("unequal_yields", "warning", f"the microbatches yield unequally{where}: {said}")


def _no_interleaving(trace: Trace) -> Iterator[Finding]:
    """Every microbatch got its turns in one block, although each of them yielded: nobody ran between."""
    for step in trace.steps or (None,):
        got = turns(trace, step)
        blocks = 1 + sum(a != b for a, b in pairwise(got))
        counts = yields(trace, step).values()
        if len(set(got)) > 1 and blocks == len(set(got)) and counts and all(counts):
            where = "" if step is None else f" in step {step}"
            yield Finding(
                "no_interleaving", "warning",
                f"the microbatches yielded, but ran one after the other{where}: no yield handed the turn on",
            )  # fmt: skip


def _blocked(trace: Trace) -> Iterator[Finding]:
    stuck = [event for event in trace.events if _never_ended(event)]
    for event in stuck:
        lane = trace.lanes[event.lane].role
        yield Finding(
            "deadlock", "error",
            f"{lane} never comes back from {event.kind} of {_object(event)} at {event.caller}; "
            + _who_could(trace, event),
            (event.seq,),
        )  # fmt: skip


def _never_ended(event: Event) -> bool:
    return event.until_ns is None and event.kind in _WAITS


_WAITS = ("host_event.wait", "barrier.arrive", "thread.join")


def _object(event: Event) -> str:
    args = event.args
    if event.kind == "thread.join":
        return f"thread {args['thread']}"
    return str(args.get("host_event") or f"{args.get('barrier')} ({args.get('n')} of {args.get('parties')})")


def _who_could(trace: Trace, event: Event) -> str:
    """Who could end this wait, from what was seen."""
    events = trace.events
    if event.kind == "host_event.wait":
        sets = [
            e for e in events.rows(events.mask(kind="host_event.set")) if e.args == {**e.args, **event.args}
        ]
        who = sorted({trace.lanes[e.lane].role for e in sets})
        return f"it was last set by {trace.lanes[sets[-1].lane].role}" if who else "nobody has ever set it"
    if event.kind == "barrier.arrive":
        missing = event.args["parties"] - event.args["n"]
        return f"{missing} more must arrive"
    return "that thread has not ended"
