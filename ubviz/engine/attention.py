"""Attention over a paged KV cache, for prefill, decode, and requests cut by a microbatch boundary.

Not here: grouped heads, rotary positions, quantised caches. Attention does not switch streams.

Source: vLLM ``v1/attention``; the metadata is ``ubviz.ubatch.CommonAttentionMetadata``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..runtime.base import Runtime
from ..ubatch.forward_context import get_forward_context
from ..ubatch.slices import CommonAttentionMetadata


@dataclass
class AttentionMetadata:
    """One batch's metadata with its index tensors, made once a step and shared by all layers."""

    common: CommonAttentionMetadata
    slots: Tensor = field(repr=False)
    gathers: list[Tensor] = field(repr=False)  # per request, or one padded [requests, longest] for decode
    masks: list[Tensor] = field(repr=False)

    @property
    def decode(self) -> bool:
        """Every request has exactly one query: one batched call instead of a loop."""
        return all(n == 1 for n in self.common.query_lens)


def build_attention_metadata(common: CommonAttentionMetadata, block_size: int) -> AttentionMetadata:
    """Index tensors for ``common``: where keys and values lie, and which of them a query may see."""
    slots = torch.tensor(common.slot_mapping)
    per_request = [
        [blocks[t // block_size] * block_size + t % block_size for t in range(length)]
        for blocks, length in zip(common.block_table, common.seq_lens, strict=True)
    ]
    if all(n == 1 for n in common.query_lens):
        longest = max(common.seq_lens)
        padded = torch.tensor([places + [0] * (longest - len(places)) for places in per_request])
        seen = torch.arange(longest)[None, :] < torch.tensor(common.seq_lens)[:, None]
        return AttentionMetadata(common, slots, [padded], [seen[:, None, None, :]])
    masks = [
        torch.arange(seq)[None, :] <= torch.arange(seq - query, seq)[:, None]
        for seq, query in zip(common.seq_lens, common.query_lens, strict=True)
    ]
    return AttentionMetadata(common, slots, [torch.tensor(places) for places in per_request], masks)


class Attention(nn.Module):
    """Multi-head causal self-attention with its own KV cache of ``num_slots`` tokens."""

    def __init__(self, rt: Runtime, hidden: int, heads: int, num_slots: int, layer: int) -> None:
        super().__init__()
        self.rt, self.heads, self.layer = rt, heads, layer
        self.norm = nn.RMSNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden, bias=False)
        self.out = nn.Linear(hidden, hidden, bias=False)
        self.register_buffer("cache", torch.zeros(num_slots, 2, heads, hidden // heads))

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
        starts = metadata.common.query_start_loc
        for r, (gather, mask) in enumerate(zip(metadata.gathers, metadata.masks, strict=True)):
            k, v = self.cache.index_select(0, gather).unbind(1)
            query = q[starts[r] : starts[r + 1]]
            heads_first = (t.transpose(0, 1).unsqueeze(0) for t in (query, k, v))
            parts.append(F.scaled_dot_product_attention(*heads_first, mask).squeeze(0).transpose(0, 1))
        return torch.cat(parts)
