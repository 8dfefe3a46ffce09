"""What the objects of a recording are called: by role where a context gives one, else by name or number."""

from __future__ import annotations

from collections import Counter
from typing import Any

_ROLES = (
    ("ready_barrier", "ready_barrier"),
    ("cpu_wait_event", "cpu_event[{i}]"),
    ("gpu_compute_done_event", "compute_done[{i}]"),
    ("gpu_comm_done_event", "comm_done[{i}]"),
    ("compute_stream", "compute"),
    ("comm_stream", "comm"),
)
"""Attribute of a context -> role. vLLM's class has the same attributes."""


class Names:
    """Object -> name. Names of streams and barriers are unique in a recording; a role given by a context is
    unique within its step."""

    def __init__(self) -> None:
        self._by_object: dict[int, str] = {}
        self._numbers: Counter[str] = Counter()
        self.taken: set[str] = set()

    def context(self, context: Any) -> None:
        """Give roles to everything that a microbatch's context holds."""
        for attribute, role in _ROLES:
            obj = getattr(context, attribute, None)
            if obj is not None and id(obj) not in self._by_object:
                name = role.format(i=context.id)
                self._by_object[id(obj)] = name if "[" in name else self._unique(name)

    def states(self, snapshot: list[tuple[Any, Any]]) -> dict[str, Any]:
        """What each object that has a name here was when the recording began, by name."""
        known = {id(obj): state for obj, state in snapshot if id(obj) in self._by_object}
        return dict(sorted((self._by_object[key], state) for key, state in known.items()))

    def name(self, obj: Any, what: str) -> str:
        """The name of ``obj``, which is a ``what`` ("stream", "event", "host_event", "barrier")."""
        found = self._by_object.get(id(obj))
        if found is None:
            own = getattr(obj, "name", None)
            if own is None:
                self._numbers[what] += 1
                own = f"{what}#{self._numbers[what]}"
            found = self._by_object[id(obj)] = self._unique(own)
        return found

    def _unique(self, name: str) -> str:
        n, candidate = 1, name
        while candidate in self.taken:
            n += 1
            candidate = f"{name}#{n}"
        self.taken.add(candidate)
        return candidate
