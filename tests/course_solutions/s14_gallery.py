"""By the findings of each recording."""

from ubviz.course.exercises.e14_gallery import GALLERY

answer = dict(GALLERY)

wrong = {
    "whatever hangs lacks a signal": ({**answer, "A": "no_exit_signal"}, "Run A is not no_exit_signal"),
    "a race is a late event": ({**answer, "B": "record_after_yield"}, "Run B is not record_after_yield"),
    "two awake is a lost wake-up": ({**answer, "E": "clear_before_wait"}, "Run E is not clear_before_wait"),
    "the forward context plays no part": (
        {**answer, "C": "signal_self"},
        "with the forward context of microbatch 1",
    ),
    "nothing yet": ({**answer, "A": ...}, "Run A has no name yet"),
    "all the same": (dict.fromkeys(answer, "no_kick"), "0 of 5 are right. Run A is not no_kick"),
    "no name": ({**answer, "D": "bug"}, "Run D: there is no such name"),
    "only some": ({"A": "unequal_yields"}, "the answer is a dict of A, B, C, D, E"),
}
