"""The states of a program (``states``), and what somebody who looks at each would see.

What a thread is about to do and where it stands is read off where it is parked; how flags and barriers stand, off the
runtime. Where nobody can go on, that is done before the threads unwind.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..runtime.schedule import Choice, ObjectId
from ..runtime.virtual_sync import Barrier, HostEvent
from .execution import Execution
from .places import Where, levels, standing
from .states import State, States

WORDS = {
    "host_event.set": "set {}", "host_event.clear": "clear {}", "host_event.wait": "wait for {}",
    "host_event.look": "look at {}", "host_event.is_set": "ask whether {} is set", "barrier.arrive": "arrive at {}",
    "barrier.release": "pass {}", "barrier.abort": "break {}", "barrier.reset": "mend {}",
    "thread.join": "wait for the end of {}", "kernel.launch": "launch on {}", "event.record": "record {}",
    "event.wait": "make a stream wait for {}", "host.wait": "wait for {} to finish",
}  # fmt: skip


@dataclass(frozen=True)
class Act:
    """What a thread is about to do, and where: its place and its caller's."""

    kind: str
    object: str
    words: str
    where: tuple[Where, Where]


@dataclass
class Place:
    """What is to be seen in one state; objects by the numbers that the runtime gives them."""

    names: tuple[str, ...] = ()
    acts: dict[int, Act] = field(default_factory=dict)
    flags: dict[ObjectId, int] = field(default_factory=dict)
    event_names: dict[ObjectId, str] = field(default_factory=dict)
    barriers: dict[ObjectId, tuple[int, int, int]] = field(default_factory=dict)
    barrier_names: dict[ObjectId, tuple[str, int]] = field(default_factory=dict)
    turn: tuple[int, ...] = ()

    def told(self) -> Any:
        """All of it but the names, to compare."""
        acts = tuple(sorted((thread, act.kind, act.object) for thread, act in self.acts.items()))
        return self.names, acts, tuple(self.flags.items()), tuple(self.barriers.items()), self.turn


class WatchedStates(States):
    """``States`` that keeps a ``Place`` of each state (``places``) and of each end (``leaves``)."""

    def __init__(self, program: Any, limit: int, *, looks: bool = False) -> None:
        self.places: dict[State, Place] = {}
        self.leaves: dict[tuple[State, int], Place] = {}
        self._levels = levels()
        self._names: dict[int, str] = {0: "main"}
        # the runtime knows an object as long as somebody holds it: up to the look at the end
        self._held: list[Any] = []
        super().__init__(program, limit, looks=looks)

    # ---- along the way

    def _begin(self, prefix: tuple[int, ...]) -> None:
        super()._begin(prefix)
        self._turn: list[int] = []
        self._last: Place | None = None
        self._held = []

    def choose(self, enabled: Sequence[Choice]) -> int:
        index = super().choose(enabled)
        choice = enabled[index]
        wakes = choice.kind == "host_event.wait" or (choice.kind == "host_event.look" and choice.obj.state())
        if wakes and choice.thread not in self._turn:
            self._turn.append(choice.thread)
        elif choice.kind == "host_event.set" and choice.thread in self._turn:
            self._turn.remove(choice.thread)
        return index

    def stuck(self) -> None:
        """Nobody can go on; the runtime says so before it ends the waits."""
        self._last = self._last or self._look([], self._runtime.blocked())

    def _came_to(self, state: State, enabled: Sequence[Choice]) -> None:
        self.places[state] = self._look(enabled, self._runtime.blocked())

    def _over(self) -> None:
        self._last = self._last or self._look([], [])

    def _came_to_an_end(self, at: tuple[State, int], execution: Execution) -> None:
        assert self._last is not None
        self.leaves[at] = self._last

    # ---- looking

    def _look(self, enabled: Sequence[Choice], blocked: Sequence[Choice]) -> Place:
        frames = sys._current_frames()
        runners = {runner.number: runner for runner in self._runtime.baton.runners}
        self._names |= {number: runner.name for number, runner in runners.items()}
        place = Place(tuple(self._names[number] for number in range(self._runtime.baton.started)))
        for choice in (*enabled, *blocked):
            frame = frames.get(runners[choice.thread].ident or 0)
            name = label(choice.obj)
            words = WORDS.get(choice.kind, f"{choice.kind} {{}}").format(name)
            place.acts[choice.thread] = Act(choice.kind, name, words, standing(frame, self._levels))
        for obj, state in self._runtime.snapshot():
            self._held.append(obj)
            if isinstance(obj, HostEvent):
                place.flags[obj.id], place.event_names[obj.id] = int(state), label(obj)
            elif isinstance(obj, Barrier):
                place.barriers[obj.id] = state["n"], state["generation"], int(obj.broken)
                place.barrier_names[obj.id] = label(obj), obj.parties
        place.turn = tuple(sorted(thread for thread in self._turn if thread in runners))
        return place


def label(obj: Any) -> str:
    """What an object is called: its name, else its kind and whose how-manieth it is."""
    if name := getattr(obj, "name", None):
        return str(name)
    thread, number = obj.id
    kind = "barrier" if isinstance(obj, Barrier) else "host event" if isinstance(obj, HostEvent) else "object"
    return f"{kind} {number}" + (f" of thread {thread}" if thread else "")
