"""Wait, then clear."""

from typing import Any


def answer(flag: Any) -> None:
    flag.wait()
    flag.clear()


def clear_first(flag: Any) -> None:
    flag.clear()
    flag.wait()


def clear_twice(flag: Any) -> None:
    flag.clear()
    flag.wait()
    flag.clear()


wrong = {
    "a set is a message that waits for me": (lambda flag: flag.wait(), "the flag is still up"),
    "begin with a clean flag": (clear_first, "taker waits for"),
    "better clear it twice": (clear_twice, "taker waits for"),
    "do not wait": (lambda flag: flag.clear(), "giver waits for host event thanks"),
    "no function": (None, "still holds its stub"),
}
