"""02: in which order kernels end on two queues; judged against virtual time, on many lists of launches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from ...errors import BadArgument
from ...trace import Trace
from ..exercise import Exercise, Verdict, right, wrong
from ..run import run

Launch = tuple[str, str, int, bool]
LISTS = 200


def judge(completion: Callable[[list[Launch], int], list[str]]) -> Verdict:
    """An answer is a function of launches and of what one costs the thread; it orders names by their ends."""
    if not callable(completion):
        raise BadArgument(f"the answer is a function completion(launches, launch_us), not {completion!r}")
    for seed in range(LISTS):
        launches, launch_us = _launches(seed)
        said: Any = completion(list(launches), launch_us)
        trace = run(partial(_program, launches), launch_ns=launch_us * 1000)
        ends = _ends(trace)
        expected = sorted(ends, key=lambda name: ends[name])
        if not isinstance(said, list) or sorted(map(str, said)) != sorted(expected):
            return wrong("The answer is no list of the names that were launched, each once.", yours=said)
        if said != expected:
            name = next(a for a, b in zip(expected, said) if a != b)
            ended = f"{name} ends at {ends[name] / 1000:.0f} µs, before {_after(name, said)}"
            return wrong(
                f"{_told(launches, launch_us)} Then {ended}.",
                yours=" ".join(said), expected=" ".join(expected),
            )  # fmt: skip
    return right(f"{LISTS} lists of launches, each as the device ends them.")


def _launches(seed: int) -> tuple[list[Launch], int]:
    """A few launches; times are such that no two end at the same moment. The first lists are the smallest."""
    random = Random(seed)
    count = 2 + min(seed // 20, 4)
    launches = [
        (name, random.choice(("compute", "comm")), 100 * random.randint(1, 9) + 2**i, random.random() < 0.3)
        for i, name in enumerate("ABCDEF"[:count])
    ]
    return launches, random.choice((10, 50, 250))


def _program(launches: list[Launch], rt: Any) -> None:
    streams = {name: rt.Stream(name) for name in ("compute", "comm")}
    for name, stream, us, blocks in launches:
        rt.launch(name, cls=stream, duration_ns=us * 1000, stream=streams[stream], host_wait=blocks)


def _ends(trace: Trace) -> dict[str, int]:
    return {span.name: span.end_ns for span in trace.spans if span.cat == "kernel"}


def _told(launches: list[Launch], launch_us: int) -> str:
    each = ", ".join(
        f"{name} on {stream} ({us} µs{', blocks' if blocks else ''})" for name, stream, us, blocks in launches
    )
    return f"main launches {each}; a launch takes {launch_us} µs."


def _after(name: str, said: list[str]) -> str:
    earlier = said[: said.index(name)]
    return earlier[-1] if earlier else "the others"


EXERCISE = Exercise(
    "02.completion",
    "Write completion(launches, launch_us): the names in the order in which their kernels end.",
    (
        "Keep three clocks: one for the thread, and one for each stream, which says when its last kernel ends.",
        "A kernel starts when it has been launched *and* the one before it on its stream has ended: the later of two.",
        "For each launch: host += launch_us; start = max(host, end[stream]); end[stream] = start + us; and if it "
        "blocks, host = end[stream]. Sort the names by their ends.",
    ),
    judge,
)
