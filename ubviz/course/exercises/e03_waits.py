"""03: the fewest waits that leave no race in a layer; judged by the checker, by leaving each out, and moving it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...analysis import analyze
from ...errors import BadArgument
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
NAMES = [name for name, *_ in LAYER]
STREAM = {name: stream for name, stream, *_ in LAYER}
READS = {name: reads for name, _, _, reads, _ in LAYER}
WRITES = {name: writes for name, *_, writes in LAYER}


def layer(waits: Sequence[Wait]) -> Callable[[Any], None]:
    """The layer as a program, with these waits: an event after the first of each pair, a wait before the second."""

    def program(rt: Any) -> None:
        streams = {name: rt.Stream(name) for name in ("compute", "comm")}
        pairs = [tuple(wait) for wait in waits]
        events = {wait: rt.Event(f"{wait[0]}_done") for wait in pairs}
        for name, stream, us, reads, writes in LAYER:
            for wait in pairs:
                if wait[1] == name:
                    streams[stream].wait_event(events[wait])
            rt.launch(
                name, cls=stream, duration_ns=us * 1000, stream=streams[stream], reads=reads, writes=writes
            )
            for wait in pairs:
                if wait[0] == name:
                    events[wait].record(streams[stream])

    return program


def judge(waits: Any) -> Verdict:
    """An answer is a list of pairs of kernels."""
    if isinstance(waits, (str, dict)) or not isinstance(waits, Iterable):
        raise BadArgument(f"the answer is a list of pairs (after, before), not {waits!r}")
    pairs = [tuple(wait) if isinstance(wait, (list, tuple)) else (wait,) for wait in waits]
    for pair in pairs:
        strange = _no_wait(pair) or (
            "" if pairs.count(pair) == 1 else f"This wait stands in the list {pairs.count(pair)} times."
        )
        if strange:
            return wrong(strange, yours=pair if len(pair) != 1 else repr(pair[0]))
    race = _race(pairs)
    if race:
        return wrong(
            race, yours=f"{len(pairs)} wait{'s' * (len(pairs) != 1)}", expected="an order between these two"
        )
    for amiss in (_surplus, _too_strict):
        found = amiss(pairs)
        if found is not None:
            return found
    took = f"{_makespan_us(pairs)} µs"
    return right(
        f"No race; none of the {len(pairs)} waits can be left out, and none stands too early: {took}."
    )


def _no_wait(pair: Sequence[Any]) -> str:
    """Why a pair makes no order; nothing where it is one."""
    if len(pair) != 2 or any(name not in NAMES for name in pair):
        return f"A wait is a pair of two of {', '.join(NAMES)}."
    after, before = pair
    if NAMES.index(after) >= NAMES.index(before):
        return (
            f"When {before} is launched, {after} has not been: its event is not recorded, "
            "and the wait orders nothing."
        )
    if STREAM[after] == STREAM[before]:
        return (
            f"The wait of {before} for {after} is not needed: both are on one stream, which keeps their order by "
            "itself."
        )
    return ""


def _race(pairs: Sequence[Any]) -> str:
    """The first race in words, in the words of the table; nothing where there is none."""
    trace = run(layer(pairs))
    for finding in analyze(trace).findings:
        if finding.kind == "race":
            first, then = (trace.events[seq].args["name"] for seq in finding.events[:2])
            shared = next(name for name in WRITES[first] if name in READS[then])
            return (
                f"A race: {then} ({STREAM[then]} stream) reads {shared}, which {first} ({STREAM[first]} stream) writes,"
                " and nothing orders the two. It is there in every run, also in one in which the times happen to fit."
            )
    return ""


def _surplus(pairs: list[Any]) -> Verdict | None:
    """The wait that costs most of those that can be left out."""
    without = {pair: [other for other in pairs if other != pair] for pair in pairs}
    spare = [pair for pair in pairs if not _race(without[pair])]
    if not spare:
        return None
    worst = min(spare, key=lambda pair: _makespan_us(without[pair]))
    sentence = f"The wait of {worst[1]} for {worst[0]} is not needed: without it there is no race either."
    return _costs(sentence, worst, _makespan_us(pairs), _makespan_us(without[worst]))


def _too_strict(pairs: list[Any]) -> Verdict | None:
    """A wait that stops its stream before something which need not wait."""
    for pair in pairs:
        after, before = pair
        for later in NAMES[NAMES.index(before) + 1 :]:
            moved = [(after, later) if other == pair else other for other in pairs]
            if STREAM[later] == STREAM[before] and not _race(moved):
                sentence = (
                    f"The wait of {before} for {after} stands too early: {before} reads nothing of {after}, and is "
                    "held up for a kernel further down its stream."
                )
                return _costs(sentence, pair, _makespan_us(pairs), _makespan_us(moved))
    return None


def _costs(sentence: str, pair: Any, with_it_us: int, better_us: int) -> Verdict:
    """With the makespans, where they differ."""
    if better_us == with_it_us:
        return wrong(sentence, yours=pair)
    return wrong(
        f"{sentence} It costs overlap.", yours=f"{pair}, {with_it_us} µs", expected=f"{better_us} µs"
    )


def _makespan_us(pairs: Sequence[Any]) -> int:
    return analyze(run(layer(pairs))).makespan_ns // 1000


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
