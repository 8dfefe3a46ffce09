"""06: the wiring of the ring; judged for 2 to 6 microbatches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import BadArgument
from ...exploration import explore
from ..exercise import Exercise, Verdict, right, wrong

SIZES = (2, 3, 4, 5, 6)
YIELDS = 2
EXPLORED = 3
"""Up to so many microbatches every schedule is tried, beyond that fifty."""


def judge(wiring: Callable[[int], Any]) -> Verdict:
    """An answer is a function of n; it gives parties of the barrier, whom main kicks, and whom each one signals."""
    if not callable(wiring):
        raise BadArgument(f"the answer is a function wiring(n), not {wiring!r}")
    for n in SIZES:
        said = wiring(n)
        problem = _problem(said, n)
        if problem:
            return wrong(f"With {n} microbatches: {problem}", yours=said)
        parties, kick, signals = said
        program = ring(n, parties, kick, tuple(signals))
        mode = {"mode": "sleep"} if n <= EXPLORED else {"mode": "random", "limit": 50}
        tried = explore(program, **mode, check=False)
        errors = [found for found in tried.findings if found.severity == "error"]
        if errors:
            return wrong(f"With {n} microbatches: {errors[0].sentence}.", yours=said, replay=errors[0].replay)
    return right(
        f"{SIZES[0]} to {SIZES[-1]} microbatches, each with {YIELDS} yields, and all come to an end."
    )


def _problem(said: Any, n: int) -> str:
    if not isinstance(said, tuple) or len(said) != 3 or not isinstance(said[0], int):
        return "the answer gives three things: parties, kick, and a list of n numbers."
    _, kick, signals = said
    if not isinstance(signals, (list, tuple)) or len(signals) != n or kick not in range(n):
        return f"the answer names {n} microbatches to signal, and one to kick, all from 0 to {n - 1}."
    if any(signal not in range(n) for signal in signals):
        return f"there are the microbatches 0 to {n - 1}, and no other to signal."
    return ""


def ring(n: int, parties: int, kick: int, signals: tuple[int, ...]) -> Callable[[Any], None]:
    """A ring of bare host events behind a barrier, wired like this; every microbatch yields twice and leaves."""

    def program(rt: Any) -> None:
        barrier = rt.Barrier(parties, "ready_barrier")
        turns = [rt.HostEvent(f"cpu_event[{i}]") for i in range(n)]

        def microbatch(i: int) -> None:
            barrier.wait()
            turns[i].wait()
            turns[i].clear()
            for _ in range(YIELDS):
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
