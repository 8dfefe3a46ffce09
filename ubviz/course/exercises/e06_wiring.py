"""06: the wiring of the ring; judged for 2 to 6 microbatches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import BadArgument
from ...exploration import explore
from ...runtime.schedule import SYNC
from ..exercise import Exercise, Verdict, right, wrong
from ..told import listed

SIZES = (2, 3, 4, 5, 6)
YIELDS = 2
MOST = 200
"""Schedules that are tried of each ring; of one that is wired well, fewer tell them all."""


class TooEarly(Exception):
    """A microbatch runs before all have come to the barrier."""


def judge(wiring: Callable[[int], Any]) -> Verdict:
    """An answer is a function of n; it gives parties of the barrier, whom main kicks, and whom each one signals."""
    if not callable(wiring):
        raise BadArgument(f"the answer is a function wiring(n), not {wiring!r}")
    for n in SIZES:
        said = wiring(n)
        problem = _problem(said, n)
        if problem:
            return wrong(f"With {n} microbatches: {problem}", yours=repr(said))
        parties, kick, signals = said
        tried = explore(ring(n, parties, kick, tuple(signals)), limit=MOST, check=False)
        errors = [found for found in tried.findings if found.severity == "error"]
        if errors:
            first = max(errors, key=lambda found: found.kind == "raised")  # the cause, before what came of it
            early = first.sentence.partition(f"{TooEarly.__name__}: ")[2]
            ends = early or f"it hangs:{listed(first.sentence)}"
            return wrong(f"With {n} microbatches: {ends}", yours=repr(said), replay=first.replay)
    return right(
        f"{SIZES[0]} to {SIZES[-1]} microbatches, each with {YIELDS} yields: all come to an end, and none runs before "
        "all are there."
    )


def _problem(said: Any, n: int) -> str:
    """What keeps an answer from being a wiring, in a sentence."""
    if said is None:
        return "the answer gives nothing: is a return missing?"
    if not isinstance(said, (tuple, list)) or len(said) != 3 or not isinstance(said[2], (tuple, list)):
        return "the answer gives three things: parties, kick, and a list of n numbers."
    parties, kick, signals = said
    if not _whole(parties) or parties < 1:
        return f"parties is a whole number from 1 on, not {parties!r}."
    if not _whole(kick) or kick not in range(n):
        return f"there are the microbatches 0 to {n - 1}, and main cannot kick {kick!r}."
    if len(signals) != n:
        return f"each microbatch signals one: that makes a list of {n} numbers, not of {len(signals)}."
    for number, signal in enumerate(signals):
        if not _whole(signal) or signal not in range(n):
            return (
                f"there are the microbatches 0 to {n - 1}, and microbatch {number} cannot signal {signal!r}."
            )
    return ""


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def ring(
    n: int, parties: int, kick: int, signals: tuple[int, ...], *, yields: int = YIELDS, looks: bool = True
) -> Callable[[Any], None]:
    """A ring of bare host events behind a barrier, wired like this; every microbatch yields so often and leaves.

    With ``looks`` who has the turn looks whether the others have come, as a hook looks for its receiver.
    """

    def program(rt: Any) -> None:
        barrier = rt.Barrier(parties, "ready_barrier")
        turns = [rt.HostEvent(f"cpu_event[{i}]") for i in range(n)]
        came = [rt.HostEvent(f"came[{i}]") for i in range(n)] if looks else []

        def microbatch(i: int) -> None:
            if looks:
                came[i].set()
            barrier.wait()
            turns[i].wait()
            turns[i].clear()
            late = [f"ubatch {other}" for other, flag in enumerate(came) if not flag.is_set()]
            if late:
                raise TooEarly(
                    f"ubatch {i} runs, and {late[0]} has not come to the barrier, which opens for {parties} of {n + 1}."
                )
            for _ in range(yields):
                turns[signals[i]].set()
                turns[i].wait()
                turns[i].clear()
            turns[signals[i]].set()

        threads = [rt.Thread(microbatch, (i,), f"ubatch {i}") for i in range(n)]
        for thread in threads:
            thread.start()
        barrier.wait()
        turns[kick].set()
        for thread in threads:
            thread.join()

    program.visible = SYNC | {"host_event.is_set"}  # type: ignore[attr-defined]
    program.modelled = True  # type: ignore[attr-defined]
    return program


EXERCISE = Exercise(
    "06.wiring",
    "Write wiring(n): parties of the barrier, whom main kicks, and for each microbatch whom it signals.",
    (
        "Who arrives at the barrier? Count the threads that call wait on it, main too.",
        "Every microbatch must be signalled by exactly one other, and following the signals must visit all of them.",
        "n + 1 parties; main kicks 0; microbatch i signals (i + 1) % n.",
    ),
    judge,
)
