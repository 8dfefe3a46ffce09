"""Any model on a ring of microbatches, with kernels that are modelled: what exercises hand in, and notebooks show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..exploration.bare_ring import Switches
from ..exploration.ring_programs import RingProgram
from ..ubatch import UBatchContext

Model = Callable[[Any, int], Any]
"""A model: called with the runtime and the number of its microbatch, on that microbatch's thread, in its context."""


@dataclass(frozen=True)
class Microbatches(RingProgram):
    """A program that runs ``model(rt, ubatch)`` in the context of each microbatch: for ``run`` and ``explore``.

    >>> def model(rt, ubatch):
    ...     rt.launch("attention", cls="compute", duration_ns=40_000)
    >>> microbatches(model).ubatches
    2
    """

    model: Model | None = None

    def _microbatch(self, context: UBatchContext) -> None:
        assert self.model is not None
        with context:
            self.model(context.runtime, context.id)


def microbatches(model: Model, n: int = 2, switches: Switches | None = None) -> Microbatches:
    """``n`` microbatches of a model, on the package's own contexts, or on a ring with ``switches``."""
    return Microbatches(ubatches=n, switches=switches, model=model)
