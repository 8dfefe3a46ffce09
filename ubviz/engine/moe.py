"""A mixture-of-experts layer: router, all-to-all, grouped experts, shared expert.

Source: vLLM ``model_executor/layers/fused_moe/modular_kernel.py``.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..runtime.base import Runtime
from .all2all import Dispatched, PrepareFinalize, Routed


class MoE(nn.Module):
    """Each token goes to its ``top_k`` experts; one more expert, shared, sees them all."""

    def __init__(
        self, rt: Runtime, all2all: PrepareFinalize, hidden: int, inner: int, shared: int, experts: int,
        top_k: int, layer: int,
    ) -> None:  # fmt: skip
        super().__init__()
        self.rt, self.all2all, self.top_k, self.layer = rt, all2all, top_k, layer
        self.norm = nn.RMSNorm(hidden)
        self.gate = nn.Linear(hidden, experts, bias=False)
        self.w1 = nn.Parameter(torch.randn(experts, hidden, 2 * inner) * hidden**-0.5)
        self.w2 = nn.Parameter(torch.randn(experts, inner, hidden) * inner**-0.5)
        self.shared_up = nn.Linear(hidden, shared, bias=False)
        self.shared_down = nn.Linear(shared, hidden, bias=False)

    def join(self, all2all: PrepareFinalize, own: range) -> None:
        """Become one rank's part of the layer: keep only its own experts, and reach the others by ``all2all``."""
        self.all2all = all2all
        for name in ("w1", "w2"):
            kept = getattr(self, name)[own.start : own.stop].detach().clone()
            setattr(self, name, nn.Parameter(kept, requires_grad=False))

    def forward(self, x: Tensor) -> Tensor:
        """[tokens, hidden] -> [tokens, hidden], residual added."""
        h, routed = self.route(x)
        sent = self.all2all.prepare(h, routed, self.layer)
        y = self.experts(sent)
        mixed, alongside = self.all2all.finalize(y, sent, routed, h, self.shared_experts, self.layer)
        with self.rt.op("residual", cls="compute", layer=self.layer):
            return x + mixed + alongside

    def route(self, x: Tensor) -> tuple[Tensor, Routed]:
        """Normalised tokens, and the experts and weights of each."""
        with self.rt.op("router", cls="compute", layer=self.layer):
            h = self.norm(x)
            weights, ids = self.gate(h).softmax(-1).topk(self.top_k, -1)
            return h, Routed(ids, weights / weights.sum(-1, keepdim=True))

    def experts(self, sent: Dispatched) -> Tensor:
        """Every expert on its tokens, in the layout they came in."""
        with self.rt.op("experts", cls="compute", layer=self.layer):
            if sent.counts is None:
                return _swiglu(sent.tokens @ self.w1) @ self.w2
            parts = sent.tokens.split(sent.counts)
            rows = [_swiglu(part @ self.w1[e]) @ self.w2[e] for e, part in enumerate(parts) if len(part)]
            return torch.cat(rows) if rows else sent.tokens

    def shared_experts(self, h: Tensor, layer: int) -> Tensor:
        """The expert that sees every token; it needs no communication."""
        with self.rt.op("shared experts", cls="compute", layer=layer):
            return self.shared_down(F.silu(self.shared_up(h)))


def _swiglu(x: Tensor) -> Tensor:
    gate, up = x.chunk(2, -1)
    return F.silu(gate) * up
