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


def look_only(flag: Any) -> None:
    while not flag.is_set():
        pass
    flag.clear()


def give_up(flag: Any) -> None:
    flag.wait(0.1)
    flag.clear()


def set_myself(flag: Any) -> None:
    flag.set()
    answer(flag)


def put_back(flag: Any) -> None:
    answer(flag)
    flag.set()


def wait_again(flag: Any) -> None:
    answer(flag)
    flag.wait()


def clear_if_up(flag: Any) -> None:
    if flag.is_set():
        flag.clear()
    else:
        flag.wait()


def misspelt(flag: Any) -> None:
    flag.wiat()


def by_pieces(flag: Any) -> Any:
    flag.wait()
    yield
    flag.clear()


wrong = {
    "a set is a message that waits for me": (lambda flag: flag.wait(), "the flag is still up"),
    "begin with a clean flag": (
        clear_first,
        "A lost wake-up: flag was set by giver and cleared by taker at ",
    ),
    "better clear it twice": (clear_twice, "A lost wake-up: "),
    "do not wait": (lambda flag: flag.clear(), "take came back, and nobody had set the flag"),
    "do nothing": (lambda flag: None, "take came back, and nobody had set the flag"),
    "wait in a loop of one's own": (look_only, "taker asks is_set() more than 50 times"),
    "wait for a while": (give_up, "take came back, and nobody had set the flag"),
    "set it, so that it is up": (set_myself, "take came back, and nobody had set the flag"),
    "put it back as it was": (put_back, "the flag is still up"),
    "wait for the next one too": (wait_again, "taker waits for host event flag"),
    "clear only what is up": (clear_if_up, "the flag is still up"),
    "a misspelt name": (misspelt, "'HostEvent' object has no attribute 'wiat'"),
    "a generator": (by_pieces, "take is no plain function"),
    "no function": (None, "still holds its stub"),
}
