"""One wait for each time that data change streams."""

answer = [("attention", "dispatch"), ("dispatch", "experts"), ("experts", "combine"), ("combine", "output")]

wrong = {
    "launched later runs later": ([], "dispatch (comm stream) reads x"),
    "only the way there": (answer[:2], "combine (comm stream) reads z"),
    "better one too many": (
        [*answer, ("attention", "combine")],
        "wait of combine for attention is not needed",
    ),
    "within a stream too": ([*answer, ("attention", "shared")], "both are on one stream"),
    "before it is recorded": ([*answer[1:], ("dispatch", "attention")], "its event is not recorded"),
    "the other way round": ([("dispatch", "shared"), *answer], "wait of shared for dispatch is not needed"),
    "the nearest kernel will do": (
        [("attention", "dispatch"), ("dispatch", "shared"), ("experts", "combine"), ("combine", "output")],
        "The wait of shared for dispatch stands too early",
    ),
    "twice is safer": ([*answer, answer[0]], "stands in the list 2 times"),
    "one pair is an answer": ("attention", "the answer is a list of pairs"),
    "a number": (4, "the answer is a list of pairs"),
    "by data, not by kernel": ([("x", "y")], "A wait is a pair of two of attention"),
    "no pairs": (["dispatch"], "A wait is a pair of two of attention"),
}
