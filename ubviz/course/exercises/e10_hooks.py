"""10: an ll layer whose hooks are repaired; judged by findings in all schedules, and by the flight that is hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...analysis import analyze
from ...errors import BadArgument
from ...exploration import explore
from ...trace import Trace
from ..exercise import Exercise, Verdict, right, wrong
from ..microbatches import Model, microbatches
from ..run import run

LAYERS = 4
FLIGHT_NS = 150_000
LEAST = 0.8
"""Of the time in flight that must be hidden."""
CARRIES = {"dispatch": ("h", "d"), "combine": ("e", "x")}
SHORT_NS = 10_000
"""What a send takes, and a receive whose data is there."""
NEEDS = {
    "attention": "combine receive", "dispatch send": "attention", "dispatch receive": "dispatch send",
    "experts": "dispatch receive", "combine send": "experts", "combine receive": "combine send",
}  # fmt: skip
"""What must have been launched before, by the same microbatch in the same layer; attention needs the layer before."""
Log = list[tuple[str, int]]


@dataclass(frozen=True)
class Kernels:
    """The pieces of one layer of one microbatch; of fixed durations."""

    rt: Any
    ubatch: int
    log: Log = field(default_factory=list)
    """What was launched, and whose it is, in order."""

    def attention(self) -> None:
        """200 µs; reads and writes x."""
        self._launch("attention", "compute", 200, "x", "h")

    def experts(self) -> None:
        """250 µs; reads what was dispatched."""
        self._launch("experts", "compute", 250, "d", "e")

    def send(self, name: str) -> Callable[[], None]:
        """Launch the send of "dispatch" or "combine", 10 µs; gives the function that launches the receive."""
        if name not in CARRIES:
            raise BadArgument(f'send takes "dispatch" or "combine", not {name!r}')
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


def repeated(layer: Layer, layers: int = LAYERS, log: Log | None = None) -> Model:
    """A model of some layers, as ``microbatches`` takes it."""

    def model(rt: Any, ubatch: int) -> None:
        for _ in range(layers):
            layer(Kernels(rt, ubatch, [] if log is None else log))

    return model


def judge(layer: Layer) -> Verdict:
    """An answer is a layer: a function of its ``Kernels``."""
    if not callable(layer):
        raise BadArgument(f"the answer is a function layer(k), not {layer!r}")
    log: Log = []
    trace = run(microbatches(repeated(layer, log=log)))  # what the answer raises, it raises here
    called = _received_at_once(log)
    tried = explore(microbatches(repeated(layer, 2)))
    errors = [found for found in tried.findings if found.severity == "error"]
    if errors:
        first = errors[0]
        if first.kind == "lost_hook" and called:
            return wrong(called, replay=first.replay)
        return wrong(f"{first.sentence[0].upper()}{first.sentence[1:]}.", replay=first.replay)
    amiss = _missing(log) or _out_of_order(log)
    if amiss:
        return wrong(amiss)
    analysis = analyze(trace)
    share = (analysis.hidden_transfer_ns or 0) / analysis.transfer_ns if analysis.transfer_ns else 0
    if share < LEAST:
        return wrong(
            f"Every transfer arrives, but only {share:.0%} of the flight is hidden. {_longest_spin(trace)}",
            yours=f"{share:.0%}", expected=f"at least {LEAST:.0%}",
        )  # fmt: skip
    return right(f"Every transfer is received before it is read; {share:.0%} of the flight is hidden.")


def _received_at_once(log: Log) -> str:
    """Where every receive is called by who sent, instead of left with the peer, in words."""
    after = {name: name.replace("send", "receive") for name in NEEDS if name.endswith("send")}
    sends = [(at, after[name], ubatch) for at, (name, ubatch) in enumerate(log) if name in after]
    if not sends or any(log[at + 1 : at + 2] != [(receive, ubatch)] for at, receive, ubatch in sends):
        return ""
    return (
        "Each microbatch runs its own receives at once, and leaves what they give, which is None. k.send(...) gives "
        "the function that receives: leave that function, and do not call it."
    )


def _missing(log: Log) -> str:
    """A kernel that is not launched once a layer, in words."""
    launched = Counter(log)
    for ubatch in (0, 1):
        for name in NEEDS:
            if launched[name, ubatch] != LAYERS:
                return (
                    f"Microbatch {ubatch} launches {name} {launched[name, ubatch]} times in {LAYERS} layers; every "
                    "layer has one."
                )
    return ""


def _out_of_order(log: Log) -> str:
    """The first kernel that is launched before what it needs, in words; all are on one stream, in this order."""
    done: Counter[tuple[str, int]] = Counter()
    for name, ubatch in log:
        layer, needs = done[name, ubatch], NEEDS[name]
        if done[needs, ubatch] < layer + (name != "attention"):
            of = " of the layer before" if name == "attention" else ""
            return (
                f"Microbatch {ubatch}, layer {layer}: {name} is launched before the {needs}{of}, and reads what is not "
                "there."
            )
        done[name, ubatch] += 1
    return ""


def _longest_spin(trace: Trace) -> str:
    """The receive that waits longest for its data, in words."""
    receives: Sequence[Any] = sorted(
        (span for span in trace.spans if span.cat == "kernel" and span.name.endswith(" receive")),
        key=lambda span: span.start_ns,
    )
    longest = max(receives, key=lambda span: span.end_ns - span.start_ns)
    alike = [span for span in receives if (span.name, span.ubatch) == (longest.name, longest.ubatch)]
    spins_us = (longest.end_ns - longest.start_ns - SHORT_NS) // 1000
    return (
        f"Longest spins the {longest.name} of microbatch {longest.ubatch} in layer {alike.index(longest)}, for "
        f"{spins_us} µs: it is launched too soon after its send."
    )


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
