"""A transformer block with experts, in plain PyTorch: what people run on streams, in small."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class Attention(nn.Module):
    """Causal self-attention over [batch, tokens, hidden]."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(a.transpose(1, 2).reshape(b, t, d))


class MoE(nn.Module):
    """Top-k experts over [tokens, hidden]; ``dynamic`` reads the counts on the host, else every expert masks."""

    def __init__(self, hidden: int, inner: int, experts: int, top_k: int, dynamic: bool) -> None:
        super().__init__()
        self.experts, self.top_k, self.dynamic = experts, top_k, dynamic
        self.norm = nn.RMSNorm(hidden)
        self.gate = nn.Linear(hidden, experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(experts, hidden, 2 * inner) * hidden**-0.5)
        self.w2 = nn.Parameter(torch.randn(experts, inner, hidden) * inner**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        normed = self.norm(x)
        weights, ids = self.gate(normed).softmax(-1).topk(self.top_k, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        order = ids.flatten().argsort(stable=True)
        rows = normed.index_select(0, order // self.top_k)
        done = self._by_count(rows, ids) if self.dynamic else self._by_mask(rows, ids)
        return x.index_add(0, order // self.top_k, done * weights.flatten().index_select(0, order)[:, None])

    def _expert(self, rows: Tensor, expert: int) -> Tensor:
        gate, up = (rows @ self.w1[expert]).chunk(2, -1)
        return (F.silu(gate) * up) @ self.w2[expert]

    def _by_count(self, rows: Tensor, ids: Tensor) -> Tensor:
        counts = torch.bincount(ids.flatten(), minlength=self.experts).tolist()
        parts = rows.split(counts)
        return torch.cat([self._expert(part, expert) for expert, part in enumerate(parts)])

    def _by_mask(self, rows: Tensor, ids: Tensor) -> Tensor:
        mine = ids.flatten().sort(stable=True).values
        out = torch.zeros_like(rows)
        for expert in range(self.experts):
            out = out + torch.where((mine == expert)[:, None], self._expert(rows, expert), 0.0)
        return out


class Block(nn.Module):
    """One layer: attention, then experts."""

    def __init__(self, hidden: int = 64, dynamic: bool = False) -> None:
        super().__init__()
        self.attention = Attention(hidden, heads=4)
        self.moe = MoE(hidden, inner=96, experts=4, top_k=2, dynamic=dynamic)

    def forward(self, x: Tensor) -> Tensor:
        h = self.attention(x)
        return self.moe(h.reshape(-1, h.shape[-1])).view_as(x)
