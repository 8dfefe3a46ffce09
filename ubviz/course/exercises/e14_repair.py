"""14: a model whose microbatches yield unequally, to be repaired; judged in every order, and by the work done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ...errors import BadArgument
from ...exploration import explore
from ...trace import Trace
from ..exercise import Exercise, Verdict, right, wrong
from ..microbatches import microbatches
from ..run import run

KERNELS = (3, 4)
"""How many kernels the microbatches of the broken model launch."""
LEAST_YIELDS = 2


def judge(model: Callable[[Any, int], Any]) -> Verdict:
    """An answer is a model, as ``microbatches`` takes it."""
    if not callable(model):
        raise BadArgument(f"the answer is a function repaired(rt, ubatch), not {model!r}")
    trace = run(microbatches(model))
    launched, yields = _of_each(trace, "kernel.launch"), _of_each(trace, "ctx.yield")
    for ubatch, wanted in enumerate(KERNELS):
        if launched[ubatch] != wanted:
            return wrong(
                f"Microbatch {ubatch} launches {launched[ubatch]} kernels, and its work was {wanted}: mend the order, "
                "and leave the work as it is.",
                yours=launched[ubatch], expected=wanted,
            )  # fmt: skip
    if yields[0] != yields[1]:
        return wrong(
            f"Microbatch 0 yields {yields[0]} times, microbatch 1 {yields[1]}: who yields once more waits for a peer "
            "that has left.",
            yours=(yields[0], yields[1]), expected="equally many",
        )  # fmt: skip
    if yields[0] < LEAST_YIELDS:
        return wrong(
            f"The microbatches yield {yields[0]} times: so few hand-overs were not the fault. Keep "
            f"{LEAST_YIELDS} of them.",
            yours=yields[0], expected=f"at least {LEAST_YIELDS}",
        )  # fmt: skip
    tried = explore(microbatches(model))
    if tried.findings:
        first = tried.findings[0]
        return wrong(f"{first.sentence[0].upper()}{first.sentence[1:]}.", replay=first.replay)
    return right("The same kernels, equally many yields, and no order in which anything is found.")


def _of_each(trace: Trace, kind: str) -> Counter[int | None]:
    return Counter(event.ubatch for event in trace.events if event.kind == kind)


EXERCISE = Exercise(
    "14.repair",
    "Repair a model whose microbatch 1 yields once more than microbatch 0, without taking work away.",
    (
        "Count the yields of each microbatch; count the kernels as well.",
        "A yield is a hand-over to the peer: both take part, so both need equally many. Work needs no yield of its "
        "own.",
        "Let both yield twice in the loop; what microbatch 1 has more to launch comes after its last yield.",
    ),
    judge,
)
