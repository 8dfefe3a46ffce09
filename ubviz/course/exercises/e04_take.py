"""04: take a sticky flag; judged in every order of a giver and a taker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...analysis.findings import Finding
from ...errors import BadArgument
from ...exploration import explore
from ..exercise import Exercise, Verdict, right, wrong


def judge(take: Callable[[Any], Any]) -> Verdict:
    """An answer is a function of a host event: it comes back once for each time that the flag was put up."""
    if not callable(take):
        raise BadArgument(f"the answer is a function take(flag), not {take!r}")
    for program in (_early(take), _twice(take)):
        tried = explore(program)
        errors = [
            found for found in tried.findings if found.severity == "error" and found.kind != "lost_wakeup"
        ]
        if errors:
            return wrong(errors[0].sentence, replay=errors[0].replay)
    return right("Set early, set late, set twice: in every order it comes back once for each time.")


def _early(take: Callable[[Any], Any]) -> Callable[[Any], None]:
    """One gives, one takes; the flag may be up before anybody waits."""

    def program(rt: Any) -> None:
        flag = rt.HostEvent("flag")

        def taker() -> None:
            take(flag)
            if flag.is_set():
                rt.note(
                    Finding(
                        "two_batons", "error", "after take the flag is still up: the next take would not wait"
                    )
                )

        threads = [rt.Thread(flag.set, name="giver"), rt.Thread(taker, name="taker")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return program


def _twice(take: Callable[[Any], Any]) -> Callable[[Any], None]:
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
                    rt.note(
                        Finding("two_batons", "error", f"take number {number} came back after {given[0]} set")
                    )
                thanks.set()

        threads = [rt.Thread(giver, name="giver"), rt.Thread(taker, name="taker")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return program


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
