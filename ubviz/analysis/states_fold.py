"""One trace event after the other: what threads, host events, barriers, hooks, events and votes are after each.

What a trace event changes is written here and nowhere else. A state is flat: a path (section, key, field) to a
value; what is absent has no path. Two clocks: waits of threads for threads end with the trace event that says so,
waits for a device end at their time. Not here: what streams have queued and done, see ``states_streams``.

Objects that belong to a step (``cpu_event[0]``) are new in each; where a recording knows what a host event was
before it was first touched, it is so from the step's beginning.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..trace.model import Event, Trace
from .states_first import First, ends_of, thread_number

Path = tuple[str, str, str]
"""Section, key, field: ("flags", "cpu_event[1]", "set")."""
Change = tuple[Path, Any, Any]
"""A path, what was there, what is there now; None is nothing."""
OF_UBATCH = re.compile(r"cpu_event\[(\d+)\]$")
ENDED_BY_TIME = ("event.synchronize", "stream.synchronize", "host.read", "kernel.launch", "thread.join")
"""Waits that no trace event of the same thread ends."""
AFTER = (
    "microbatches",
    "merge",
    "capture",
    "replay",
)  # stages after which main's launches put the parts together


class Fold:
    """What is after each trace event, told as changes.

    >>> fold = Fold(trace, events := list(trace.events))  # doctest: +SKIP
    >>> changes = [fold.take(row, event) for row, event in enumerate(events)]  # doctest: +SKIP
    """

    def __init__(self, trace: Trace, events: Sequence[Event]) -> None:
        self.now: dict[Path, Any] = {}
        self.paths: dict[Path, None] = {}
        self._old: dict[Path, Any] = {}
        ranks = sorted({lane.rank for lane in trace.lanes} | set(np.unique(trace.events["rank"]).tolist()))
        self.several = len(ranks) > 1
        self.thread_of = {lane.id: self.key(lane.rank, lane.role) for lane in trace.lanes}
        self._clock = -(2**63)
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._places: dict[str, tuple[Path, ...]] = {}
        self._pending: dict[str, int] = {}  # thread -> row of the wait that it is in
        self._step: dict[int, int | None] = {}
        self._fired = ends_of(trace, "record")
        self._waited = ends_of(trace, "wait")
        self._first = First(trace, events)
        for lane in trace.lanes:
            if lane.group == "threads":
                status = "runs" if lane.role == "main" else "not started"
                self.put("threads", self.thread_of[lane.id], "status", status)
        for (rank, name), value in self._first.steady.items():
            self.put("flags", self.key(rank, name), "set", value)
        for rank, step in self._first.step.items():
            self._enter(rank, step)
        self._old.clear()

    def key(self, rank: int, name: Any) -> str:
        """What an object is called: its name, with its rank where there are several."""
        return f"{name} of rank {rank}" if self.several else str(name)

    def who(self, event: Event) -> str:
        """What the thread of a trace event is called."""
        return self.thread_of.get(event.lane) or self.key(event.rank, f"thread {event.thread}")

    # ---- one trace event

    def take(self, row: int, event: Event) -> list[Change]:
        """What a trace event changes."""
        self._clock = max(self._clock, event.t_ns)
        while self._due and self._due[0][0] <= self._clock:
            heapq.heappop(self._due)[2]()
        if event.step is not None and self._step.get(event.rank) != event.step:
            self._enter(event.rank, event.step)
        who = self.who(event)
        self._moves(who, event)
        handler = _HANDLERS.get(event.kind)
        if handler is not None:
            handler(self, row, event, who)
        now = self.now
        changes = [(path, old, now.get(path)) for path, old in self._old.items() if old != now.get(path)]
        self._old.clear()
        return changes

    def put(self, section: str, key: str, field: str, value: Any) -> None:
        """Set what a path holds; None takes it away."""
        path = section, key, field
        old = self.now.get(path)
        if old == value and type(old) is type(value):
            return
        self._old.setdefault(path, old)
        if old is None:
            self.paths[path] = None
        if value is None:
            del self.now[path]
        else:
            self.now[path] = value

    def get(self, section: str, key: str, field: str, default: Any = None) -> Any:
        return self.now.get((section, key, field), default)

    def _later(self, t: int | None, row: int, done: Callable[[], None]) -> None:
        if t is not None:
            heapq.heappush(self._due, (t, row, done))

    # ---- threads

    def _moves(self, who: str, event: Event) -> None:
        """A thread does something: it waits no more, and it is at this line."""
        now = self.now
        paths = self._places.get(who)
        if paths is None:
            paths = self._places[who] = tuple(("threads", who, name) for name in ("status", "site", "caller"))
            first = self._first.stream.get(thread_number(event))
            self.put("threads", who, "stream", self._stream(event, first))
        if now.get(paths[0]) != "runs":
            self._runs(who)
        if event.site is not None:
            if now.get(paths[1]) != event.site:
                self.put(*paths[1], event.site)
            if now.get(paths[2]) != event.caller:
                self.put(*paths[2], event.caller)

    def _runs(self, who: str) -> None:
        self._pending.pop(who, None)
        on = self.get("threads", who, "on")
        self.put("threads", who, "status", "runs")
        self.put("threads", who, "on", None)
        waiting = self.get("flags", on, "waiting", []) if on is not None else []
        if who in waiting:
            self.put("flags", on, "waiting", [other for other in waiting if other != who])

    def _waits(self, row: int, event: Event, who: str, on: str) -> None:
        self.put("threads", who, "status", "waits")
        self.put("threads", who, "on", on)
        self._pending[who] = row
        if event.kind in ENDED_BY_TIME:
            self._later(
                event.until_ns, row, lambda: self._runs(who) if self._pending.get(who) == row else None
            )

    def _thread_start(self, row: int, event: Event, who: str) -> None:
        for field in ("site", "caller", "error", "sees"):
            self.put("threads", who, field, None)
        self.put("threads", who, "stream", self._stream(event, self._first.stream.get(thread_number(event))))

    def _stream(self, event: Event, name: Any) -> str | None:
        return None if name is None else self.key(event.rank, name)

    def _thread_end(self, row: int, event: Event, who: str) -> None:
        for field in ("on", "site", "caller", "sees", "stream"):
            self.put("threads", who, field, None)
        self.put("threads", who, "status", "ended")
        self._lets_go(event)

    def _join(self, row: int, event: Event, who: str) -> None:
        name = self._first.names.get(
            (event.rank, event.args.get("thread")), f"thread {event.args.get('thread')}"
        )
        self._waits(row, event, who, f"the end of {self.key(event.rank, name)}")

    def _create(self, row: int, event: Event, who: str) -> None:
        self._stage(event, "threads")
        name = self.key(event.rank, event.args.get("name"))
        if self.get("threads", name, "status") == "ended":
            self.put("threads", name, "status", "not started")

    def _error(self, row: int, event: Event, who: str) -> None:
        self.put("threads", who, "error", f"{event.args.get('type')}: {event.args.get('text')}")

    # ---- host events, and the turn that they hand on

    def _set(self, row: int, event: Event, who: str) -> None:
        name = self.key(event.rank, event.args.get("host_event"))
        was = self.get("flags", name, "set")
        self.put("flags", name, "set", True)
        self.put("flags", name, "by", who)
        found = OF_UBATCH.match(str(event.args.get("host_event")))
        if found is None or was is True:
            return
        to, rank = int(found[1]), self._rank(event)
        if event.ubatch is not None and event.ubatch != to:
            self._lets_go(event)
        gone = to in self.get("ring", rank, "left", [])
        source = -1 if event.ubatch is None else event.ubatch
        self.put("ring", rank, "handing", None if gone else [source, to])

    def _clear(self, row: int, event: Event, who: str) -> None:
        self.put("flags", self.key(event.rank, event.args.get("host_event")), "set", False)

    def _wait(self, row: int, event: Event, who: str) -> None:
        name = self.key(event.rank, event.args.get("host_event"))
        self._waits(row, event, who, name)
        self.put("flags", name, "waiting", [*self.get("flags", name, "waiting", []), who])
        self._lets_go(event)

    def _wake(self, row: int, event: Event, who: str) -> None:
        name = self.key(event.rank, event.args.get("host_event"))
        self.put("flags", name, "set", True)  # it was, or the thread would not have woken
        found = OF_UBATCH.match(str(event.args.get("host_event")))
        if found is None or event.ubatch is None:
            return
        rank = self._rank(event)
        holds = self.get("ring", rank, "holds", [])
        if event.ubatch not in holds:
            self.put("ring", rank, "holds", sorted([*holds, event.ubatch]))
        handing = self.get("ring", rank, "handing")
        if handing is not None and handing[1] == int(found[1]):
            self.put("ring", rank, "handing", None)

    def _lets_go(self, event: Event) -> None:
        rank = self._rank(event)
        holds = self.get("ring", rank, "holds", [])
        if event.ubatch in holds:
            self.put("ring", rank, "holds", [i for i in holds if i != event.ubatch])

    def _rank(self, event: Event) -> str:
        return f"rank {event.rank}"

    # ---- barriers

    def _arrive(self, row: int, event: Event, who: str) -> None:
        args, name = event.args, self.key(event.rank, event.args.get("barrier"))
        again = self.get("barriers", name, "generation") != args.get("generation")  # the first of a new round
        arrived = [] if again else self.get("barriers", name, "arrived", [])
        for field in ("generation", "parties", "n"):
            self.put("barriers", name, field, args.get(field))
        self.put("barriers", name, "arrived", [*arrived, who])
        is_open = args.get("n") == args.get("parties")
        self.put("barriers", name, "state", "open" if is_open else "filling")
        self._waits(row, event, who, name)
        if is_open:
            self._stage(event, "microbatches")

    def _abort(self, row: int, event: Event, who: str) -> None:
        self.put("barriers", self.key(event.rank, event.args.get("barrier")), "state", "broken")

    def _reset(self, row: int, event: Event, who: str) -> None:
        for field, value in (("arrived", []), ("n", 0), ("state", "filling")):
            self.put("barriers", self.key(event.rank, event.args.get("barrier")), field, value)

    # ---- contexts and hooks

    def _ctx_enter(self, row: int, event: Event, who: str) -> None:
        self.put("threads", who, "sees", event.args.get("ubatch"))

    def _ctx_exit(self, row: int, event: Event, who: str) -> None:
        self.put("threads", who, "sees", None)
        rank, ubatch = self._rank(event), event.args.get("ubatch")
        left = self.get("ring", rank, "left", [])
        if ubatch is not None and ubatch not in left:
            self.put("ring", rank, "left", sorted([*left, ubatch]))

    def _context(self, row: int, event: Event, who: str) -> None:
        rank = self._rank(event)
        self.put("context", rank, "ubatch", event.args.get("ubatch"))
        self.put("context", rank, "digest", event.args.get("digest"))
        self.put("context", rank, "by", who)

    def _hook(self, row: int, event: Event, who: str) -> None:
        box = self.key(event.rank, f"ubatch {event.args.get('to_ubatch')}")
        if self.get("hooks", box, "from") is not None:
            self.put("hooks", box, "lost", self.get("hooks", box, "lost", 0) + 1)
        self.put("hooks", box, "from", event.args.get("from_ubatch"))
        self.put("hooks", box, "since", row)

    def _hook_run(self, row: int, event: Event, who: str) -> None:
        box = self.key(event.rank, f"ubatch {event.args.get('to_ubatch')}")
        self.put("hooks", box, "from", None)
        self.put("hooks", box, "since", None)

    # ---- events and streams

    def _switch(self, row: int, event: Event, who: str) -> None:
        self.put("threads", who, "stream", self._stream(event, event.args.get("to")))

    def _record(self, row: int, event: Event, who: str) -> None:
        name = self.key(event.rank, event.args.get("event"))
        self.put("events", name, "stream", self._stream(event, event.args.get("stream")))
        record = event.args.get("record")
        self.put("events", name, "record", record)
        self.put("events", name, "by", who)
        fires = self._fired.get((event.rank, event.seq))
        self.put("events", name, "fired", None if fires is None else fires <= self._clock)
        if fires is not None and fires > self._clock:

            def fired() -> None:
                if self.get("events", name, "record") == record:
                    self.put("events", name, "fired", True)

            self._later(fires, row, fired)

    def _event_wait(self, row: int, event: Event, who: str) -> None:
        record = event.args.get("record")
        if record is None:
            return
        name = self.key(event.rank, event.args.get("event"))
        wait = [self._stream(event, event.args.get("stream")), record, row]
        over = self._waited.get((event.rank, event.seq))
        if over is None or over <= self._clock:
            return

        def ended() -> None:
            waits = [other for other in self.get("events", name, "waits", []) if other != wait]
            self.put("events", name, "waits", waits or None)

        self.put("events", name, "waits", [*self.get("events", name, "waits", []), wait])
        self._later(over, row, ended)

    def _blocks(self, row: int, event: Event, who: str) -> None:
        on = event.args.get("event") if event.kind == "event.synchronize" else event.args.get("stream")
        self._waits(row, event, who, self.key(event.rank, on))
        if event.kind == "host.read" and event.ubatch is None:
            self._stage(event, "output")

    def _launch(self, row: int, event: Event, who: str) -> None:
        if event.args.get("host_wait"):
            stream = self.key(event.rank, event.args.get("stream"))
            self._waits(row, event, who, f"{event.args.get('name')} on {stream}")
        if self.get("threads", who, "stream") is None:
            self.put("threads", who, "stream", self._stream(event, event.args.get("stream")))
        if event.ubatch is None and event.args.get("operation") != "inputs":
            stage = self.get("calls", self._rank(event), "stage")
            self._stage(event, "merge" if stage in AFTER else "model")

    # ---- steps

    def _enter(self, rank: int, step: int | None) -> None:
        """A step begins: what belongs to one is new."""
        self._step[rank] = step
        for path in [path for path in self.now if path[0] in ("flags", "events") and "[" in path[1]]:
            if not self.several or path[1].endswith(f" of rank {rank}"):
                self.put(*path, None)
        for name, value in self._first.flags.get((rank, step), {}).items():
            self.put("flags", self.key(rank, name), "set", value)
            self.put("flags", self.key(rank, name), "waiting", [])
        for name in self._first.events.get((rank, step), ()):
            self.put("events", self.key(rank, name), "record", 0)
        key = f"rank {rank}"
        members = self._first.members.get((rank, step), 0)
        for box in range(members if self._first.hooks else 0):
            for field, empty in (("from", None), ("since", None), ("lost", 0)):
                self.put("hooks", self.key(rank, f"ubatch {box}"), field, empty)
        self.put("ring", key, "members", list(range(members)))
        self.put("ring", key, "holds", [])
        self.put("ring", key, "left", [])
        self.put("ring", key, "handing", None)

    def _step_edge(self, row: int, event: Event, who: str) -> None:
        for field in ("step", "tokens", "branch", "why"):
            self.put("calls", self._rank(event), field, event.args.get(field))
        self._stage(event, "inputs" if event.kind == "step.begin" else "done")

    def _stage(self, event: Event, stage: str) -> None:
        if (event.rank, event.step) in self._first.known:
            self.put("calls", self._rank(event), "stage", stage)

    def _vote(self, row: int, event: Event, who: str) -> None:
        key = f"rank {event.args.get('rank', event.rank)}"
        inputs = event.args.get("inputs")
        self._stage(event, "vote")
        self.put("votes", key, "step", event.args.get("step"))
        self.put("votes", key, "vote", event.args.get("vote"))
        for field, value in inputs.items() if isinstance(inputs, dict) else ():
            self.put("votes", key, field, value)

    def _collective(self, row: int, event: Event, who: str) -> None:
        self.put("votes", f"rank {event.args.get('rank', event.rank)}", "collective", event.args.get("name"))

    def _graph(self, row: int, event: Event, who: str) -> None:
        self._stage(event, "replay" if event.kind == "graph.replay" else "capture")


_HANDLERS: dict[str, Callable[[Fold, int, Event, str], None]] = {
    "thread.create": Fold._create, "thread.start": Fold._thread_start, "thread.end": Fold._thread_end,
    "thread.join": Fold._join, "error": Fold._error,
    "host_event.set": Fold._set, "host_event.clear": Fold._clear, "host_event.wait": Fold._wait,
    "host_event.wake": Fold._wake,
    "barrier.arrive": Fold._arrive, "barrier.abort": Fold._abort, "barrier.reset": Fold._reset,
    "ctx.enter": Fold._ctx_enter, "ctx.exit": Fold._ctx_exit, "context.set": Fold._context,
    "hook.register": Fold._hook, "hook.run": Fold._hook_run,
    "stream.switch": Fold._switch, "event.record": Fold._record, "event.wait": Fold._event_wait,
    "event.synchronize": Fold._blocks, "stream.synchronize": Fold._blocks, "host.read": Fold._blocks,
    "kernel.launch": Fold._launch,
    "step.begin": Fold._step_edge, "step.end": Fold._step_edge, "vote": Fold._vote,
    "collective": Fold._collective, "graph.capture_begin": Fold._graph, "graph.replay": Fold._graph,
}  # fmt: skip
