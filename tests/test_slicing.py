"""Cutting a batch: published numbers, and every token counted one by one.

The numbers marked T1, T2 and PR56031 are those that vLLM's own tests and that change assert.
"""

from __future__ import annotations

import dataclasses
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ubviz.errors import SlicingError
from ubviz.ubatch import (
    CommonAttentionMetadata,
    UBatchSlice,
    is_last_ubatch_empty,
    maybe_create_ubatch_slices,
    slice_query_start_locs,
    split_attn_metadata,
)
from ubviz.ubatch.metadata import PAD_SLOT_ID
from ubviz.ubatch.slices import check_slices, slice_model_inputs

BLOCK = 4


def batch(query_lens: list[int], seq_lens: list[int]) -> CommonAttentionMetadata:
    """A batch whose request r has the blocks from 1000 * r on."""
    blocks = [[1000 * r + b for b in range(-(-n // BLOCK))] for r, n in enumerate(seq_lens)]
    positions = [p for q, s in zip(query_lens, seq_lens) for p in range(s - q, s)]
    slots = [
        blocks[r][p // BLOCK] * BLOCK + p % BLOCK
        for r, (q, s) in enumerate(zip(query_lens, seq_lens))
        for p in range(s - q, s)
    ]
    return CommonAttentionMetadata([0, *accumulate(query_lens)], seq_lens, slots, blocks, positions)


def part(requests: tuple[int, int], tokens: tuple[int, int]) -> UBatchSlice:
    return UBatchSlice(slice(*requests), slice(*tokens))


def ranges(slices: list[UBatchSlice] | None) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    assert slices is not None
    return [
        ((s.request_slice.start, s.request_slice.stop), (s.token_slice.start, s.token_slice.stop))
        for s in slices
    ]


# ---- published numbers


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ((1, 3), (0, 7, 15)),
        ((0, 2), (0, 5, 12)),
        ((3, 5), (0, 15, 30)),
        ((2, 3), (0, 8)),
        ((0, 5), (0, 5, 12, 20, 35, 50)),
        ((4, 5), (0, 15)),
    ],
)
def test_query_start_locs_begin_at_0_again(requests: tuple[int, int], expected: tuple[int, ...]) -> None:
    """T1."""
    assert slice_query_start_locs((0, 5, 12, 20, 35, 50), slice(*requests)) == expected


def test_one_decode_of_two() -> None:
    """T1."""
    (cut,) = split_attn_metadata([part((0, 1), (0, 1))], batch([1, 1], [32, 40]))
    assert (cut.num_reqs, cut.num_tokens, cut.max_query_len) == (1, 1, 1)
    assert (cut.query_start_loc, cut.seq_lens) == ((0, 1), (32,))


def test_a_decode_and_a_prefill_of_four() -> None:
    """T1."""
    (cut,) = split_attn_metadata([part((1, 3), (1, 7))], batch([1, 1, 5, 5], [32, 40, 48, 56]))
    assert (cut.num_reqs, cut.num_tokens, cut.max_query_len) == (2, 6, 5)
    assert (cut.query_start_loc, cut.seq_lens) == ((0, 1, 6), (40, 48))


def test_halves_of_a_large_decode() -> None:
    """T1."""
    slices, padded = maybe_create_ubatch_slices(True, [1] * 32, 32, 32, 2)
    assert ranges(slices) == ranges(padded) == [((0, 16), (0, 16)), ((16, 32), (16, 32))]
    for cut in split_attn_metadata(slices, batch([1] * 32, [2048] * 32)):
        assert (cut.num_reqs, cut.num_tokens, cut.seq_lens) == (16, 16, (2048,) * 16)


@pytest.mark.parametrize(
    ("split_point", "num_tokens", "num_reqs", "first", "second"),
    [(12, [12, 4], [2, 1], (32, 36), (40,)), (4, [4, 12], [1, 2], (28,), (32, 40))],
)
def test_a_split_point_inside_a_request(
    split_point: int,
    num_tokens: list[int],
    num_reqs: list[int],
    first: tuple[int, ...],
    second: tuple[int, ...],
) -> None:
    """T1: the cut request has 4 queries in each half."""
    slices, _ = maybe_create_ubatch_slices(True, [8, 8], 16, 2, 2, split_point)
    halves = split_attn_metadata(slices, batch([8, 8], [32, 40]))
    assert [half.num_tokens for half in halves] == num_tokens
    assert [half.num_reqs for half in halves] == num_reqs
    assert [half.seq_lens for half in halves] == [first, second]
    assert (halves[0].query_lens[-1], halves[1].query_lens[0]) == (4, 4)


def test_a_continuation_has_the_first_part_computed() -> None:
    """PR56031: 28, where it was 24 once."""
    slices, _ = maybe_create_ubatch_slices(True, [8], 8, 1, 2)
    halves = split_attn_metadata(slices, batch([8], [32]))
    assert [half.seq_lens for half in halves] == [(28,), (32,)]
    assert [half.query_lens for half in halves] == [(4,), (4,)]
    assert [half.num_computed_tokens for half in halves] == [(24,), (28,)]


def test_padding_requests_go_to_the_last_microbatch() -> None:
    """T2: 6 decodes in a graph of 8."""
    slices, padded = maybe_create_ubatch_slices(True, [1] * 6, 8, 8, 2)
    assert ranges(slices) == [((0, 4), (0, 4)), ((4, 6), (4, 6))]
    last = split_attn_metadata(padded, batch([1] * 6, [64] * 6).padded(8, 8))[-1]
    assert (last.num_reqs, last.num_tokens, last.num_reqs_padded, last.num_tokens_padded) == (2, 2, 4, 4)
    assert (last.query_start_loc, last.seq_lens) == ((0, 1, 2, 2, 2), (64, 64, 0, 0))
    assert last.slot_mapping[2:] == (PAD_SLOT_ID, PAD_SLOT_ID)
    assert last.is_padding == (False, False, True, True)
    assert last.block_table[2:] == ((), ())


def test_a_microbatch_behind_the_last_token_is_a_dummy() -> None:
    """T2: 6 decodes in 16 rows. Upstream's unpadded form once was tokens [8, 6)."""
    slices, padded = maybe_create_ubatch_slices(True, [1] * 6, 16, 6, 2)
    assert ranges(slices) == [((0, 6), (0, 6)), ((6, 6), (6, 6))]
    assert [s.num_tokens for s in slices] == [6, 0]
    assert [s.is_empty() for s in slices] == [False, True]
    assert ranges(padded) == [((0, 6), (0, 8)), ((5, 6), (8, 16))]
    first, last = split_attn_metadata(padded, batch([1] * 6, [64] * 6).padded(16))
    assert (first.num_reqs, first.num_tokens) == (6, 6)
    assert (last.num_reqs, last.num_tokens, last.num_reqs_padded, last.num_tokens_padded) == (1, 0, 1, 8)
    assert (last.query_start_loc, last.query_lens, last.seq_lens) == ((0, 0), (0,), (64,))


def test_a_dummy_batch_of_one_request_is_cut() -> None:
    """T2."""
    slices, _ = maybe_create_ubatch_slices(True, [32], 32, 1, 2)
    for half in split_attn_metadata(slices, batch([32], [32])):
        assert (half.num_tokens, half.num_reqs, half.query_start_loc) == (16, 1, (0, 16))


def test_padding_masks_are_cut_by_token() -> None:
    """T2."""
    whole = dataclasses.replace(batch([6], [6]), is_padding=np.array([0, 1, 0, 1, 0, 1], dtype=bool))
    halves = split_attn_metadata([part((0, 1), (0, 3)), part((0, 1), (3, 6))], whole)
    assert [half.is_padding for half in halves] == [(False, True, False), (True, False, True)]


def test_mrope_positions_are_cut_along_the_tokens() -> None:
    """T2: as a model's input, and in the metadata."""
    positions = torch.arange(24).view(3, 8)
    rows = [[4, 5, 6, 7], [12, 13, 14, 15], [20, 21, 22, 23]]
    inputs = slice_model_inputs(slice(4, 8), {"positions": positions, "input_ids": torch.arange(8)}, 8)
    assert inputs["positions"].tolist() == rows
    assert inputs["input_ids"].tolist() == [4, 5, 6, 7]
    whole = dataclasses.replace(batch([8], [8]), positions=positions)
    (half,) = split_attn_metadata([part((0, 1), (4, 8))], whole)
    assert half.positions == tuple(map(tuple, rows))
    assert whole.padded(9).positions[1] == (*range(8, 16), 0)


def test_three_rows_of_three_tokens_are_cut_along_the_tokens_too() -> None:
    """The shape [3, 3] alone says nothing: the name does."""
    square = torch.arange(9).view(3, 3)
    inputs = slice_model_inputs(slice(1, 3), {"positions": square, "hidden": square}, 3)
    assert inputs["positions"].tolist() == [[1, 2], [4, 5], [7, 8]]
    assert inputs["hidden"].tolist() == [[3, 4, 5], [6, 7, 8]]


def test_the_cut_is_plain_where_another_engine_would_snap_to_a_request() -> None:
    """SGLang's rule gives (1, 520) for these too, and (1, 498) for [498, 502]; ours is the token count alone."""
    slices, _ = maybe_create_ubatch_slices(True, [42, 999], 1041, 2, 2)
    assert ranges(slices) == [((0, 2), (0, 520)), ((1, 2), (520, 1041))]
    slices, _ = maybe_create_ubatch_slices(True, [498, 502], 1000, 2, 2)
    assert ranges(slices) == [((0, 2), (0, 500)), ((1, 2), (500, 1000))]


def test_the_last_microbatch_is_empty_at_the_boundary() -> None:
    """V11: a comparison with < let 64 of 128 through."""
    assert [is_last_ubatch_empty(n, 128, 2) for n in (63, 64, 65)] == [True, True, False]
    assert [is_last_ubatch_empty(n, 130, 4) for n in (96, 97)] == [True, False]


# ---- the parent stays as it is


def test_a_part_shares_nothing_with_its_parent() -> None:
    given = {
        "query_start_loc": np.array([0, 3, 12]), "seq_lens": torch.tensor([10, 30]),
        "slot_mapping": list(range(12)), "block_table": [[0, 1, 2], list(range(3, 11))],
        "positions": np.arange(12), "is_padding": [False] * 12,
    }  # fmt: skip
    whole = CommonAttentionMetadata(**given)
    before = dataclasses.asdict(whole)
    slices, _ = maybe_create_ubatch_slices(True, [3, 9], 12, 2, 3)
    for cut in split_attn_metadata(slices, whole):
        for name in given:
            values = getattr(cut, name)
            with pytest.raises(TypeError):
                values[0] = 99
            object.__setattr__(cut, name, tuple(99 for _ in values))
    for values in given.values():
        values[0] = 77 if not isinstance(values[0], list) else [77]
    assert dataclasses.asdict(whole) == before


def test_inputs_are_views_so_that_a_replay_sees_new_ones() -> None:
    ids = torch.arange(8)
    rows = slice_model_inputs(slice(4, 8), {"input_ids": ids, "scale": 3.0}, 8)
    ids[4] = 100
    assert (rows["input_ids"].tolist(), rows["scale"]) == ([100, 5, 6, 7], 3.0)


# ---- every token, one by one


@st.composite
def batches(draw: Any) -> tuple[list[int], list[int], int, int, int, Any]:
    """Query and sequence lengths, padded tokens and requests, microbatches, cuts."""
    n = draw(st.integers(2, 5))
    query_lens = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    seq_lens = [q + draw(st.integers(0, 20)) for q in query_lens]
    tokens = max(sum(query_lens), n) + draw(st.integers(0, 12))
    requests = len(query_lens) + draw(st.integers(0, 3))
    cuts = st.lists(st.integers(1, tokens - 1), min_size=n - 1, max_size=n - 1, unique=True).map(sorted)
    widths = st.integers(1, (tokens - 1) // (n - 1))
    return query_lens, seq_lens, tokens, requests, n, draw(st.none() | cuts | widths)


def tokens_of(metadata: CommonAttentionMetadata) -> list[tuple[int, int, int]]:
    """Of each real token: its position, the blocks it sees, its slot; counted one by one."""
    found = []
    for r, (start, stop) in enumerate(pairwise(metadata.query_start_loc)):
        for i, token in enumerate(range(start, stop)):
            place = metadata.num_computed_tokens[r] + i
            found.append((place, metadata.block_table[r], metadata.slot_mapping[token]))
    return found


@given(batches())
def test_each_token_is_in_one_microbatch_and_sees_what_it_saw(case: Any) -> None:
    query_lens, seq_lens, tokens, requests, n, cuts = case
    whole = batch(query_lens, seq_lens)
    slices, padded = maybe_create_ubatch_slices(True, query_lens, tokens, requests, n, cuts)
    for chosen, parent in ((slices, whole), (padded, whole.padded(tokens, requests))):
        edges = [edge for s in chosen for edge in (s.token_slice.start, s.token_slice.stop)]
        assert edges[0] == 0
        assert edges[-1] == parent.num_tokens_padded
        assert edges[1:-1:2] == edges[2::2]
        assert all(s.num_tokens >= 0 and s.request_slice.start <= s.request_slice.stop for s in chosen)
        parts = split_attn_metadata(chosen, parent)
        assert [t for cut in parts for t in tokens_of(cut)] == tokens_of(whole)
        assert [p for cut in parts for p in cut.positions] == list(parent.positions)
        assert [slot for cut in parts for slot in cut.slot_mapping] == list(parent.slot_mapping)
        assert [s.num_tokens for s in chosen] == [cut.num_tokens_padded for cut in parts]
        for cut in parts:
            assert all(q <= s for q, s in zip(cut.query_lens, cut.seq_lens))
    assert sum(s.num_tokens for s in slices) == sum(query_lens)


@given(batches())
def test_a_request_is_where_a_token_of_it_is(case: Any) -> None:
    query_lens, _, tokens, requests, n, cuts = case
    owner = [r for r, q in enumerate(query_lens) for _ in range(q)]
    slices, padded = maybe_create_ubatch_slices(True, query_lens, tokens, requests, n, cuts)
    for cut in slices:
        inside = sorted(set(owner[cut.token_slice.start : cut.token_slice.stop]))
        assert list(range(cut.request_slice.start, cut.request_slice.stop)) == inside
        assert cut.is_empty() == (not inside)
    assert padded[-1].request_slice.stop == requests
    assert not any(cut.is_empty() for cut in padded)


# ---- what cannot be cut


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([4], 4, 1, 1), "a batch is split into at least 2 microbatches, not 1"),
        (([3], 3, 1, 4), "4 microbatches need at least 4 tokens, not 3"),
        (([8], 8, 1, 2, 8), "8 tokens cannot be cut at [8] into 2 microbatches"),
        (([8], 8, 1, 3, [5, 5]), "8 tokens cannot be cut at [5, 5] into 3 microbatches"),
        (([8], 8, 1, 3, [5]), "8 tokens cannot be cut at [5] into 3 microbatches"),
        (([8], 6, 1, 2), "8 tokens have no room in 6; pad to at least as many"),
        (([4, 4], 8, 1, 2), "2 requests have no room in 1; pad to at least as many"),
        (([9, -1], 8, 2, 2), "request 1 has -1 tokens; it needs 0 or more"),
    ],
)
def test_what_cannot_be_cut(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(SlicingError) as raised:
        maybe_create_ubatch_slices(True, *arguments)
    assert str(raised.value) == sentence


def test_no_microbatches_are_no_slices() -> None:
    assert maybe_create_ubatch_slices(False, [3], 3, 1, 2) == (None, None)


@pytest.mark.parametrize(
    ("requests", "tokens"),
    [((1, 2), (0, 8)), ((0, 1), (0, 16)), ((0, 0), (0, 4)), ((0, 3), (8, 16)), ((0, 1), (4, 0))],
)
def test_requests_that_do_not_hold_the_tokens(requests: tuple[int, int], tokens: tuple[int, int]) -> None:
    with pytest.raises(SlicingError) as raised:
        split_attn_metadata([part(requests, tokens)], batch([8, 8], [8, 8]))
    assert str(raised.value) == (
        f"tokens [{tokens[0]}, {tokens[1]}) are not those of requests [{requests[0]}, {requests[1]}), whose tokens "
        "begin at [0, 8, 16]"
    )


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (([0, 4], [3], range(4), [[0]]), "num_computed_tokens [-1] holds a negative count"),
        (([0, 4, 2], [9, 9], range(4), [[0], [1]]), "query_lens [4, -2] holds a negative count"),
        (([0, 4], [4], range(3), [[0]]), "4 tokens have only 3 slots"),
        (
            ([1, 4], [4], range(4), [[0]]),
            "query_start_loc (1, 4) does not belong to 1 requests: it begins with 0 and has one number more",
        ),
    ],
)
def test_metadata_that_contradicts_itself(fields: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(SlicingError) as raised:
        CommonAttentionMetadata(*fields)
    assert str(raised.value) == sentence


def test_padding_only_adds() -> None:
    with pytest.raises(SlicingError) as raised:
        batch([8], [8]).padded(7)
    assert str(raised.value) == (
        "8 tokens and 1 requests have no room in 7 tokens and 1 requests; padding only adds"
    )


# ---- what is no count, and slices that a wrapper cannot run


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"num_scheduled_tokens": [3.7, 5]}, "the length of request 0 is a whole number, not 3.7"),
        ({"num_scheduled_tokens": [3, "5"]}, "the length of request 1 is a whole number, not '5'"),
        ({"num_scheduled_tokens": [True, 5]}, "the length of request 0 is a whole number, not True"),
        ({"num_tokens_padded": "12"}, "num_tokens_padded is a whole number, not '12'"),
        ({"num_reqs_padded": 2.0}, "num_reqs_padded is a whole number, not 2.0"),
        ({"num_ubatches": "2"}, "num_ubatches is a whole number, not '2'"),
        ({"split_point": 3.7}, "split_point is a whole number, not 3.7"),
        ({"split_point": "12"}, "split_point is a whole number, not '12'"),
        ({"split_point": [4.0]}, "each cut of split_point is a whole number, not 4.0"),
    ],
)
def test_what_is_no_count_is_refused(changed: dict[str, Any], sentence: str) -> None:
    right: dict[str, Any] = {
        "num_scheduled_tokens": [3, 5], "num_tokens_padded": 8, "num_reqs_padded": 2, "num_ubatches": 2
    }  # fmt: skip
    maybe_create_ubatch_slices(True, **right)
    with pytest.raises(SlicingError) as raised:
        maybe_create_ubatch_slices(True, **{**right, **changed})
    assert str(raised.value) == sentence


def test_numbers_of_numpy_are_counts() -> None:
    slices, _ = maybe_create_ubatch_slices(True, np.array([3, 5]), np.int64(8), 2, 2, np.array([4]))  # type: ignore[arg-type]
    assert ranges(slices) == [((0, 2), (0, 4)), ((1, 2), (4, 8))]


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        (
            [(0, 2), (4, 7)],
            "the tokens of microbatch 1 are [4, 7), but must begin at 2: each token is run once",
        ),
        (
            [(0, 5), (4, 7)],
            "the tokens of microbatch 1 are [4, 7), but must begin at 5: each token is run once",
        ),
        (
            [(4, 7), (0, 4)],
            "the tokens of microbatch 0 are [4, 7), but must begin at 0: each token is run once",
        ),
        ([(0, 4), (4, 2)], "the tokens of microbatch 1 are [4, 2), which ends before it begins"),
        (
            [(0, 4, 2), (4, 7)],
            "the tokens of microbatch 0 are [0, 4) with a step of 2; a microbatch holds every",
        ),
        ([(0, 4), (4, 9)], "the slices hold 9 tokens, but x has 7 rows; slice what is there"),
        ([(0, 4), (4, 6)], "the slices hold 6 tokens, but x has 7 rows; slice what is there"),
        ([(0, 4), (4, None)], "an end of microbatch 1 is a whole number, not None"),
    ],
)
def test_slices_that_do_not_cover_the_inputs_are_refused(tokens: list[Any], sentence: str) -> None:
    slices = [UBatchSlice(slice(0, 1), slice(*ends)) for ends in tokens]
    with pytest.raises(SlicingError) as raised:
        check_slices(slices, {"x": torch.zeros(7, 3), "scale": 2.0})
    assert str(raised.value).startswith(sentence)


def test_slices_that_cover_some_input_are_run() -> None:
    slices = [part((0, 1), (0, 4)), part((0, 1), (4, 7))]
    check_slices(slices, {"x": torch.zeros(7), "weight": torch.zeros(2, 2)})
    check_slices(slices, {"positions": torch.zeros(3, 7)})
    check_slices(slices, {"scale": 2.0})
