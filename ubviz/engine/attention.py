"""Attention over a paged KV cache, for prefill, decode, and requests cut by a microbatch boundary.

Not here: grouped heads, rotary positions, quantised caches. Attention does not switch streams.

Padding tokens are computed like others, but see nothing and write to a slot that nobody reads.

Source: vLLM ``v1/attention``; the metadata is ``ubviz.ubatch.CommonAttentionMetadata``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..runtime.base import Runtime
from ..ubatch.forward_context import get_forward_context
from ..ubatch.metadata import CommonAttentionMetadata


@dataclass
class AttentionMetadata:
    """One batch's metadata with its index tensors, made once a step and shared by all layers.

    ``gathers``, ``masks`` and ``queries`` have one entry a request that computes something; for a decode one
    padded [tokens, longest] of each instead.
    """

    common: CommonAttentionMetadata = field(compare=False)  # for the host: a graph reads the tensors only
    slots: Tensor = field(repr=False)
    gathers: list[Tensor] = field(repr=False)
    masks: list[Tensor] = field(repr=False)
    queries: list[slice] = field(default_factory=list, repr=False)

    @property
    def decode(self) -> bool:
        """No request has more than one query: one batched call instead of a loop."""
        return self.common.max_query_len <= 1


def build_attention_metadata(
    common: CommonAttentionMetadata, block_size: int, scratch: int, longest: int | None = None
) -> AttentionMetadata:
    """Index tensors for ``common``: where keys and values lie, and which of them a query may see.

    ``scratch`` is the slot that padding tokens write to, and that no request reads. ``longest`` is how many tokens
    a decode gathers for each request (default: as many as the longest has now); a graph needs one that stays the
    same from step to step, as vLLM pads to the longest that the model allows.
    """
    slots = torch.tensor([slot if slot >= 0 else scratch for slot in common.slot_mapping])
    edges = common.query_start_loc
    running = [r for r, query in enumerate(common.query_lens) if query]
    places = [
        [
            common.block_table[r][t // block_size] * block_size + t % block_size
            for t in range(common.seq_lens[r])
        ]
        for r in running
    ]
    if common.max_query_len <= 1:
        places += [[scratch]] * (common.num_tokens_padded - common.num_tokens)
        longest = max([longest or 0, *map(len, places)])
        padded = torch.tensor([each + [0] * (longest - len(each)) for each in places])
        seen = torch.arange(longest)[None, :] < torch.tensor([len(each) for each in places])[:, None]
        return AttentionMetadata(common, slots, [padded], [seen[:, None, None, :]])
    masks = [
        torch.arange(seq)[None, :] <= torch.arange(seq - query, seq)[:, None]
        for seq, query in ((common.seq_lens[r], common.query_lens[r]) for r in running)
    ]
    queries = [slice(edges[r], edges[r + 1]) for r in running]
    return AttentionMetadata(common, slots, [torch.tensor(each) for each in places], masks, queries)


class Attention(nn.Module):
    """Multi-head causal self-attention with its own KV cache of ``num_slots`` tokens, and one slot for padding."""

    def __init__(self, rt: Runtime, hidden: int, heads: int, num_slots: int, layer: int) -> None:
        super().__init__()
        self.rt, self.heads, self.layer = rt, heads, layer
        self.norm = nn.RMSNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden, bias=False)
        self.out = nn.Linear(hidden, hidden, bias=False)
        self.register_buffer("cache", torch.zeros(num_slots + 1, 2, heads, hidden // heads))

    cache: Tensor

    def forward(self, x: Tensor) -> Tensor:
        """[tokens, hidden] -> [tokens, hidden], residual added."""
        metadata: AttentionMetadata = get_forward_context().attn_metadata
        with self.rt.op("attention", cls="compute", layer=self.layer):
            q, kv = self.qkv(self.norm(x)).split([x.shape[1], 2 * x.shape[1]], dim=1)
            self.cache.index_copy_(0, metadata.slots, kv.reshape(-1, *self.cache.shape[1:]))
            q = q.view(-1, self.heads, q.shape[1] // self.heads)
            mixed = self._decode(q, metadata) if metadata.decode else self._prefill(q, metadata)
            return x + self.out(mixed.reshape(x.shape))

    def _decode(self, q: Tensor, metadata: AttentionMetadata) -> Tensor:
        gather = metadata.gathers[0]
        kv = self.cache.index_select(0, gather.flatten()).view(*gather.shape, *self.cache.shape[1:])
        k, v = (kv[:, :, i].transpose(1, 2) for i in (0, 1))
        return F.scaled_dot_product_attention(q.unsqueeze(2), k, v, metadata.masks[0]).squeeze(2)

    def _prefill(self, q: Tensor, metadata: AttentionMetadata) -> Tensor:
        parts = []
        for gather, mask, queries in zip(metadata.gathers, metadata.masks, metadata.queries, strict=True):
            k, v = self.cache.index_select(0, gather).unbind(1)
            heads_first = (t.transpose(0, 1).unsqueeze(0) for t in (q[queries], k, v))
            parts.append(F.scaled_dot_product_attention(*heads_first, mask).squeeze(0).transpose(0, 1))
        if padding := len(q) - metadata.common.num_tokens:
            parts.append(q.new_zeros(padding, *q.shape[1:]))
        return torch.cat(parts)
