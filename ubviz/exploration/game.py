"""The scheduler as a game: every place that a program can come to, and where each choice leads from there.

``game`` gives plain data, the same every time, so that a page can play it without Python: a graph of states
(``states``), with what each thread is about to do and where in the code, who can go on, how the host events and
barriers stand, and what a walk ends in. Different walks meet in one state; so what is told of an end (its findings,
its string) is that of the shortest walk to it.

Not here: how it looks (``ubviz.view``), and playing it with the program at hand (``scheduler``).
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ..analysis.findings import Finding
from ..errors import BadArgument
from ..runtime.schedule import written
from .execution import Execution, Program, execute
from .places import Places
from .replay import Following, play
from .states import END
from .watched_states import Place, WatchedStates

ENDED, NOT_STARTED = -1, -2
"""What stands in a node's ``acts`` for a thread that is about to do nothing."""


def game(program: Program, *, limit: int = 5_000, looks: bool | None = None) -> dict[str, Any]:
    """The graph of all states of ``program``, to play in: a tree of dicts and lists, numbers, strings and truth values.

    ======================  ===========================================================================================
    ``threads``             names; a thread's number is its place here, and what a replay string is made of
    ``host_events``         names
    ``barriers``            ``name`` and ``parties`` of each
    ``places``              ``file``, ``function``, ``line``
    ``sources``             the text of each function that a place lies in: ``file``, ``function``, ``line``, ``text``
    ``acts``                ``kind``, ``object``, ``words``, ``at`` and ``caller``: numbers of places or None: ``at`` is
                            the innermost place outside the runtime, ``caller`` the first outside the mechanism
    ``nodes``               see below
    ``ends``                ``verdict`` (done, deadlock, raised), ``lines`` of the report, ``findings`` (``kind``,
                            ``severity``, ``sentence``), ``replay``
    ``start``               the node in which all begins
    ``prefix``              what a replay string begins with, before the threads that were chosen
    ``interleavings``       how many different walks there are
    ======================  ===========================================================================================

    A node has ``acts`` (by thread, the number of the act that it is about to do; -1 where it has ended, -2 where it
    has not started), ``able`` (who can go on), ``next`` (the nodes that these lead to), ``flags`` (by host event, 0 or
    1; -1 where it does not exist yet), ``barriers`` (by barrier: how many are there, generation, 1 where it is broken),
    ``turn`` (who woke by a host event and has set none since), ``good`` and ``bad`` (whether a good or a bad end can
    be reached), and ``end`` (the number of its end; None but for leaves).

    ``looks`` says whether to look at a flag is a step, as in a replay string that begins with "look:"; where nothing is
    said, it is where it has to be.

    >>> graph = game(lambda rt: rt.HostEvent("flag").set())
    >>> graph["nodes"][graph["start"]]["able"], graph["interleavings"]
    ([0], 1)

    Raises ``BadArgument`` when there are more than ``limit`` states.
    """
    if looks is None:
        looks = execute(program, Following(program, ())).contested
    states = WatchedStates(program, limit, looks=looks)
    if not states.complete:
        raise BadArgument(
            f"this program has more than {limit:,} states, too many to play with: take fewer microbatches, layers "
            "or yields, or Scheduler(program), which does not need them all"
        )
    return _Graph(program, states, looks).data()


class _Graph:
    """Numbers for everything, in the order of a breadth-first walk from the start."""

    def __init__(self, program: Program, states: WatchedStates, looks: bool) -> None:
        self._program, self._states, self._looks = program, states, looks
        self._places = Places()
        self._acts: dict[tuple[Any, ...], int] = {}
        self._nodes: list[dict[str, Any]] = []
        self._ends: list[dict[str, Any]] = []
        self._known: dict[Any, int] = {}
        found = [*states.places.values(), *states.leaves.values()]
        self._threads = max(len(place.names) for place in found)
        self._names = next(place.names for place in found if len(place.names) == self._threads)
        self._events = sorted({pair for place in found for pair in place.event_names.items()})
        self._barriers = sorted({pair for place in found for pair in place.barrier_names.items()})

    def data(self) -> dict[str, Any]:
        start = self._walk()
        self._see_ends(start)
        return {
            "threads": list(self._names),
            "host_events": [name for _, name in self._events],
            "barriers": [{"name": name, "parties": parties} for _, (name, parties) in self._barriers],
            "places": self._places.facts(), "sources": self._places.sources(),
            "acts": [dict(zip(("kind", "object", "words", "at", "caller"), act, strict=True)) for act in self._acts],
            "nodes": self._nodes, "ends": self._ends, "start": start, "prefix": written((), self._looks),
            "interleavings": self._states.count(),
        }  # fmt: skip

    def _walk(self) -> int:
        """Give every state its node; the way to an end is the shortest one."""
        states = self._states
        if states.root is END:
            return self._leaf((END, 0), ())
        start = self._node(states.root, states.places[states.root])
        way: dict[Any, tuple[int, ...]] = {states.root: ()}
        queue = deque([states.root])
        while queue:
            state = queue.popleft()
            node = self._nodes[self._known[state]]
            for thread, after in sorted(states.edges[state].items()):
                steps = (*way[state], thread)
                if after is END:
                    to = self._leaf((state, thread), steps)
                elif after in self._known:
                    to = self._known[after]
                else:
                    to = self._node(after, states.places[after])
                    way[after] = steps
                    queue.append(after)
                node["able"].append(thread)
                node["next"].append(to)
        return start

    def _node(self, key: Any, place: Place) -> int:
        self._known[key] = len(self._nodes)
        self._nodes.append({
            "acts": [self._act(place, thread) for thread in range(self._threads)], "able": [], "next": [],
            "flags": [place.flags.get(obj, -1) for obj, _ in self._events],
            "barriers": [list(place.barriers.get(obj, (-1, 0, 0))) for obj, _ in self._barriers],
            "turn": list(place.turn), "good": False, "bad": False, "end": None,
        })  # fmt: skip
        return self._known[key]

    def _act(self, place: Place, thread: int) -> int:
        pending = place.acts.get(thread)
        if pending is None:
            return ENDED if thread < len(place.names) else NOT_STARTED
        at, caller = (self._places.number(where) for where in pending.where)
        act = (pending.kind, pending.object, pending.words, at, caller)
        return self._acts.setdefault(act, len(self._acts))

    def _leaf(self, key: Any, steps: tuple[int, ...]) -> int:
        """A node for an end; ends that are alike in all that is told share one."""
        place, ended = self._states.leaves[key], self._states.ends[key]
        lines = _lines(ended)
        alike = (place.told(), lines)
        if alike not in self._known:
            replay = written(steps, self._looks)
            findings = play(self._program, replay, recorded=True).findings()
            node = self._nodes[self._node(alike, place)]
            node["end"] = len(self._ends)
            self._ends.append({
                "verdict": _verdict(ended), "lines": list(lines), "findings": [_facts(f) for f in findings],
                "replay": replay,
            })  # fmt: skip
            node["bad"] = any(finding.severity == "error" for finding in findings)
            node["good"] = not node["bad"]
        return self._known[alike]

    def _see_ends(self, start: int) -> None:
        """Which ends can be reached from each node, from the ends on."""
        stack, seen = [start], set()
        while stack:
            at = stack[-1]
            node = self._nodes[at]
            ahead = [to for to in node["next"] if to not in seen]
            if ahead:
                stack += ahead
                continue
            seen.add(stack.pop())
            for to in node["next"]:
                node["good"] |= self._nodes[to]["good"]
                node["bad"] |= self._nodes[to]["bad"]


def _verdict(ended: Execution) -> str:
    if ended.deadlock is not None:
        return "deadlock"
    return "raised" if ended.raised else "done"


def _lines(ended: Execution) -> tuple[str, ...]:
    """Who waits for what, or what was raised."""
    told = str(ended.deadlock).splitlines()[1:] if ended.deadlock is not None else []
    raised = (f"{thread} raised {type(error).__name__}: {error}" for thread, error in ended.raised)
    return (*(line.strip() for line in told), *raised)


def _facts(finding: Finding) -> dict[str, Any]:
    return {"kind": finding.kind, "severity": finding.severity, "sentence": finding.sentence}
