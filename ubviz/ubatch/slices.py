"""Cutting a batch into microbatches: which tokens, and which requests they belong to.

The rule is a plain cut of the tokens, also in the middle of a request: N microbatches over P padded tokens are cut
at every ``P // N``, the last one takes what is left. ``[42, 999]`` in two is cut at token 520, inside request 1;
the second part sees the first through the KV cache. (SGLang balances and then snaps to a request's border, which
needs no continuation of a request but gives microbatches of unequal size, whose all-to-alls do not line up.)

Not here: what attention must know of each part (``metadata``), the decision to cut at all (``engine.dp``).

Source: vLLM ``vllm/v1/worker/ubatch_utils.py``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import index
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
        """True without a request or without a token: either alone is nothing to run."""
        return self.request_slice.start >= self.request_slice.stop or self.num_tokens <= 0


UBatchSlices = list[UBatchSlice]


def maybe_create_ubatch_slices(
    should_ubatch: bool,
    num_scheduled_tokens: Sequence[int],
    num_tokens_padded: int,
    num_reqs_padded: int,
    num_ubatches: int,
    split_point: int | Sequence[int] | None = None,
) -> tuple[UBatchSlices | None, UBatchSlices | None]:
    """Slices of the real batch, and the same stretched over the padding.

    ``num_scheduled_tokens`` has one number a request. ``split_point`` is the width of all but the last
    microbatch (default: an even share of the padded tokens), or the cuts themselves.

    In the first form a microbatch behind the last real token is empty, ``[6, 6)`` and never ``[8, 6)``. In the
    second it holds its padding tokens and, so that there is something to call attention with, the last request
    with none of its tokens; the last microbatch also takes the padding requests.

    >>> slices, padded = maybe_create_ubatch_slices(True, [3, 5], 8, 2, 2)
    >>> [(s.request_slice, s.token_slice) for s in slices]
    [(slice(0, 2, None), slice(0, 4, None)), (slice(1, 2, None), slice(4, 8, None))]

    Raises ``SlicingError`` when a cut lies outside the batch, cuts do not ascend, a count is negative, or there
    is less room than there are tokens or requests, and for a count that is no whole number.
    """
    if not should_ubatch:
        return None, None
    starts = _starts(num_scheduled_tokens, num_tokens_padded, num_reqs_padded)
    cuts = [0, *_cuts(num_tokens_padded, num_ubatches, split_point), num_tokens_padded]
    real = [min(cut, starts[-1]) for cut in cuts[:-1]] + [starts[-1]]
    slices = [
        UBatchSlice(_requests(starts, start, stop), slice(start, stop)) for start, stop in pairwise(real)
    ]
    padded = [
        UBatchSlice(_at_least_one(part.request_slice, len(starts) - 1), slice(start, stop))
        for part, (start, stop) in zip(slices, pairwise(cuts), strict=True)
    ]
    last = padded[-1]
    padded[-1] = UBatchSlice(slice(last.request_slice.start, num_reqs_padded), last.token_slice)
    return slices, padded


def is_last_ubatch_empty(orig_num_tokens: int, padded_num_tokens: int, num_ubatches: int) -> bool:
    """Whether ``orig_num_tokens`` real tokens leave nothing for the last microbatch.

    >>> is_last_ubatch_empty(64, 128, 2), is_last_ubatch_empty(65, 128, 2)
    (True, False)
    """
    return padded_num_tokens // num_ubatches * (num_ubatches - 1) >= orig_num_tokens


def _starts(num_scheduled_tokens: Sequence[int], num_tokens_padded: int, num_reqs_padded: int) -> list[int]:
    """The first token of each request, and the end."""
    counts = [count_of(f"the length of request {i}", n) for i, n in enumerate(num_scheduled_tokens)]
    num_tokens_padded = count_of("num_tokens_padded", num_tokens_padded)
    num_reqs_padded = count_of("num_reqs_padded", num_reqs_padded)
    if any(n < 0 for n in counts):
        raise SlicingError(
            f"request {counts.index(min(counts))} has {min(counts)} tokens; it needs 0 or more"
        )
    if num_tokens_padded < sum(counts):
        raise SlicingError(
            f"{sum(counts)} tokens have no room in {num_tokens_padded}; pad to at least as many"
        )
    if num_reqs_padded < len(counts):
        raise SlicingError(
            f"{len(counts)} requests have no room in {num_reqs_padded}; pad to at least as many"
        )
    return [0, *accumulate(counts)]


def count_of(what: str, value: Any) -> int:
    """``value`` as an int, if it is a whole number by its type: no bool, no float, no text.

    >>> count_of("num_ubatches", 3.0)
    Traceback (most recent call last):
        ...
    ubviz.errors.SlicingError: num_ubatches is a whole number, not 3.0
    """
    try:
        if not isinstance(value, bool):
            return index(value)  # numpy's numbers too
    except TypeError:
        pass
    raise SlicingError(f"{what} is a whole number, not {value!r}")


def _cuts(num_tokens: int, num_ubatches: int, split_point: int | Sequence[int] | None) -> list[int]:
    num_ubatches = count_of("num_ubatches", num_ubatches)
    if num_ubatches < 2:
        raise SlicingError(f"a batch is split into at least 2 microbatches, not {num_ubatches}")
    if split_point is None:
        split_point = num_tokens // num_ubatches
    if isinstance(split_point, Iterable) and not isinstance(split_point, str):
        cuts = [count_of("each cut of split_point", cut) for cut in split_point]
    else:
        width = count_of("split_point", split_point)
        cuts = [width * i for i in range(1, num_ubatches)]
    if num_tokens < num_ubatches:
        raise SlicingError(
            f"{num_ubatches} microbatches need at least {num_ubatches} tokens, not {num_tokens}"
        )
    if len(cuts) != num_ubatches - 1 or any(b <= a for a, b in pairwise([0, *cuts, num_tokens])):
        raise SlicingError(f"{num_tokens} tokens cannot be cut at {cuts} into {num_ubatches} microbatches")
    return cuts


def _requests(starts: Sequence[int], start: int, stop: int) -> slice:
    """The requests that have a token in [start, stop); none behind the last token."""
    first = min(bisect_right(starts, start) - 1, len(starts) - 1)
    return slice(first, max(first, bisect_left(starts, stop)))


def _at_least_one(requests: slice, num_reqs: int) -> slice:
    if requests.start < requests.stop or num_reqs == 0:
        return requests
    return slice(num_reqs - 1, num_reqs)


def check_slices(slices: Sequence[UBatchSlice], inputs: dict[str, Any]) -> None:
    """Raise ``SlicingError`` unless the slices hold each token once and in order, and some input has a row for each.

    Padding is part of both. An input with another number of rows is passed on whole, so one has to fit, or the
    slices would cut nothing.
    """
    stop = 0
    for i, part in enumerate(slices):
        tokens = part.token_slice
        said = f"the tokens of microbatch {i} are [{tokens.start}, {tokens.stop})"
        if tokens.step not in (None, 1):
            raise SlicingError(
                f"{said} with a step of {tokens.step}; a microbatch holds every token in between"
            )
        start, end = (count_of(f"an end of microbatch {i}", n) for n in (tokens.start, tokens.stop))
        if start != stop:
            raise SlicingError(f"{said}, but must begin at {stop}: each token is run once, and in order")
        if end < start:
            raise SlicingError(f"{said}, which ends before it begins")
        stop = end
    rows = {name: _rows(name, value) for name, value in inputs.items()}
    lengths = {name: n for name, n in rows.items() if n is not None}
    if lengths and stop not in lengths.values():
        name, found = next(iter(lengths.items()))
        raise SlicingError(f"the slices hold {stop} tokens, but {name} has {found} rows; slice what is there")


def _rows(name: str, value: Any) -> int | None:
    """How many tokens an input has; None where it has no rows."""
    shape = tuple(getattr(value, "shape", ()))
    if name.endswith("positions") and len(shape) == 2:
        return int(shape[1])
    return int(shape[0]) if shape else None


def slice_model_inputs(tokens: slice, inputs: dict[str, Any], num_tokens: int) -> dict[str, Any]:
    """The inputs of one microbatch: tensors of ``num_tokens`` rows are cut, everything else is passed on.

    M-RoPE positions, ``positions`` of shape [3, num_tokens], are cut along their second dimension. The parts are
    views, so that a replayed graph sees what is put into the batch's tensors.
    """
    return {name: _part(name, value, tokens, num_tokens) for name, value in inputs.items()}


def _part(name: str, value: Any, tokens: slice, num_tokens: int) -> Any:
    shape = tuple(getattr(value, "shape", ()))
    if name.endswith("positions") and len(shape) == 2 and shape[1] == num_tokens:
        return value[:, tokens]
    return value[tokens] if shape[:1] == (num_tokens,) else value
