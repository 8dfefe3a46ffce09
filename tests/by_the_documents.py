"""A second implementation of the hand-over, written from the documents: plain threads, streams that only log.

It knows nothing of ``ubviz``. What a microbatch's thread does is logged as (operation, objects): barrier wait;
host event set, wait, clear; event record and wait with their stream; stream set, when it is called; hook
register and run. Sources: "vLLM GPU UBatchWrapper: the barrier" (roles, order at entry and exit, who wakes
whom), vLLM's published page of ``v1/worker/ubatching`` (which method does which of these), DeepEP's two styles.

Not here: faults, capture, tensors.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class World:
    """One step's shared things, and the log: operations of each microbatch's thread, in order."""

    n: int
    log: dict[int, list[str]] = field(default_factory=dict)
    wrong: frozenset[str] = frozenset()  # rules to break, so that a comparison can be shown to notice

    def __post_init__(self) -> None:
        self.barrier = threading.Barrier(self.n + 1)
        self.flags = [threading.Event() for _ in range(self.n)]
        self.hooks: list[tuple[int, Callable[[], None]] | None] = [None] * self.n
        self.log = {i: [] for i in range(self.n)}


class Microbatch:
    """What one thread does; the stream that it is on is a word."""

    def __init__(self, world: World, i: int) -> None:
        self.world, self.i, self.next = world, i, (i + 1) % world.n
        self.stream = "default"

    def note(self, *words: object) -> None:
        self.world.log[self.i].append(" ".join(str(word) for word in words))

    # -- the turn

    def wake(self) -> None:
        self.note("host_event.wait", f"cpu_event[{self.i}]")
        self.world.flags[self.i].wait()
        self.lower()

    def lower(self) -> None:
        self.note("host_event.clear", f"cpu_event[{self.i}]")
        self.world.flags[self.i].clear()

    def raise_next(self) -> None:
        self.note("host_event.set", f"cpu_event[{self.next}]")
        self.world.flags[self.next].set()

    def begin(self) -> None:
        self.note("barrier.arrive ready_barrier")
        self.world.barrier.wait()
        self.wake()
        self.go_to("compute")

    def end(self) -> None:
        self.run_hook()
        self.raise_next()
        if "no clear at exit" not in self.world.wrong:
            self.lower()

    def hand_over(self) -> None:
        self.raise_next()
        self.wake()

    # -- streams

    def go_to(self, stream: str) -> None:
        if self.stream != stream or "always set" in self.world.wrong:
            self.stream = stream
            self.note("stream.switch", stream)

    def record(self, stream: str) -> None:
        self.note("event.record", f"{stream}_done[{self.i}]", stream)

    def wait_for(self, other: str, stream: str) -> None:
        self.note("event.wait", f"{other}_done[{self.i}]", stream)

    def plain_yield(self) -> None:
        before = self.stream
        self.hand_over()
        self.go_to(before)

    def yield_to(self, stream: str) -> None:
        """Hand over while leaving for ``stream``, which waits for what this one held before."""
        here = self.stream
        if "record after yield" in self.world.wrong:
            self.hand_over()
            self.record(here)
        else:
            self.record(here)
            self.hand_over()
        self.go_to(stream)
        self.wait_for(here, stream)

    def switch_and_wait(self, stream: str) -> None:
        here = self.stream
        self.record(here)
        self.go_to(stream)
        self.wait_for(here, stream)

    # -- the receive hook

    def leave_hook(self, hook: Callable[[], None]) -> None:
        self.note("hook.register", f"{self.i}->{self.next}")
        self.world.hooks[self.next] = (self.i, hook)

    def run_hook(self) -> None:
        left = self.world.hooks[self.i]
        if left is not None:
            self.note("hook.run", f"{left[0]}->{self.i}")
            left[1]()
            self.world.hooks[self.i] = None

    # -- the two styles of one layer

    def ht(self) -> None:
        self.yield_to("comm")  # before the dispatch, which blocks the host
        self.switch_and_wait("compute")
        self.yield_to("comm")
        self.go_to("compute")  # shared experts, beside the combine
        self.go_to("comm")  # the copy
        self.yield_to("compute")

    def ll(self) -> None:
        for _exchange in ("dispatch", "combine"):
            self.run_hook()
            self.leave_hook(lambda: None)
            self.plain_yield()


def operations(style: str, n: int, layers: int, *wrong: str) -> dict[int, list[str]]:
    """What each of ``n`` microbatches does in one step of ``layers`` layers."""
    world = World(n, wrong=frozenset(wrong))

    def run(i: int) -> None:
        microbatch = Microbatch(world, i)
        microbatch.begin()
        for _ in range(layers):
            getattr(microbatch, style)()
        microbatch.end()

    threads = [threading.Thread(target=run, args=(i,), name=f"reference {i}", daemon=True) for i in range(n)]
    for thread in threads:
        thread.start()
    world.barrier.wait()
    world.flags[0].set()
    for thread in threads:
        thread.join()
    return world.log
