"""One wait for each time that data change streams."""

answer = [("attention", "dispatch"), ("dispatch", "experts"), ("experts", "combine"), ("combine", "output")]

wrong = {
    "launched later runs later": ([], "dispatch (comm stream"),
    "only the way there": (answer[:2], "combine (comm stream"),
    "better one too many": (
        [*answer, ("attention", "combine")],
        "wait of combine for attention is not needed",
    ),
    "within a stream too": ([*answer, ("attention", "shared")], "both are on one stream"),
    "before it is recorded": ([*answer[1:], ("dispatch", "attention")], "its event is not recorded"),
    "the other way round": ([("dispatch", "shared"), *answer], "wait of shared for dispatch is not needed"),
    "no pairs": (["dispatch"], "A wait is a pair of two of attention"),
}
