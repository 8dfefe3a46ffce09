"""Schedules: who runs next, as an oracle's answers.

The virtual runtime lets one thread run at a time. Whenever that thread comes to an operation which others can
notice, it says what it is about to do and an *oracle* chooses who goes on; the chosen thread then carries out its
own pending operation and runs to its next one. All freedom of a run is in these answers: the same program under
the same answers is the same run, so a list of thread numbers replays it.

This module is the oracle's side: what it is asked, what it may answer, which two operations commute, and the
order that is taken when nobody asks for another one. Not here: search (``ubviz.exploration``).

Source: Godefroid, "Partial-order methods" (sleep sets); the interface is that of shuttle's ``Scheduler``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, NamedTuple, Protocol

from ..errors import BadArgument

ObjectId = tuple[int, int]
"""Who made an object (a thread's number) and its how-manieth it is: the same whatever the others do meanwhile."""

SYNC = frozenset({
    "host_event.set", "host_event.clear", "host_event.wait",
    "barrier.arrive", "barrier.release", "barrier.abort", "barrier.reset", "thread.join",
})  # fmt: skip
"""Operations by which threads wait for each other. A look at a flag is none: add ``"host_event.is_set"`` for programs
that decide by one without holding a turn."""

LOOK = "host_event.look"
"""What ``threading.Event.wait`` does first: it looks at the flag and, where that is down, falls asleep. The next
``set`` wakes who sleeps, even if the flag is down again by then; who has not looked yet finds it down. Without this
kind among the visible ones a thread looks as soon as it comes to a wait. That is all the same where a flag is put
down by none but the thread that waits for it, since that one cannot do so while it waits: as in the ring."""

ALL = SYNC | {
    "host_event.is_set", "kernel.launch", "event.record", "event.wait", "query", "host.wait", "graph.replay",
}  # fmt: skip
"""Every operation that another thread can notice; ``host.wait`` is any wait for the device."""


class Touch(NamedTuple):
    """One object that an operation touches, and how."""

    obj: ObjectId
    how: str


class Choice(NamedTuple):
    """A thread, and the operation that it carries out when it is chosen.

    ``thread`` counts threads in order of their start, main is 0. ``kind`` is a word of ``ALL``, ``obj`` what it
    is about. ``ready_ns`` is the virtual time at which the thread could go on. ``left`` is, of a barrier's
    arrival, how many arrivals still open it, this one included.
    """

    thread: int
    name: str
    kind: str
    obj: Any
    touches: tuple[Touch, ...]
    ready_ns: int
    left: int | None = None


class Oracle(Protocol):
    """Chooses who goes on.

    ``visible`` are the kinds of operation that it is asked about (``SYNC`` or ``ALL``). ``choose`` gets those who
    can go on, by number of thread, and returns an index into them; it may look at ``runtime.blocked()``, the
    threads that cannot. It may raise: the run is then dropped, and ``choose``'s error comes out of main. An oracle
    that has a ``stuck()`` is told when nobody can go on, while all still stand where they wait.
    """

    visible: frozenset[str]

    def choose(self, enabled: Sequence[Choice]) -> int: ...


class Dropped(BaseException):
    """Raised by an oracle to drop a run, and in every thread of a run that is dropped."""


class InTime:
    """The order of virtual time: who is ready first goes on first; at the same time, the lower thread number."""

    visible = ALL

    def choose(self, enabled: Sequence[Choice]) -> int:
        return min(range(len(enabled)), key=lambda i: (enabled[i].ready_ns, enabled[i].thread))


class AtRandom:
    """Any order, drawn from a seed."""

    def __init__(self, seed: int, visible: frozenset[str] = SYNC) -> None:
        self.visible = visible
        self._random = Random(seed)

    def choose(self, enabled: Sequence[Choice]) -> int:
        return self._random.randrange(len(enabled))


class Replay:
    """The order of a list of thread numbers; past its end the thread that ran last goes on while it can.

    >>> written([0, 0, 0, 1, 2, 2])
    '0x3.1.2x2'
    >>> read_schedule("0x3.1.2x2")
    (0, 0, 0, 1, 2, 2)
    """

    def __init__(self, threads: Sequence[int], visible: frozenset[str] = SYNC) -> None:
        self.visible = visible
        self._threads = tuple(threads)
        self._next = 0
        self._last = 0

    def choose(self, enabled: Sequence[Choice]) -> int:
        numbers = [choice.thread for choice in enabled]
        if self._next >= len(self._threads):
            at = numbers.index(self._last) if self._last in numbers else 0
            self._last = numbers[at]
            return at
        wanted, self._last = self._threads[self._next], self._threads[self._next]
        self._next += 1
        if wanted not in numbers:
            raise BadArgument(
                f"step {self._next} of the schedule lets thread {wanted} go on, but only "
                f"{' and '.join(map(str, numbers))} can: it is a schedule of another program"
            )
        return numbers.index(wanted)


_LOOKS = "look:"
MOST_STEPS = 1_000_000
"""No program that is explored takes so many steps."""


def written(threads: Iterable[int], looks: bool = False) -> str:
    """A schedule as a short string: runs of one thread as ``3x5``, joined by dots; it tells whether ``LOOK`` is a step.

    >>> written([1, 0, 0], looks=True)
    'look:1.0x2'
    """
    runs: list[list[int]] = []
    for thread in threads:
        if runs and runs[-1][0] == thread:
            runs[-1][1] += 1
        else:
            runs.append([thread, 1])
    steps = ".".join(f"{thread}x{count}" if count > 1 else str(thread) for thread, count in runs)
    return _LOOKS + steps if looks else steps


def looks_in(text: str) -> bool:
    """Whether in a written schedule to look at a flag is a step of its own (``LOOK``)."""
    return text.startswith(_LOOKS)


def read_schedule(text: str) -> tuple[int, ...]:
    """The thread numbers of a schedule that ``written`` wrote."""
    threads: list[int] = []
    steps = text.removeprefix(_LOOKS)
    for at, part in enumerate(steps.split(".") if steps else []):
        thread, _, count = part.partition("x")
        if not thread.isdecimal() or not (count or "1").isdecimal():
            raise BadArgument(f"part {at + 1} of the schedule, {part!r}, is no thread number like 2 or 2x14")
        if len(threads) + (many := int(count or 1)) > MOST_STEPS:
            raise BadArgument(
                f"part {at + 1} of the schedule, {part!r}, makes it longer than {MOST_STEPS:,} steps"
            )
        threads += [int(thread)] * many
    return tuple(threads)


_COMMUTE = {
    ("set", "set"), ("wait", "wait"), ("clear", "clear"), ("is_set", "is_set"), ("is_set", "wait"),
    ("wait", "is_set"), ("look", "look"), ("look", "is_set"), ("is_set", "look"), ("r", "r"), ("release", "release"),
}  # fmt: skip
_BARRIER = ("arrive", "release")


def dependent(a: Choice, b: Choice) -> bool:
    """Whether two pending operations of different threads may fail to commute, in the state in which both pend.

    Arrivals at a barrier commute within one generation, that is unless one of the two opens it. Waits for an
    event that is up and looks at it commute; a set and a wait do not. Launches on one stream do not commute.
    """
    for first in a.touches:
        for second in b.touches:
            if first.obj != second.obj or (first.how, second.how) in _COMMUTE:
                continue
            if first.how in _BARRIER and second.how in _BARRIER:
                if first.how == second.how == "arrive" and (a.left is None or a.left < 2):
                    return True
                continue
            return True
    return False
