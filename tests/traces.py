"""A small language for traces written by hand: threads do things in the order in which they are written.

>>> t = Traces()
>>> main, u0 = t.thread("main"), t.thread("ubatch 0")
>>> main.set("go"); u0.wait("go"); u0.wake("go")
>>> u0.launch("experts", "compute", writes=["y"], takes=10, at="moe.py:38")
>>> u0.record("done", "compute"); u0.wait_event("comm", "done")
>>> trace = t.finish()

Every verb takes one nanosecond of one clock (``t.now``, which may be set). A stream is first in, first out: a kernel
starts when it has been launched and the stream is free, and lasts ``takes``. Events, host events, barriers, streams,
graphs and buffers are named; a name is one object, ``"e#2"`` another. ``at`` is site and caller; without it
``program.py:<seq + 1>``. Nothing blocks here: a wait without a wake is a wait that never came back.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ubviz.trace import Lane, Notice, Trace
from ubviz.trace.build import Builder

Buffers = list[str] | None


class Traces:
    """One trace being written."""

    def __init__(self, **meta: Any) -> None:
        self.builder = Builder([])
        self.meta = meta
        self.now = 0
        self.step: int | None = None
        self.notices: list[Notice] = []
        self.tails: dict[str, int] = {}  # stream -> when it will be free
        self.fires: dict[tuple[str, int], int] = {}  # (event, record) -> when it fires
        self.records: Counter[str] = Counter()
        self.flags: dict[str, bool] = {}
        self.barriers: dict[str, list[int]] = {}  # parties, n, generation
        self.open: dict[str, int] = {}  # row of the wait that a wake closes, by thread and object
        self._lanes: dict[str, int] = {}
        self._buffers: dict[str, int] = {}
        self._threads = 0
        self._correlation = 0

    def thread(self, role: str) -> Writer:
        """A thread that was there before the recording; "ubatch 1" runs a microbatch."""
        self._threads += 1
        return Writer(self, role, self._threads - 1)

    def lane(self, role: str, group: str) -> int:
        if role not in self._lanes:
            self._lanes[role] = len(self._lanes)
            self.builder.lanes.append(Lane(self._lanes[role], 0, role, group))
        return self._lanes[role]

    def numbers(self, buffers: Buffers) -> list[int] | None:
        """Buffers by number, in order of first use; None (unknown) stays."""
        if buffers is None:
            return None
        return [self._buffers.setdefault(name, len(self._buffers) + 1) for name in buffers]

    def correlation(self) -> int:
        self._correlation += 1
        return self._correlation

    def finish(self) -> Trace:
        """The trace; ``meta["buffers"]`` holds the buffers' names."""
        if self._buffers:
            self.meta["buffers"] = {str(number): name for name, number in self._buffers.items()}
        return self.builder.finish(self.meta, self.notices)


class Writer:
    """One thread; every verb is a trace event of its own and gives its number."""

    def __init__(self, traces: Traces, role: str, number: int) -> None:
        self.t, self.role, self.number = traces, role, number
        head, _, last = role.rpartition(" ")
        self.ubatch = int(last) if head == "ubatch" else None
        self.lane = traces.lane(role, "threads")

    def tell(self, kind: str, at: str | None = None, key: Any = None, **args: Any) -> int:
        """Any trace event: ``u0.tell("mark", text="here")``."""
        t = self.t
        t.now += 1
        at = at or f"program.py:{len(t.builder._events) + 1}"
        return t.builder.event(
            t.now, kind, args, lane=self.lane, step=t.step, thread=self.number, ubatch=self.ubatch, site=at,
            caller=at, key=key,
        )  # fmt: skip

    def _over(self, what: str) -> None:
        row = self.t.open.pop(f"{self.role} {what}", None)
        if row is not None:
            self.t.builder.close(row, self.t.now)

    # ---- threads

    def create(self, other: Writer, at: str | None = None) -> int:
        return self.tell("thread.create", at, thread=other.number, name=other.role)

    def start(self) -> int:
        return self.tell("thread.start", thread=self.number, name=self.role)

    def end(self) -> int:
        return self.tell("thread.end", thread=self.number)

    def join(self, other: Writer, at: str | None = None, over: bool = True) -> int:
        """Join; ``over=False`` leaves it waiting."""
        row = self.tell("thread.join", at, thread=other.number)
        if over:
            self.t.now += 1
            self.t.builder.close(row, self.t.now)
        return row

    # ---- host events and barriers

    def set(self, host_event: str, at: str | None = None) -> int:
        was, self.t.flags[host_event] = self.t.flags.get(host_event, False), True
        return self.tell("host_event.set", at, host_event, host_event=host_event, was=was)

    def clear(self, host_event: str, at: str | None = None) -> int:
        was, self.t.flags[host_event] = self.t.flags.get(host_event, False), False
        return self.tell("host_event.clear", at, host_event, host_event=host_event, was=was)

    def wait(self, host_event: str, at: str | None = None) -> int:
        row = self.tell("host_event.wait", at, host_event, host_event=host_event)
        self.t.open[f"{self.role} {host_event}"] = row
        return row

    def wake(self, host_event: str, at: str | None = None) -> int:
        row = self.tell("host_event.wake", at, host_event, host_event=host_event)
        self._over(host_event)
        return row

    def take(self, host_event: str, at: str | None = None) -> None:
        """Wait, wake and clear, as who gets the turn does."""
        self.wait(host_event, at)
        self.wake(host_event, at)
        self.clear(host_event, at)

    def arrive(self, barrier: str, parties: int = 2, at: str | None = None) -> int:
        state = self.t.barriers.setdefault(barrier, [parties, 0, 0])
        state[1] += 1
        row = self.tell(
            "barrier.arrive", at, barrier, barrier=barrier, n=state[1], parties=parties, generation=state[2]
        )
        self.t.open[f"{self.role} {barrier}"] = row
        if state[1] == parties:
            state[1:] = [0, state[2] + 1]
        return row

    def release(self, barrier: str, at: str | None = None) -> int:
        """Come out of the newest generation that is full."""
        parties, _, generation = self.t.barriers[barrier]
        row = self.tell(
            "barrier.release", at, barrier, barrier=barrier, n=1, parties=parties, generation=generation - 1
        )
        self._over(barrier)
        return row

    # ---- contexts

    def enter(self) -> int:
        return self.tell("ctx.enter", ubatch=self.ubatch)

    def exit(self) -> int:
        return self.tell("ctx.exit", ubatch=self.ubatch)

    def yield_(self, at: str | None = None) -> int:
        return self.tell("ctx.yield", at, ubatch=self.ubatch)

    def resume(self, at: str | None = None) -> int:
        return self.tell("ctx.resume", at, ubatch=self.ubatch)

    def context(self, ubatch: int | None, at: str | None = None) -> int:
        """Make a microbatch's forward context the process's."""
        return self.tell("context.set", at, ubatch=ubatch, digest=f"of {ubatch}")

    def register(self, to: int, at: str | None = None) -> int:
        return self.tell(
            "hook.register", at, (self.ubatch, to), from_ubatch=self.ubatch, to_ubatch=to
        )  # fmt: skip

    def run_hook(self, of: int, at: str | None = None) -> int:
        return self.tell("hook.run", at, (of, self.ubatch), from_ubatch=of, to_ubatch=self.ubatch)

    # ---- streams

    def switch(self, before: str, after: str, at: str | None = None) -> int:
        for stream in (before, after):
            self.t.lane(stream, "streams")
        return self.tell("stream.switch", at, **{"from": before, "to": after})

    def launch(
        self, name: str, stream: str, reads: Buffers = None, writes: Buffers = None, *, takes: int = 1,
        cls: str = "compute", operation: str | None = None, layer: int | None = None, host_wait: bool = False,
        at: str | None = None, runs: bool = True,
    ) -> int:  # fmt: skip
        """Launch a kernel; ``operation`` is its name where nothing else is said, ``runs=False`` draws no span."""
        t, lane = self.t, self.t.lane(stream, "streams")
        correlation, operation = t.correlation(), operation or name
        row = self.tell(
            "kernel.launch", at, name=name, cls=cls, operation=operation, layer=layer, stream=stream,
            correlation=correlation, reads=t.numbers(reads), writes=t.numbers(writes), host_wait=host_wait,
        )  # fmt: skip
        if runs:
            start = max(t.now, t.tails.get(stream, 0))
            t.tails[stream] = start + takes
            t.builder.span(
                start, start + takes, "kernel", name, lane=lane, step=t.step, ubatch=self.ubatch, cls=cls,
                operation=operation, layer=layer, correlation=correlation, seq=row,
            )  # fmt: skip
            if host_wait:
                t.now = start + takes
                t.builder.close(row, t.now)
        return row

    def record(self, event: str, stream: str, at: str | None = None) -> int:
        t = self.t
        t.records[event] += 1
        number = t.records[event]
        row = self.tell("event.record", at, event=event, stream=stream, record=number)
        fires = t.fires[event, number] = max(t.now, t.tails.get(stream, 0))
        t.builder.recorded(self._sync("record", stream, event, number, fires, fires, row), event, number)
        return row

    def wait_event(self, stream: str, event: str, at: str | None = None) -> int:
        """Make ``stream`` wait for the newest record; a never recorded event binds nothing."""
        t, number = self.t, self.t.records[event] or None
        t.lane(stream, "streams")
        row = self.tell("event.wait", at, event=event, stream=stream, record=number)
        if number is not None:
            start = max(t.now, t.tails.get(stream, 0))
            end = t.tails[stream] = max(start, t.fires[event, number])
            t.builder.waited(self._sync("wait", stream, event, number, start, end, row), event, number)
        return row

    def _sync(self, cat: str, stream: str, event: str, number: int, start: int, end: int, seq: int) -> int:
        return self.t.builder.span(
            start, end, cat, event, lane=self.t.lane(stream, "streams"), step=self.t.step, ubatch=self.ubatch,
            seq=seq, args={"event": event, "record": number},
        )  # fmt: skip

    def synchronize(self, stream: str, at: str | None = None) -> int:
        """Block until the stream is done."""
        return self._until(self.tell("stream.synchronize", at, stream=stream), self.t.tails.get(stream, 0))

    def synchronize_event(self, event: str, at: str | None = None) -> int:
        """Block until the newest record has fired."""
        fires = self.t.fires.get((event, self.t.records[event]), 0)
        return self._until(self.tell("event.synchronize", at, event=event), fires)

    def query(self, event: str, done: bool = True, at: str | None = None) -> int:
        return self.tell("event.query", at, event=event, done=done)

    def read(self, stream: str, what: str = "item", at: str | None = None) -> int:
        """A value of the device is read, which waits for the stream."""
        return self._until(self.tell("host.read", at, stream=stream, what=what), self.t.tails.get(stream, 0))

    def _until(self, row: int, end_ns: int) -> int:
        self.t.now = max(self.t.now, end_ns)
        self.t.builder.close(row, self.t.now)
        return row

    # ---- memory

    def alloc(self, buffer: str, stream: str, at: str | None = None) -> int:
        return self._buffer("buffer.alloc", buffer, stream, at)

    def free(self, buffer: str, stream: str, at: str | None = None) -> int:
        return self._buffer("buffer.free", buffer, stream, at)

    def record_stream(self, buffer: str, stream: str, at: str | None = None) -> int:
        return self._buffer("buffer.record_stream", buffer, stream, at)

    def _buffer(self, kind: str, buffer: str, stream: str, at: str | None) -> int:
        (number,) = self.t.numbers([buffer]) or [0]
        return self.tell(kind, at, buffer=number, stream=stream)

    # ---- graphs, steps, ranks

    def capture_begin(self, graph: str, at: str | None = None) -> int:
        return self.tell("graph.capture_begin", at, graph=graph, key=None)

    def capture_end(self, graph: str, at: str | None = None) -> int:
        return self.tell("graph.capture_end", at, graph=graph, key=None)

    def replay(self, graph: str, at: str | None = None) -> int:
        """Replay on the current stream: what the thread's last switch said."""
        return self.tell("graph.replay", at, graph=graph, key=None)

    def step_begin(self, step: int, branch: str = "overlapped", why: str = "", tokens: int = 8) -> int:
        self.t.step = step
        return self.tell("step.begin", step=step, tokens=tokens, branch=branch, why=why)

    def step_end(self) -> int:
        row = self.tell("step.end", step=self.t.step, tokens=8, branch="overlapped", why="")
        self.t.step = None
        return row

    def collective(self, name: str, rank: int = 0) -> int:
        return self.tell("collective", rank=rank, step=self.t.step, name=name)

    def error(self, type: str, text: str, at: str | None = None) -> int:
        return self.tell("error", at, type=type, text=text, at_place=None)
