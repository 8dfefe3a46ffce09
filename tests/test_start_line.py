"""The start line of notebook 06: every setting is a recorded run, a hang is told at once, wrong values are refused."""

from __future__ import annotations

from typing import Any

import pytest

from ubviz.course.start_line import PARTIES, SIZES, StartLine, runs
from ubviz.errors import BadArgument


@pytest.mark.parametrize("n", SIZES)
def test_all_end_with_main_and_all_microbatches_and_hang_with_one_fewer_or_more(n: int) -> None:
    assert not runs()[f"{n}/{n + 1}"]["hangs"]
    for parties in {n, n + 2} & set(PARTIES):
        assert runs()[f"{n}/{parties}"]["hangs"], parties


@pytest.mark.parametrize("n", SIZES)
def test_in_a_good_run_nobody_has_the_turn_before_all_have_come(n: int) -> None:
    steps = runs()[f"{n}/{n + 1}"]["steps"]
    assert all("away" not in step["stands"] for step in steps if "turn" in step["stands"])
    assert [step["stands"].count("turn") for step in steps].count(1) == 2 * n  # one yield each: two turns
    assert max(step["stands"].count("turn") for step in steps) == 1
    assert steps[-1]["stands"][1:] == ["ended"] * n


def test_a_hang_names_who_waits_for_what_without_a_step_taken() -> None:
    line = StartLine(n=3, parties=3)
    assert line.at == 0
    assert line.report.splitlines()[:2] == ["It hangs:", "  main joins thread ubatch 0"]
    assert "ubatch 2 waits at barrier ready_barrier: 1 of 3" in line.report
    assert "it hangs" in repr(line)
    assert line.alt.endswith(line.report.splitlines()[-1].strip())


def test_too_few_parties_that_come_out_even_are_told() -> None:
    line = StartLine(n=3, parties=2)
    assert line.report == "All come to an end, but ubatch 0 ran before ubatch 1 had come."


def test_steps_go_both_ways_and_another_run_begins_at_its_start() -> None:
    line = StartLine()
    line.at = 4
    assert line.step["says"].endswith("4 of 4: it opens")
    line.at = 3
    assert line.step["here"] == ["main", "ubatch 0", "ubatch 1"]
    line.n = 4
    assert (line.at, line.parties) == (0, 4)


def test_the_step_beyond_the_end_shows_the_end() -> None:
    line = StartLine(n=2, at=30)
    assert line.step == runs()["2/3"]["steps"][-1]
    assert f"step {len(runs()['2/3']['steps']) - 1} of" in repr(line)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"n": 7}, "n is a whole number from 2 to 6, not 7"),
        ({"n": True}, "n is a whole number from 2 to 6, not True"),
        ({"n": "3"}, "n is a whole number from 2 to 6, not '3'"),
        ({"parties": 0}, "parties is a whole number from 1 to 8, not 0"),
        ({"at": -1}, "at is a whole number from 0 to"),
        ({"theme": "pink"}, "theme must be"),
    ],
)
def test_what_there_is_not_is_refused(values: dict[str, Any], told: str) -> None:
    with pytest.raises(BadArgument, match=told):
        StartLine(**values)


def test_without_a_script_it_has_a_picture_and_its_words() -> None:
    line = StartLine(n=2, parties=4)
    still = line._still()
    assert still.picture is not None
    assert still.words == line.alt
    assert "main waits at barrier ready_barrier: 3 of 4" in still.words
