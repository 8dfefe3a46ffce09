"""03: the fewest waits that leave no race in a layer; judged by the checker of races, and by leaving each one out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...analysis import analyze
from ..exercise import Exercise, Verdict, right, wrong
from ..run import run

Wait = tuple[str, str]
LAYER = (
    ("attention", "compute", 200, (), ("x",)),
    ("dispatch", "comm", 300, ("x",), ("y",)),
    ("shared", "compute", 250, ("x",), ("s",)),
    ("experts", "compute", 300, ("y",), ("z",)),
    ("combine", "comm", 300, ("z",), ("w",)),
    ("output", "compute", 100, ("w", "s"), ("o",)),
)
"""Kernel, stream, microseconds, what it reads, what it writes; in the order of launches."""
STREAM = {name: stream for name, stream, *_ in LAYER}


def layer(waits: Sequence[Wait]) -> Callable[[Any], None]:
    """The layer as a program, with these waits: an event after the first of each pair, a wait before the second."""

    def program(rt: Any) -> None:
        streams = {name: rt.Stream(name) for name in ("compute", "comm")}
        events = {wait: rt.Event(f"{wait[0]}_done") for wait in waits}
        for name, stream, us, reads, writes in LAYER:
            for wait in waits:
                if wait[1] == name:
                    streams[stream].wait_event(events[wait])
            rt.launch(
                name, cls=stream, duration_ns=us * 1000, stream=streams[stream], reads=reads, writes=writes
            )
            for wait in waits:
                if wait[0] == name:
                    events[wait].record(streams[stream])

    return program


def judge(waits: Any) -> Verdict:
    """An answer is a list of pairs of kernels."""
    names = [name for name, *_ in LAYER]
    pairs = [tuple(wait) if isinstance(wait, (list, tuple)) else (wait,) for wait in waits]
    for pair in pairs:
        if len(pair) != 2 or any(name not in names for name in pair):
            return wrong(f"A wait is a pair of two of {', '.join(names)}.", yours=pair)
    found = _races(pairs)
    for after, before in pairs:
        if names.index(after) >= names.index(before):
            return wrong(
                f"When {before} is launched, {after} has not been: its event is not recorded, and the wait orders "
                "nothing.", yours=(after, before),
            )  # fmt: skip
    if found:
        return wrong(found[0])
    for pair in pairs:
        if not _races([other for other in pairs if other is not pair]):
            reason = (
                "both are on one stream, which keeps their order by itself"
                if STREAM[pair[0]] == STREAM[pair[1]]
                else "without it there is no race either, so it only makes the device wait"
            )
            return wrong(f"The wait of {pair[1]} for {pair[0]} is not needed: {reason}.", yours=pair)
    return right(f"No race, and none of the {len(pairs)} waits can be left out.")


def _races(pairs: Sequence[Any]) -> list[str]:
    findings = analyze(run(layer(list(dict.fromkeys(pairs))))).findings
    return [finding.sentence for finding in findings if finding.kind == "race"]


EXERCISE = Exercise(
    "03.waits",
    "Give the fewest waits, as pairs (after, before), that leave no race in the layer.",
    (
        "Only kernels on different streams need a wait: within a stream the order is there.",
        "Go through the table: who reads what a kernel of the other stream has written? The nearest write before it.",
        "There are four: x must be there before it is sent, y before the experts, z before it is sent back, w before "
        "the output. The rest follows from the order within the streams.",
    ),
    judge,
)
