"""The demonstration on several ranks: what one rank does.

Every rank has the whole model but only its share of the experts, and a batch of its own. Its outputs are held
against themselves, split and overlapped, and against a reference: the same batch through all experts in this one
process, before the ranks meet.

Not here: starting the processes (``launch``), joining their recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from ..engine import GPUModelRunner, ModelConfig, ParallelConfig
from ..engine.clock import anchor
from ..engine.ranks import Ranks
from ..errors import BadArgument
from ..recording import Recording, record
from ..runtime import get_runtime
from ..trace.model import Trace
from .demo import Demo, Options, Run, _Stage

MOST_RANKS = 8


def check_ranks(ranks: int, timeout_s: float) -> None:
    """Raise ``BadArgument`` for a number of ranks, or a time limit, that cannot be used."""
    if not 1 <= ranks <= MOST_RANKS:
        raise BadArgument(f"ranks is from 1 to {MOST_RANKS}, not {ranks}")
    if not 0 < timeout_s <= 86_400:
        raise BadArgument(f"timeout is a time in seconds above 0 and at most a day, not {timeout_s:g}")


@dataclass(frozen=True, repr=False)
class RankDemo(Demo):
    """One rank's demonstration; ``reference`` is what a single process computes."""

    rank: int
    ranks: int
    reference: torch.Tensor = field(repr=False)
    reference_sampled: tuple[int, ...] = ()

    @property
    def max_abs_diff_reference(self) -> float:
        """Largest difference between the overlapped hidden states and a single process's."""
        return float((self.overlapped.hidden - self.reference).abs().max())

    @property
    def outputs_equal(self) -> bool:
        close = self.max_abs_diff_reference <= self.tolerance
        return (
            Demo.outputs_equal.__get__(self) and close and self.overlapped.sampled == self.reference_sampled
        )

    def numbers(self) -> dict[str, Any]:
        return {
            **super().numbers(),
            "rank": self.rank,
            "ranks": self.ranks,
            "max_abs_diff_reference": self.max_abs_diff_reference,
        }


def demo_of_rank(ranks: Ranks, *, say: Callable[[str], None] = lambda text: None, **options: Any) -> RankDemo:
    """Run this rank's part; ``options`` are the fields of ``Options``, the same on every rank.

    Raises ``MissedCollective``, ``RankDied`` or another ``RankError`` when something goes wrong between the ranks; it
    may be the cause of an ``AsyncError`` of queued work (``engine.ranks.rank_error``).
    """
    chosen = Options(**options)
    rt = get_runtime(chosen.runtime)
    result = _RankStage(rt, chosen, say, ranks).play()
    rt.close()  # not after an error: a worker may be in a collective that never ends
    return result


class _RankStage(_Stage):
    """The model, the batch and the ranks of one rank's demonstration."""

    def __init__(self, rt: Any, options: Options, say: Callable[[str], None], ranks: Ranks) -> None:
        self.ranks = ranks
        self.anchors: list[dict[str, int]] = []
        super().__init__(rt, options, say)

    def _sizes(self) -> ModelConfig:
        """As many experts as in one process, or the next number that can be divided."""
        sizes = super()._sizes()
        return replace(sizes, experts=-(-sizes.experts // self.ranks.size) * self.ranks.size)

    def _batch_seed(self) -> int:
        return self.options.seed + self.ranks.rank

    def play(self) -> RankDemo:
        self.say("computing the reference in one process")
        self._fill_cache()
        reference = self.runner.execute_model(self.batch, "unsplit")
        self.model.join(self.ranks)
        config = ParallelConfig(
            self.ranks.size,
            self.ranks.rank,
            num_ubatches=self.options.ubatches,
            dbo_decode_token_threshold=max(32, self.options.ubatches),
        )
        self.runner = GPUModelRunner(
            self.model, self.rt, self.options.ubatches, config, self.ranks.all_reduce
        )
        runs = {mode: self._with_meta(run) for mode, run in self._run_all().items()}
        return RankDemo(
            **self._facts(runs),
            rank=self.ranks.rank,
            ranks=self.ranks.size,
            reference=reference.hidden,
            reference_sampled=tuple(reference.sampled),
        )

    @contextmanager
    def _record(self) -> Iterator[Recording]:
        """A recording with this rank in every row, and an anchor of its clock at both ends."""
        with record(self.rt, rank=self.ranks.rank) as recording:
            self.anchors.append(anchor(self.ranks, recording.now_ns, self.runner.step))
            yield recording
            self.anchors.append(anchor(self.ranks, recording.now_ns, self.runner.step))

    def _with_meta(self, run: Run) -> Run:
        """The clock's anchors, and who this is among how many, in the recording's meta."""
        trace = run.trace
        clock = {"common": "rank 0", "anchors": self.anchors}
        meta = {**trace.meta, "rank": self.ranks.rank, "ranks": self.ranks.size, "clock": clock}
        return replace(
            run, trace=Trace(trace.events, trace.spans, trace.flows, trace.lanes, meta, trace.notices)
        )
