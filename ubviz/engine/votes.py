"""A rank's vote on microbatches: its thresholds, what the vote was made of, and why it is a no, in words.

Source: vLLM ``v1/worker/ubatch_utils.py`` (``check_ubatch_thresholds``), ``config/parallel.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import BadArgument
from ..ubatch.slices import is_last_ubatch_empty


@dataclass(frozen=True)
class ParallelConfig:
    """What ranks are configured with; all must be configured alike.

    Raises ``BadArgument`` where a threshold would let a step through that has fewer tokens than microbatches.
    """

    data_parallel_size: int = 1
    data_parallel_rank: int = 0
    enable_dbo: bool = True
    num_ubatches: int = 2
    dbo_decode_token_threshold: int = 32
    dbo_prefill_token_threshold: int = 512
    run_empty_ubatch: bool = False  # V2: a microbatch without tokens runs as a dummy

    def __post_init__(self) -> None:
        if not 0 <= self.data_parallel_rank < self.data_parallel_size:
            raise BadArgument(
                f"rank {self.data_parallel_rank} is not one of {self.data_parallel_size} ranks, which count from 0"
            )
        for name in ("dbo_decode_token_threshold", "dbo_prefill_token_threshold"):
            if getattr(self, name) < self.num_ubatches:
                raise BadArgument(
                    f"{name} is {getattr(self, name)}, below the number of microbatches ({self.num_ubatches}): "
                    "each needs a token, so set the threshold to at least as many"
                )

    @property
    def use_ubatching(self) -> bool:
        return self.enable_dbo and self.num_ubatches > 1

    def asked(self) -> ParallelConfig:
        """The same with the lowest thresholds there can be: what a caller uses who asks for microbatches."""
        least = self.num_ubatches
        return replace(self, dbo_decode_token_threshold=least, dbo_prefill_token_threshold=least)


def check_ubatch_thresholds(config: ParallelConfig, num_tokens: int, uniform_decode: bool) -> bool:
    """Whether a rank's step is large enough for microbatches.

    >>> config = ParallelConfig(dbo_decode_token_threshold=32, dbo_prefill_token_threshold=128)
    >>> check_ubatch_thresholds(config, 64, uniform_decode=True), check_ubatch_thresholds(config, 64, False)
    (True, False)
    """
    return config.use_ubatching and num_tokens >= threshold(config, uniform_decode)


def threshold(config: ParallelConfig, uniform_decode: bool) -> int:
    return config.dbo_decode_token_threshold if uniform_decode else config.dbo_prefill_token_threshold


@dataclass(frozen=True)
class Vote:
    """One rank's vote of one step, and everything that it was made of. Its fields but ``rank`` are the table's rows."""

    rank: int
    num_tokens: int
    num_tokens_padded: int
    vote: bool
    cudagraph_mode: int
    step: int
    uniform_decode: bool
    allow_microbatching: bool
    use_ubatching: bool
    threshold: int

    def inputs(self) -> dict[str, Any]:
        """What the vote was made of, for a trace event."""
        return {name: value for name, value in vars(self).items() if name not in ("rank", "step", "vote")}

    def why_not(self) -> str | None:
        """The input that made it a no, in words."""
        kind = "decode" if self.uniform_decode else "prefill"
        if self.vote:
            return None
        if not self.use_ubatching:
            return f"rank {self.rank} voted no: microbatching is off (enable_dbo, num_ubatches)"
        if not self.allow_microbatching:
            return f"rank {self.rank} voted no: its caller did not allow microbatches"
        below = f"are below the {kind} threshold of {self.threshold}"
        return f"rank {self.rank} voted no: its {self.num_tokens} tokens {below}"


def why_not(votes: Sequence[Vote], config: ParallelConfig) -> str | None:
    """Why these votes make no microbatches, in one sentence; None when they do."""
    said = [sentence for vote in votes if (sentence := vote.why_not()) is not None]
    if said or config.run_empty_ubatch:
        return "; ".join(said) or None
    k, padded = config.num_ubatches, max(v.num_tokens_padded for v in votes)
    for vote in votes:
        if is_last_ubatch_empty(vote.num_tokens, padded, k):
            return (
                f"every rank voted yes, but rank {vote.rank} would have nothing in the last of {k} microbatches: it "
                f"has {vote.num_tokens} tokens, and of {padded} the last microbatch begins at token "
                f"{padded // k * (k - 1)}"
            )
    return None


def why(votes: Sequence[Vote]) -> str:
    """Why these votes make microbatches, in one sentence."""
    each = [
        f"{v.num_tokens} tokens reach the {'decode' if v.uniform_decode else 'prefill'} threshold of {v.threshold}"
        for v in votes
    ]
    return (
        each[0]
        if len(each) == 1
        else "every rank voted yes: "
        + "; ".join(f"rank {v.rank}: {said}" for v, said in zip(votes, each, strict=True))
    )
