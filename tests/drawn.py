"""Hand-drawn traces: microbatches that take turns on two streams, simulated in a page of Python.

What this models: one host baton handed round a ring, FIFO streams, events, a link of fixed latency. What it
leaves out: everything else; it is drawn for the tests of the views, and knows nothing of ``ubviz.runtime``.

>>> drawn("ht", ubatches=2, layers=1).lane("comm").group
'streams'
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ubviz.trace.model import Event, Flow, Lane, Span, Trace, make_table

COST = {  # durations on a device, in nanoseconds at scale 1
    "attention": 40_000, "router": 6_000, "dispatch": 30_000, "experts": 50_000, "combine": 32_000,
    "shared experts": 18_000, "copy": 7_000, "dispatch send": 5_000, "dispatch receive": 6_000,
    "combine send": 5_000, "combine receive": 7_000,
}  # fmt: skip
CLS = {"copy": "copy"} | {name: "comm" for name in COST if name.split()[0] in ("dispatch", "combine")}
FLIGHT_NS = 34_000


class Draft:
    """A trace being drawn: one clock for the host, one end for each stream."""

    def __init__(self, ubatches: int, scale: float, kernels: int, host: float) -> None:
        self.n, self.scale, self.kernels, self.host = ubatches, scale, kernels, host
        roles = ["main", *(f"ubatch {i}" for i in range(ubatches))]
        streams = {"compute": "streams", "comm": "streams", "network": "network"}
        self.lanes = [Lane(i, 0, role, "threads") for i, role in enumerate(roles)]
        self.lanes += [
            Lane(len(roles) + i, 0, role, group) for i, (role, group) in enumerate(streams.items())
        ]
        self.id = {lane.role: lane.id for lane in self.lanes}
        self.now, self.step = 0, 0
        self.free = {"compute": 0, "comm": 0}
        self.records: dict[str, tuple[int, int, int]] = {}  # event -> (number, span row, fires at)
        self.events: list[list[Any]] = []
        self.spans: list[Span] = []
        self.flows: list[Flow] = []
        self.born: list[int] = []
        self.correlation = 0

    def tick(self, us: float) -> None:
        self.now += max(1, int(us * 1_000 * self.scale * self.host))

    def emit(self, lane: str, kind: str, **args: Any) -> int:
        """A trace event now; its row."""
        ubatch = int(lane.split()[1]) if lane.startswith("ubatch") else None
        thread = self.id[lane]
        row = len(self.events)
        self.events.append(
            [row, self.now, None, 0, self.step, thread, ubatch, thread, kind, "drawn.py", "model.py", args]
        )
        return row

    def span(self, lane: str, cat: str, name: str, start: int, end: int, **more: Any) -> int:
        ubatch = more.pop("ubatch", int(lane.split()[1]) if lane.startswith("ubatch") else None)
        cell = [more.pop(key, None) for key in ("cls", "operation", "layer", "correlation", "seq")]
        args = more.pop("args", {})
        self.spans.append(Span(start, end, 0, self.step, ubatch, self.id[lane], cat, name, *cell, args))
        return len(self.spans) - 1

    def flow(self, kind: str, a: tuple[str, int], b: tuple[str, int]) -> None:
        ends = [self._end(a, last=True), self._end(b, last=False)]
        self.flows.append(Flow(kind, *a, *ends[0], *b, *ends[1]))

    def _end(self, at: tuple[str, int], last: bool) -> tuple[int, int]:
        if at[0] == "events":
            return self.events[at[1]][1], self.events[at[1]][7]
        span = self.spans[at[1]]
        return (span.end_ns if last else span.start_ns), span.lane

    def blocked(self, row: int) -> None:
        """The thread that emitted this event goes on now."""
        event = self.events[row]
        event[2] = self.now
        lane = self.lanes[event[7]].role
        self.span(lane, "blocked", event[8], event[1], self.now, seq=row, args=event[11])

    def trace(self) -> Trace:
        tables = (Event, self.events), (Span, self.spans), (Flow, self.flows)
        return Trace(*(make_table(kind, rows) for kind, rows in tables), self.lanes, {"runtime": "drawn"})


class Ubatch:
    """What one microbatch does (or main, which is none): the mechanism's moves, as the model calls them."""

    def __init__(self, draft: Draft, ident: int | None) -> None:
        self.draft, self.lane = draft, "main" if ident is None else f"ubatch {ident}"
        self.ident: Any = ident
        self.stream = "compute"
        self.hooks: list[Any] = []

    def op(self, name: str, layer: int, host_wait: bool = False, until: int | None = None) -> int:
        """Launch an operation on the current stream; the row of its last kernel span."""
        d, begun, row = self.draft, self.draft.now, 0
        count = d.kernels
        for i in range(count):
            d.tick(4 / count)
            wait = host_wait and i == count - 1
            args = {"name": "mm" if i % 2 else "add", "cls": CLS.get(name, "compute"), "operation": name}
            args |= {"layer": layer, "stream": self.stream, "correlation": d.correlation, "host_wait": wait}
            event = d.emit(self.lane, "kernel.launch", **args)
            start = max(d.free[self.stream], d.now + int(2_000 * d.scale * d.host))
            weight = (1.6 if i % 3 == 0 else 0.7) if count > 1 else 1
            end = start + max(1, int(COST[name] * d.scale * weight / count))
            end = max(end, until or 0)
            row = d.span(self.stream, "kernel", args["name"], start, end, ubatch=self.ident, cls=args["cls"],
                         operation=name, layer=layer, correlation=d.correlation, seq=event)  # fmt: skip
            d.free[self.stream] = end
            d.correlation += 1
            d.flow("launch -> kernel", ("events", event), ("spans", row))
            if wait:
                d.now = max(d.now, end)
                d.blocked(event)
        d.span(self.lane, "operation", name, begun, d.now, operation=name, layer=layer)
        return row

    def record(self, which: str) -> None:
        d, name = self.draft, f"{which}_done[{self.ident}]"
        number = d.records.get(name, (0, 0, 0))[0] + 1
        event = d.emit(self.lane, "event.record", event=name, stream=which, record=number)
        at = max(d.free[which], d.now)
        args = {"event": name, "record": number}
        row = d.span(which, "record", name, at, at, ubatch=self.ident, seq=event, args=args)
        d.records[name] = (number, row, at)

    def wait(self, which: str) -> None:
        d, name = self.draft, f"{which}_done[{self.ident}]"
        number, row, at = d.records[name]
        event = d.emit(self.lane, "event.wait", event=name, stream=self.stream, record=number)
        start = max(d.free[self.stream], d.now)
        end = max(start, at)
        args = {"event": name, "record": number}
        waiting = d.span(self.stream, "wait", name, start, end, ubatch=self.ident, seq=event, args=args)
        d.free[self.stream] = end
        d.flow("record -> wait", ("spans", row), ("spans", waiting))

    def switch(self, to: str) -> None:
        self.draft.emit(self.lane, "stream.switch", **{"from": self.stream, "to": to})
        self.stream = to
        self.draft.tick(1)

    def send(self, what: str, layer: int, peer: Ubatch) -> None:
        """Send on compute, and leave the receive to the next microbatch as a hook."""
        d = self.draft
        sent = self.op(f"{what} send", layer)
        leaves = d.spans[sent].end_ns
        arrives = leaves + int(FLIGHT_NS * d.scale)
        d.span("network", "transfer", f"{what} transfer", leaves, arrives, ubatch=self.ident, layer=layer,
               operation=what, args={"label": "modelled"})  # fmt: skip
        d.tick(1)
        registered = d.emit(self.lane, "hook.register", from_ubatch=self.ident, to_ubatch=peer.ident)

        def receive(runner: Ubatch) -> None:
            ran = d.emit(runner.lane, "hook.run", from_ubatch=self.ident, to_ubatch=runner.ident)
            d.flow("register -> run", ("events", registered), ("events", ran))
            as_owner = Ubatch(d, self.ident)
            as_owner.lane = runner.lane
            row = as_owner.op(f"{what} receive", layer, until=arrives)
            d.flow("send -> receive", ("spans", sent), ("spans", row))

        peer.hooks.append(receive)

    def run_hook(self) -> None:
        for hook in self.hooks:
            hook(self)
        self.hooks.clear()


def ht(u: Ubatch, peer: Ubatch, layers: int) -> Iterator[None]:
    """High throughput: dispatch and combine on the comm stream, three yields a layer."""
    for layer in range(layers):
        u.op("attention", layer)
        u.op("router", layer)
        u.record("compute")
        yield
        u.switch("comm")
        u.wait("compute")
        u.op("dispatch", layer, host_wait=True)
        u.record("comm")
        u.switch("compute")
        u.wait("comm")
        u.op("experts", layer)
        u.record("compute")
        yield
        u.switch("comm")
        u.wait("compute")
        u.op("combine", layer)
        u.switch("compute")
        u.op("shared experts", layer)
        u.switch("comm")
        u.op("copy", layer)
        u.record("comm")
        yield
        u.switch("compute")
        u.wait("comm")


def ll(u: Ubatch, peer: Ubatch, layers: int) -> Iterator[None]:
    """Low latency: sends and receives on the compute stream, two yields a layer."""
    for layer in range(layers):
        u.op("attention", layer)
        u.op("router", layer)
        u.run_hook()
        u.send("dispatch", layer, peer)
        yield
        u.op("experts", layer)
        u.run_hook()
        u.send("combine", layer, peer)
        yield
    u.run_hook()


def _begin(d: Draft, ubatches: list[Ubatch]) -> list[int]:
    """Main starts the threads, all meet at the barrier, main sets the first host event; who waits, by row."""
    arrived = []
    d.born = []
    for u in ubatches:
        d.tick(8)
        d.emit("main", "thread.create", thread=d.id[u.lane], name=u.lane)
        d.tick(2)
        d.born.append(d.now)
        d.emit(u.lane, "thread.start", thread=d.id[u.lane], name=u.lane)
        d.tick(2)
        arrived.append(_arrive(d, u.lane, len(arrived) + 1))
    d.tick(2)
    arrived.append(_arrive(d, "main", len(arrived) + 1))
    d.tick(3)
    for row in arrived:
        d.blocked(row)
        lane = d.lanes[d.events[row][7]].role
        release = d.emit(lane, "barrier.release", **d.events[row][11])
        d.flow("arrive -> release", ("events", arrived[-1]), ("events", release))
    waiting = [d.emit(u.lane, "host_event.wait", host_event=f"cpu_event[{u.ident}]") for u in ubatches]
    d.tick(2)
    return waiting


def _arrive(d: Draft, lane: str, n: int) -> int:
    return d.emit(lane, "barrier.arrive", barrier="ready_barrier", n=n, parties=d.n + 1, generation=d.step)


def _hand_over(d: Draft, to: Ubatch, waiting: list[int], setter: Ubatch | None, sleeps: bool) -> None:
    """The setter (main, if None) sets a microbatch's host event, waits for its own, and the other wakes."""
    name = f"cpu_event[{to.ident}]"
    lane = setter.lane if setter else "main"
    was_set = d.emit(lane, "host_event.set", host_event=name, was=False)
    d.tick(1)
    if setter and sleeps:
        waiting[setter.ident] = d.emit(lane, "host_event.wait", host_event=f"cpu_event[{setter.ident}]")
    elif setter:
        d.span(lane, "thread", lane, d.born[setter.ident], d.now)
        d.emit(lane, "thread.end", thread=d.id[lane])
    d.tick(2)
    d.blocked(waiting[to.ident])
    woke = d.emit(to.lane, "host_event.wake", host_event=name)
    d.flow("set -> wake", ("events", was_set), ("events", woke))
    d.emit(to.lane, "host_event.clear", host_event=name, was=True)
    d.tick(1)


def _step(d: Draft, style: str, layers: int) -> None:
    begun = d.now
    d.emit("main", "step.begin", step=d.step, tokens=128, branch="run", why=None)
    ubatches = [Ubatch(d, i) for i in range(d.n)]
    waiting = _begin(d, ubatches)
    moves = ht if style == "ht" else ll
    alive = [moves(u, ubatches[(u.ident + 1) % d.n], layers) for u in ubatches]
    _hand_over(d, ubatches[0], waiting, None, sleeps=False)
    joins = d.emit("main", "thread.join", thread=d.id["ubatch 0"])
    turn, left = 0, 0
    while left < d.n:
        ended = next(alive[turn], "end") == "end"
        left += ended
        peer = (turn + 1) % d.n
        if left < d.n:
            _hand_over(d, ubatches[peer], waiting, ubatches[turn], sleeps=not ended)
        else:
            lane = ubatches[turn].lane
            d.emit(lane, "host_event.set", host_event=f"cpu_event[{peer}]", was=False)
            d.span(lane, "thread", lane, d.born[turn], d.now)
            d.emit(lane, "thread.end", thread=d.id[lane])
        turn = peer
    d.tick(3)
    d.blocked(joins)
    d.tick(4)
    synchronizes = d.emit("main", "stream.synchronize", stream="compute")
    d.now = max(d.now, *d.free.values())
    d.blocked(synchronizes)
    d.tick(5)
    d.emit("main", "step.end", step=d.step, tokens=128, branch="run", why=None)
    d.span("main", "thread", "main", begun, d.now)


def drawn(
    style: str = "ht", ubatches: int = 2, layers: int = 2, *, scale: float = 1.0, kernels: int = 1,
    steps: int = 1, host: float = 1.0,
) -> Trace:  # fmt: skip
    """A run of some steps: ``scale`` stretches time, ``host`` the host's part, ``kernels`` each operation.

    >>> len(drawn(layers=1, steps=3).steps)
    3
    """
    d = Draft(ubatches, scale, kernels, host)
    for step in range(steps):
        d.step = step
        _step(d, style, layers)
        d.tick(20)
    if style == "ht":
        d.lanes.pop()
    return d.trace()


def alone(passes: int = 1, layers: int = 2, *, scale: float = 1.0, steps: int = 1) -> Trace:
    """The same work launched by main on one stream, in one pass through the layers or several (split).

    >>> [lane.role for lane in alone().lanes]
    ['main', 'compute']
    """
    d = Draft(0, scale, 1, 1.0)
    work = Ubatch(d, None)
    for step in range(steps):
        d.step, begun = step, d.now
        d.emit("main", "step.begin", step=step, tokens=128, branch="run", why=None)
        for layer in list(range(layers)) * passes:
            for name in ("attention", "router", "dispatch", "experts", "combine", "shared experts"):
                work.op(name, layer, host_wait=name == "dispatch")
        reads = d.emit("main", "host.read", stream="compute")
        d.now = max(d.now, d.free["compute"])
        d.blocked(reads)
        d.tick(5)
        d.emit("main", "step.end", step=step, tokens=128, branch="run", why=None)
        d.span("main", "thread", "main", begun, d.now)
        d.tick(20)
    d.lanes = d.lanes[:2]
    return d.trace()


def empty() -> Trace:
    """A trace in which nothing was recorded."""
    return Trace(make_table(Event, []), make_table(Span, []), make_table(Flow, []), [], {})


def with_error(trace: Trace, lane: str, at_ns: int, kind: str = "ValueError") -> Trace:
    """The same, and at a moment an error that the thread of a lane tells of."""
    events, thread = list(trace.events), trace.lane(lane).id
    ubatch = int(lane.split()[1]) if lane.startswith("ubatch") else None
    args = {"type": kind, "text": "told by the test", "at": ["model.py:3"]}
    seq = max(event.seq for event in events) + 1
    told = Event(seq, at_ns, None, 0, 0, thread, ubatch, thread, "error", "drawn.py", "model.py", args)
    return Trace(make_table(Event, [*events, told]), trace.spans, trace.flows, trace.lanes, trace.meta)


def with_wait(lane: str, name: str, args: dict[str, str]) -> Trace:
    """One thread that waits, for 80 of 100 µs."""
    lanes = drawn(layers=1).lanes
    thread = next(each.id for each in lanes if each.role == lane)
    rows = [("thread", lane, 0, 100_000, {}), ("blocked", name, 10_000, 90_000, args)]
    spans = [
        Span(a, b, 0, 0, None, thread, cat, called, *[None] * 5, about) for cat, called, a, b, about in rows
    ]
    nothing = empty()
    return Trace(nothing.events, make_table(Span, spans), nothing.flows, lanes, {})


def without_steps(trace: Trace) -> Trace:
    """The same, recorded where nothing says that a step begins."""
    events = [e._replace(step=None) for e in trace.events if not e.kind.startswith("step.")]
    spans = [span._replace(step=None) for span in trace.spans]
    return Trace(make_table(Event, events), make_table(Span, spans), empty().flows, trace.lanes, {})
