"""09: an ht layer whose yields are placed by the learner; judged by races, by all schedules, and by its makespan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...analysis import analyze
from ...errors import BadArgument, Stalled
from ...exploration import explore
from ..exercise import Exercise, Verdict, right, wrong
from ..microbatches import Model, microbatches
from ..run import run
from ..told import listed, without_ours

LAYERS = 4
MOST = 1.15
"""Of the reference's makespan."""


@dataclass(frozen=True)
class Kernels:
    """The pieces of one layer of one microbatch, each a kernel on the current stream; of fixed durations."""

    rt: Any
    ubatch: int

    def attention(self) -> None:
        """200 µs; reads and writes x."""
        self._launch("attention", "compute", 200, "x", "h")

    def dispatch(self) -> None:
        """150 µs of communication; blocks the thread until it is through."""
        self._launch("dispatch", "comm", 150, "h", "d", host_wait=True)

    def experts(self) -> None:
        """250 µs; reads what was dispatched."""
        self._launch("experts", "compute", 250, "d", "e")

    def combine(self) -> None:
        """150 µs of communication; reads what the experts made."""
        self._launch("combine", "comm", 150, "e", "x")

    def shared(self) -> None:
        """50 µs; reads what attention made, needs no communication."""
        self._launch("shared", "compute", 50, "h", "s")

    def _launch(self, name: str, cls: str, us: int, reads: str, writes: str, **more: Any) -> None:
        self.rt.launch(
            name, cls=cls, duration_ns=us * 1000, reads=[f"{reads}{self.ubatch}"], writes=[f"{writes}{self.ubatch}"],
            **more,
        )  # fmt: skip


Layer = Callable[[Kernels], Any]
PIECES = ("attention", "dispatch", "experts", "combine", "shared")
NEEDS = {"dispatch": "attention", "experts": "dispatch", "combine": "experts", "shared": "attention"}
"""What reads what, within a layer."""
REFERENCE_NS = 4_050_000
"""The makespan of vLLM's order: three yields. A test measures it again."""


def repeated(layer: Layer, layers: int = LAYERS) -> Model:
    """A model of some layers, as ``microbatches`` takes it."""

    def model(rt: Any, ubatch: int) -> None:
        for _ in range(layers):
            layer(Kernels(rt, ubatch))

    return model


def judge(layer: Layer) -> Verdict:
    """An answer is a layer: a function of its ``Kernels``."""
    if not callable(layer):
        raise BadArgument(f"the answer is a function layer(k), not {layer!r}")
    hang = ""
    try:
        trace = run(microbatches(repeated(layer)))  # what the answer raises, it raises here
    except Stalled as stalled:
        hang = "; ".join(line.strip() for line in str(stalled).splitlines()[1:])
    tried = explore(microbatches(repeated(layer, 2)))  # a layer needs what the one before it sent
    errors = [found for found in tried.findings if found.severity == "error"]
    if errors:
        first = errors[0]
        said = (
            f"It hangs:{listed(first.sentence)}" if first.kind == "deadlock" else without_ours(first.sentence)
        )
        return wrong(said, replay=first.replay)
    if hang:
        return wrong(f"In {LAYERS} layers it hangs:{listed(hang)}")
    for ubatch in (0, 1):
        launched = [
            event.args["name"] for event in trace.events
            if event.kind == "kernel.launch" and event.ubatch == ubatch
        ]  # fmt: skip
        problem = _problem(launched)
        if problem:
            return wrong(f"ubatch {ubatch}{problem}", yours=", ".join(launched[: len(PIECES)]) or "nothing",
                         expected=", ".join(PIECES))  # fmt: skip
    analysis = analyze(trace)
    ratio = analysis.makespan_ns / REFERENCE_NS
    if ratio > MOST:
        gaps = [gap for gap in analysis.gaps if gap.stream == "compute"]
        longest = max(gaps, key=lambda gap: gap.end_ns - gap.start_ns, default=None)
        streams = {event.args["stream"] for event in trace.events if event.args.get("cls") == "comm"}
        reason = f" The longest gap: {longest.sentence}." if longest else ""
        if streams == {"compute"}:
            reason = (
                " Dispatch and combine stand in the compute stream as well, and nothing can run beside them."
            )
        return wrong(
            f"The order is right, but slow: {ratio:.2f} times the makespan of three yields.{reason}",
            yours=f"{analysis.makespan_ns / 1000:.0f} µs", expected=f"at most {MOST * REFERENCE_NS / 1000:.0f} µs",
        )  # fmt: skip
    return right(f"{ratio:.2f} times the makespan of three yields, in every schedule without a race.")


def _problem(launched: list[str]) -> str:
    """What is not launched once a layer, or before what it reads has been made, in words."""
    for piece in PIECES:
        if launched.count(piece) != LAYERS:
            return (
                f" launches {piece} {launched.count(piece)} times in {LAYERS} layers; each layer has it once."
            )
    for layer in range(LAYERS):
        for piece, needs in NEEDS.items():
            if _nth(launched, piece, layer) < _nth(launched, needs, layer):
                return f", layer {layer}: {piece} is launched before {needs}, whose result it reads."
    for layer in range(1, LAYERS):
        if _nth(launched, "attention", layer) < _nth(launched, "combine", layer - 1):
            return f", layer {layer}: attention is launched before combine of layer {layer - 1}, whose result it reads."
    return ""


def _nth(launched: list[str], piece: str, layer: int) -> int:
    return [place for place, name in enumerate(launched) if name == piece][layer]


EXERCISE = Exercise(
    "09.layer",
    "Place the yields of an ht layer so that its makespan is at most 1.15 times that of vLLM's order.",
    (
        "Look at the longest gap on compute: which thread had the turn then, and what did it wait for?",
        "Before the thread blocks in dispatch, and before the layer needs what is still on its way, the other "
        "microbatch should have filled the compute stream: hand the turn on there.",
        "Use dbo_yield_and_switch_from_compute_to_comm before dispatch and before combine, and "
        "dbo_yield_and_switch_from_comm_to_compute in place of the last switch.",
    ),
    judge,
)
