"""The kernels of the all-to-alls: sorting rows by expert and back, packing them into fixed room, weighing.

Each runs on a stream, once its inputs are there.

Source: what DeepEP's dispatch and combine do with rows, in ordinary tensor operations.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def permute(x: Tensor, ids: Tensor, num_experts: int, sent: Any) -> None:
    """Rows of ``x``, once for each expert that a token goes to, sorted by expert; counts to the host."""
    flat = ids.flatten()
    order = flat.argsort(stable=True)
    sent.order.copy_(order)
    torch.index_select(x, 0, order // ids.shape[1], out=sent.tokens)
    assert sent.counts is not None
    sent.counts.extend(torch.bincount(flat, minlength=num_experts).tolist())


def unpermute(y: Tensor, order: Tensor, weights: Tensor, combined: Tensor) -> None:
    """The weighted sum of each token's expert outputs."""
    rows = torch.empty_like(y)
    rows[order] = y
    top_k = weights.shape[1]
    torch.sum(rows.view(-1, top_k, y.shape[1]) * weights.unsqueeze(-1), dim=1, out=combined)


def pack(x: Tensor, ids: Tensor, buffer: Tensor, place: Tensor) -> None:
    """Token rows into each expert's part of the buffer; ``place`` [tokens, top_k] is where each one went."""
    flat = ids.flatten()
    one_hot = torch.nn.functional.one_hot(flat, buffer.shape[0])
    place.copy_((one_hot.cumsum(0).gather(1, flat.unsqueeze(1)).squeeze(1) - 1).view_as(place))
    buffer.zero_()
    buffer[flat, place.flatten()] = x.repeat_interleave(ids.shape[1], dim=0)


def unpack(y: Tensor, ids: Tensor, place: Tensor, rows: Tensor) -> None:
    """Each token's expert outputs, [tokens, top_k, hidden]."""
    rows.copy_(y[ids, place])


def copy(wire: Tensor, arrived: Tensor) -> None:
    arrived.copy_(wire)


def copy_and_weigh(wire: Tensor, arrived: Tensor, weights: Tensor, out: Tensor) -> None:
    arrived.copy_(wire)
    weigh(arrived, weights, out)


def weigh(rows: Tensor, weights: Tensor, out: Tensor) -> None:
    """The weighted sum of each token's expert outputs, [tokens, top_k, hidden] -> [tokens, hidden]."""
    torch.sum(rows * weights.unsqueeze(-1), dim=1, out=out)
