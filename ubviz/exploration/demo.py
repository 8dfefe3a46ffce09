"""The demonstration: one model, one batch, three ways of running it; measured, recorded, verified.

unsplit: the whole batch at once. split: its microbatches one after the other. overlapped: the microbatches on
threads, communication behind computation. All on one runtime, over one link.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import torch

from ..analysis import Finding, Overlap, handoff, overlap
from ..engine import GPUModelRunner, LinkModel, ModelConfig, MoETransformer, Request
from ..errors import BadArgument
from ..recording import record
from ..runtime import get_runtime
from ..trace.model import Trace
from .programs import blocks_needed, contexts_of, requests

COMM_SHARE = {"ht": 0.8, "ll": 0.8}
"""Communication over computation, unsplit: the modelled link is set so that it comes out on this machine."""
TOLERANCE = {"float32": 1e-4, "bfloat16": 5e-2}
"""Largest difference to unsplit that rounding explains, relative to the largest output: an expert that gets other
rows beside a token's may multiply them in another order."""
DEFAULT_TOKENS = {"ht": 384, "ll": 192}
_LATENCY_NS = 20_000


@dataclass(frozen=True)
class Run:
    """One way of running: its recording, wall time of each step, hidden states and sampled tokens."""

    trace: Trace
    durations_ns: tuple[int, ...]
    hidden: torch.Tensor
    sampled: tuple[int, ...]

    @property
    def median_ns(self) -> int:
        """Median wall time of a step."""
        return round(median(self.durations_ns))

    @property
    def median_step(self) -> int:
        """The step whose wall time is the median (the lower one of two)."""
        order = sorted(range(len(self.durations_ns)), key=self.durations_ns.__getitem__)
        return self.trace.steps[order[(len(order) - 1) // 2]]


@dataclass(frozen=True)
class Demo:
    """What a demonstration gives; ``numbers()`` is what ``ubviz demo --json`` prints."""

    runtime: str
    device: str
    ubatches: int
    layers: int
    tokens: int
    style: str
    dtype: str
    link: str
    tolerance: float
    unsplit: Run
    split: Run
    overlapped: Run

    @property
    def max_abs_diff(self) -> float:
        """Largest difference between the overlapped and the unsplit hidden states."""
        return float((self.overlapped.hidden - self.unsplit.hidden).abs().max())

    @property
    def outputs_equal(self) -> bool:
        """Overlapped is bitwise split-without-overlap, and unsplit within the tolerance; tokens are the same."""
        same = torch.equal(self.overlapped.hidden, self.split.hidden)
        return (
            same and self.max_abs_diff <= self.tolerance and self.overlapped.sampled == self.unsplit.sampled
        )

    @property
    def findings(self) -> list[Finding]:
        return handoff(self.overlapped.trace)

    def overlaps(self) -> list[Overlap]:
        """One measurement for each overlapped step."""
        return [overlap(self.overlapped.trace, step=step) for step in self.overlapped.trace.steps]

    def numbers(self) -> dict[str, Any]:
        """All figures, with the keys of the command's JSON; times are medians over steps."""
        found = self.overlaps()
        busiest = median(max(o.compute_busy_ns, o.comm_busy_ns) for o in found)
        ratios = [o.overlap_ratio for o in found if o.overlap_ratio is not None]
        return {
            "runtime": self.runtime,
            "device": self.device,
            "ubatches": self.ubatches,
            "layers": self.layers,
            "tokens": self.tokens,
            "style": self.style,
            "dtype": self.dtype,
            "link": self.link,
            "steps": len(found),
            "outputs_equal": self.outputs_equal,
            "max_abs_diff": self.max_abs_diff,
            "tolerance": self.tolerance,
            "sequential_ns": self.unsplit.median_ns,
            "split_ns": self.split.median_ns,
            "overlapped_ns": self.overlapped.median_ns,
            "speedup": self.unsplit.median_ns / self.overlapped.median_ns,
            "ideal_speedup": self.unsplit.median_ns / busiest,
            "overlap_ratio": median(ratios) if ratios else None,
            "compute_busy_ns": round(median(o.compute_busy_ns for o in found)),
            "comm_busy_ns": round(median(o.comm_busy_ns for o in found)),
            "transfer_ns": round(median(o.transfer_ns for o in found)),
            "hidden_transfer_ns": round(median(o.hidden_transfer_ns for o in found)),
            "events": dict(sorted(Counter(self.overlapped.trace.events["kind"].tolist()).items())),
            "findings": [vars(finding) for finding in self.findings],
        }


def demo(
    *,
    runtime: str = "auto",
    ubatches: int = 2,
    layers: int = 4,
    tokens: int | None = None,
    style: str = "ht",
    steps: int = 5,
    dtype: str = "float32",
    seed: int = 0,
) -> Demo:
    """Run the demonstration.

    ``tokens`` is the batch (default 384 for ht, 192 for ll), ``steps`` how many steps of each way are recorded,
    after one that is not.

    >>> ubviz.demo(style="ht").numbers()["outputs_equal"]  # doctest: +SKIP
    True

    Raises ``BadArgument`` for sizes that cannot be run.
    """
    tokens = DEFAULT_TOKENS.get(style, 0) if tokens is None else tokens
    _check(ubatches, layers, tokens, style, steps, dtype)
    rt = get_runtime(runtime)
    try:
        return _Stage(rt, ubatches, layers, tokens, style, steps, dtype, seed).play()
    finally:
        rt.close()


def _check(ubatches: int, layers: int, tokens: int, style: str, steps: int, dtype: str) -> None:
    if style not in DEFAULT_TOKENS:
        raise BadArgument(f'style is "ht" or "ll", not {style!r}')
    if dtype not in TOLERANCE:
        raise BadArgument(f"dtype is {' or '.join(TOLERANCE)}, not {dtype!r}")
    if ubatches < 2:
        raise BadArgument(f"ubatches is at least 2, not {ubatches}")
    if layers < 1 or steps < 1:
        raise BadArgument(f"layers and steps are at least 1, not {min(layers, steps)}")
    if tokens < 8 * ubatches:
        raise BadArgument(f"{ubatches} microbatches need at least {8 * ubatches} tokens, not {tokens}")


class _Stage:
    """The model, the batch and the link of one demonstration."""

    def __init__(
        self, rt: Any, ubatches: int, layers: int, tokens: int, style: str, steps: int, dtype: str, seed: int
    ) -> None:
        self.rt, self.style, self.steps, self.dtype, self.tokens = rt, style, steps, dtype, tokens
        sizes = ModelConfig(layers=layers)
        self.config = replace(sizes, num_blocks=blocks_needed(style, tokens, sizes.block_size))
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.model = MoETransformer(self.config, rt, style, LinkModel(0, 1e15))
        self.model.to(getattr(torch, dtype)).eval()
        self.runner = GPUModelRunner(self.model, rt, ubatches)
        self.batch = requests(style, tokens, self.config.block_size, self.config.vocabulary, seed)
        if style == "ll":
            self.runner.execute_model(contexts_of(self.batch, self.config.vocabulary, seed), "unsplit")

    def play(self) -> Demo:
        """Set the link, then run the three ways."""
        link = self.model.all2all.link = self._set_link()
        runs = {mode: self._run(mode) for mode in ("unsplit", "split", "overlapped")}
        largest = float(runs["unsplit"].hidden.abs().max())
        about = self.rt.describe()
        return Demo(
            runtime=self.rt.name,
            device=about["device"],
            ubatches=self.runner.num_ubatches,
            layers=self.config.layers,
            tokens=self.tokens,
            style=self.style,
            dtype=self.dtype,
            link=str(link),
            tolerance=TOLERANCE[self.dtype] * largest,
            **runs,
        )

    def _set_link(self) -> LinkModel:
        """A link over which communication takes COMM_SHARE of this machine's computation."""
        found = []
        for _ in range(3):
            with record(self.rt) as recording:
                self.runner.execute_model(self.batch, "unsplit")
            found.append(overlap(recording.trace).compute_busy_ns)
        each_ns = COMM_SHARE[self.style] * min(found) / (2 * self.config.layers)
        width = torch.empty((), dtype=getattr(torch, self.dtype)).element_size() * self.config.hidden
        nbytes = self.tokens * self.config.top_k * width
        return LinkModel(_LATENCY_NS, nbytes * 1e9 / max(each_ns - _LATENCY_NS, 1_000))

    def _run(self, mode: str) -> Run:
        self.runner.execute_model(self.batch, mode)  # the first one learns shapes; it is not measured
        self.runner.forget(self.batch)
        with record(self.rt) as recording:
            outputs = [self.runner.execute_model(self.batch, mode) for _ in range(self.steps)]
        last = outputs[-1]
        return Run(
            recording.trace, tuple(o.duration_ns for o in outputs), last.hidden, tuple(last.sampled)
        )
