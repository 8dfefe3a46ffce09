"""08: yield-and-switch, put together from its parts; judged by the order of operations on each thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...analysis import analyze
from ...errors import BadArgument, Stalled
from ...exploration import explore
from ...trace import Trace
from ...ubatch import UBatchContext
from ...ubatch.contexts import by_thread
from ..exercise import Exercise, Verdict, right, wrong
from ..microbatches import Model, microbatches
from ..run import run
from ..told import listed, without_ours

LAYERS = 4
SAME = 1.005
"""Times the reference's makespan: no longer."""
KINDS = (
    "event.record",
    "event.wait",
    "host_event.set",
    "host_event.wait",
    "host_event.clear",
    "stream.switch",
)
OWN = ("record compute_done[0]", "switch to comm", "comm waits for compute_done[0]")
"""What nothing but the parts does, on microbatch 0."""
Switch = Callable[[UBatchContext], Any]


def model_of(switch: Switch, layers: int = LAYERS) -> Model:
    """Layers that compute, go to comm by ``switch``, send, and come back with a wait."""

    def model(rt: Any, ubatch: int) -> None:
        context = here()
        for _ in range(layers):
            rt.launch(
                "attention", cls="compute", duration_ns=200_000, reads=[f"x{ubatch}"], writes=[f"h{ubatch}"]
            )
            switch(context)
            rt.launch(
                "dispatch", cls="comm", duration_ns=150_000, reads=[f"h{ubatch}"], writes=[f"x{ubatch}"]
            )
            context.switch_to_compute_sync()

    return model


def here() -> UBatchContext:
    """The context of the microbatch that this thread runs."""
    from threading import get_ident

    return by_thread[get_ident()]


def by_the_book(context: UBatchContext) -> None:
    """What is to be put together."""
    context.yield_and_switch_from_compute_to_comm()


@cache
def reference() -> Trace:
    """The recording that an answer is compared with."""
    return run(microbatches(model_of(by_the_book)))


def sequence(trace: Trace, ubatch: int) -> list[str]:
    """What one microbatch did, in words: "record compute_done[0]", "set cpu_event[1]"."""
    return [_word(event) for event in trace.events if event.ubatch == ubatch and event.kind in KINDS]


def _word(event: Any) -> str:
    args = event.args
    if event.kind == "stream.switch":
        return f"switch to {args['to']}"
    verb = {"event.record": "record", "event.wait": f"{args.get('stream')} waits for"}.get(
        event.kind, event.kind.split(".")[1]
    )
    return f"{verb} {args.get('event') or args.get('host_event')}"


def judge(switch: Switch) -> Verdict:
    """An answer is a function of a context, made of its parts."""
    if not callable(switch):
        raise BadArgument(f"the answer is a function of a context, not {switch!r}")
    hang = ""
    try:
        trace = run(microbatches(model_of(switch)))  # what the answer raises, it raises here
    except Stalled as stalled:
        hang = "; ".join(line.strip() for line in str(stalled).splitlines()[1:])
    tried = explore(microbatches(model_of(switch, 1)))
    errors = [found for found in tried.findings if found.severity == "error"]
    if errors:
        first = errors[0]
        said = (
            f"It hangs:{listed(first.sentence)}" if first.kind == "deadlock" else without_ours(first.sentence)
        )
        return wrong(said, replay=first.replay, **_first_difference(tried.trace(first))[1])
    if hang:
        return wrong(f"In {LAYERS} layers it hangs:{listed(hang)}")
    done = sequence(trace, 0)
    yields = done.count("set cpu_event[1]") - 1  # the last one is the leaving
    if not yields and not any(word in OWN for word in done):
        return wrong(
            "The answer does none of the four things: do its calls have their parentheses, and is there a yield of "
            "Python's own in it?", expected=", ".join(sequence(reference(), 0)[3:6]),
        )  # fmt: skip
    where, both = _first_difference(trace)
    if both:
        cost = analyze(trace).makespan_ns / analyze(reference()).makespan_ns
        harm = f"The makespan is {cost:.2f} times as long."
        if cost < SAME:
            harm = (
                "Here nothing goes wrong by it, and it takes as long; asked for is the package's own order."
            )
        return wrong(f"{where}: yours differs from yield_and_switch_from_compute_to_comm. {harm}", **both)
    return right("The same operations in the same order, on both threads.")


def _first_difference(trace: Trace) -> tuple[str, dict[str, str]]:
    """Where a recording leaves the reference's order, and three operations of both; empty where it does not."""
    for ubatch in (0, 1):
        yours, expected = sequence(trace, ubatch), sequence(reference(), ubatch)
        pairs = zip(yours, expected, strict=False)
        step = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(yours), len(expected)))
        if step < max(len(yours), len(expected)):
            both = {"yours": yours, "expected": expected}
            return f"ubatch {ubatch}, operation {step}", {
                name: ", ".join(words[step : step + 3]) or "nothing" for name, words in both.items()
            }
    return "", {}


EXERCISE = Exercise(
    "08.switch",
    "Put yield_and_switch_from_compute_to_comm together from _signal_compute_done, _cpu_yield, update_stream and "
    "_wait_compute_done.",
    (
        "What must the event cover: this microbatch's work alone, or also what the other one launches meanwhile?",
        "While this thread sleeps the other one launches onto the compute stream. A record after the yield would stand "
        "behind that work.",
        "Record, yield, switch the stream, let it wait: _signal_compute_done(), _cpu_yield(), "
        "update_stream(context.comm_stream), _wait_compute_done().",
    ),
    judge,
    reference,
)
