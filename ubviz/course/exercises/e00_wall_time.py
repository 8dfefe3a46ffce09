"""00: how long an overlapped pass takes; judged beside virtual time, for several loads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...analysis import overlap
from ...errors import BadArgument
from ...ubatch import dbo_yield_and_switch_from_comm_to_compute, dbo_yield_and_switch_from_compute_to_comm
from ..exercise import Exercise, Verdict, right, wrong
from ..microbatches import microbatches
from ..numbers import is_number
from ..run import run

LAYERS = 8
WITHIN = 0.1
"""As a share of what is measured: the first computation and the last transfer have nothing to hide behind."""
LOADS = ((100, 60), (100, 100), (60, 100), (200, 20), (20, 200), (150, 140))
"""Milliseconds of computation and of communication, in a whole pass."""


@cache
def measured_ms(compute_ms: float, comm_ms: float) -> float:
    """A pass of two microbatches in virtual time: eight layers, each computes, then sends."""

    def model(rt: Any, ubatch: int) -> None:
        for _ in range(LAYERS):
            rt.launch("compute", cls="compute", duration_ns=round(compute_ms * 1e6 / LAYERS / 2))
            dbo_yield_and_switch_from_compute_to_comm()
            rt.launch("send", cls="comm", duration_ns=round(comm_ms * 1e6 / LAYERS / 2))
            dbo_yield_and_switch_from_comm_to_compute()

    return overlap(run(microbatches(model))).makespan_ns / 1e6


def judge(wall_ms: Callable[[float, float], float]) -> Verdict:
    """An answer is a function of both loads in milliseconds; it gives the makespan."""
    if not callable(wall_ms):
        raise BadArgument(f"the answer is a function wall_ms(compute_ms, comm_ms), not {wall_ms!r}")
    for compute_ms, comm_ms in LOADS:
        said: Any = wall_ms(compute_ms, comm_ms)
        measured = measured_ms(compute_ms, comm_ms)
        if not is_number(said) or abs(said - measured) > WITHIN * measured:
            return wrong(
                f"Compute {compute_ms} ms, communication {comm_ms} ms: {_belief(said, compute_ms, comm_ms)}.",
                yours=f"{said:,.4g} ms" if is_number(said) else repr(said), expected=f"about {measured:.0f} ms",
            )  # fmt: skip
    return right(f"{len(LOADS)} loads, each within {WITHIN:.0%} of what virtual time measures.")


def _belief(said: Any, compute_ms: float, comm_ms: float) -> str:
    """Which wrong model gives this number."""
    if said is None:
        return "wall_ms gives nothing back; it has to return its number"
    if not is_number(said):
        return "wall_ms gives no number of milliseconds"
    total, longer = compute_ms + comm_ms, max(compute_ms, comm_ms)
    models = {
        "that is the sum, as if nothing were hidden": total,
        "that is half of the sum, as if two threads did the work in half the time": total / 2,
        "that is the computation alone, as if all communication could be hidden": compute_ms,
        "that is the communication alone, as if computation could always be hidden": comm_ms,
        "that is what is left of the longer queue beside the shorter one; but it works all the time": longer
        - min(compute_ms, comm_ms),
        "that is half of the longer one, as if its work were halved too": longer / 2,
        "that is in seconds; milliseconds are asked for": longer / 1000,
    }
    near = [words for words, value in models.items() if abs(said - value) < 0.01 * value]
    if near:
        return near[0]
    if said < longer:
        return f"that is less than the {longer} ms for which the longer queue works"
    return f"that is more than need be: {min(compute_ms, comm_ms)} ms of the work run beside the longer queue"


def _measure_all() -> None:
    """Virtual time, too, has to be computed; it is remembered."""
    for load in LOADS:
        measured_ms(*load)


EXERCISE = Exercise(
    "00.wall_time",
    "Write wall_ms(compute_ms, comm_ms): about how long the overlapped pass takes.",
    (
        "Two queues work at the same time. When is the last of them done?",
        "The work of each queue does not shrink: the pass takes at least as long as each of them.",
        "The longer of the two, nearly: only the first computation and the last transfer have nothing beside them.",
    ),
    judge,
    _measure_all,
)
