"""The shipped recordings: what the notebooks need of them, whenever they are recorded anew."""

from __future__ import annotations

from itertools import combinations

import pytest

from ubviz.analysis import handoff, overlap, turns
from ubviz.course import verdict
from ubviz.errors import BadArgument
from ubviz.trace import example, examples


def test_there_are_two_of_the_whole_game() -> None:
    assert examples() == ("whole_game_overlapped", "whole_game_unsplit")
    for name in examples():
        trace = example(name)
        assert len(trace.steps) == 1
        assert trace.meta["label"].startswith("recorded on 2 CPU cores on ")
        assert "modelled" in trace.meta["label"]
        assert handoff(trace) == []
    assert turns(example("whole_game_overlapped")) == [0, 1] * 13


def test_each_wrong_model_predicts_something_else() -> None:
    """Otherwise the notebook would tell a reader the wrong reason."""
    before, after = overlap(example("whole_game_unsplit")), overlap(example("whole_game_overlapped"))
    longer = max(before.compute_busy_ns, before.comm_busy_ns)
    values = [before.makespan_ns, before.makespan_ns / 2, longer, after.makespan_ns]
    for a, b in combinations(values, 2):
        assert abs(a - b) > 0.1 * min(a, b)
    assert after.overlap_ratio is not None
    assert after.overlap_ratio > 0.8


def test_an_unknown_one_is_refused() -> None:
    with pytest.raises(
        BadArgument, match="no recording 'mars' ships with ubviz; there are whole_game_overlapped, "
    ):
        example("mars")


MODELS = {"the sum: as if nothing could be hidden": 100.0, "half of it": 50.0}


@pytest.mark.parametrize(
    ("guess", "sentence"),
    [
        (70, "You guessed 70 ms, measured were 70 ms.\nThat is what happened, within 5%."),
        (101, "You guessed 101 ms, measured were 70 ms.\nThat is the sum: as if nothing could be hidden."),
        (51, "You guessed 51 ms, measured were 70 ms.\nThat is half of it."),
        (20, "You guessed 20 ms, measured were 70 ms.\nThat is less than measured, by a model of your own."),
        (
            300,
            "You guessed 300 ms, measured were 70 ms.\nThat is more than measured, by a model of your own.",
        ),
    ],
)
def test_a_verdict_names_the_model_behind_a_guess(guess: float, sentence: str) -> None:
    assert verdict(guess, 70, MODELS, unit="ms", within=0.05) == sentence


@pytest.mark.parametrize("guess", [-3, None, "soon", True])
def test_a_guess_that_is_no_time(guess: object) -> None:
    with pytest.raises(BadArgument, match="a prediction is a number of ms, 0 or more, not "):
        verdict(guess, 70, MODELS, unit="ms")  # type: ignore[arg-type]
