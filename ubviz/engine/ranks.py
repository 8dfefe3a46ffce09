"""Ranks: real processes that exchange tokens by ``torch.distributed``, over gloo on CPUs.

Gloo may be called from any thread, but the calls of one group must come in the same order on every rank. Work that
is queued on a stream runs on the stream's worker, so each stream has a group of its own (as NCCL has a communicator
for each stream), and the vote, which is called by main, has one too.

Every collective has a time limit, and is logged before it begins (``watch``); one that fails says which rank was
not there. A group is broken after that: the processes end.

Source: ``torch.distributed``; vLLM ``distributed/parallel_state.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from ..errors import BadArgument, RankError, RuntimeUnavailable
from .watch import Watch

GROUPS = ("main", "compute", "comm")
"""One for main's own collectives, one for each stream, by its name."""
START_S = 120.0  # ranks may start that far apart


class Call(NamedTuple):
    """Which collective: the group that it is in, its step and its name."""

    group: str
    step: int
    name: str


class Ranks:
    """This process among the ranks.

    >>> ranks = Ranks.join(limit_s=30)  # doctest: +SKIP
    >>> ranks.rank, ranks.size  # doctest: +SKIP
    (0, 2)
    """

    def __init__(self, rank: int, size: int, watch: Watch, groups: dict[str, Any]) -> None:
        self.rank, self.size = rank, size
        self.watch, self.groups = watch, groups

    @classmethod
    def join(cls, limit_s: float = 30.0) -> Ranks:
        """Meet the other ranks, as ``RANK``, ``WORLD_SIZE``, ``MASTER_ADDR`` and ``MASTER_PORT`` say (torchrun's)."""
        check_distributed()
        start = timedelta(seconds=max(START_S, limit_s))
        store, rank, size = next(dist.rendezvous("env://", timeout=start))
        dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=start)
        host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        own = dist.TCPStore(host, port, is_master=False, timeout=start)  # for the watch's thread alone
        limit = timedelta(seconds=limit_s)
        groups = {name: dist.new_group(timeout=limit, backend="gloo") for name in GROUPS}
        return cls(rank, size, Watch(dist.PrefixStore("ubviz", own), rank, size, limit_s), groups)

    def own(self, num_experts: int) -> range:
        """The experts of this rank: an equal share, in order."""
        if num_experts % self.size:
            raise BadArgument(
                f"{num_experts} experts cannot be divided among {self.size} ranks; take a multiple"
            )
        share = num_experts // self.size
        return range(self.rank * share, (self.rank + 1) * share)

    # ---- collectives

    def all_reduce(self, tensor: Tensor, step: int) -> None:
        """Add up ``tensor`` over all ranks: the vote of a step."""
        self.guard("main", step, "the vote", lambda: dist.all_reduce(tensor, group=self.groups["main"]))

    def all_to_all(
        self,
        call: Call,
        output: Tensor,
        input: Tensor,
        rows_in: list[int] | None = None,
        rows_out: list[int] | None = None,
    ) -> None:
        """``input``'s rows to the ranks (``rows_out[r]`` to rank r), theirs into ``output``; default: equal shares."""
        self.start_all_to_all(call, output, input, rows_in, rows_out)()

    def start_all_to_all(
        self,
        call: Call,
        output: Tensor,
        input: Tensor,
        rows_in: list[int] | None = None,
        rows_out: list[int] | None = None,
        then: Callable[[], None] | None = None,
    ) -> Callable[[], None]:
        """Begin, and return what waits for the end; ``then`` is called when the data is there."""
        group = call.group
        place = self.watch.begin(*call)
        try:
            work = dist.all_to_all_single(
                _bytes(output), _bytes(input), rows_in, rows_out, group=self.groups[group], async_op=True
            )
            if then is not None:
                work.get_future().add_done_callback(lambda _: then())
        except RuntimeError as error:
            raise self.watch.diagnose(group, place, error) from error

        def finish() -> None:
            try:
                work.wait()
            except RuntimeError as error:
                raise self.watch.diagnose(group, place, error) from error

        return finish

    def barrier(self, step: int, name: str) -> None:
        """Wait until every rank is here."""
        self.guard("main", step, name, lambda: dist.all_reduce(torch.zeros(1), group=self.groups["main"]))

    def gather(self, value: Any, step: int) -> list[Any]:
        """Every rank's ``value``, which can be pickled, on every rank."""
        values: list[Any] = [None] * self.size
        self.guard(
            "main", step, "the results", lambda: dist.all_gather_object(values, value, self.groups["main"])
        )
        return values

    def guard(self, group: str, step: int, name: str, call: Callable[[], Any]) -> None:
        """Log a collective of ``group`` and call it; what fails in it is diagnosed."""
        place = self.watch.begin(group, step, name)
        try:
            call()
        except RuntimeError as error:
            raise self.watch.diagnose(group, place, error) from error

    def fail(self, error: BaseException) -> str:
        """Tell the others, and who started the ranks, what ends this one; the sentence comes back."""
        between = rank_error(error)
        told = isinstance(error, (BadArgument, RuntimeUnavailable))  # whose sentence says it all
        what = str(error) if told else f"{type(error).__name__}: {error}"
        sentence = str(between or f"rank {self.rank}: {what}")
        self.watch.fail(sentence)
        return sentence

    def close(self) -> None:
        """Leave, when all collectives are over."""
        self.watch.close()
        dist.destroy_process_group()


def check_distributed() -> None:
    """Raise ``RuntimeUnavailable`` where this PyTorch was built without ``torch.distributed`` or gloo."""
    if not (dist.is_available() and dist.is_gloo_available()):
        raise RuntimeUnavailable(
            "several ranks need torch.distributed with gloo, which this PyTorch was built without; leave --ranks out"
        )


def _bytes(tensor: Tensor) -> Tensor:
    """The same memory as bytes, row by row: gloo knows no bfloat16."""
    return tensor.view(len(tensor), -1).view(torch.uint8)


def rank_error(error: BaseException | None) -> RankError | None:
    """The error between ranks that ``error`` came from: queued work raises it as the cause of its own."""
    while error is not None and not isinstance(error, RankError):
        error = error.__cause__
    return error
