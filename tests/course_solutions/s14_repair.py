"""Equally many yields; the work that is more comes after the last of them."""

from typing import Any

from ubviz.ubatch import dbo_yield


def attention(rt: Any) -> None:
    rt.launch("attention", cls="compute", duration_ns=50_000)


def answer(rt: Any, ubatch: int) -> None:
    for _ in range(2):
        attention(rt)
        dbo_yield()
    for _ in range(1 + ubatch):
        attention(rt)


def shorter(rt: Any, ubatch: int) -> None:
    for _ in range(2):
        attention(rt)
        dbo_yield()
    attention(rt)


def never(rt: Any, ubatch: int) -> None:
    for _ in range(3 + ubatch):
        attention(rt)


def first_only(rt: Any, ubatch: int) -> None:
    for _ in range(2 + ubatch):
        attention(rt)
        if ubatch == 0:
            dbo_yield()
    attention(rt)


def endless(rt: Any, ubatch: int) -> None:
    while True:
        dbo_yield()


wrong = {
    "less work": (shorter, "Microbatch 1 launches 3 kernels, and its work was 4"),
    "no yields": (never, "so few hand-overs were not the fault"),
    "only one yields": (first_only, "Microbatch 0 yields 2 times, microbatch 1 0"),
    "it waits for its peer": (endless, "without coming to an end"),
    "no model": ("repaired", "the answer is a function repaired(rt, ubatch)"),
}
