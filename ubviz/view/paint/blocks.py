"""Kernels gathered into operations, and the time of threads into awake and blocked.

A real recording has ten or twenty kernels in an operation. They are drawn as one block, but the gaps between
them stay: a block keeps the interval of every kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...trace.model import Span

Interval = tuple[int, int]


FIRST = ("attention", "combine", "dispatch", "experts", "router")
"""The operations that everything is about: these have their first letter."""


@dataclass
class Block:
    """An operation on a stream: consecutive kernels of one microbatch, layer and name."""

    label: str
    ubatch: int | None
    layer: int | None
    cls: str
    step: int | None
    kernels: list[Interval] = field(default_factory=list)

    @property
    def start_ns(self) -> int:
        return self.kernels[0][0]

    @property
    def end_ns(self) -> int:
        return max(end for _, end in self.kernels)


def blocks(kernels: Sequence[Span], waits: Sequence[Span] = ()) -> list[Block]:
    """Kernels (and transfers) of one lane as blocks.

    A stream that waits in between ends a block. So does a moment in which nothing is in flight: in a block of
    kernels gaps are seen, but a flight after a pause is another flight.
    """
    found: list[Block] = []
    last: tuple[object, ...] | None = None
    breaks = sorted(wait.start_ns for wait in waits if wait.end_ns > wait.start_ns)
    passed = 0
    for span in sorted(kernels, key=lambda span: (span.start_ns, span.end_ns)):
        while passed < len(breaks) and breaks[passed] <= span.start_ns:
            passed += 1
        flies = span.cat == "transfer"
        label = span.operation or span.name
        if flies:
            label = label.removesuffix(" send")
        key = (span.ubatch, span.layer, label, span.cls, span.step, passed)
        landed = flies and bool(found) and span.start_ns > found[-1].end_ns
        if key != last or not found or landed:
            cls = "transfer" if flies else span.cls or "other"
            found.append(Block(label, span.ubatch, span.layer, cls, span.step))
        last = key
        found[-1].kernels.append((span.start_ns, span.end_ns))
    return found


def sub_lanes(found: Sequence[Block]) -> list[int]:
    """A row for each block, so that none lies over another.

    >>> sub_lanes([Block("a", 0, 0, "compute", 0, [(0, 5)]), Block("b", 0, 0, "compute", 0, [(3, 9)])])
    [0, 1]
    """
    ends: list[int] = []
    rows: list[int] = []
    for block in found:
        row = next((row for row, end in enumerate(ends) if end <= block.start_ns), len(ends))
        if row == len(ends):
            ends.append(0)
        ends[row] = block.end_ns
        rows.append(row)
    return rows


def initials(names: Iterable[str]) -> dict[str, str]:
    """A letter or two for each operation, for blocks too narrow for its name.

    >>> initials(["attention", "combine", "copy", "dispatch", "dispatch send"])
    {'attention': 'A', 'combine': 'C', 'dispatch': 'D', 'copy': 'Cp', 'dispatch send': 'Ds'}
    """
    taken: dict[str, str] = {}
    for name in sorted(set(names), key=lambda name: (name not in FIRST, name)):
        for short in _shorter(name):
            if short not in taken.values():
                taken[name] = short
                break
    return taken


def _shorter(name: str) -> list[str]:
    words = name.split() or ["?"]
    first = words[0][0].upper()
    if len(words) > 1:
        return [first + "".join(word[0].lower() for word in words[1:3])]
    return [first, *(first + letter for letter in name[1:] if letter not in "aeiou" and letter.isalpha())]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Intervals, joined where they meet.

    >>> union([(5, 9), (0, 3), (2, 4)])
    [(0, 4), (5, 9)]
    """
    joined: list[Interval] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def minus(a: Sequence[Interval], b: Sequence[Interval]) -> list[Interval]:
    """What of the first lies outside the second; both are unions.

    >>> minus([(0, 10)], [(2, 3), (5, 20)])
    [(0, 2), (3, 5)]
    """
    left: list[Interval] = []
    for start, end in a:
        for low, high in b:
            if high <= start or low >= end:
                continue
            if low > start:
                left.append((start, low))
            start = max(start, high)
        if start < end:
            left.append((start, end))
    return left


def total(intervals: Iterable[Interval]) -> int:
    """How long intervals are together."""
    return sum(end - start for start, end in intervals)
