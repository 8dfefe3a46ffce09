"""Everybody and main at the barrier; a ring."""

from typing import Any


def answer(n: int) -> Any:
    return n + 1, 0, [(i + 1) % n for i in range(n)]


wrong = {
    "the barrier knows my threads": (
        lambda n: (n, 0, [(i + 1) % n for i in range(n)]), "ubatch 0 runs, and ubatch 1 has not come to the barrier",
    ),
    "the last one has no next": (
        lambda n: (n + 1, 0, [min(i + 1, n - 1) for i in range(n)]), "  ubatch 0 waits for host event cpu_event[0]",
    ),
    "every second one": (lambda n: (n + 1, 0, [(i + 2) % n for i in range(n)]), "With 2 microbatches: it hangs:"),
    "each wakes itself": (lambda n: (n + 1, 0, list(range(n))), "ubatch 1 waits for host event cpu_event[1]"),
    "pairs": (lambda n: (n + 1, 0, [i ^ 1 if i ^ 1 < n else i for i in range(n)]), "With 3 microbatches: it hangs:"),
    "numbers from one": (
        lambda n: (n + 1, 1, [i % n + 1 for i in range(n)]), "microbatches 0 to 1, and microbatch 1 cannot signal 2",
    ),
    "a barrier is no barrier": (
        lambda n: (1, 0, [(i + 1) % n for i in range(n)]), "has not come to the barrier, which opens for 1 of 3",
    ),
    "yes, there is a barrier": (
        lambda n: (True, 0, [(i + 1) % n for i in range(n)]), "parties is a whole number from 1 on, not True",
    ),
    "one place too many": (
        lambda n: (n + 2, 0, [(i + 1) % n for i in range(n)]), "  main waits at barrier ready_barrier: 3 of 4",
    ),
    "numbers with a point": (
        lambda n: (n + 1, 0, [float((i + 1) % n) for i in range(n)]), "microbatch 0 cannot signal 1.0",
    ),
    "main kicks all": (
        lambda n: (n + 1, list(range(n)), [(i + 1) % n for i in range(n)]), "main cannot kick [0, 1]",
    ),
    "two rings from six on": (
        lambda n: (n + 1, 0, [1, 2, 0, 4, 5, 3] if n == 6 else [(i + 1) % n for i in range(n)]),
        "With 6 microbatches: it hangs:",
    ),
    "forgets to return": (lambda n: None, "is a return missing?"),
    "no wiring": (lambda n: n + 1, "the answer gives three things"),
}  # fmt: skip
