"""Programs to run: batches of requests, made from a seed, for the two styles of all-to-all.

``ht`` is a prefill: a few requests of unequal length, so that the cut goes through one of them. ``ll`` is a
decode: many requests with one new token each and a context that was computed before.
"""

from __future__ import annotations

import random
from itertools import accumulate, pairwise

from ..engine import Request
from ..errors import BadArgument

CONTEXT = 15  # tokens a decode request has in the KV cache
_SHARES = (0, 0.4, 0.7, 1)  # where the requests of a prefill begin and end


def blocks_needed(style: str, tokens: int, block_size: int) -> int:
    """KV-cache blocks that ``requests`` of this size use."""
    if style == "ll":
        return tokens * -(-(CONTEXT + 1) // block_size)
    return sum(-(-length // block_size) for length in _lengths(tokens))


def requests(style: str, tokens: int, block_size: int, vocabulary: int, seed: int) -> list[Request]:
    """Requests with ``tokens`` new tokens in all.

    >>> [len(r.token_ids) for r in requests("ht", 10, 16, 100, seed=0)]
    [4, 3, 3]
    """
    rng = random.Random(seed)
    lengths = [1] * tokens if style == "ll" else _lengths(tokens)
    computed = CONTEXT if style == "ll" else 0
    per_request = [-(-(computed + length) // block_size) for length in lengths]
    starts = [0, *accumulate(per_request)]
    return [
        Request(
            tuple(range(starts[i], starts[i + 1])),
            computed,
            tuple(rng.randrange(vocabulary) for _ in range(length)),
        )
        for i, length in enumerate(lengths)
    ]


def contexts_of(decode: list[Request], vocabulary: int, seed: int) -> list[Request]:
    """The prefill that fills the KV cache for ``decode``."""
    rng = random.Random(seed + 1)
    return [
        Request(r.blocks, 0, tuple(rng.randrange(vocabulary) for _ in range(r.num_computed_tokens)))
        for r in decode
    ]


def _lengths(tokens: int) -> list[int]:
    if tokens < len(_SHARES) - 1:
        raise BadArgument(f"a prefill needs at least {len(_SHARES) - 1} tokens, not {tokens}")
    edges = [round(share * tokens) for share in _SHARES]
    return [b - a for a, b in pairwise(edges)]
