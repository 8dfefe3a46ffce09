"""07: the first operation that runs in the wrong forward context; judged on recordings of a ring that forgets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import index
from typing import Any

from ...errors import BadArgument
from ...exploration.bare_ring import PlainContext, Switches, plain_contexts, turn
from ...exploration.ring_models import LAYERS
from ...trace import Trace
from ..exercise import Exercise, Verdict, right, wrong
from ..run import run

RUNS = (("ht", 2), ("ll", 2), ("ht", 3), ("ll", 3), ("ht", 4))
"""Style and number of microbatches of each recording."""


def forgetful(style: str = "ht", n: int = 2, layers: int = 2) -> Callable[[Any], None]:
    """A program whose microbatches put their forward context in place when they enter, and not after a yield."""

    def program(rt: Any) -> None:
        contexts = plain_contexts(rt, n, Switches(asserts=False))
        turn(rt, contexts, lambda context: _microbatch(context, style, layers))

    return program


def _microbatch(context: PlainContext, style: str, layers: int) -> None:
    restore = context._restore_context
    with context:
        context._restore_context = lambda: None  # type: ignore[method-assign]
        for layer in range(layers):
            LAYERS[style](None, context, layer)
        context._restore_context = restore  # type: ignore[method-assign]


@cache
def traces() -> tuple[Trace, ...]:
    """The recordings that an answer is tried on."""
    return tuple(run(forgetful(style, n)) for style, n in RUNS)


def first_of(trace: Trace) -> int:
    """The row of the first launch in a context of another microbatch.

    >>> trace = run(forgetful())
    >>> trace.events[first_of(trace)].args["name"]
    'dispatch'
    """
    now = None
    for row, event in enumerate(trace.events):
        if event.kind == "context.set":
            now = event.args.get("ubatch", event.ubatch)
        elif event.kind == "kernel.launch" and event.ubatch != now:
            return row
    raise BadArgument("in this recording every launch runs in its own context")


def judge(first_wrong: Callable[[list[Any]], int]) -> Verdict:
    """An answer is a function of a recording's trace events; it gives the number of the first wrong launch."""
    if not callable(first_wrong):
        raise BadArgument(f"the answer is a function first_wrong(events), not {first_wrong!r}")
    for trace, (style, n) in zip(traces(), RUNS, strict=True):
        expected = first_of(trace)
        said: Any = first_wrong(list(trace.events))
        number = _number(said)
        if number is None or not 0 <= number < len(trace.events):
            return wrong(_no_number(said, len(trace.events) - 1), yours=_short(said))
        if number != expected:
            return wrong(
                f"In a run of {n} microbatches, {style}: {_told(trace, number)}",
                yours=number,
                expected=expected,
            )
    return right(f"{len(RUNS)} recordings, each time the first.")


def _number(said: Any) -> int | None:
    """A whole number of any kind, NumPy's too; None for what is none."""
    try:
        return None if isinstance(said, bool) else index(said)
    except TypeError:
        return None


def _no_number(said: Any, last: int) -> str:
    if said is None:
        return (
            "first_wrong gives None for one of the recordings: is a return missing, or does it find nothing?"
        )
    if hasattr(said, "seq"):
        return "first_wrong gives a trace event; asked for is its number, which enumerate counts."
    return f"The answer is the number of a trace event, from 0 to {last}."


def _short(said: Any) -> str:
    text = repr(said)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _told(trace: Trace, said: int) -> str:
    """What is the matter with the chosen event."""
    event = trace.events[said]
    if event.kind != "kernel.launch":
        return f"trace event {said} is {event.kind}; looked for is a kernel.launch."
    now = None
    for before in list(trace.events)[:said]:
        if before.kind == "context.set":
            now = before.args.get("ubatch", before.ubatch)
    what = f"the launch of {event.args['name']} by ubatch {event.ubatch}"
    if now == event.ubatch:
        return f"{what} runs in its own context: the last context.set before it was of ubatch {now}."
    return f"{what} does run in the context of ubatch {now}, but it is not the first."


EXERCISE = Exercise(
    "07.first_wrong",
    "Write first_wrong(events): the number of the first launch that runs in another microbatch's forward context.",
    (
        "The forward context is one for the whole process: whoever set it last, it is theirs.",
        "Go through the events with one variable: whose context is in place. A context.set changes it.",
        "For each kernel.launch compare event.ubatch with the variable; the first that differs is the answer.",
    ),
    judge,
    traces,
)
