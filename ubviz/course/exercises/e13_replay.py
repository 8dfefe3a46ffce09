"""13: what a replay does on the host; judged by the recording of one."""

from __future__ import annotations

from typing import Any

from ...errors import BadArgument
from ..exercise import Exercise, Verdict, right, wrong
from ..passes import forward_passes

COUNTED = {
    "threads": "thread.start",
    "host_events": "host_event.set",
    "barrier": "barrier.arrive",
    "hooks": "hook.run",
}
WORDS = {
    "threads": "threads are started",
    "host_events": "host events are set",
    "barrier": "threads arrive at the barrier",
    "hooks": "hooks are run",
}


def counts() -> tuple[dict[str, int], dict[str, int]]:
    """How often each happens in the step that captures, and in the first that replays; measured."""
    trace = forward_passes("ll", passes=3, full=True)
    first, second = (dict.fromkeys(COUNTED, 0) for _ in range(2))
    for event in trace.events:
        for step, into in zip(trace.steps, (first, second)):
            for name, kind in COUNTED.items():
                into[name] += event.step == step and event.kind == kind
    return first, second


def judge(guess: Any) -> Verdict:
    """An answer is a dict of four numbers."""
    if not isinstance(guess, dict) or set(guess) != set(COUNTED):
        raise BadArgument(f"the answer is a dict of {', '.join(COUNTED)}, not {guess!r}")
    for name, number in guess.items():
        if isinstance(number, bool) or not isinstance(number, int):
            return wrong(f"How many {WORDS[name]}? The answer is a whole number.", yours=repr(number))
    captured, replayed = counts()
    for name, measured in replayed.items():
        if guess[name] != measured:
            because = (
                "That is what happened while it was captured, in Python; a replay runs no Python of the model. "
                if guess[name] == captured[name]
                else ""
            )
            return wrong(
                f"{because}In a replay {measured} {WORDS[name]}.", yours=guess[name], expected=measured
            )
    return right("A replay launches one graph; the order that the hand-over made is in its edges.")


EXERCISE = Exercise(
    "13.replay",
    "Predict what happens on the host in a replay: threads, host_events, barrier, hooks.",
    (
        "What is in a CUDA graph? Kernels, copies, and edges between them.",
        "The hand-over is Python: which of the four would have to be in the graph to happen again?",
        "None of them. A replay is one launch from the main thread.",
    ),
    judge,
    counts,
)
