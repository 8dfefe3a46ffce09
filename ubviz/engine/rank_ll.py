"""``ll`` between ranks: every expert has room for every token of every rank, so no shape depends on data.

The price is that the room that stays empty is sent too. The send starts the transfer and the receive waits for it;
between them it is in flight on no stream, and measured. Rows travel as [rank, own expert, room, hidden].

Source: DeepEP ``buffer.py``; vLLM ``deepep_ll_prepare_finalize.py``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..runtime.base import Runtime
from ..ubatch import dbo
from ..ubatch.forward_context import get_forward_context
from .all2all import Dispatched, LowLatency, Routed, SharedExperts
from .kernels import pack, weigh
from .rank_call import Caller, RankLink
from .ranks import Call, Ranks


class RankFlight:
    """One transfer between ranks: departs when its send ends, arrives when all rows are there."""

    label = "measured"

    def __init__(self, caller: Caller, link: Any, call: Call, wire: Tensor, buffer: Tensor) -> None:
        self.caller, self.link, self.call, self.wire, self.buffer = caller, link, call, wire, buffer
        self.nbytes, self.duration_ns = buffer.nbytes, 0

    def again(self) -> RankFlight:
        """The same rows of a graph's buffers, for one replay."""
        return RankFlight(
            self.caller, self.link, self.caller.announce_again(self.call), self.wire, self.buffer
        )

    def depart(self, launch: Any) -> None:
        """Start; called by the sending kernel."""
        self.launch, self.start_ns = launch, self.link.runtime.now_ns()
        self.end_ns = 0
        self._finish = self.caller.ranks.start_all_to_all(
            self.call, self.wire, self.buffer, then=self._landed
        )

    def _landed(self) -> None:
        self.end_ns = self.link.runtime.now_ns()

    def lose(self, error: BaseException) -> None:
        """Never depart: the sending kernel failed, and with it all later ones of its stream."""

    def arrive(self) -> None:
        """Wait for the rows; called by the receiving kernel."""
        self._finish()
        runtime = self.link.runtime
        self.end_ns = self.end_ns or runtime.now_ns()
        self.duration_ns = self.end_ns - self.start_ns
        if (device := runtime.hooks.device) is not None:
            device("transfer", self.link, (self, self.launch, self.start_ns, self.end_ns))


class RankLowLatency(LowLatency, Caller):
    """``ll`` between ranks."""

    def __init__(self, rt: Runtime, num_experts: int, ranks: Ranks) -> None:
        super().__init__(rt, num_experts, RankLink(ranks.size))  # type: ignore[arg-type]
        self.ranks = ranks

    def fly(self, name: str, layer: int, buffer: Tensor, nbytes: int) -> tuple[Any, Tensor]:
        wire = torch.empty_like(buffer)
        call = self.announce(name, layer)
        return RankFlight(self, self.network, call, wire, buffer), wire

    def prepare(self, x: Tensor, routed: Routed, layer: int) -> Dispatched:
        dbo.dbo_maybe_run_recv_hook()
        room = get_forward_context().dp_metadata.max_tokens_across_dp
        buffer = x.new_empty(self.num_experts, room, x.shape[1])
        share = self.num_experts // self.ranks.size
        sent = Dispatched(
            x.new_empty(share, self.ranks.size * room, x.shape[1]), torch.empty_like(routed.ids)
        )
        self.exchange(
            "dispatch", (pack, (x, routed.ids, buffer, sent.order)), buffer, (_by_expert, (sent.tokens,)),
            (sent.tokens,), layer, buffer.nbytes,
        )  # fmt: skip
        return sent

    def finalize(
        self, y: Tensor, sent: Dispatched, routed: Routed, x: Tensor, shared: SharedExperts, layer: int
    ) -> tuple[Tensor, Tensor]:
        dbo.dbo_maybe_run_recv_hook()
        buffer = y.new_empty(self.num_experts, y.shape[1] // self.ranks.size, y.shape[2])
        out, alongside = torch.empty_like(x), []
        self.exchange(
            "combine", (_by_rank, (y, buffer)), buffer,
            (_take_and_weigh, (routed.ids, sent.order, routed.weights, out)), (out,), layer, buffer.nbytes,
            meanwhile=lambda: alongside.append(shared(x, layer)),
        )  # fmt: skip
        return out, alongside[0]


# ---- kernels


def _by_expert(wire: Tensor, tokens: Tensor) -> None:
    """What has come from each rank -> [own expert, rank * room, hidden]."""
    share, room = tokens.shape[0], wire.shape[1]
    tokens.view(share, -1, room, wire.shape[2]).copy_(
        wire.view(-1, share, room, wire.shape[2]).transpose(0, 1)
    )


def _by_rank(y: Tensor, buffer: Tensor) -> None:
    """The way back of ``_by_expert``."""
    share, room = y.shape[0], buffer.shape[1]
    buffer.view(-1, share, room, y.shape[2]).copy_(y.view(share, -1, room, y.shape[2]).transpose(0, 1))


def _take_and_weigh(wire: Tensor, ids: Tensor, place: Tensor, weights: Tensor, out: Tensor) -> None:
    """Each token's rows out of all experts', and their weighted sum."""
    weigh(wire[ids, place], weights, out)
