"""Each hands over once more than it yields: both must be able to."""


def answer(y0: int, y1: int) -> bool:
    return y0 <= y1 + 1 and y1 + 1 <= y0 + 1


wrong = {
    "both alike": (lambda y0, y1: y0 == y1, "With 1 and 0 yields all threads end"),
    "the first may yield as often as it likes": (lambda y0, y1: y0 >= y1, "With 2 and 0 yields it hangs"),
    "they may differ by one, either way": (lambda y0, y1: abs(y0 - y1) <= 1, "With 0 and 1 yields it hangs"),
    "it always ends": (lambda y0, y1: True, "With 0 and 1 yields it hangs"),
    "it never ends": (lambda y0, y1: False, "With 0 and 0 yields all threads end"),
    "says how often": (lambda y0, y1: y0 - y1, "is neither True nor False"),
}
