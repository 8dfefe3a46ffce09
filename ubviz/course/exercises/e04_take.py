"""04: take a sticky flag; judged in every order of a giver and a taker."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from ...analysis.findings import Finding
from ...errors import BadArgument, UbvizError
from ...exploration import explore
from ...exploration.explorer import Found
from ...exploration.replay import replay
from ...trace import Trace
from ..exercise import Exercise, Verdict, right, wrong
from ..limit import TookTooLong, within
from ..told import listed

Take = Callable[[Any], Any]
MOST_LOOKS = 50
"""How often an answer may ask whether the flag is up, before it is told to wait instead."""


OURS = re.compile(r" at ubviz/[\w/]+\.py:\d+")
"""A line of this package: none of the learner's."""


class Impatient(Exception):
    """Asks again and again: while it does, it is awake, and nobody else may ever run."""


def judge(take: Take) -> Verdict:
    """An answer is a function of a host event: it comes back once for each time that the flag was put up."""
    if not callable(take):
        raise BadArgument(f"the answer is a function take(flag), not {take!r}")
    if inspect.isgeneratorfunction(take) or inspect.iscoroutinefunction(take):
        return wrong(
            "take is no plain function: calling it runs nothing of it.", yours="a yield or an async in it"
        )
    raised: list[Exception] = []
    failed = _failed(partial(_told, take, raised))
    if raised and not isinstance(raised[0], Impatient):
        raise raised[0]  # the check says at which line
    if failed is None:
        return right(
            "Never set, set early, set late, set twice: in every order it comes back once for each time."
        )
    _, found, sentence = failed
    if raised:
        sentence = f"taker asks is_set() more than {MOST_LOOKS} times, and stays awake meanwhile: wait lets others run."
    return wrong(sentence, expected="it comes back once for each set", replay=found.replay)


def failing_order(take: Take) -> Trace:
    """The order in which ``take`` failed, as a recording; the first order, where it failed in none.

    >>> ubviz.Stepper(failing_order(take))  # doctest: +SKIP
    """
    try:
        trace: Trace = within(5, lambda: _recorded(take))
    except TookTooLong:
        raise BadArgument("take does not come to an end, so there is no order to show") from None
    return trace


def _recorded(take: Take) -> Trace:
    failed = _failed(take)
    if failed is None:
        return explore(twice(take)).trace()
    return replay(failed[0], failed[1].replay)


def _told(take: Take, raised: list[Exception], flag: Any) -> None:
    """``take``, which notes what it raises by itself, and does not look at the flag for ever."""
    look, looks = flag.is_set, 0

    def is_set() -> bool:
        nonlocal looks
        looks += 1
        if looks > MOST_LOOKS:
            raise Impatient
        return bool(look())

    flag.is_set = is_set
    try:
        take(flag)
    except UbvizError:
        raise  # the runtime's own, by which it ends a run
    except Exception as error:
        raised.append(error)
        raise
    finally:
        flag.is_set = look


def _failed(take: Take) -> tuple[Callable[[Any], None], Found, str] | None:
    """The first program in which an order goes wrong, what goes wrong in it, and that in words."""
    for program, may_hang in ((never(take), True), (early(take), False), (twice(take), False)):
        kinds = {found.kind: found for found in explore(program).findings if found.severity == "error"}
        for kind, words in WORDS.items():
            if kind in kinds and not (may_hang and kind in ("lost_wakeup", "deadlock")):
                return program, kinds[kind], words(kinds[kind].sentence)
    return None


WORDS: dict[str, Callable[[str], str]] = {
    "raised": str,
    "two_batons": str,
    "lost_wakeup": lambda sentence: f"A lost wake-up: {OURS.sub('', sentence.rpartition(': ')[0])}.",
    "deadlock": lambda sentence: f"It hangs:{listed(sentence)}",
}
"""The kinds of finding by how well they tell what is wrong, and their words; what to do about it is for the learner."""


def never(take: Take) -> Callable[[Any], None]:
    """Nobody sets the flag: whoever comes back has not waited."""

    def program(rt: Any) -> None:
        flag = rt.HostEvent("flag")
        wait, waits = flag.wait, 0

        def with_patience(timeout: float | None = None) -> bool:
            nonlocal waits
            waits += 1
            if waits > MOST_LOOKS:
                raise Impatient  # a wait with a time, again and again, is a wait
            return bool(wait(timeout))

        def taker() -> None:
            flag.wait = with_patience
            try:
                take(flag)
            except Impatient:
                return
            _note(rt, "taker: take came back, and nobody had set the flag.")

        _both(rt, None, taker)

    return program


def early(take: Take) -> Callable[[Any], None]:
    """One gives, one takes; the flag may be up before anybody waits."""

    def program(rt: Any) -> None:
        flag = rt.HostEvent("flag")

        def giver() -> None:
            flag.set()

        def taker() -> None:
            take(flag)
            if flag.is_set():
                _note(rt, "taker: after take the flag is still up, so the next take would not wait.")

        _both(rt, giver, taker)

    return program


def twice(take: Take) -> Callable[[Any], None]:
    """The giver puts the flag up again only when it has been told that it was taken."""

    def program(rt: Any) -> None:
        flag, thanks = rt.HostEvent("flag"), rt.HostEvent("thanks")
        given = [0]

        def giver() -> None:
            for _ in range(2):
                given[0] += 1
                flag.set()
                thanks.wait()
                thanks.clear()

        def taker() -> None:
            for number in (1, 2):
                take(flag)
                if given[0] < number:
                    _note(
                        rt,
                        f"taker: take number {number} came back, and giver had set the flag {given[0]} times.",
                    )
                thanks.set()

        _both(rt, giver, taker)

    return program


def _note(rt: Any, sentence: str) -> None:
    rt.note(Finding("two_batons", "error", sentence))


def _both(rt: Any, giver: Callable[[], None] | None, taker: Callable[[], None]) -> None:
    threads = [rt.Thread(giver, name="giver")] if giver is not None else []
    threads.append(rt.Thread(taker, name="taker"))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


EXERCISE = Exercise(
    "04.take",
    "Write take(flag): it waits for the flag, and leaves it down for the next time.",
    (
        "A flag that was put up stays up, also for a wait that comes later.",
        "Somebody has to put it down. What happens to a set that comes before your clear, if you clear first?",
        "Wait, then clear.",
    ),
    judge,
)
