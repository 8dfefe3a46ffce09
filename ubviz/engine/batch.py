"""A step's requests, and the tensors and numbers that they become.

Not here: scheduling, chunked prefill, speculative tokens.

Source: vLLM ``v1/worker/gpu_model_runner.py`` (``_prepare_inputs``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from ..ubatch.metadata import CommonAttentionMetadata


@dataclass(frozen=True)
class Request:
    """One request of a step: its KV-cache blocks, tokens computed before, and the tokens to run now."""

    blocks: tuple[int, ...]
    num_computed_tokens: int
    token_ids: tuple[int, ...]

    @property
    def positions(self) -> range:
        """Where in the request's sequence the tokens to run now are."""
        return range(self.num_computed_tokens, self.num_computed_tokens + len(self.token_ids))


def prepare(
    requests: Sequence[Request], block_size: int, num_tokens_padded: int | None = None
) -> tuple[dict[str, Tensor], CommonAttentionMetadata]:
    """Token ids and positions, both [tokens], and the attention metadata; padded behind the last request."""
    positions = [p for r in requests for p in r.positions]
    common = CommonAttentionMetadata(
        query_start_loc=(0, *accumulate(len(r.token_ids) for r in requests)),
        seq_lens=tuple(r.num_computed_tokens + len(r.token_ids) for r in requests),
        slot_mapping=tuple(
            r.blocks[p // block_size] * block_size + p % block_size for r in requests for p in r.positions
        ),
        block_table=tuple(r.blocks for r in requests),
        positions=tuple(positions),
    )
    ids = [t for r in requests for t in r.token_ids]
    if num_tokens_padded is not None and num_tokens_padded > len(ids):
        common = common.padded(num_tokens_padded)
        padding = [0] * (num_tokens_padded - len(ids))
        ids, positions = ids + padding, positions + padding
    return {"input_ids": torch.tensor(ids), "positions": torch.tensor(positions)}, common
