"""The fault campaign: a fault at every operation of every thread, in every order of threads that matters.

One wrapper of the package around a model of modelled kernels, in virtual time. It is called twice: in the first call
one fact of one thread raises (``tests.faults.Raiser``), the second has no fault. In each order it is asked for that
nobody hangs, that the fault itself comes out of the first call, that nobody runs without the turn or launches in a
ring that has failed, that nothing is left, and that the second call is right.

Orders are those of synchronization and of looks at flags; with ``left`` also of looks at who has left, by which the way
out goes without the turn.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from tests.faults import Broken, Raiser, Where
from ubviz.exploration.execution import Execution, execute
from ubviz.exploration.ring_models import LAYERS
from ubviz.exploration.search import DepthFirst
from ubviz.runtime.schedule import SYNC, AtRandom, Choice, Dropped, Touch
from ubviz.runtime.virtual_baton import Pending
from ubviz.runtime.virtual_sync import object_id
from ubviz.ubatch import (
    UBatchWrapper,
    dbo_enabled,
    maybe_create_ubatch_slices,
    set_forward_context,
)
from ubviz.ubatch.contexts import by_thread
from ubviz.ubatch.forward_context import is_forward_context_available

Layers = int | tuple[int, ...]
Orders = Literal["all", "apart", "some"]
SOME = 30
"""Executions for one fault, where not all are wanted."""
LEFT = "ring.left"
"""To add to those who have left, or to ask for them."""


class Left(set[int]):
    """Who has left; to look or to add is a step that others can notice."""

    def __init__(self, runtime: Any, already: set[int]) -> None:
        super().__init__(already)
        self.runtime, self.id = runtime, object_id(runtime)

    def add(self, ubatch: int) -> None:
        self._step("w")
        super().add(ubatch)

    def __contains__(self, ubatch: object) -> bool:
        self._step("r")
        return super().__contains__(ubatch)

    def _step(self, how: str) -> None:
        try:
            self.runtime.baton.point(Pending(LEFT, self, (Touch(self.id, how),)))
        except Dropped:
            pass  # a set raises nothing, so nobody on the way out expects it to


class Watching(Raiser):
    """Raises, and lets others notice who has left."""

    def host(self, kind: str, obj: Any, arg: Any) -> None:
        if kind == "ctx.enter" and not isinstance(obj.ring.left, Left):
            obj.ring.left = Left(obj.runtime, obj.ring.left)
        super().host(kind, obj, arg)


class Twice:
    """A program: two calls of one wrapper, the first one with a fault at ``where``."""

    modelled = True

    def __init__(
        self, style: str, n: int, layers: Layers = 1, where: Where | None = None, left: bool = False
    ) -> None:
        self.style, self.n, self.layers, self.where = style, n, layers, where
        self.visible = SYNC | {"host_event.is_set"} | ({LEFT} if left else set())
        self.slices = maybe_create_ubatch_slices(True, [2 * n], 2 * n, 1, n)[0]
        self.x = torch.arange(2.0 * n)

    def __call__(self, rt: Any) -> None:
        self.fault, self.wrong, self.call = Broken(f"at {self.where}"), [], 0  # of this execution
        faults: dict[Where, BaseException] = {} if self.where is None else {self.where: self.fault}
        wrapper = UBatchWrapper(self._model, runtime=rt, num_ubatches=self.n)
        for raiser in (Watching(faults), Watching({})):
            self.raiser, self.call = raiser, self.call + 1
            rt.hooks.subscribe(raiser)
            error = self._call(rt, wrapper)
            rt.hooks.unsubscribe(raiser)
            self._judge(raiser, error, wrapper)

    def _model(self, x: torch.Tensor) -> torch.Tensor:
        context = by_thread[threading.get_ident()]
        layers = self.layers if isinstance(self.layers, int) else self.layers[context.id]
        for layer in range(layers):
            LAYERS[self.style](None, context, layer)
        return x + 1

    def _call(self, rt: Any, wrapper: UBatchWrapper) -> BaseException | None:
        try:
            with rt.stream(rt.Stream("compute")), set_forward_context(None, ubatch_slices=self.slices):
                out = wrapper(x=self.x)
            if not torch.equal(out, self.x + 1):
                self.wrong.append(f"a wrong answer: {out}")
        except Exception as error:
            return error
        return None

    def _judge(self, raiser: Raiser, error: BaseException | None, wrapper: UBatchWrapper) -> None:
        expected = self.fault if raiser.raised else None
        if error is not expected:
            self.wrong.append(f"{error!r} came out, not {expected!r}")
        if dbo_enabled() or is_forward_context_available():
            self.wrong.append("a context is left")
        barrier = wrapper.ready_barrier
        if barrier.broken or barrier.n_waiting:
            self.wrong.append("the barrier is not whole")
        self.wrong += raiser.wrong

    def bad(self, execution: Execution) -> list[str]:
        """What is wrong with the execution that has just ended."""
        hangs = [str(execution.deadlock)] if execution.deadlock is not None else []
        return hangs + self.wrong


class OneCall(DepthFirst):
    """All orders of one of the two calls; the other one runs in the order that comes first."""

    def __init__(self, program: Twice, call: int) -> None:
        super().__init__(program)
        self._calls, self._call = program, call

    def choose(self, enabled: Sequence[Choice]) -> int:
        return super().choose(enabled) if self._calls.call == self._call else 0


def executions(program: Twice, orders: Orders) -> Iterator[Execution]:
    """Some orders by chance, or all: of both calls together, or of each apart."""
    if orders == "some":
        yield from (execute(program, AtRandom(seed, program.visible)) for seed in range(SOME))
    elif orders == "apart":
        for call in (1, 2):
            yield from OneCall(program, call).executions()
    else:
        yield from DepthFirst(program).executions()


@dataclass
class Tally:
    """How many faults, in how many orders of threads, and the faults with which something went wrong."""

    points: int = 0
    schedules: int = 0
    bad: int = 0
    first: Any = None


def facts(style: str, n: int, layers: Layers = 1) -> dict[str, list[str]]:
    """What each thread announces in a call without a fault."""
    program = Twice(style, n, layers)
    execution = next(DepthFirst(program).executions())
    if harm := program.bad(execution):
        raise AssertionError(f"without any fault: {harm[0]}")
    return dict(program.raiser.told)


def points(style: str, n: int, layers: Layers = 1, kind: str | None = None) -> Iterator[Where]:
    """Every fact of every thread, or those of one kind; main's, where less can go wrong, come last."""
    told = facts(style, n, layers)
    for name in sorted(told, key=lambda name: (name == "main", name)):
        for k, fact in enumerate(told[name], 1):
            if kind in (None, fact):
                yield name, k


def campaign(
    style: str,
    n: int,
    layers: Layers = 1,
    *,
    left: bool = False,
    orders: Orders = "all",
    stop: bool = False,
    kind: str | None = None,
) -> Tally:
    """Run all of it; with ``stop`` until the first fault that does harm.

    ``layers`` is how many each microbatch has, or how many all have. ``orders``: "all" is each of the second call after
    each of the first; "apart", where their product is too large, each of one beside one of the other; "some" are taken
    by chance.
    """
    tally = Tally()
    for where in points(style, n, layers, kind):
        program = Twice(style, n, layers, where, left)
        harm: list[str] = []
        for execution in executions(program, orders):
            if not execution.dropped:
                tally.schedules += 1
                harm += program.bad(execution)
                by_thread.clear()  # a broken mechanism may leave them
            if stop and harm:
                break
        tally.points += 1
        tally.bad += bool(harm)
        if harm:
            tally.first = tally.first or (where, harm[0])
            if stop:
                break
    return tally
