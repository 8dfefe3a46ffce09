"""From facts to a Trace: threads get numbers and lanes, objects their roles, launches their kernels.

Two passes over the facts, in the order in which they were told: the first learns who is who (a thread's
microbatch and an object's role are known only from a fact that comes later), the second tells the builder.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..trace.build import Builder
from ..trace.events import KINDS
from ..trace.model import Lane, Notice, Trace
from .arguments import ARGS, Args
from .names import Names
from .sites import Sites

STRIDE = 7


class Who(NamedTuple):
    """The thread that announced a fact."""

    thread: int
    ubatch: int | None
    lane: str


class Story:
    """Tells one recording's facts to a builder."""

    def __init__(
        self, facts: list[Any], origin_ns: int, main_ident: int, process_main: int | None, rank: int = 0
    ) -> None:
        self._facts = facts
        self._origin = origin_ns
        self._main_ident = main_ident
        self._process_main = process_main
        self._rank = rank
        self.names = Names()
        self.sites = Sites()
        self._threads: dict[int, int] = {}  # id(Thread) -> number
        self._thread_count = 0
        self._who: list[Who | None] = []
        self._notices: Counter[str] = Counter()
        self._learn()

    def _each(self) -> Iterator[tuple[Any, ...]]:
        facts = self._facts
        return zip(*(facts[i::STRIDE] for i in range(STRIDE)), strict=True)

    # ---- first pass: who is who

    def _learn(self) -> None:
        current: dict[int, list[Any]] = {}  # OS identifier -> [number, ubatch, name]
        told: list[list[Any] | None] = []
        for _, ident, kind, obj, _, _, _ in self._each():
            if kind in _DEVICE:
                told.append(None)
                continue
            if kind == "thread.start":
                current[ident] = [self.number(obj), None, obj.name]  # identifiers are reused
            elif ident not in current:
                current[ident] = self._stranger(ident)
            if kind == "thread.create":
                self.number(obj)
            if kind == "ctx.enter":
                self.names.context(obj)
                current[ident][1] = obj.id
            told.append(current[ident])
        self._who = [Who(thread[0], thread[1], _role(thread)) if thread else None for thread in told]

    def number(self, thread: Any) -> int:
        if id(thread) not in self._threads:
            self._threads[id(thread)] = self._next_number()
        return self._threads[id(thread)]

    def _next_number(self) -> int:
        self._thread_count += 1
        return self._thread_count

    def _stranger(self, ident: int) -> list[Any]:
        """A thread that was there before the recording: the recording's own is main, number 0."""
        if ident == self._main_ident:
            return [0, None, "main"]
        number = self._next_number()
        return [number, None, "main thread" if ident == self._process_main else f"thread {number}"]

    # ---- second pass

    def trace(self, meta: Args, snapshot: list[tuple[Any, Any]], dropped_steps: int = 0) -> Trace:
        """The Trace of all facts; ``snapshot`` is what objects were when the recording began."""
        self._begin()
        last = 0
        for who, (t, _, kind, obj, arg, code, offset) in zip(self._who, self._each(), strict=True):
            last = max(last, t - self._origin)
            if who is None:
                _DEVICE[kind](self, obj, arg)
            elif kind in _INTERNAL:
                _INTERNAL[kind](self, t - self._origin, who, obj, arg)
            else:
                self._tell(t - self._origin, who, kind, obj, arg, code, offset)
        self._end(last)
        if dropped_steps:
            self._notices["steps_dropped"] = dropped_steps
        notices = [Notice(kind, n, _NOTICES[kind].format(n=n)) for kind, n in self._notices.items()]
        states = self.names.states(snapshot)
        full_meta = {
            **meta,
            "snapshot": states,
            "threads": self._thread_names,
            "sources": self.sites.sources(),
        }
        if self._graphs:
            full_meta["graphs"] = self._graphs
        return self._builder.finish(full_meta, notices)

    def _begin(self) -> None:
        self._lanes: dict[str, int] = {}
        self._builder = Builder([])
        self._event = partial(self._builder.event, rank=self._rank)
        self._span = partial(self._builder.span, rank=self._rank)
        self._step: int | None = None
        self._open: dict[int, list[int]] = defaultdict(list)  # thread -> blocking events not yet over
        self._ops: dict[int, list[tuple[int, int | None]]] = defaultdict(list)
        self._life: dict[int, tuple[int, Who, int | None]] = {}
        self._launches: dict[int, tuple[int, int | None, int | None]] = {}  # correlation -> seq, step, ubatch
        self._records: dict[tuple[int, int], tuple[int, int | None, int | None]] = {}
        self._waits: dict[tuple[int, int, int], deque[tuple[int, int | None, int | None]]] = defaultdict(
            deque
        )
        self._flights: dict[int, int] = {}  # id(Flight) -> row of the sending kernel
        self._kernels = self._expected = 0
        self._graphs: dict[str, Any] = {}  # name -> the edges seen when it was captured
        self._thread_names: dict[str, str] = {}
        roles = sorted({who.lane for who in self._who if who is not None}, key=_lane_order)
        for role in roles or ["main"]:
            self._lane(role, "threads")
        for role in ("compute", "comm"):
            if role in self.names.taken:
                self._lane(role, "streams")

    def _lane(self, role: str, group: str) -> int:
        if role not in self._lanes:
            self._lanes[role] = len(self._lanes)
            self._builder.lanes.append(Lane(self._lanes[role], self._rank, role, group))
        return self._lanes[role]

    def stream(self, stream: Any) -> str:
        name = self.names.name(stream, "stream")
        self._lane(name, "streams")
        return name

    def _tell(self, t: int, who: Who, kind: str, obj: Any, arg: Any, code: Any, offset: Any) -> None:
        if kind in ("step.begin", "vote"):  # a step's vote is its first fact
            self._step = arg["step"]
        args = ARGS[kind](self, obj, arg)
        site, caller = self._where(code, offset)
        seq = self._event(
            t, kind, args, lane=self._lanes[who.lane], step=self._step, thread=who.thread, ubatch=who.ubatch,
            site=site, caller=caller, key=_key(obj),
        )  # fmt: skip
        self._follow(seq, t, who, kind, obj, arg)
        if kind == "step.end":
            self._step = None

    def _where(self, code: Any, offset: Any) -> tuple[str | None, str | None]:
        if code is None:
            return None, None
        if isinstance(code, tuple):
            site, caller, caller_offset = code
            return self.sites.name(site, offset), caller and self.sites.name(caller, caller_offset)
        name = self.sites.name(code, offset)
        return name, name

    def _follow(self, seq: int, t: int, who: Who, kind: str, obj: Any, arg: Any) -> None:
        """Remember what later facts refer to."""
        if who.thread not in self._life or kind == "thread.start":
            began = kind == "thread.start"  # else it was there before, and belongs to no step
            self._life[who.thread] = (t if began else 0, who, self._step if began else None)
            self._thread_names[str(who.thread)] = who.lane
        about = (seq, self._step, who.ubatch)
        if kind == "kernel.launch":
            if arg.node is None:  # a captured one runs at replays only
                self._launches[arg.correlation] = about
                self._expected += 1
            if arg.host_wait:
                self._open[who.thread].append(seq)
        elif kind == "event.record":
            self._records[id(obj), arg[1]] = about
        elif kind == "event.wait" and arg[1] is not None:
            self._waits[id(arg[0]), id(obj), arg[1]].append(about)
        elif kind in ("host_event.wake", "barrier.release"):
            self._returned(t, who, obj, None)
        elif kind == "graph.replay":
            _, correlation, kernels = arg
            self._launches[correlation] = about
            self._expected += kernels
            if obj.edges is not None:
                self._graphs[self.names.name(obj, "graph")] = obj.edges
        elif kind == "thread.end":
            self._lived(who.thread, t)
        elif KINDS[kind].blocks:
            self._open[who.thread].append(seq)

    # ---- internal facts

    def _returned(self, t: int, who: Who, _obj: Any, how: Any) -> None:
        """A blocking call is over; one that the watchdog interrupted never came to its end."""
        if self._open[who.thread]:
            row = self._open[who.thread].pop()
            if how != "interrupted":
                self._builder.close(row, t)

    def _op_begin(self, t: int, who: Who, _op: Any, _: Any) -> None:
        self._ops[who.thread].append((t, self._step))

    def _op_end(self, t: int, who: Who, op: Any, _: Any) -> None:
        if self._ops[who.thread]:
            start, step = self._ops[who.thread].pop()
            self._span(
                start, t, "operation", op.name, lane=self._lanes[who.lane], step=step, ubatch=who.ubatch,
                cls=op.cls, operation=op.name, layer=op.layer,
            )  # fmt: skip

    def _lived(self, thread: int, t: int) -> None:
        start, who, step = self._life.pop(thread)
        self._span(start, t, "thread", who.lane, lane=self._lanes[who.lane], step=step, ubatch=who.ubatch)

    def _end(self, last: int) -> None:
        for thread in list(self._life):
            self._lived(thread, last)
        unfinished = self._expected - self._kernels
        if unfinished > 0:
            self._notices["kernels_unfinished"] = unfinished

    # ---- device facts

    def _kernel(self, stream: Any, arg: Any) -> None:
        launch, start, end = arg
        if launch.correlation not in self._launches:
            self._notices["kernels_of_dropped_launches"] += 1
            return
        self._kernels += 1
        seq, step, ubatch = self._about(launch)
        op = launch.operation
        row = self._span(
            start - self._origin, end - self._origin, "kernel", launch.name,
            lane=self._lane(self.stream(stream), "streams"), step=step, ubatch=ubatch, cls=launch.cls,
            operation=op and op.name, layer=op and op.layer, correlation=launch.correlation, seq=seq,
            args=None if launch.node is None else {"node": launch.node},
        )  # fmt: skip
        if launch.sends is not None:
            self._flights[id(launch.sends)] = row
        if launch.receives is not None and id(launch.receives) in self._flights:
            self._builder.join_spans("send -> receive", self._flights[id(launch.receives)], row)

    def _about(self, launch: Any) -> tuple[int | None, int | None, int | None]:
        """The event that launched a kernel, its step, and its microbatch, which a captured launch brings along."""
        seq, step, ubatch = self._launches.get(launch.correlation, (None, None, None))
        return seq, step, ubatch if launch.node is None else launch.ubatch

    def _record(self, stream: Any, arg: Any) -> None:
        event, record, t = arg
        about = self._records.get((id(event), record))
        if about is not None:
            row = self._sync_span("record", stream, event, record, t, t, about)
            self._builder.recorded(row, id(event), record)

    def _wait(self, stream: Any, arg: Any) -> None:
        event, record, start, end = arg
        waits = self._waits.get((id(stream), id(event), record))
        if waits:
            row = self._sync_span("wait", stream, event, record, start, end, waits.popleft())
            self._builder.waited(row, id(event), record)

    def _sync_span(
        self, cat: str, stream: Any, event: Any, record: int, start: int, end: int,
        about: tuple[int, int | None, int | None],
    ) -> int:  # fmt: skip
        seq, step, ubatch = about
        name = self.names.name(event, "event")
        return self._span(
            start - self._origin, end - self._origin, cat, name,
            lane=self._lane(self.stream(stream), "streams"), step=step, ubatch=ubatch, seq=seq,
            args={"event": name, "record": record},
        )  # fmt: skip

    def _transfer(self, link: Any, arg: Any) -> None:
        flight, launch, start, end = arg
        seq, step, ubatch = self._about(launch) if launch else (None,) * 3
        op = launch and launch.operation
        self._span(
            start - self._origin, end - self._origin, "transfer", op.name if op else link.name,
            lane=self._lane(link.name, "network"), step=step, ubatch=ubatch, operation=op and op.name,
            layer=op and op.layer, seq=seq,
            args={"bytes": flight.nbytes, "label": getattr(flight, "label", "modelled")},
        )  # fmt: skip


def _key(obj: Any) -> Any:
    return tuple(map(id, obj)) if isinstance(obj, tuple) else id(obj)


def _role(thread: list[Any]) -> str:
    return f"ubatch {thread[1]}" if thread[1] is not None else str(thread[2])


def _lane_order(role: str) -> tuple[int, int, str]:
    if role == "main":
        return (0, 0, "")
    head, _, number = role.rpartition(" ")
    return (1, int(number), "") if head == "ubatch" else (2, 0, role)


_INTERNAL: dict[str, Callable[[Story, int, Who, Any, Any], None]] = {
    "returned": Story._returned, "op.begin": Story._op_begin, "op.end": Story._op_end,
}  # fmt: skip

_DEVICE: dict[str, Callable[[Story, Any, Any], None]] = {
    "kernel": Story._kernel, "wait": Story._wait, "record": Story._record, "transfer": Story._transfer,
}  # fmt: skip

_NOTICES = {
    "steps_dropped": "{n} earlier steps were recorded and dropped, as keep= asks for",
    "kernels_unfinished": "{n} launched kernels had not finished when the recording ended; they have no span",
    "kernels_of_dropped_launches": "{n} kernels ran whose launch was not recorded; they have no span",
}
