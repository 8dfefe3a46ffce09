"""What attention needs to know of a batch, and of each microbatch that it is cut into.

A request that a cut goes through appears in both parts: in the first its sequence ends at the cut, in the second
the tokens before the cut are already computed. Of a request with 24 computed and 8 new tokens, cut after 4, the
first part ends at 28 with 24 computed, the second at 32 with 28 computed (24 would compute four tokens twice).

Everything is plain numbers on the host in tuples: a part is made of new ones, and nothing that is done to it can
reach the batch.

Source: vLLM ``vllm/v1/worker/ubatch_utils.py``, ``v1/attention/backend.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from ..errors import SlicingError
from .slices import UBatchSlice

PAD_SLOT_ID = -1
"""The KV-cache slot of a token that is only padding: it is stored nowhere that a request can see."""


@dataclass(frozen=True)
class CommonAttentionMetadata:
    """What attention needs to know of a batch; any sequence, array or tensor of numbers is taken over as a tuple.

    ``query_start_loc``: first token of each request, and the end; ``seq_lens``: tokens of each request after
    this step, earlier ones included, 0 for a request that is only padding; ``slot_mapping``: KV-cache slot of
    each token, padding tokens included; ``block_table``: KV-cache blocks of each request; ``positions``:
    [tokens], or [3][tokens] for M-RoPE; ``is_padding``: true where a token is only padding.

    Raises ``SlicingError`` when the lengths do not belong together or a request would have a negative count.
    """

    query_start_loc: tuple[int, ...]
    seq_lens: tuple[int, ...]
    slot_mapping: tuple[int, ...]
    block_table: tuple[tuple[int, ...], ...]
    positions: tuple[Any, ...] = field(default=(), repr=False)
    is_padding: tuple[bool, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, _tuple(getattr(self, name)))
        if len(self.query_start_loc) != len(self.seq_lens) + 1 or self.query_start_loc[0] != 0:
            raise SlicingError(
                f"query_start_loc {self.query_start_loc} does not belong to {len(self.seq_lens)} requests: it "
                "begins with 0 and has one number more"
            )
        counts = ("query_lens", self.query_lens), ("num_computed_tokens", self.num_computed_tokens)
        for name, numbers in counts:
            if min(numbers, default=0) < 0:
                raise SlicingError(f"{name} {list(numbers)} holds a negative count")
        if len(self.slot_mapping) < self.num_tokens:
            raise SlicingError(f"{self.num_tokens} tokens have only {len(self.slot_mapping)} slots")

    @property
    def num_reqs(self) -> int:
        """Requests that are not only padding."""
        return sum(length > 0 for length in self.seq_lens)

    @property
    def num_reqs_padded(self) -> int:
        return len(self.seq_lens)

    @property
    def num_tokens(self) -> int:
        """Tokens that are not only padding."""
        return self.query_start_loc[-1]

    @property
    def num_tokens_padded(self) -> int:
        return len(self.slot_mapping)

    @property
    def query_lens(self) -> tuple[int, ...]:
        return tuple(b - a for a, b in pairwise(self.query_start_loc))

    @property
    def max_query_len(self) -> int:
        return max(self.query_lens, default=0)

    @property
    def max_seq_len(self) -> int:
        return max(self.seq_lens, default=0)

    @property
    def num_computed_tokens(self) -> tuple[int, ...]:
        return tuple(s - q for s, q in zip(self.seq_lens, self.query_lens, strict=True))

    def padded(self, num_tokens: int, num_reqs: int | None = None) -> CommonAttentionMetadata:
        """The same batch with padding behind it, up to ``num_tokens`` and ``num_reqs``.

        ``query_start_loc`` repeats its end, ``seq_lens`` are 0, tokens have no slot.
        """
        tokens = num_tokens - self.num_tokens_padded
        num_reqs = self.num_reqs_padded if num_reqs is None else num_reqs
        requests = num_reqs - self.num_reqs_padded
        if tokens < 0 or requests < 0:
            raise SlicingError(
                f"{self.num_tokens_padded} tokens and {self.num_reqs_padded} requests have no room in {num_tokens} "
                f"tokens and {num_reqs} requests; padding only adds"
            )
        marks = self.is_padding or (False,) * self.num_tokens_padded
        return replace(
            self,
            query_start_loc=(*self.query_start_loc, *[self.num_tokens] * requests),
            seq_lens=(*self.seq_lens, *[0] * requests),
            slot_mapping=(*self.slot_mapping, *[PAD_SLOT_ID] * tokens),
            block_table=(*self.block_table, *[()] * requests),
            positions=_map_rows(self.positions, lambda row: (*row, *[0] * tokens)),
            is_padding=(*marks, *[True] * tokens),
        )


def slice_query_start_locs(query_start_loc: Sequence[int], request_slice: slice) -> tuple[int, ...]:
    """``query_start_loc`` of some of the requests, from 0 on.

    >>> slice_query_start_locs((0, 5, 12, 20), slice(1, 3))
    (0, 7, 15)
    """
    first = query_start_loc[request_slice.start]
    return tuple(int(edge - first) for edge in query_start_loc[request_slice.start : request_slice.stop + 1])


def split_attn_metadata(
    ubatch_slices: Sequence[UBatchSlice], metadata: CommonAttentionMetadata
) -> list[CommonAttentionMetadata]:
    """One microbatch's metadata each; the parent is not modified.

    >>> whole = CommonAttentionMetadata([0, 8], [32], range(24, 32), [[0, 1]])
    >>> cut = UBatchSlice(slice(0, 1), slice(0, 4)), UBatchSlice(slice(0, 1), slice(4, 8))
    >>> [(part.seq_lens, part.num_computed_tokens) for part in split_attn_metadata(cut, whole)]
    [((28,), (24,)), ((32,), (28,))]

    Raises ``SlicingError`` when a slice's requests do not hold its tokens.
    """
    return [_split_one(part, metadata) for part in ubatch_slices]


def _split_one(part: UBatchSlice, parent: CommonAttentionMetadata) -> CommonAttentionMetadata:
    start, stop = part.token_slice.start, part.token_slice.stop
    first, end = part.request_slice.start, part.request_slice.stop
    _check(part, parent)
    edges = [min(max(edge, start), stop) for edge in parent.query_start_loc[first : end + 1]]
    cut_off = [max(0, edge - stop) for edge in parent.query_start_loc[first + 1 : end + 1]]
    return CommonAttentionMetadata(
        query_start_loc=tuple(edge - start for edge in edges) or (0,),
        seq_lens=tuple(length - cut for length, cut in zip(parent.seq_lens[first:end], cut_off, strict=True)),
        slot_mapping=parent.slot_mapping[start:stop],
        block_table=parent.block_table[first:end],
        positions=_map_rows(parent.positions, lambda row: row[start:stop]),
        is_padding=parent.is_padding[start:stop],
    )


def _check(part: UBatchSlice, parent: CommonAttentionMetadata) -> None:
    """The requests must be there, and hold all of the slice's tokens that are not padding."""
    (start, stop), (first, end) = ((cut.start, cut.stop) for cut in (part.token_slice, part.request_slice))
    edges, real_stop = parent.query_start_loc, min(stop, parent.num_tokens)
    there = 0 <= first <= end < len(edges) and 0 <= start <= stop <= parent.num_tokens_padded
    if not there or (start < real_stop and not edges[first] <= start < real_stop <= edges[end]):
        raise SlicingError(
            f"tokens [{start}, {stop}) are not those of requests [{first}, {end}), whose tokens begin at "
            f"{list(edges)}"
        )


def _map_rows(positions: tuple[Any, ...], change: Any) -> tuple[Any, ...]:
    """``change`` on a row of positions, or on each of three."""
    if positions and isinstance(positions[0], tuple):
        return tuple(change(row) for row in positions)
    return tuple(change(positions)) if positions else ()


def _tuple(numbers: Iterable[Any]) -> tuple[Any, ...]:
    """A tuple of plain numbers, or of such tuples."""
    if type(numbers) is tuple and numbers and type(numbers[0]) in (int, bool):
        return numbers
    plain = numbers.tolist() if hasattr(numbers, "tolist") else numbers
    return tuple(_tuple(each) if hasattr(each, "__iter__") else each for each in plain)
