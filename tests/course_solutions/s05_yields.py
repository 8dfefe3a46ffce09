"""Each hands over once more than it yields: both must be able to."""


def answer(y0: int, y1: int) -> bool:
    return y0 <= y1 + 1 and y1 + 1 <= y0 + 1


wrong = {
    "both alike": (lambda y0, y1: y0 == y1, "With 1 and 0 yields all threads end"),
    "the first may yield as often as it likes": (lambda y0, y1: y0 >= y1, "With 2 and 0 yields it hangs"),
    "they may differ by one, either way": (lambda y0, y1: abs(y0 - y1) <= 1, "With 0 and 1 yields it hangs"),
    "it always ends": (lambda y0, y1: True, "With 0 and 1 yields it hangs"),
    "it never ends": (lambda y0, y1: False, "With 0 and 0 yields all threads end"),
    "says how often": (lambda y0, y1: y0 - y1, "gives neither True nor False."),
    "true in words": (lambda y0, y1: str(answer(y0, y1)), "yours:    'True'"),
    "forgets to return": (lambda y0, y1: None, "is a return missing?"),
    "the other one may yield once more": (
        lambda y0, y1: y1 - y0 in (0, 1),
        "  ubatch 1 waits for host event cpu_event[1]",
    ),
    "one number is enough": (lambda y0: True, "The answer raised TypeError"),
}
