"""The demonstration: one model, one batch, three ways of running it; measured, recorded, verified.

unsplit: the whole batch at once. split: its microbatches one after the other. overlapped: the microbatches on
threads, communication behind computation. All on one runtime, over one link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import torch

from ..analysis import Finding, Overlap, findings_of, overlap
from ..engine import MODES, GPUModelRunner, LinkModel, ModelConfig, MoETransformer, StepOutput
from ..errors import BadArgument
from ..recording import record
from ..runtime import check_name, get_runtime
from ..trace.model import Trace
from .programs import blocks_needed, contexts_of, requests

TOLERANCE = {"float32": 1e-4, "bfloat16": 5e-2}
"""Largest difference to unsplit that rounding explains, relative to the largest output: an expert that gets other
rows beside a token's may multiply them in another order."""
DEFAULT_TOKENS = {"ht": 768, "ll": 384}
MOST_TOKENS = {"ht": 32_768, "ll": 4_096}
"""What still fits an ordinary machine's memory: attention of a prefill grows with the square of its tokens, and a
decode computes a context for each token first."""
MOST = {"ubatches": 64, "layers": 128, "steps": 1000}
_LATENCY_NS = 20_000


@dataclass(frozen=True)
class Run:
    """One way of running: its recording, wall time of each step, hidden states and sampled tokens."""

    trace: Trace
    durations_ns: tuple[int, ...]
    hidden: torch.Tensor = field(repr=False)
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


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        speedup = self.unsplit.median_ns / self.overlapped.median_ns
        equal = "equal" if self.outputs_equal else "DIFFERENT"
        return f"<Demo: {self.style}, {self.ubatches} microbatches, speed-up {speedup:.2f}, outputs {equal}>"

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
        return findings_of(self.overlapped.trace)

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


@dataclass(frozen=True)
class Options:
    """What to demonstrate; values that cannot be run raise ``BadArgument``."""

    runtime: str = "auto"
    ubatches: int = 2
    layers: int = 4
    tokens: int | None = None
    style: str = "ht"
    steps: int = 5
    dtype: str = "float32"
    seed: int = 0
    comm_share: float = 0.9

    def __post_init__(self) -> None:
        if not 0 < self.comm_share <= 10:
            raise BadArgument(f"comm_share is above 0 and at most 10, not {self.comm_share}")
        check_name(self.runtime)
        if self.style not in DEFAULT_TOKENS:
            raise BadArgument(f'style is "ht" or "ll", not {self.style!r}')
        if self.dtype not in TOLERANCE:
            raise BadArgument(f"dtype is {' or '.join(TOLERANCE)}, not {self.dtype!r}")
        if self.ubatches < 2:
            raise BadArgument(f"ubatches is at least 2, not {self.ubatches}")
        if self.layers < 1 or self.steps < 1:
            raise BadArgument(f"layers and steps are at least 1, not {min(self.layers, self.steps)}")
        for name, most in MOST.items():
            if getattr(self, name) > most:
                raise BadArgument(f"{name} is at most {most:,}, not {getattr(self, name):,}")
        if not 0 <= self.seed < 2**63:
            raise BadArgument(f"seed is from 0 to 2**63 - 1, not {self.seed}")
        if self.num_tokens > MOST_TOKENS[self.style]:
            raise BadArgument(
                f"tokens is at most {MOST_TOKENS[self.style]:,} in style {self.style}, not {self.num_tokens:,}"
            )
        if self.num_tokens < 8 * self.ubatches:
            raise BadArgument(
                f"{self.ubatches} microbatches need at least {8 * self.ubatches} tokens, not {self.num_tokens}"
            )

    @property
    def num_tokens(self) -> int:
        """Tokens of the batch: as asked for, or the style's default."""
        return DEFAULT_TOKENS[self.style] if self.tokens is None else self.tokens


def demo(*, say: Callable[[str], None] = lambda text: None, **options: Any) -> Demo:
    """Run the demonstration; ``options`` are the fields of ``Options``, ``say`` is told how far it is.

    ``tokens`` is the batch (default 768 for ht, 384 for ll), ``steps`` how many steps of each way are recorded,
    after one that is not. The modelled link is set so that communication takes ``comm_share`` of what computation
    takes on this machine, unsplit.

    >>> ubviz.demo(style="ht").numbers()["outputs_equal"]  # doctest: +SKIP
    True

    Raises ``BadArgument`` for sizes that cannot be run, ``RuntimeUnavailable`` without PyTorch.
    """
    chosen = Options(**options)
    rt = get_runtime(chosen.runtime)
    try:
        return _Stage(rt, chosen, say).play()
    finally:
        rt.close()


class _Stage:
    """The model, the batch and the link of one demonstration."""

    def __init__(self, rt: Any, options: Options, say: Callable[[str], None]) -> None:
        self.rt, self.options, self.say = rt, options, say
        style, seed = options.style, options.seed
        sizes = self._sizes()
        blocks = blocks_needed(style, options.num_tokens, sizes.block_size)
        self.config = config = replace(sizes, num_blocks=blocks)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.model = MoETransformer(config, rt, style, LinkModel(0, 1e15))
        self.model.to(rt.device, getattr(torch, options.dtype)).eval()
        self.runner = GPUModelRunner(self.model, rt, options.ubatches)
        self.batch = requests(
            style, options.num_tokens, config.block_size, config.vocabulary, self._batch_seed()
        )

    def _sizes(self) -> ModelConfig:
        return ModelConfig(layers=self.options.layers)

    def _batch_seed(self) -> int:
        return self.options.seed

    def play(self) -> Demo:
        """Set the link, then run the three ways."""
        self.say("measuring computation, to set the link")
        self._fill_cache()
        self.model.all2all.link = self._set_link()
        return Demo(**self._facts(self._run_all()))

    def _fill_cache(self) -> None:
        """A decode attends to tokens that were computed before."""
        if self.options.style == "ll":
            contexts = contexts_of(self.batch, self.config.vocabulary, self._batch_seed())
            self.runner.execute_model(contexts, "unsplit")

    def _facts(self, runs: dict[str, Run]) -> dict[str, Any]:
        """What a ``Demo`` is made of."""
        largest = float(runs["unsplit"].hidden.abs().max())
        return {
            "runtime": self.rt.name,
            "device": self.rt.describe()["device"],
            "ubatches": self.runner.num_ubatches,
            "layers": self.config.layers,
            "tokens": self.options.num_tokens,
            "style": self.options.style,
            "dtype": self.options.dtype,
            "link": str(self.model.all2all.link),
            "tolerance": TOLERANCE[self.options.dtype] * largest,
            **runs,
        }

    def _set_link(self) -> LinkModel:
        """A link over which communication takes ``comm_share`` of this machine's computation."""
        found = []
        for _ in range(3):
            with record(self.rt) as recording:
                self.runner.execute_model(self.batch, "unsplit")
            found.append(overlap(recording.trace).compute_busy_ns)
        each_ns = self.options.comm_share * median(found) / (2 * self.config.layers)
        width = torch.empty((), dtype=getattr(torch, self.options.dtype)).element_size() * self.config.hidden
        nbytes = self.options.num_tokens * self.config.top_k * width
        return LinkModel(_LATENCY_NS, nbytes * 1e9 / max(each_ns - _LATENCY_NS, 1_000))

    def _run_all(self) -> dict[str, Run]:
        """The three ways in turn, step by step, so that whatever else this machine does meets them alike."""
        for mode in MODES:
            self.say(f"running {mode}")
            self.runner.execute_model(self.batch, mode)  # the first one learns shapes; it is not recorded
        steps = self.options.steps
        self.say(f"recording {'one step' if steps == 1 else f'{steps} steps'} of each")
        outputs: dict[str, list[StepOutput]] = {mode: [] for mode in MODES}
        with self._record() as recording:
            for mode in MODES * self.options.steps:
                self.runner.forget(self.batch)
                outputs[mode].append(self.runner.execute_model(self.batch, mode))
        return {mode: _run(recording.trace, mode, outputs[mode]) for mode in MODES}

    def _record(self) -> Any:
        return record(self.rt)


def _run(trace: Trace, mode: str, outputs: Sequence[StepOutput]) -> Run:
    begins = trace.events.rows(trace.events.mask(kind="step.begin"))
    steps = [event.args["step"] for event in begins if event.args["branch"] == mode]
    last = outputs[-1]
    return Run(trace.only(*steps), tuple(o.duration_ns for o in outputs), last.hidden, tuple(last.sampled))
