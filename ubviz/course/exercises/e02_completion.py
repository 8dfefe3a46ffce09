"""02: in which order kernels end on two queues; judged against virtual time, on many lists of launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
        amiss = _no_list_of_names(said, [name for name, *_ in launches])
        if amiss:
            return wrong(amiss, yours=repr(said), expected=f"the names {_names(launches)}, in some order")
        told = _told_by(run(partial(_program, launches), launch_ns=launch_us * 1000))
        expected = sorted(told, key=lambda name: told[name].end_us)
        if list(said) != expected:
            first = next(a for a, b in zip(expected, said) if a != b)
            before = said[: list(said).index(first)][-1]
            return wrong(
                f"{_words(launches, launch_us)}\n{told[first]}\n{told[before]}\n"
                f"So {first} ends before {before}.{_belief(completion)}",
                yours=" ".join(said), expected=" ".join(expected),
            )  # fmt: skip
    return right(f"{LISTS} lists of launches, each as the device ends them.")


def _no_list_of_names(said: Any, names: list[str]) -> str:
    """Why an answer is not every name once; nothing where it is."""
    if said is None:
        return "completion gives nothing back; it has to return its list."
    if not isinstance(said, (list, tuple)):
        return f"completion gives a {type(said).__name__}, not a list of names."
    strange = [each for each in said if each not in names]
    if strange:
        return f"{strange[0]!r} is none of the names that were launched."
    for name in names:
        if list(said).count(name) != 1:
            return f"{name} stands in the list {list(said).count(name)} times, and not once."
    return ""


@dataclass(frozen=True)
class _Told:
    """What became of one launch, in a sentence."""

    name: str
    launched_us: float
    start_us: float
    end_us: float
    holds: bool

    def __str__(self) -> str:
        holds = ", and holds main until then" if self.holds else ""
        return (
            f"{self.name}: main launches it at {self.launched_us:.0f} µs, it runs from {self.start_us:.0f} to "
            f"{self.end_us:.0f} µs{holds}."
        )


def _told_by(trace: Trace) -> dict[str, _Told]:
    launched = {event.args["name"]: event for event in trace.events if event.kind == "kernel.launch"}
    return {
        span.name: _Told(
            span.name, launched[span.name].t_ns / 1000, span.start_ns / 1000, span.end_ns / 1000,
            launched[span.name].args["host_wait"],
        )
        for span in trace.spans
        if span.cat == "kernel"
    }  # fmt: skip


def _belief(completion: Callable[[list[Launch], int], list[str]]) -> str:
    """The wrong model that gives the same orders as an answer, for all lists."""
    lists = [_launches(seed) for seed in range(LISTS)]
    try:
        said = [list(completion(list(launches), launch_us)) for launches, launch_us in lists]
    except Exception:
        return ""
    for words, model in MODELS.items():
        if said == [model(launches, launch_us) for launches, launch_us in lists]:
            return f" Yours is as if {words}."
    return ""


def _ended(launches: list[Launch], launch_us: int, *, holds: bool = True) -> list[str]:
    """The order of ends on a device of three clocks; with a wrong argument, that of a wrong model."""
    main, free, ends = 0, dict.fromkeys((stream for _, stream, *_ in launches), 0), {}
    for name, stream, us, blocks in launches:
        main += launch_us
        ends[name] = free[stream] = max(main, free[stream]) + us
        if blocks and holds:
            main = ends[name]
    return sorted(ends, key=lambda name: ends[name])


def _in_one_queue(launches: list[Launch], launch_us: int) -> list[str]:
    return _ended([(name, "", us, blocks) for name, _, us, blocks in launches], launch_us)


MODELS: dict[str, Callable[[list[Launch], int], list[str]]] = {
    "kernels ended as they were launched": lambda launches, _: [name for name, *_ in launches],
    "the shortest ended first": lambda launches, _: [
        name for name, *_ in sorted(launches, key=lambda each: each[2])
    ],
    "a launch that blocks did not hold main": partial(_ended, holds=False),
    "a launch took no time": lambda launches, _: _ended(launches, 0),
    "both streams were one queue": _in_one_queue,
}
"""Wrong models of a device, and the orders that they give."""


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


def _words(launches: list[Launch], launch_us: int) -> str:
    each = ", ".join(
        f"{name} on {stream} ({us} µs{', blocks' if blocks else ''})" for name, stream, us, blocks in launches
    )
    return f"main launches {each}; a launch takes {launch_us} µs."


def _names(launches: list[Launch]) -> str:
    return " ".join(name for name, *_ in launches)


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
