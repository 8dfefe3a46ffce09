"""A small mixture-of-experts transformer: real attention, real routing, real experts.

The same module runs unsplit, split without overlap, and overlapped: all that differs is whether microbatches
are alive when it calls the ``dbo_*`` functions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..errors import BadArgument
from ..runtime.base import Runtime
from .all2all import LinkModel, PrepareFinalize, make_prepare_finalize
from .attention import Attention
from .moe import MoE
from .rank_all2all import make_rank_prepare_finalize
from .ranks import Ranks


@dataclass(frozen=True)
class ModelConfig:
    """Sizes. The defaults make a layer's kernels take 0.1 to 10 ms on one CPU core."""

    layers: int = 4
    hidden: int = 512
    heads: int = 8
    inner: int = 512  # width of one expert
    shared: int = 256  # width of the shared expert
    experts: int = 4
    top_k: int = 2
    vocabulary: int = 512
    block_size: int = 16  # KV-cache slots a block
    num_blocks: int = 64

    @property
    def num_slots(self) -> int:
        return self.block_size * self.num_blocks


class MoETransformer(nn.Module):
    """``forward(input_ids=[tokens], positions=[tokens]) -> [tokens, hidden]``.

    The forward context holds the attention metadata.
    """

    def __init__(self, config: ModelConfig, rt: Runtime, style: str, link: LinkModel) -> None:
        super().__init__()
        if config.hidden % config.heads:
            raise BadArgument(f"hidden size {config.hidden} is not a multiple of {config.heads} heads")
        self.config, self.rt = config, rt
        self.all2all: PrepareFinalize = make_prepare_finalize(style, rt, config.experts, link)
        self.embed = nn.Embedding(config.vocabulary, config.hidden)
        self.place = nn.Embedding(config.num_slots, config.hidden)
        self.attention = nn.ModuleList(
            Attention(rt, config.hidden, config.heads, config.num_slots, i) for i in range(config.layers)
        )
        self.moe = nn.ModuleList(
            MoE(rt, self.all2all, config.hidden, config.inner, config.shared, config.experts, config.top_k, i)
            for i in range(config.layers)
        )
        self.norm = nn.RMSNorm(config.hidden)

    def join(self, ranks: Ranks) -> None:
        """Become one rank's part of the model: experts are divided, everything else is there on each rank."""
        self.all2all = make_rank_prepare_finalize(self.all2all.style, self.rt, self.config.experts, ranks)
        for moe in self.moe:
            moe.join(self.all2all, ranks.own(self.config.experts))

    @torch.inference_mode()
    def forward(self, input_ids: Tensor, positions: Tensor) -> Tensor:
        with self.rt.op("embed", cls="compute"):
            x = self.embed(input_ids) + self.place(positions)
        for attention, moe in zip(self.attention, self.moe, strict=True):
            x = moe(attention(x))
        with self.rt.op("norm", cls="compute"):
            return self.norm(x)

    @torch.inference_mode()
    def compute_logits(self, hidden: Tensor) -> Tensor:
        """[requests, hidden] -> [requests, vocabulary]; the embedding is shared."""
        return hidden @ self.embed.weight.T
