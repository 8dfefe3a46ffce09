"""When everything comes with other durations: the longest path, and kernels that slow one another down.

The page does the same (``frontend/src/lab/flow.ts``), to the nanosecond. Without contention it is ``analysis.retime``:

1. Each edge gets its lag: ``lag - own + round(own * factor)``, a half to the even number, and what every kernel takes
   besides. A factor of 1 changes nothing.
2. Causes before effects, each point gets ``max(source + lag)``; one without causes keeps its time.

With contention of ``p`` percent, the edges on which kernels run are no longer numbers. Time goes on from one start or
end of a kernel to the next:

3. A kernel of ``own`` ns has ``own * (100 + p)`` to do. It does ``100 + p`` in a nanosecond, and only 100 while on its
   rank a kernel of the other class runs as well: a compute kernel beside one that communicates. So where all of it
   is overlapped it lasts p % longer. It ends at the first whole nanosecond at which all is done.
4. Ends come before starts of the same moment, and change nothing in the past. (Where clocks differ, an effect can
   be found to have begun before now: what it did until now it did alone.)
5. If points wait for one another in a circle, the earliest by the recording's clock goes first, as in ``retime``.

Data in flight slows nothing down, nor does a receive, which waits. A recording's own durations hold the contention
that was there: p comes on top of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from .lab_plan import FIXED, THREADS, WORK, Plan


class Factors(NamedTuple):
    """``works``: by row of the plan's; ``kernel_ns``: what every kernel takes besides; ``contention``: percent."""

    threads: float
    works: Sequence[float]
    kernel_ns: int = 0
    contention: int = 0


def lags(plan: Plan, factors: Factors) -> list[int]:
    """The lag of each edge."""
    edges, out = plan.edges, []
    extra = [factors.kernel_ns if cat == "kernel" else 0 for _, _, cat in plan.works]
    for lag, own, by in zip(edges["lag"], edges["own"], edges["by"], strict=True):
        if by != FIXED:
            factor = factors.threads if by == THREADS else factors.works[by - WORK]
            if factor != 1:
                lag += round(own * factor) - own
            if by >= WORK:
                lag += extra[by - WORK]
        out.append(lag)
    return out


def times(plan: Plan, factors: Factors) -> list[int]:
    """When each point of the plan comes, in nanoseconds."""
    return _Flow(plan, lags(plan, factors), factors.contention).run()


class _Flow:
    """One working out of all times."""

    def __init__(self, plan: Plan, lag: list[int], contention: int) -> None:
        self.lag, self.whole = lag, 100 + contention
        edges, points = plan.edges, len(plan.time)
        self.target = edges["target"]
        self.out: list[list[int]] = [[] for _ in range(points)]
        self.left = [0] * points
        for edge, (source, target) in enumerate(zip(edges["source"], self.target, strict=True)):
            self.out[source].append(edge)
            self.left[target] += 1
        self.seen, self.taken = plan.time, [False] * points
        self.new: list[int | None] = [
            t if n == 0 else None for t, n in zip(plan.time, self.left, strict=True)
        ]
        self.ready = [point for point in range(points) if self.left[point] == 0]
        self.kernel: dict[int, tuple[int, int]] = {}
        """Of an edge on which a kernel can be slowed: its rank, and 0 if it computes, 1 if it communicates."""
        if contention:
            bars = (plan.bars[name] for name in ("edge", "slows", "work", "lane"))
            for edge, slows, work, lane in zip(*bars, strict=True):
                if slows:
                    self.kernel[edge] = (plan.lanes[lane][2], int(plan.works[work][0] == "comm"))
        self.begun: list[tuple[int, int]] = []  # a heap of (time, edge): kernels that are to begin
        self.running: list[list[int]] = []  # (edge, what is left to do)
        self.now = 0

    def run(self) -> list[int]:
        self._settle()
        by_clock = sorted(range(len(self.seen)), key=lambda point: self.seen[point])
        for earliest in by_clock:
            self._go_on()
            if not self.taken[earliest]:
                self.ready.append(earliest)  # a circle: no order is right, so the clock decides
                self._settle()
        self._go_on()
        return [0 if t is None else t for t in self.new]

    def _settle(self) -> None:
        """Take all points whose causes have been taken."""
        while self.ready:
            point = self.ready.pop()
            self.taken[point] = True
            at = self.new[point]
            now = self.new[point] = self.seen[point] if at is None else at
            for edge in self.out[point]:
                if edge in self.kernel:
                    heappush(self.begun, (now, edge))
                else:
                    self._reach(edge, now + self.lag[edge])

    def _reach(self, edge: int, at: int) -> None:
        effect = self.target[edge]
        if self.taken[effect]:
            return
        known = self.new[effect]
        self.new[effect] = at if known is None or at > known else known
        self.left[effect] -= 1
        if self.left[effect] == 0:
            self.ready.append(effect)

    # ---- contention

    def _go_on(self) -> None:
        """Let kernels begin, run and end until none is left."""
        while self.begun or self.running:
            rates = self._rates()
            ends = min(
                (self.now - -left // rate for (_, left), rate in zip(self.running, rates, strict=True)),
                default=None,
            )
            if ends is None or (self.begun and self.begun[0][0] < ends):
                self._pass(max(self.begun[0][0], self.now), rates)
                self._begin()
            else:
                self._pass(ends, rates)
                self._end()

    def _rates(self) -> list[int]:
        busy: dict[tuple[int, int], int] = {}
        for edge, _ in self.running:
            busy[self.kernel[edge]] = busy.get(self.kernel[edge], 0) + 1
        return [
            100 if (r, 1 - c) in busy else self.whole for r, c in (self.kernel[e] for e, _ in self.running)
        ]

    def _pass(self, to: int, rates: list[int]) -> None:
        for kernel, rate in zip(self.running, rates, strict=True):
            kernel[1] -= (to - self.now) * rate
        self.now = to

    def _begin(self) -> None:
        """The next kernel begins, if need be a little late."""
        at, edge = heappop(self.begun)
        left = (self.lag[edge] - (self.now - at)) * self.whole
        if left > 0:
            self.running.append([edge, left])
        else:
            self._reach(edge, at + self.lag[edge])
            self._settle()

    def _end(self) -> None:
        done = [edge for edge, left in self.running if left <= 0]
        self.running = [kernel for kernel in self.running if kernel[1] > 0]
        for edge in done:
            self._reach(edge, self.now)
        self._settle()
