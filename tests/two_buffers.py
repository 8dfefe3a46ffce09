"""DeepEP's low-latency exchange with its two buffers, inside one process: real kernels, and flags that they poll.

1. Each exchange takes the buffer after the one before, in the order in which the sends are launched.
2. A send clears the flags of the *other* buffer, for whom comes next; then its rows are there, and it raises its own.
3. A receive polls the flags of its buffer. DeepEP's gives up at a time limit; so does this one, and says why.

So a receive must run before the next send does. Source: DeepEP ``csrc/kernels/internode_ll.cu``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from torch import Tensor

from ubviz.engine.all2all import Dispatched, LowLatency
from ubviz.ubatch import dbo


class TwoBuffers(LowLatency):
    """``ll`` over two buffers."""

    limit_s = 0.5

    def __init__(self, plain: LowLatency) -> None:
        super().__init__(plain.rt, plain.num_experts, plain.link)
        self.up = [False, False]
        self.cleared_by: list[int | None] = [None, None]
        self.sends = 0

    def fly(self, name: str, layer: int, buffer: Tensor, nbytes: int) -> tuple[Any, Tensor]:
        self.sends += 1
        return OneOfTwo(self, self.sends - 1, nbytes), buffer


class OneOfTwo:
    """Exchange ``number``, as its sending and its receiving kernel see it."""

    duration_ns = 0

    def __init__(self, buffers: TwoBuffers, number: int, nbytes: int) -> None:
        self.buffers, self.number, self.nbytes = buffers, number, nbytes

    def depart(self, launch: Any) -> None:
        own, other = self.number % 2, (self.number + 1) % 2
        self.buffers.up[other], self.buffers.cleared_by[other] = False, self.number
        self.buffers.up[own] = True

    def arrive(self) -> None:
        deadline = time.monotonic() + self.buffers.limit_s
        while not self.buffers.up[self.number % 2]:
            if time.monotonic() > deadline:
                by = self.buffers.cleared_by[self.number % 2]
                raise TimeoutError(f"send {by} clears flags that receive {self.number} still polls")

    def lose(self, error: BaseException) -> None:
        """The receive gives up by itself."""


class LateReceive(TwoBuffers):
    """The mistake: a microbatch sends before it runs the receive that was left with it."""

    def prepare(self, *args: Any) -> Dispatched:
        return self.late(super().prepare, args)

    def finalize(self, *args: Any) -> tuple[Tensor, Tensor]:
        return self.late(super().finalize, args)

    def late(self, run: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        context = dbo.current_context()
        if context is not None:
            self.kept, context.recv_hook = context.recv_hook, None
        return run(*args)

    def exchange(self, *args: Any, meanwhile: Callable[[], None] = lambda: None) -> None:
        def then() -> None:
            if (context := dbo.current_context()) is not None:
                context.recv_hook = self.kept
                dbo.dbo_maybe_run_recv_hook()
            meanwhile()

        super().exchange(*args, meanwhile=then)
