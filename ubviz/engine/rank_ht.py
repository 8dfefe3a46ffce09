"""``ht`` between ranks: tokens sorted by expert, as many as there are, on the stream that is current.

1. The dispatch exchanges how many rows come for each expert, then the rows themselves; how much arrives is known
   only then, which is why it blocks the host.
2. What has come from each rank, sorted by expert there, is sorted by expert over all ranks.
3. The combine sends the rows back the same way, and weighs them.

Source: DeepEP ``buffer.py``; vLLM ``deepep_ht_prepare_finalize.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..runtime.base import Runtime
from .all2all import Dispatched, HighThroughput, Routed
from .kernels import unpermute
from .rank_call import Caller, RankLink
from .ranks import Call, Ranks


class WayBack(NamedTuple):
    """How the rows of a dispatch go back: how many to whom, and in which order they arrived."""

    rows_out: list[int]
    rows_in: list[int]
    by_expert: Tensor


class RankHighThroughput(HighThroughput, Caller):
    """``ht`` between ranks."""

    def __init__(self, rt: Runtime, num_experts: int, ranks: Ranks) -> None:
        super().__init__(rt, num_experts, RankLink(ranks.size))  # type: ignore[arg-type]
        self.ranks = ranks

    def room(self, x: Tensor, routed: Routed) -> Dispatched:
        return Dispatched(x, routed.ids.new_empty(routed.ids.numel()), [])  # tokens come with the dispatch

    def dispatch(self, x: Tensor, routed: Routed, sent: Dispatched, layer: int) -> None:
        counts = self.announce("dispatch counts", layer)
        rows = self.announce("dispatch", layer)
        self.rt.launch(
            "dispatch", self._send_out, x, routed.ids, sent, counts, rows, cls="comm", reads=(x, routed.ids),
            writes=(sent.order,), host_wait=True,
        )  # fmt: skip

    def combine(self, y: Tensor, sent: Dispatched, routed: Routed, combined: Tensor, layer: int) -> None:
        rows = self.announce("combine", layer)
        self.rt.launch(
            "combine", self._send_back, y, sent, routed.weights, combined, rows, cls="comm",
            reads=(y, sent.order, routed.weights), writes=(combined,),
        )  # fmt: skip

    # ---- kernels

    def _send_out(self, x: Tensor, ids: Tensor, sent: Dispatched, counts_call: Call, rows_call: Call) -> None:
        size, flat = self.ranks.size, ids.flatten()
        order = flat.argsort(stable=True)
        sent.order.copy_(order)
        counts = torch.bincount(flat, minlength=self.num_experts)  # of each expert, rank after rank
        coming = torch.empty_like(counts)  # [rank, own expert]
        self.ranks.all_to_all(counts_call, coming, counts)
        rows_out, rows_in = (each.view(size, -1).sum(1).tolist() for each in (counts, coming))
        arrived = x.new_empty(sum(rows_in), x.shape[1])
        self.ranks.all_to_all(rows_call, arrived, x.index_select(0, order // ids.shape[1]), rows_in, rows_out)
        own = torch.arange(self.num_experts // size).repeat(size)
        by_expert = own.repeat_interleave(coming).argsort(stable=True)
        sent.tokens = arrived.index_select(0, by_expert)
        sent.counts = coming.view(size, -1).sum(0).tolist()
        sent.way_back = WayBack(rows_out, rows_in, by_expert)

    def _send_back(self, y: Tensor, sent: Dispatched, weights: Tensor, combined: Tensor, call: Call) -> None:
        way: WayBack = sent.way_back
        rows = torch.empty_like(y)
        rows[way.by_expert] = y
        returned = y.new_empty(sum(way.rows_out), y.shape[1])
        self.ranks.all_to_all(call, returned, rows, way.rows_out, way.rows_in)
        unpermute(returned, sent.order, weights, combined)
