"""Everybody and main at the barrier; a ring."""

from typing import Any


def answer(n: int) -> Any:
    return n + 1, 0, [(i + 1) % n for i in range(n)]


wrong = {
    "the barrier knows my threads": (
        lambda n: (n, 0, [(i + 1) % n for i in range(n)]), "waits at barrier ready_barrier: 1 of 2",
    ),
    "the last one has no next": (
        lambda n: (n + 1, 0, [min(i + 1, n - 1) for i in range(n)]), "ubatch 0 waits for host event cpu_event[0]",
    ),
    "every second one": (lambda n: (n + 1, 0, [(i + 2) % n for i in range(n)]), "With 2 microbatches: main joins"),
    "each wakes itself": (lambda n: (n + 1, 0, list(range(n))), "ubatch 1 waits for host event cpu_event[1]"),
    "pairs": (lambda n: (n + 1, 0, [i ^ 1 if i ^ 1 < n else i for i in range(n)]), "With 3 microbatches: main joins"),
    "numbers from one": (
        lambda n: (n + 1, 1, [i % n + 1 for i in range(n)]), "no other to signal",
    ),
    "no wiring": (lambda n: n + 1, "the answer gives three things"),
}  # fmt: skip
