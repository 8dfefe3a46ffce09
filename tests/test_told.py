"""What a learner reads in a cell: lines that end at a word, and texts as they are read."""

from __future__ import annotations

import re

import pytest

from ubviz import course
from ubviz.course.exercise import wrong
from ubviz.course.told import WIDTH, filled, without_ours

LONG = "flag was set by giver and cleared by taker at cell[{0}]:2 before anybody woke, so taker waits at cell[{0}]:3."


def test_lines_end_at_a_word_and_nothing_is_lost() -> None:
    lines = filled(f"first line\n   {LONG.format(6)}").split("\n")
    assert max(map(len, lines)) <= WIDTH
    assert lines[0] == "first line"
    assert all(line.startswith("   ") for line in lines[1:])
    assert " ".join(" ".join(lines[1:]).split()) == LONG.format(6)


def test_where_a_line_ends_does_not_hang_on_the_number_of_a_cell() -> None:
    ends = [re.sub(r"\[\d+\]", "[]", filled(LONG.format(number))) for number in (6, 16)]
    assert ends[0] == ends[1]
    assert "cell[16]:2" in filled(LONG.format(16))


def test_a_long_value_goes_on_below_itself() -> None:
    shown = repr(wrong("So.", yours="word " * 30))
    assert shown.split("\n")[3].startswith("            word")
    assert "\n" not in str(wrong("So.", yours="word " * 30)).split("yours:")[1]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("ubatch 0 waits, at ubviz/a/b.py:7", "ubatch 0 waits"),
        (
            "the context of ubatch 1, set at ubviz/a.py:31: put it back",
            "the context of ubatch 1: put it back",
        ),
        (
            "dispatch (comm stream, ubviz/a.py:4) reads x at cell[3]:7",
            "dispatch (comm stream) reads x at cell[3]:7",
        ),
    ],
)
def test_places_that_are_not_the_learners_are_left_out(said: str, left: str) -> None:
    assert without_ours(said) == left


def test_a_hint_and_a_solution_are_shown_as_they_are_read() -> None:
    hint, solution = course.hint("05.yields", 2), course.solution("05.yields")
    assert repr(hint) == str(hint)
    assert repr(solution) == str(solution)
    assert max(map(len, hint.split("\n"))) <= WIDTH
