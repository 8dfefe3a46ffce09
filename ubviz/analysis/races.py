"""Races: two accesses to a buffer, one of them a write, that no happens-before path orders.

Whether they overlapped in this run does not matter: what is missing is the order. For each buffer the last write
and the last read of every stream are kept, so each race is found at the first access that is part of it; races
between the same two operations are one finding. What a launch touches is known only where it says so.

Left out: accesses from the host (it waits for what it reads), peers' memory, and unknown launches, which are counted
by ``unknown_accesses``.

Source: PyTorch ``torch/cuda/_sanitizer.py`` for the question, FastTrack for the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..trace.model import Trace
from .accesses import Access, accesses
from .findings import Finding
from .order import Order
from .words import at, buffer_name, stream_name, times


@dataclass(frozen=True)
class Race:
    """Two unordered accesses to one buffer; ``earlier`` was told first."""

    buffer: Any
    earlier: Access
    later: Access
    earlier_writes: bool
    later_writes: bool


def races(trace: Trace, order: Order | None = None, groups: list[list[Race]] | None = None) -> list[Finding]:
    """One finding for each pair of operations that race, in the order in which they were launched.

    ``order`` and ``groups`` are what ``Order`` and ``race_groups`` give, where they have been made already.

    >>> print(races(trace)[0].sentence)  # doctest: +SKIP
    combine (ubatch 1, comm stream, moe.py:41) reads buffer 7 while experts (ubatch 1, compute stream, moe.py:38) may
    still be writing it. No happens-before path joins them. Record an event on the compute stream after experts and
    make the comm stream wait for it before combine.
    """
    if groups is None:
        groups = race_groups(trace, order or Order(trace))
    return [_finding(trace, same) for same in groups]


def race_groups(trace: Trace, order: Order) -> list[list[Race]]:
    """Every race as its two accesses, those between the same two operations together."""
    groups: dict[Hashable, list[Race]] = defaultdict(list)
    for race in _pairs(accesses(trace, order), order):
        groups[_who(race.earlier), _who(race.later), race.earlier_writes, race.later_writes].append(race)
    return list(groups.values())


@dataclass
class _Buffer:
    """The last accesses of each stream."""

    reads: dict[str, Access] = field(default_factory=dict)
    writes: dict[str, Access] = field(default_factory=dict)


def _pairs(every: list[Access], order: Order) -> Iterator[Race]:
    buffers: dict[Hashable, _Buffer] = defaultdict(_Buffer)
    for access in every:
        for number in sorted(access.touches, key=str):
            # what a capture noted races with its like only: it runs in the replays
            buffer = buffers[access.event.rank, access.graph, number]
            writes = number in (access.writes or ())
            yield from _with(buffer.writes, number, access, True, writes, order)
            if writes:
                yield from _with(buffer.reads, number, access, False, writes, order)
                buffer.writes[access.stream] = access
            if number in (access.reads or ()):
                buffer.reads[access.stream] = access


def _with(
    others: dict[str, Access], number: Any, access: Access, theirs: bool, mine: bool, order: Order
) -> Iterator[Race]:
    for other in others.values():
        if not order.node_before(other.node, access.node):
            yield Race(number, other, access, theirs, mine)


def _who(access: Access) -> Hashable:
    return access.event.rank, access.event.ubatch, access.name, access.stream


def _finding(trace: Trace, same: list[Race]) -> Finding:
    race = same[0]
    a, b = race.earlier, race.later
    does = "writes" if race.later_writes else "reads"
    doing = "writing" if race.earlier_writes else "reading"
    sentence = (
        f"{described(b)} {does} {buffer_name(trace, race.buffer)} while {described(a)} may still be {doing} it. "
        f"No happens-before path joins them. Record an event on the {stream_name(a.stream)} after {a.name} and "
        f"make the {stream_name(b.stream)} wait for it before {b.name}{times(len(same))}."
    )
    rows = dict.fromkeys(access.event.seq for pair in same for access in (pair.earlier, pair.later))
    return Finding("race", "error", sentence, tuple(rows))


def described(access: Access) -> str:
    """An access in a sentence: "combine (ubatch 1, comm stream, moe.py:41)"."""
    ubatch = () if access.event.ubatch is None else (f"ubatch {access.event.ubatch}",)
    return f"{access.name} ({', '.join((*ubatch, stream_name(access.stream), at(access.event)))})"
