"""Small models on a ring of microbatches, as programs to explore.

A program is data: which ring, how many microbatches and layers, and what goes wrong in the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from ..errors import BadArgument, NotAMicrobatchThread
from ..runtime.schedule import SYNC
from ..ubatch import dbo_yield
from ..ubatch.contexts import UBatchContext, Unwind, make_ubatch_contexts
from ..ubatch.forward_context import ForwardContext
from ..ubatch.ring_run import RingRun
from .bare_ring import Switches, plain_contexts, turn
from .ring_models import LAYERS, ModelFault, work

MOST = {"ubatches": 8, "layers": 64}


@dataclass(frozen=True)
class RingProgram:
    """A program for ``explore``: a small model on a ring of microbatches.

    ``switches`` break the ring (None: the package's own contexts); ``fault`` is what goes wrong in the model.
    ``yields`` replaces the model by that many bare yields of each microbatch.

    >>> program = RingProgram(ubatches=2, layers=1)
    >>> program.style, program.switches
    ('ht', None)
    """

    ubatches: int = 2
    layers: int = 1
    style: str = "ht"
    switches: Switches | None = None
    fault: str | None = None
    yields: tuple[int, ...] | None = None
    modelled: bool = field(init=False, repr=False, default=True)
    visible: frozenset[str] = field(init=False, repr=False, default=SYNC)

    def __post_init__(self) -> None:
        if self.style not in LAYERS:
            raise BadArgument(f"style is ht or ll, not {self.style!r}")
        for name, least in (("ubatches", 2), ("layers", 1)):
            if not least <= getattr(self, name) <= MOST[name]:
                raise BadArgument(f"{name} is from {least} to {MOST[name]}, not {getattr(self, name)}")
        if self.yields is not None and len(self.yields) != self.ubatches:
            raise BadArgument(
                f"{self.ubatches} microbatches need {self.ubatches} numbers of yields, not {self.yields}"
            )
        if self.switches is not None and not self.switches.barrier:
            object.__setattr__(
                self, "visible", SYNC | {"host_event.is_set"}
            )  # nothing else orders who has come

    def __call__(self, rt: Any) -> None:
        if self.switches is None:
            self._own(rt)
        else:
            contexts = plain_contexts(rt, self.ubatches, self.switches)
            turn(rt, contexts, self._microbatch, self._outside(rt))

    # ---- main

    def _own(self, rt: Any) -> None:
        """The package's contexts and its failing path, as ``UBatchWrapper`` runs them."""
        n, comm = self.ubatches, rt.Stream("comm")
        barrier = rt.Barrier(n + 1, "ready_barrier")
        children = [ForwardContext(ubatch=i) for i in range(n)]
        contexts = make_ubatch_contexts(n, rt.Stream("compute"), comm, children, barrier)
        threads = [
            rt.Thread(self._own_microbatch, (c,), f"ubatch {c.id}", c.give_up) for c in contexts
        ]  # fmt: skip
        RingRun(rt, contexts[0].ring, barrier, comm, threads)(nullcontext(), lambda: None)

    def _own_microbatch(self, context: UBatchContext) -> None:
        try:
            self._microbatch(context)
        except Unwind:
            pass
        except BaseException as error:
            if not context._entered:
                context.give_up(error)  # nobody waits for an arrival that does not come
            context.ring.fail(error, context)

    def _outside(self, rt: Any) -> AbstractContextManager[None]:
        return _dbo_from_main(rt) if self.fault == "dbo_outside" else nullcontext()

    # ---- a microbatch

    def _microbatch(self, context: UBatchContext) -> None:
        last = context.id == self.ubatches - 1
        if self.fault == "raise_before_barrier" and last:
            raise ModelFault("before the barrier")
        with context:
            if self.yields is not None:
                for _ in range(self.yields[context.id]):
                    work(context, "attention", "compute", "x", "x")
                    context.yield_()
                work(context, "attention", "compute", "x", "x")
                return
            for layer in range(self.layers):
                LAYERS[self.style](self.fault, context, layer)
            if self.fault == "unequal_yields" and last:
                context.yield_()
            if self.fault == "hook_after_exit" and last:
                context.register_recv_hook(lambda: None)
            if self.fault == "raise_at_the_end" and context.id == 0:
                raise ModelFault("after the last yield")


@contextmanager
def _dbo_from_main(rt: Any) -> Iterator[None]:
    try:
        dbo_yield()
    except NotAMicrobatchThread as error:
        rt.raised.append(("main", error))
    yield
