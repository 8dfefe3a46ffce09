"""Three clocks: the thread's, and one for each stream."""

from typing import Any


def device(launches: Any, launch_us: int, *, blocks_hold: bool = True, free: bool = False) -> list[str]:
    host, end, ends = 0, {"compute": 0, "comm": 0}, {}
    for name, stream, us, blocks in launches:
        host += 0 if free else launch_us
        end[stream] = max(host, end[stream]) + us
        ends[name] = end[stream]
        if blocks and blocks_hold:
            host = end[stream]
    return sorted(ends, key=lambda name: ends[name])


def answer(launches: Any, launch_us: int) -> list[str]:
    return device(launches, launch_us)


def shortest_first(launches: Any, launch_us: int) -> list[str]:
    return [name for name, _, _, _ in sorted(launches, key=lambda launch: launch[2])]


def as_they_start(launches: Any, launch_us: int) -> list[str]:
    host, end, starts = 0, {"compute": 0, "comm": 0}, {}
    for name, stream, us, blocks in launches:
        host += launch_us
        starts[name] = max(host, end[stream])
        end[stream] = starts[name] + us
        if blocks:
            host = end[stream]
    return sorted(starts, key=lambda name: starts[name])


def one_queue(launches: Any, launch_us: int) -> list[str]:
    return device([(name, "compute", us, blocks) for name, _, us, blocks in launches], launch_us)


wrong = {
    "they end as they were launched": (
        lambda launches, _: [launch[0] for launch in launches],
        "So B ends before A.",
    ),
    "the shortest ends first": (shortest_first, "Yours is as if the shortest ended first."),
    "a launch never blocks": (
        lambda all_, us: device(all_, us, blocks_hold=False),
        "Yours is as if a launch that blocks did not hold main.",
    ),
    "a launch takes no time": (
        lambda all_, us: device(all_, us, free=True),
        "Yours is as if a launch took no time.",
    ),
    "in the order in which they start": (
        as_they_start,
        "B: main launches it at 10 µs, it runs from 20 to 222 µs.",
    ),
    "one queue for all": (one_queue, "So B ends before A."),
    "the wrong way round": (lambda all_, us: device(all_, us)[::-1], "So A ends before B."),
    "nothing is returned": (lambda launches, _: None, "completion gives nothing back"),
    "one text": (lambda all_, us: "".join(device(all_, us)), "completion gives a str, not a list of names"),
    "the launches themselves": (lambda launches, _: launches, "is none of the names that were launched"),
    "one is missing": (lambda all_, us: device(all_, us)[:-1], "B stands in the list 0 times"),
    "one too many": (lambda all_, us: [*device(all_, us), "A"], "A stands in the list 2 times"),
    "no function": (["A", "B"], "the answer is a function completion(launches, launch_us)"),
}
