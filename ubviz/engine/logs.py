"""The logs of the ranks' collectives, and what they say when one has failed: pure functions.

A log belongs to a rank and a group (the collectives of one stream, or of main), whose order is the same on all
ranks when all is well. The first difference in any group is where it went wrong; of several groups, the one of the
earliest step, since a rank that waits in one group falls behind in the others.

>>> def at(*steps: int) -> dict[str, Log]:
...     return {"main": Log(0, tuple(Entry(step, "the vote") for step in steps))}
>>> missed(0, at(1, 2, 3), {1: at(1, 3)}, "main")
'rank 1 missed the vote in step 2 and went on to the vote in step 3'
>>> missed(0, at(1, 2), {1: at(1)}, "main")
'rank 1 missed the vote in step 2, where rank 0 waited for it: its last was the vote in step 1'
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """One collective that a rank began."""

    step: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} in step {self.step}"


class Log(NamedTuple):
    """The end of one rank's log of one group: the place of its first entry, and the entries."""

    start: int
    entries: tuple[Entry, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.entries)

    def at(self, place: int) -> Entry:
        return self.entries[place - self.start]


Logs = dict[str, Log]
LEFT = -2
"""The number of the last beat of a rank that has left: no other comes."""
_NOTHING = Log(0, ())


class Told(NamedTuple):
    """What a rank's beat says: a number that grows, its last collective of all, and its logs."""

    number: int
    last: Entry | None
    logs: Logs

    def to_json(self) -> str:
        return json.dumps(self)

    @classmethod
    def from_json(cls, text: str | None) -> Told:
        number, last, logs = json.loads(text or "[0, null, {}]")
        return cls(number, last and Entry(*last), {name: _log(*log) for name, log in logs.items()})

    def __str__(self) -> str:
        return f"its last was {self.last}" if self.last else "it was in none before"


def _log(start: int, entries: list[Any]) -> Log:
    return Log(start, tuple(Entry(*entry) for entry in entries))


def missed(rank: int, mine: Logs, others: dict[int, Logs | Told], failed: str) -> str | None:
    """Which rank was not in which collective where it first happened; None where the logs agree.

    ``failed`` is the group whose log, on this ``rank``, ends with the collective that failed.
    """
    step = mine[failed].entries[-1].step
    found = [
        (entry.step, group != "main", sentence)
        for peer, told in others.items()
        for group, log in mine.items()
        for entry, sentence, sure in _differences(rank, log, peer, told, group)
        if (sure and group == failed) or entry.step < step  # else the others only lag, or have gone on
    ]
    return min(found)[2] if found else None


def _differences(
    rank: int, mine: Log, peer: int, told: Logs | Told, group: str
) -> Iterator[tuple[Entry, str, bool]]:
    """The first difference of two logs: the collective, who missed it, whether that rank cannot come to it later."""
    theirs = (told.logs if isinstance(told, Told) else told).get(group, _NOTHING)
    for place in range(max(mine.start, theirs.start), min(mine.end, theirs.end)):
        here, there = mine.at(place), theirs.at(place)
        if here != there:
            skipped = _skipped(here, there, mine.entries[place - mine.start :])
            skipped_here = _skipped(there, here, theirs.entries[place - theirs.start :])
            if skipped == skipped_here:  # neither, as far as is known, or each is with the other later
                yield here, apart({rank: here, peer: there}), True
            elif skipped:
                yield here, f"rank {peer} missed {here} and went on to {there}", True
            else:
                yield there, f"rank {rank} missed {there} and went on to {here}", True
            return
    if theirs.end < mine.end:
        here = mine.at(max(theirs.end, mine.start))
        last = str(told) if isinstance(told, Told) else str(Told(0, (theirs.entries or (None,))[-1], {}))
        yield here, f"rank {peer} missed {here}, where rank {rank} waited for it: {last}", True
    elif theirs.end > mine.end:
        there = theirs.at(max(mine.end, theirs.start))
        yield there, f"rank {rank} missed {there}, where rank {peer} waited for it", False


def _skipped(here: Entry, there: Entry, later: tuple[Entry, ...]) -> bool:
    """Whether the other one left out ``here``: it is further on, or at what comes later on this rank."""
    return there.step > here.step or (there.step == here.step and there in later)


def apart(where: dict[int, Entry]) -> str:
    """That two ranks are in different collectives, which would be paired; who of them is wrong is not known.

    >>> apart({1: Entry(4, "combine"), 0: Entry(4, "dispatch")})
    'rank 0 began dispatch in step 4 where rank 1 began combine in step 4; all ranks have to begin them in one order'
    """
    (a, here), (b, there) = sorted(where.items())
    return f"rank {a} began {here} where rank {b} began {there}; all ranks have to begin them in one order"


def unlike(entries: dict[int, Entry]) -> str | None:
    """What is wrong where the ranks are about to begin these collectives together; None when all are the same one.

    >>> unlike({0: Entry(4, "combine"), 1: Entry(5, "combine"), 2: Entry(4, "combine")})
    'rank 1 missed combine in step 4 and went on to combine in step 5'
    """
    first = min(entries, key=lambda rank: (entries[rank].step, rank))
    for rank, entry in sorted(entries.items()):
        if entry.step > entries[first].step:
            return f"rank {rank} missed {entries[first]} and went on to {entry}"
        if entry != entries[first]:
            return apart({first: entries[first], rank: entry})
    return None


def died(rank: int, told: Told, how: str = "it gives no sign of life") -> str:
    """That a rank has died, and where it was seen last.

    >>> died(1, Told(9, Entry(3, "the vote"), {}), "SIGKILL")
    'rank 1 has died: SIGKILL; the last collective that it was seen in is the vote in step 3'
    """
    seen = f"; the last collective that it was seen in is {told.last}" if told.last else ""
    return f"rank {rank} has died: {how}{seen}"
