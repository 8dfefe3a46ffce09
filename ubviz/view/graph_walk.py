"""A walk through a graph of states, as a replay string tells it.

Not here: making the graph (``ubviz.exploration.game``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import BadArgument

ENDED, NOT_STARTED = -1, -2
"""What stands in a node for a thread that is about to do nothing."""
MOST_CHOICES = 100_000
_PART = re.compile(r"(\d{1,6})(?:x(\d{1,9}))?")


@dataclass(frozen=True)
class Walk:
    """Where a schedule leads: the number of its node, the choices it made, and how it is written."""

    node: int
    choices: tuple[int, ...]
    schedule: str


def walked(graph: Mapping[str, Any], schedule: str) -> Walk:
    """Follow a replay string.

    Raises ``BadArgument`` where it is none, or lets a thread go on that cannot.
    """
    steps, prefix = schedule.strip(), graph["prefix"]
    if steps:
        before, colon, rest = steps.rpartition(":")
        if before + colon != prefix:
            raise BadArgument(
                f"a replay string of this program begins with {prefix or 'a thread number'!r}, not {schedule!r}"
            )
        steps = rest
    node, choices = graph["start"], list[int]()
    runs: list[list[int]] = []
    for thread, count in _runs(steps):
        for _ in range(count):
            able = graph["nodes"][node]["able"]
            if thread not in able:
                raise BadArgument(
                    f"choice {len(choices) + 1} of the schedule lets thread {thread} go on, but "
                    f"{' and '.join(map(str, able)) or 'nobody'} can: it is a schedule of another program"
                )
            node = graph["nodes"][node]["next"][able.index(thread)]
            choices.append(thread)
        if runs and runs[-1][0] == thread:
            runs[-1][1] += count
        else:
            runs.append([thread, count])
    written = ".".join(f"{thread}x{count}" if count > 1 else str(thread) for thread, count in runs)
    return Walk(node, tuple(choices), prefix + written)


def _runs(steps: str) -> Iterator[tuple[int, int]]:
    made = 0
    for at, part in enumerate(steps.split(".") if steps else []):
        found = _PART.fullmatch(part)
        if found is None:
            raise BadArgument(f"part {at + 1} of the schedule, {part!r}, is no thread number like 2 or 2x14")
        count = int(found[2] or 1)
        made += count
        if made > MOST_CHOICES:
            raise BadArgument(f"a schedule makes at most {MOST_CHOICES:,} choices")
        yield int(found[1]), count
