"""Ranks: real processes that exchange tokens by ``torch.distributed``, over gloo on CPUs.

Gloo may be called from any thread, but the calls of one group must come in the same order on every rank. Work that
is queued on a stream runs on the stream's worker, so each stream has a group of its own (as NCCL has a communicator
for each stream), and the vote, which is called by main, has one too.

Every collective has a time limit, and is logged before it begins (``watch``); one that fails says which rank was
not there. A group is broken after that: the processes end.

Gloo pairs whatever comes next in a group. Ranks that begin their collectives in another order would exchange the wrong
rows without a word, or, where these have other sizes, be aborted by it. So each collective begins with a small exchange
of names, of the same size on all ranks, and none moves rows before all are in the same one.

Source: ``torch.distributed``; vLLM ``distributed/parallel_state.py``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from ..errors import BadArgument, MissedCollective, RankError, RuntimeUnavailable
from .logs import Entry, unlike
from .watch import Watch

GROUPS = ("main", "compute", "comm")
"""One for main's own collectives, one for each stream, by its name."""
START_S = 60.0  # ranks may start that far apart
_POLL_S = 0.02
_NAME_BYTES = 128  # a step, and a name such as "dispatch counts of layer 12, microbatch 3"


class Call(NamedTuple):
    """Which collective: the group that it is in, its step and its name."""

    group: str
    step: int
    name: str


class Place(NamedTuple):
    """Which rank this is, of how many, and where they meet."""

    rank: int
    size: int
    host: str
    port: int

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Place:
        """What ``torchrun`` has put into ``environment``; ``BadArgument`` names what is not there, or no number."""
        for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            if name not in environment:
                raise BadArgument(f"{name} is not set; start ranks with torchrun, or with ubviz demo --ranks")
        rank, size, port = (_number(name, environment) for name in ("RANK", "WORLD_SIZE", "MASTER_PORT"))
        if rank >= size:
            raise BadArgument(f"RANK is {rank}, but of {size} ranks (WORLD_SIZE) the last is {size - 1}")
        return cls(rank, size, environment["MASTER_ADDR"], port)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def _number(name: str, environment: Mapping[str, str]) -> int:
    if not environment[name].isdecimal():
        raise BadArgument(f"{name} is a whole number from 0 on, not {environment[name]!r}")
    return int(environment[name])


class Ranks:
    """This process among the ranks.

    >>> ranks = Ranks.join(limit_s=30)  # doctest: +SKIP
    >>> ranks.rank, ranks.size  # doctest: +SKIP
    (0, 2)
    """

    def __init__(self, rank: int, size: int, watch: Watch, groups: dict[str, Any]) -> None:
        self.rank, self.size = rank, size
        self.watch, self.groups = watch, groups
        self._threads = {name: ThreadPoolExecutor(1, f"ubviz rank {name}") for name in groups}

    @classmethod
    def join(cls, limit_s: float = 30.0) -> Ranks:
        """Meet the other ranks, as ``RANK``, ``WORLD_SIZE``, ``MASTER_ADDR`` and ``MASTER_PORT`` say (torchrun's).

        Raises ``BadArgument`` where these say nothing that can be used, ``RankError`` where nobody is met.
        """
        check_distributed()
        where = Place.of(os.environ)
        start_s = max(START_S, limit_s)
        start, limit = timedelta(seconds=start_s), timedelta(seconds=limit_s)
        try:
            store, rank, size = next(dist.rendezvous("env://", timeout=start))
            own = dist.TCPStore(where.host, where.port, is_master=False, timeout=start)
            told = dist.PrefixStore("ubviz", own)  # from here on for the watch's thread alone
            meet(told, rank, size, start_s)
            dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=start)
            groups = {name: dist.new_group(timeout=limit, backend="gloo") for name in GROUPS}
        except RankError:
            raise
        except RuntimeError as error:
            said = str(error).splitlines()[0]
            raise RankError(f"rank {where.rank} could not join the others at {where}: {said}") from error
        return cls(rank, size, Watch(told, rank, size, limit_s), groups)

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
        """Add up ``tensor`` over all ranks: the vote of a step, which carries the step itself."""
        call = Call("main", step, "the vote")
        self._guarded(call, lambda: dist.all_reduce(tensor, group=self.groups["main"]), any_step=True)

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
        then: Callable[[], None] = lambda: None,
    ) -> Callable[[], None]:
        """Begin, and return what waits for the end; ``then`` is called when the data is there.

        A group's exchanges run one after the other, on a thread of its own.
        """

        def exchange() -> None:
            with torch.inference_mode():  # as the tensors may have been made
                dist.all_to_all_single(
                    _bytes(output), _bytes(input), rows_in, rows_out, group=self.groups[call.group]
                )
            then()

        begun = self._threads[call.group].submit(self._guarded, call, exchange)
        return begun.result

    def barrier(self, step: int, name: str) -> None:
        """Wait until every rank is here."""
        self.guard("main", step, name, lambda: dist.all_reduce(torch.zeros(1), group=self.groups["main"]))

    def gather(self, value: Any) -> list[Any]:
        """Every rank's ``value``, which can be pickled, on every rank; it belongs to the step that was last."""
        values: list[Any] = [None] * self.size
        step, main = self.watch.last_step, self.groups["main"]
        self.guard("main", step, "the results", lambda: dist.all_gather_object(values, value, main))
        return values

    def guard(self, group: str, step: int, name: str, call: Callable[[], Any]) -> None:
        """Log a collective of ``group`` and call it when all ranks are in it; what fails in it is diagnosed."""
        self._guarded(Call(group, step, name), call)

    def _guarded(self, call: Call, run: Callable[[], Any], any_step: bool = False) -> None:
        place = self.watch.begin(*call)
        try:
            entries = self._entries(call)
            same = any_step and len({entry.name for entry in entries.values()}) == 1
            if not same and (wrong := unlike(entries)) is not None:
                raise MissedCollective(wrong)
            run()
        except RankError:
            raise
        except RuntimeError as error:
            raise self.watch.diagnose(call.group, place, error) from error

    def _entries(self, call: Call) -> dict[int, Entry]:
        """Which collective each rank is about to begin in this group."""
        mine = f"{call.step} {call.name}".encode()[:_NAME_BYTES].ljust(_NAME_BYTES, b"\0")
        rows = torch.empty(self.size, _NAME_BYTES, dtype=torch.uint8)
        row = torch.frombuffer(bytearray(mine * self.size), dtype=torch.uint8).view(self.size, -1)
        dist.all_to_all_single(rows, row, group=self.groups[call.group])
        return {rank: _entry(bytes(each.tolist())) for rank, each in enumerate(rows)}

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
        for thread in self._threads.values():
            thread.shutdown()
        self.watch.close()
        dist.destroy_process_group()


def meet(store: Any, rank: int, size: int, limit_s: float) -> None:
    """Wait until every rank is here; raise ``MissedCollective`` with who is not after ``limit_s`` seconds."""
    store.set(f"here/{rank}", "")
    deadline = time.monotonic() + limit_s
    missing = [peer for peer in range(size) if peer != rank]
    while missing := [peer for peer in missing if not store.check([f"here/{peer}"])]:
        if time.monotonic() > deadline:
            who = " and ".join(f"rank {peer}" for peer in missing)
            sentence = f"{who} did not come to meet the others within {limit_s:g} s; rank {rank} waited"
            store.set(f"failed/{rank}", sentence)
            raise MissedCollective(sentence)
        time.sleep(_POLL_S)


def check_distributed() -> None:
    """Raise ``RuntimeUnavailable`` where this PyTorch was built without ``torch.distributed`` or gloo."""
    if not (dist.is_available() and dist.is_gloo_available()):
        raise RuntimeUnavailable(
            "several ranks need torch.distributed with gloo, which this PyTorch was built without; leave --ranks out"
        )


def _entry(row: bytes) -> Entry:
    step, _, name = row.rstrip(b"\0").decode(errors="replace").partition(" ")
    return Entry(int(step), name)


def _bytes(tensor: Tensor) -> Tensor:
    """The same memory as bytes, row by row: gloo knows no bfloat16."""
    return tensor.view(len(tensor), -1).view(torch.uint8)


def rank_error(error: BaseException | None) -> RankError | None:
    """The error between ranks that ``error`` came from: queued work raises it as the cause of its own."""
    while error is not None and not isinstance(error, RankError):
        error = error.__cause__
    return error
