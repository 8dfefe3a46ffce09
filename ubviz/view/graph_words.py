"""A node of a graph of states, in words and as what a still picture shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..analysis.words import either
from .graph_walk import ENDED, NOT_STARTED, Walk
from .paint.state import State, Thread

Graph = Mapping[str, Any]


def in_short(graph: Graph, walk: Walk) -> str:
    """Where a walk has come to, in a few words: "3 choices made, next: main or ubatch 1"."""
    node = graph["nodes"][walk.node]
    made = f"{_counted(walk)} made"
    if node["end"] is None:
        return f"{made}, next: {either([graph['threads'][thread] for thread in node['able']])}"
    return f"{made}, {'deadlock' if _verdict(graph, node) == 'deadlock' else 'all have ended'}"


def sentences(graph: Graph, walk: Walk) -> Iterator[str]:
    """How it ended, or how each thread stands; and which host events are up."""
    node = graph["nodes"][walk.node]
    if node["end"] is not None:
        yield from (f"{line}." for line in report(graph, node))
    else:
        for thread in _threads(graph, node):
            can = {"able": " can go on:", "waits": " cannot go on:", "ended": ""}[thread.standing]
            yield f"{thread.name}{can} {thread.doing}."
    if graph["host_events"]:
        up = [name for name, flag in zip(graph["host_events"], node["flags"], strict=True) if flag == 1]
        yield f"Host events that are up: {', '.join(up) or 'none'}."


def report(graph: Graph, node: Graph) -> list[str]:
    """What is told of an end: who waits for what, what was raised, what else was found."""
    end = graph["ends"][node["end"]]
    found = (finding["sentence"] for finding in end["findings"] if finding["kind"] != end["verdict"])
    return [*end["lines"], *found]


def state_of(graph: Graph, walk: Walk) -> State:
    """What a still picture shows of it."""
    node = graph["nodes"][walk.node]
    over = node["end"] is not None
    deadlock = over and _verdict(graph, node) == "deadlock"
    lights = zip(graph["host_events"], node["flags"], strict=True)
    return State(
        title=f"Deadlock after {_counted(walk)}: nobody can go on" if deadlock
        else f"All have ended after {_counted(walk)}" if over
        else f"Choice {len(walk.choices) + 1}: who goes on?",
        wrong=over and node["bad"],
        report=report(graph, node) if over else [],
        lights={name: flag == 1 for name, flag in lights if flag >= 0},
        notes=[
            f"{barrier['name']}: {here} of {barrier['parties']} there" + (", broken" if broken else "")
            for barrier, (here, opened, broken) in zip(graph["barriers"], node["barriers"], strict=True)
            if here > 0 or not opened
        ],
        threads=list(_threads(graph, node)),
        way=walk.choices,
        schedule=walk.schedule,
    )  # fmt: skip


def _threads(graph: Graph, node: Graph) -> Iterator[Thread]:
    for thread, name in enumerate(graph["threads"]):
        number = node["acts"][thread]
        if number in (ENDED, NOT_STARTED):
            yield Thread(name, "ended", "has ended" if number == ENDED else "has not been started")
        else:
            standing = "able" if thread in node["able"] else "waits"
            yield Thread(name, standing, graph["acts"][number]["words"])


def _verdict(graph: Graph, node: Graph) -> str:
    return str(graph["ends"][node["end"]]["verdict"])


def _counted(walk: Walk) -> str:
    return f"{len(walk.choices)} choice{'' if len(walk.choices) == 1 else 's'}"
