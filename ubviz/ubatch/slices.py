"""Cutting a batch into microbatches: which tokens, and which requests they belong to.

Tokens are cut evenly, also in the middle of a request: the second part sees the first through the KV cache.

Source: vLLM ``vllm/v1/worker/ubatch_utils.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

from ..errors import SlicingError


@dataclass(frozen=True)
class UBatchSlice:
    """One microbatch's share: half-open ranges of requests and of tokens."""

    request_slice: slice
    token_slice: slice

    @property
    def num_tokens(self) -> int:
        return int(self.token_slice.stop - self.token_slice.start)

    def is_empty(self) -> bool:
        return self.request_slice.start == self.request_slice.stop or self.num_tokens == 0


UBatchSlices = list[UBatchSlice]


def maybe_create_ubatch_slices(
    should_ubatch: bool,
    num_scheduled_tokens: Sequence[int],
    num_tokens_padded: int,
    num_reqs_padded: int,
    num_ubatches: int,
    split_point: int | Sequence[int] | None = None,
) -> tuple[UBatchSlices | None, UBatchSlices | None]:
    """Slices of the real batch, and the same with the last one stretched over the padding.

    ``num_scheduled_tokens`` has one number a request. ``split_point`` is the width of all but the last
    microbatch (default: an even share of the padded tokens), or the cuts themselves.

    >>> slices, padded = maybe_create_ubatch_slices(True, [3, 5], 8, 2, 2)
    >>> [(s.request_slice, s.token_slice) for s in slices]
    [(slice(0, 2, None), slice(0, 4, None)), (slice(1, 2, None), slice(4, 8, None))]

    Raises ``SlicingError`` when a cut lies outside the batch or cuts do not ascend.
    """
    if not should_ubatch:
        return None, None
    starts = [0, *accumulate(int(n) for n in num_scheduled_tokens)]
    cuts = _cuts(num_tokens_padded, num_ubatches, split_point)
    edges = [0, *(min(cut, starts[-1]) for cut in cuts), starts[-1]]
    slices = [_slice(starts, start, stop) for start, stop in pairwise(edges)]
    last = slices[-1]
    padded_last = UBatchSlice(
        slice(last.request_slice.start, max(num_reqs_padded, last.request_slice.stop)),
        slice(cuts[-1], num_tokens_padded),
    )
    inner = [
        replace(s, token_slice=slice(start, stop))
        for s, (start, stop) in zip(slices[:-1], pairwise([0, *cuts]), strict=True)
    ]
    return slices, [*inner, padded_last]


def _cuts(num_tokens: int, num_ubatches: int, split_point: int | Sequence[int] | None) -> list[int]:
    if num_ubatches < 2:
        raise SlicingError(f"a batch is split into at least 2 microbatches, not {num_ubatches}")
    if split_point is None:
        split_point = num_tokens // num_ubatches
    if isinstance(split_point, int):
        cuts = [split_point * i for i in range(1, num_ubatches)]
    else:
        cuts = [int(cut) for cut in split_point]
    if num_tokens < num_ubatches:
        raise SlicingError(
            f"{num_ubatches} microbatches need at least {num_ubatches} tokens, not {num_tokens}"
        )
    if len(cuts) != num_ubatches - 1 or any(b <= a for a, b in pairwise([0, *cuts, num_tokens])):
        raise SlicingError(f"{num_tokens} tokens cannot be cut at {cuts} into {num_ubatches} microbatches")
    return cuts


def _slice(starts: Sequence[int], start: int, stop: int) -> UBatchSlice:
    """The requests that have a token in [start, stop)."""
    first = next((i for i, (a, b) in enumerate(pairwise(starts)) if a <= start < b), len(starts) - 1)
    end = next((i for i, a in enumerate(starts) if a >= stop), len(starts) - 1)
    return UBatchSlice(slice(first, max(first, end)), slice(start, stop))


@dataclass(frozen=True)
class CommonAttentionMetadata:
    """What attention needs to know of a batch, in plain numbers on the host.

    ``query_start_loc``: first token of each request, and the end; ``seq_lens``: tokens of each request after
    this step, earlier ones included; ``slot_mapping``: KV-cache slot of each token; ``block_table``: KV-cache
    blocks of each request.
    """

    query_start_loc: tuple[int, ...]
    seq_lens: tuple[int, ...]
    slot_mapping: tuple[int, ...]
    block_table: tuple[tuple[int, ...], ...]

    @property
    def num_reqs(self) -> int:
        return len(self.seq_lens)

    @property
    def num_tokens(self) -> int:
        return self.query_start_loc[-1]

    @property
    def query_lens(self) -> tuple[int, ...]:
        return tuple(b - a for a, b in pairwise(self.query_start_loc))

    @property
    def num_computed_tokens(self) -> tuple[int, ...]:
        return tuple(s - q for s, q in zip(self.seq_lens, self.query_lens, strict=True))


def split_attn_metadata(
    ubatch_slices: Sequence[UBatchSlice], metadata: CommonAttentionMetadata
) -> list[CommonAttentionMetadata]:
    """One microbatch's metadata each; the parent is not modified.

    A request that a cut goes through appears in both parts: in the first with its sequence ending at the cut,
    in the second with the tokens before the cut already computed.
    """
    return [_split_one(part, metadata) for part in ubatch_slices]


def _split_one(part: UBatchSlice, parent: CommonAttentionMetadata) -> CommonAttentionMetadata:
    start, stop = part.token_slice.start, part.token_slice.stop
    requests = range(part.request_slice.start, part.request_slice.stop)
    edges = parent.query_start_loc
    firsts = [max(edges[r], start) for r in requests]
    lasts = [min(edges[r + 1], stop) for r in requests]
    return CommonAttentionMetadata(
        query_start_loc=(*(first - start for first in firsts), lasts[-1] - start if lasts else 0),
        seq_lens=tuple(
            parent.seq_lens[r] - (edges[r + 1] - last) for r, last in zip(requests, lasts, strict=True)
        ),
        slot_mapping=parent.slot_mapping[start:stop],
        block_table=tuple(parent.block_table[r] for r in requests),
    )


def slice_model_inputs(tokens: slice, inputs: dict[str, Any], num_tokens: int) -> dict[str, Any]:
    """The inputs of one microbatch: tensors of ``num_tokens`` rows are cut, everything else is passed on."""
    return {
        name: value[tokens] if getattr(value, "shape", (None,))[:1] == (num_tokens,) else value
        for name, value in inputs.items()
    }
