"""08: yield-and-switch, put together from its parts; judged by the order of operations on each thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...analysis import analyze
from ...errors import BadArgument
from ...exploration import explore
from ...trace import Trace
from ...ubatch import UBatchContext
from ...ubatch.contexts import by_thread
from ..exercise import Exercise, Verdict, right, wrong
from ..microbatches import Model, microbatches
from ..run import run

LAYERS = 4
KINDS = (
    "event.record",
    "event.wait",
    "host_event.set",
    "host_event.wait",
    "host_event.clear",
    "stream.switch",
)
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
    tried = explore(microbatches(model_of(switch, 1)))
    errors = [found for found in tried.findings if found.severity == "error"]
    if errors:
        return wrong(errors[0].sentence, replay=errors[0].replay)
    trace = run(microbatches(model_of(switch)))
    for ubatch in (0, 1):
        yours, expected = sequence(trace, ubatch), sequence(reference(), ubatch)
        if yours != expected:
            step = next(
                (i for i, (a, b) in enumerate(zip(yours, expected)) if a != b), min(len(yours), len(expected))
            )
            cost = analyze(trace).makespan_ns / analyze(reference()).makespan_ns
            return wrong(
                f"ubatch {ubatch}, operation {step}: yours differs from yield_and_switch_from_compute_to_comm; the "
                f"makespan is {cost:.2f} times as long.",
                yours=", ".join(yours[step : step + 3]) or "nothing",
                expected=", ".join(expected[step : step + 3]) or "nothing",
            )  # fmt: skip
    return right("The same operations in the same order, on both threads.")


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
