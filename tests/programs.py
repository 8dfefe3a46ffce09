"""Random small programs of threads and streams as traces, and the happens-before graph of a trace by brute force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from tests.traces import Traces, Writer
from ubviz.trace import Event, Trace

Node = tuple[str, int]
"""("host", row) is what the thread does, ("device", row) what it put into a stream."""

ON_STREAMS = ("kernel.launch", "event.record", "event.wait")
VERBS = ("set", "clear", "wait", "arrive", "launch", "launch and wait", "record", "wait_event", "synchronize",
         "synchronize event", "read", "query", "end")  # fmt: skip
MOVES = st.tuples(st.integers(0, 2), st.sampled_from(VERBS), st.integers(0, 1), st.integers(0, 1))


class Running:
    """Plays moves: a thread that waits can do nothing until what it waits for has come."""

    def __init__(self) -> None:
        self.t = Traces()
        self.threads = [self.t.thread(role) for role in ("main", "ubatch 0", "ubatch 1")]
        self.woken: dict[Writer, bool] = {}  # who waits for a flag -> whether a set has woken it
        self.waits: dict[Writer, Callable[[], Any]] = {}
        self.at_barrier: dict[Writer, int] = {}
        self.flag_of: dict[Writer, str] = {}
        self.ended: set[Writer] = set()
        main, *others = self.threads
        for other in others:
            main.create(other)
            other.start()

    def move(self, who: int, verb: str, obj: int, stream: int) -> None:
        thread = self.threads[who]
        if thread in self.ended or not self._comes_back(thread):
            return
        getattr(self, f"_{verb.replace(' ', '_')}")(thread, f"o{obj}", f"s{stream}")

    def _comes_back(self, thread: Writer) -> bool:
        """Whether the thread can go on; what wakes it is told first."""
        if thread in self.woken:
            if not self.woken.pop(thread):
                self.woken[thread] = False
                return False
            thread.wake(self.flag_of[thread])
        if thread in self.at_barrier:
            if self.t.barriers["b"][2] == self.at_barrier[thread]:
                return False
            del self.at_barrier[thread]
            thread.release("b")
        return True

    def _set(self, thread: Writer, obj: str, _: str) -> None:
        thread.set(obj)
        for waiting in self.woken:
            self.woken[waiting] |= self.flag_of[waiting] == obj

    def _clear(self, thread: Writer, obj: str, _: str) -> None:
        thread.clear(obj)

    def _wait(self, thread: Writer, obj: str, _: str) -> None:
        self.woken[thread] = self.t.flags.get(obj, False)
        self.flag_of[thread] = obj
        thread.wait(obj)

    def _arrive(self, thread: Writer, _o: str, _s: str) -> None:
        state = self.t.barriers.get("b", [2, 0, 0])
        self.at_barrier[thread] = state[2]
        thread.arrive("b", 2)

    def _launch(self, thread: Writer, obj: str, stream: str) -> None:
        thread.launch(f"k{obj}", stream, takes=3)

    def _launch_and_wait(self, thread: Writer, obj: str, stream: str) -> None:
        thread.launch(f"k{obj}", stream, takes=3, host_wait=True)

    def _record(self, thread: Writer, obj: str, stream: str) -> None:
        thread.record(obj, stream)

    def _wait_event(self, thread: Writer, obj: str, stream: str) -> None:
        thread.wait_event(stream, obj)

    def _synchronize(self, thread: Writer, _: str, stream: str) -> None:
        thread.synchronize(stream)

    def _synchronize_event(self, thread: Writer, obj: str, _: str) -> None:
        thread.synchronize_event(obj)

    def _read(self, thread: Writer, _: str, stream: str) -> None:
        thread.read(stream)

    def _query(self, thread: Writer, obj: str, stream: str) -> None:
        thread.query(obj, done=stream == "s0")

    def _end(self, thread: Writer, obj: str, _: str) -> None:
        """An end of a thread, which main, if it can go on, joins at once, or has been joining already."""
        main = self.threads[0]
        if thread is main:
            return
        early = obj == "o0" and main not in self.ended and self._comes_back(main)
        row = main.join(thread, over=False) if early else None
        thread.end()
        self.ended.add(thread)
        if row is not None:
            self.t.now += 1
            self.t.builder.close(row, self.t.now)
        elif self._comes_back(main):
            main.join(thread)


@st.composite
def programs(draw: Callable[[st.SearchStrategy[Any]], Any], most: int = 30) -> Trace:
    """The trace of a random program."""
    running = Running()
    for move in draw(st.lists(MOVES, max_size=most)):
        running.move(*move)
    return running.t.finish()


# ---- by brute force


def graph(trace: Trace) -> dict[Node, set[Node]]:
    """Every node and what it causes directly, each rule looked up in the whole trace."""
    events = list(trace.events)
    out: dict[Node, set[Node]] = {("host", e.seq): set() for e in events}
    out |= {("device", e.seq): set() for e in events if _on_stream(e)}
    for thread in {e.thread for e in events}:
        for a, b in pairwise([e for e in events if e.thread == thread]):
            out["host", a.seq].add(("host", b.seq))
            if a.args.get("host_wait"):
                out["device", a.seq].add(("host", b.seq))
    for e in events:
        if _on_stream(e):
            out["host", e.seq].add(("device", e.seq))
        for cause in _causes(e, events):
            out[cause].add(("device" if e.kind == "event.wait" else "host", e.seq))
    for stream in {e.args["stream"] for e in events if _on_stream(e)}:
        for a, b in pairwise([e for e in events if _on_stream(e) and e.args["stream"] == stream]):
            out["device", a.seq].add(("device", b.seq))
    return out


def reachable(out: dict[Node, set[Node]], start: Node) -> set[Node]:
    """All that ``start`` causes, directly or not."""
    found: set[Node] = set()
    ahead = [start]
    while ahead:
        for node in out[ahead.pop()] - found:
            found.add(node)
            ahead.append(node)
    return found


def _on_stream(e: Event) -> bool:
    return e.kind in ON_STREAMS and (e.kind != "event.wait" or e.args["record"] is not None)


def _causes(e: Event, events: list[Event]) -> list[Node]:
    before = [x for x in events if x.seq < e.seq]
    if e.kind == "thread.start":
        return [
            ("host", x.seq)
            for x in events
            if x.kind == "thread.create" and x.args["thread"] == e.args["thread"]
        ]
    if e.kind == "thread.join":
        return [("host", x.seq) for x in events if x.kind == "thread.end" and x.args == e.args]
    if e.kind == "barrier.release":
        return [("host", x.seq) for x in before if x.kind == "barrier.arrive" and x.thread != e.thread
                and x.args["generation"] == e.args["generation"]]  # fmt: skip
    if e.kind == "host_event.wake":
        return [("host", _woken_by(e, before).seq)]
    if e.kind == "event.wait" and e.args["record"] is not None:
        return [("device", x.seq) for x in before if x.kind == "event.record" and x.args["event"] == e.args["event"]
                and x.args["record"] == e.args["record"]]  # fmt: skip
    if e.kind in ("stream.synchronize", "host.read"):
        on = [x for x in before if _on_stream(x) and x.args["stream"] == e.args["stream"]]
        return [("device", x.seq) for x in on[-1:]]
    if e.kind == "event.synchronize" or (e.kind == "event.query" and e.args["done"]):
        made = [x for x in before if x.kind == "event.record" and x.args["event"] == e.args["event"]]
        return [("device", x.seq) for x in made[-1:]]
    return []


def _woken_by(wake: Event, before: list[Event]) -> Event:
    """The set that put the flag up: the one that the wait found, or the first one after it."""
    own = [x for x in before if x.args.get("host_event") == wake.args["host_event"]]
    (*_, wait) = (x for x in own if x.kind == "host_event.wait" and x.thread == wake.thread)
    moves = [x for x in own if x.kind in ("host_event.set", "host_event.clear")]
    earlier, later = [x for x in moves if x.seq < wait.seq], [x for x in moves if x.seq > wait.seq]
    if earlier and earlier[-1].kind == "host_event.set":
        return [x for x in earlier if x.kind == "host_event.set" and not x.args["was"]][-1]
    return next(x for x in later if x.kind == "host_event.set")
