"""Nothing of the hand-over is in the graph."""

answer = {"threads": 0, "host_events": 0, "barrier": 0, "hooks": 0}

wrong = {
    "replay repeats the hand-over": (
        {"threads": 2, "host_events": 19, "barrier": 3, "hooks": 16}, "while it was captured",
    ),
    "the threads at least": ({"threads": 2, "host_events": 0, "barrier": 0, "hooks": 0}, "0 threads are started"),
    "hooks must run": ({"threads": 0, "host_events": 0, "barrier": 0, "hooks": 1}, "0 hooks are run"),
    "main at least arrives": (
        {"threads": 0, "host_events": 0, "barrier": 1, "hooks": 0}, "0 threads arrive at the barrier",
    ),
    "a number in words": (
        {"threads": "0", "host_events": 0, "barrier": 0, "hooks": 0}, "How many threads are started?",
    ),
    "not filled in": (dict.fromkeys(answer, ...), "How many threads are started?"),
    "one number": (0, "the answer is a dict of threads"),
}  # fmt: skip
