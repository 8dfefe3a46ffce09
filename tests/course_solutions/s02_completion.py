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


wrong = {
    "they end as they were launched": (lambda launches, _: [launch[0] for launch in launches], "before"),
    "the shortest ends first": (shortest_first, "before"),
    "a launch never blocks": (lambda all_, us: device(all_, us, blocks_hold=False), "blocks"),
    "a launch takes no time": (lambda all_, us: device(all_, us, free=True), "a launch takes"),
    "no list": (lambda launches, _: None, "no list of the names"),
}
