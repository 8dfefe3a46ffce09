"""10: an ll layer whose hooks are repaired; judged by findings in all schedules, and by the flight that is hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...analysis import analyze
from ...errors import BadArgument
from ...exploration import explore
from ..exercise import Exercise, Verdict, right, wrong
from ..microbatches import Model, microbatches
from ..run import run

LAYERS = 4
FLIGHT_NS = 150_000
LEAST = 0.8
"""Of the time in flight that must be hidden."""
CARRIES = {"dispatch": ("h", "d"), "combine": ("e", "x")}
NEEDS = {"experts": "dispatch", "attention": "combine"}
"""What a kernel reads must have been received; attention needs that of the layer before."""


@dataclass(frozen=True)
class Kernels:
    """The pieces of one layer of one microbatch; of fixed durations."""

    rt: Any
    ubatch: int
    log: list[tuple[str, int]] = field(default_factory=list)
    """What was launched, and whose it is, in order."""

    def attention(self) -> None:
        """200 µs; reads and writes x."""
        self._launch("attention", "compute", 200, "x", "h")

    def experts(self) -> None:
        """250 µs; reads what was dispatched."""
        self._launch("experts", "compute", 250, "d", "e")

    def send(self, name: str) -> Callable[[], None]:
        """Launch the send of "dispatch" or "combine", 10 µs; gives the function that launches the receive."""
        rt, stream = self.rt, self.rt.current_stream()
        source, target = CARRIES[name]
        flight = rt.Link("network").flight(FLIGHT_NS)
        wire = f"{name} wire "
        self._launch(f"{name} send", "comm", 10, source, wire, sends=flight)

        def receive() -> None:
            self._launch(f"{name} receive", "comm", 10, wire, target, receives=flight, stream=stream)

        return receive

    def _launch(self, name: str, cls: str, us: int, reads: str, writes: str, **more: Any) -> None:
        self.log.append((name, self.ubatch))
        self.rt.launch(
            name, cls=cls, duration_ns=us * 1000, reads=[f"{reads}{self.ubatch}"], writes=[f"{writes}{self.ubatch}"],
            **more,
        )  # fmt: skip


Layer = Callable[[Kernels], Any]


def repeated(layer: Layer, layers: int = LAYERS, log: list[tuple[str, int]] | None = None) -> Model:
    """A model of some layers, as ``microbatches`` takes it."""

    def model(rt: Any, ubatch: int) -> None:
        for _ in range(layers):
            layer(Kernels(rt, ubatch, [] if log is None else log))

    return model


def judge(layer: Layer) -> Verdict:
    """An answer is a layer: a function of its ``Kernels``."""
    if not callable(layer):
        raise BadArgument(f"the answer is a function layer(k), not {layer!r}")
    tried = explore(microbatches(repeated(layer, 2)))
    errors = [found for found in tried.findings if found.severity == "error"]
    if errors:
        return wrong(errors[0].sentence, replay=errors[0].replay)
    log: list[tuple[str, int]] = []
    trace = run(microbatches(repeated(layer, log=log)))
    missing = _read_too_early(log)
    if missing:
        return wrong(missing)
    analysis = analyze(trace)
    share = (analysis.hidden_transfer_ns or 0) / analysis.transfer_ns if analysis.transfer_ns else 0
    if share < LEAST:
        return wrong(
            f"Every transfer arrives, but only {share:.0%} of the flight is hidden: the receives spin.",
            yours=f"{share:.0%}", expected=f"at least {LEAST:.0%}",
        )  # fmt: skip
    return right(f"Every transfer is received before it is read; {share:.0%} of the flight is hidden.")


def _read_too_early(log: list[tuple[str, int]]) -> str:
    """The first kernel that reads what was not received before it, in words; all are on one stream, in this order."""
    done: Counter[tuple[str, int]] = Counter()
    for name, ubatch in log:
        needs = NEEDS.get(name)
        layer = done[name, ubatch]
        if needs is not None and done[f"{needs} receive", ubatch] < layer + (name == "experts"):
            return (
                f"{name} of microbatch {ubatch}, layer {layer}, runs before its {needs} is received: "
                "it reads what is not there."
            )
        done[name, ubatch] += 1
    for name, ubatch in (("dispatch receive", 0), ("dispatch receive", 1)):
        if done[name, ubatch] < LAYERS:
            return f"Only {done[name, ubatch]} of {LAYERS} dispatches of microbatch {ubatch} are received."
    return ""


EXERCISE = Exercise(
    "10.hooks",
    "Repair the hooks of an ll layer: all is received before it is read, and 80 % of the flight is hidden.",
    (
        "Each microbatch has room for one hook. Go through the layer: when is a second one left before the first ran?",
        "Run the hook that you were left with right before you send: then the room of your peer is free again, and its "
        "data had time to arrive.",
        "attention, run the hook, leave the dispatch, yield; experts, run the hook, leave the combine, yield. Nothing "
        "after the last yield.",
    ),
    judge,
)
