"""Rules of the mechanism that a recording breaks: contexts, barriers, hooks, graphs, collectives.

Each rule looks at what was told, and says nothing where the facts that it needs were not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from ..trace.model import Event, Trace
from .deadlock import never_ended, open_waits
from .findings import Finding
from .kept import told
from .words import at, in_step, lane_name, times

_IN_CONTEXT = ("kernel.launch", "hook.register", "hook.run", "ctx.yield")
"""What a microbatch does with its own forward context in place."""


def lints(trace: Trace) -> list[Finding]:
    """Findings of all rules of this file, rule by rule.

    >>> [finding.kind for finding in lints(trace)]  # doctest: +SKIP
    ['lost_hook']
    """
    return [
        *wrong_context(trace), *barrier_parties(trace), *lost_hook(trace), *graph_owned_by_split(trace),
        *missed_collective(trace),
    ]  # fmt: skip


# ---- contexts


def wrong_context(trace: Trace) -> Iterator[Finding]:
    """Operations of a microbatch while another one's forward context is the process's."""
    now: dict[int, Event] = {}
    found: dict[tuple[Any, ...], list[tuple[Event, Event]]] = defaultdict(list)
    for event in told(trace, "step.begin", "context.set", *_IN_CONTEXT):
        if event.kind == "step.begin":
            now.pop(event.rank, None)
        elif event.kind == "context.set":
            now[event.rank] = event
        elif event.ubatch is not None and event.rank in now:
            set_ = now[event.rank]
            other = set_.args.get("ubatch")
            if isinstance(other, int) and other != event.ubatch:
                found[event.rank, event.step, event.ubatch, other].append((set_, event))
    for (_, step, ubatch, other), same in found.items():
        set_, event = same[0]
        yield Finding(
            "wrong_context", "error",
            f"microbatch {ubatch} does {event.kind} at {at(event)}{in_step(step)} with the forward context of "
            f"microbatch {other}, set at {at(set_)}: it must put its own back after every yield{times(len(same))}",
            tuple(dict.fromkeys(e.seq for pair in same for e in pair)),
        )  # fmt: skip


# ---- barriers


def barrier_parties(trace: Trace) -> Iterator[Finding]:
    """Barriers that somebody is stuck in, although everybody who uses them has come."""
    stuck: dict[tuple[Any, ...], Event] = {}
    users: dict[tuple[Any, ...], dict[str, Event]] = defaultdict(dict)
    known: dict[tuple[Any, ...], set[str]] = defaultdict(set)  # microbatches that began, by (rank, step)
    stuck_there = [event for event in open_waits(trace) if event.kind == "barrier.arrive"]
    for event in told(trace, "barrier.arrive", "thread.create", "ctx.enter") if stuck_there else ():
        lane = lane_name(trace, event)
        if event.kind == "barrier.arrive":
            key = (event.rank, event.step, event.args.get("barrier"))
            users[key].setdefault(lane, event)
            if never_ended(event):
                stuck[key] = event
        elif event.kind == "thread.create":
            known[event.rank, event.step].update({event.args["name"]} if event.args.get("name") else ())
        else:
            known[event.rank, event.step].add(lane)
    for key, event in stuck.items():
        came, parties = users[key], event.args.get("parties")
        if parties != len(came) and known[key[:2]] <= came.keys():
            yield Finding(
                "barrier_parties", "error",
                f"{event.args['barrier']} opens for {parties} threads, and {len(came)} use it{in_step(key[1])} "
                f"({', '.join(came)}): {lane_name(trace, event)} waits at {at(event)} for an arrival that does not "
                "come; give it as many parties as threads",
                tuple(arrival.seq for arrival in came.values()),
            )  # fmt: skip


# ---- hooks


def lost_hook(trace: Trace) -> Iterator[Finding]:
    """Receive hooks that were replaced, or that nobody ran before the step was over."""
    cut_short = {(e.rank, e.step) for e in (*told(trace, "error"), *open_waits(trace))}
    left: dict[tuple[int, Any], Event] = {}  # with whom a hook was left
    for event in told(trace, "hook.register", "hook.run"):
        to = (event.rank, event.args.get("to_ubatch"))
        if event.kind == "hook.run":
            left.pop(to, None)
        else:
            if to in left:
                yield _hook(
                    left[to], f"is replaced by microbatch {event.args['from_ubatch']}'s at {at(event)}", event
                )
            left[to] = event
    for hook in left.values():
        if (hook.rank, hook.step) not in cut_short:  # who was stopped does not come to it
            yield _hook(hook, "is never run")


def _hook(hook: Event, fate: str, by: Event | None = None) -> Finding:
    return Finding(
        "lost_hook", "error",
        f"the receive hook that microbatch {hook.args['from_ubatch']} left with microbatch {hook.args['to_ubatch']} "
        f"at {at(hook)}{in_step(hook.step)} {fate}: what it receives never arrives",
        (hook.seq,) if by is None else (hook.seq, by.seq),
    )  # fmt: skip


# ---- graphs


def graph_owned_by_split(trace: Trace) -> Iterator[Finding]:
    """Unsplit calls that ran eagerly, since the graph of their size is microbatched."""
    kind = "graph_owned_by_split"
    for event in told(trace, "mark"):
        text = str(event.args.get("text"))
        if text.startswith(f"{kind}: "):
            yield Finding(kind, "warning", text.removeprefix(f"{kind}: ") + in_step(event.step), (event.seq,))


# ---- ranks


def missed_collective(trace: Trace) -> Iterator[Finding]:
    """The first collective that some ranks of a trace began and others did not; between steps that all have."""
    calls: dict[int, Counter[tuple[int, str]]] = defaultdict(Counter)
    first: dict[tuple[int, str], Event] = {}
    for event in told(trace, "collective"):
        rank, step, name = event.args["rank"], event.args["step"], event.args["name"]
        if step is not None:
            calls[rank][step, name] += 1
            first.setdefault((step, name), event)
    if not calls:
        return
    low = max(min(step for step, _ in made) for made in calls.values())
    high = min(max(step for step, _ in made) for made in calls.values())
    for (step, name), event in sorted(first.items(), key=lambda item: (item[0][0], item[1].seq)):
        numbers = {rank: made[step, name] for rank, made in sorted(calls.items())}
        if low <= step <= high and len(set(numbers.values())) > 1:
            yield _collective(event, numbers)
            return


def _collective(event: Event, numbers: dict[int, int]) -> Finding:
    most = max(numbers.values())
    missed = " and ".join(f"rank {rank}" for rank, n in numbers.items() if n < most)
    made = " and ".join(f"rank {rank}" for rank, n in numbers.items() if n == most)
    return Finding(
        "missed_collective", "error",
        f"{missed} did not take part in {event.args['name']} of step {event.args['step']}, which {made} began at "
        f"{at(event)}: every rank must make the same collectives",
        (event.seq,),
    )  # fmt: skip
