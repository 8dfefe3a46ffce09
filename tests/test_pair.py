"""Two recordings above one another: one axis of time, two ends, what each says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.drawn import alone, drawn, empty
from tests.test_picture import assert_texts_apart, words
from ubviz.errors import BadArgument
from ubviz.view import before_after
from ubviz.view.paint.frame import frame_of
from ubviz.view.paint.layout import Layout
from ubviz.view.paint.numbers import Numbers
from ubviz.view.pair import Part, _compared

SCENES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "overlapped": (lambda: alone(2), drawn, {}),
    "three, dark": (lambda: alone(3), lambda: drawn(ubatches=3), {"theme": "dark"}),
    "low latency": (lambda: alone(2), lambda: drawn("ll"), {"names": ("split", "split and overlapped")}),
    "slower": (drawn, lambda: alone(4), {}),
    "the same": (drawn, drawn, {}),
    "nearly the same": (drawn, lambda: drawn(scale=1.002), {}),
    "half as wide": (lambda: alone(2), drawn, {"width": 7}),
    "very narrow": (lambda: alone(2), drawn, {"width": 3.5}),
    "a tenth": (lambda: alone(8, layers=4), lambda: drawn(layers=1), {}),
    "steps": (lambda: alone(2, steps=2), lambda: drawn(steps=3), {"step_before": 0, "step_after": 1}),
}


@pytest.mark.parametrize("scene", SCENES)
def test_no_text_lies_on_another_or_leaves_the_picture(scene: str) -> None:
    before, after, options = SCENES[scene]
    assert_texts_apart(before_after(before(), after(), **options))


def test_each_is_named_and_has_its_makespan_and_the_second_says_how_much_faster_it_is() -> None:
    """Four times through a layer of 176 µs, and 6 µs to launch at first and after each of four dispatches: 734."""
    shown = words(before_after(alone(2), drawn()))
    assert {"before", "734 µs", "after", "500 µs · 1.47 times as fast", "500 µs", "234 µs less"} <= set(shown)
    assert shown.count("734 µs") == 2, "at its name and at its end"
    assert shown.count("0 µs") == 1, "there is one ruler"
    assert shown.count("microbatch 0") == shown.count("launched by main") == 1, "and one legend"


def test_the_alt_text_says_both_makespans() -> None:
    assert before_after(alone(2), drawn()).alt == (
        "Two recordings on one axis of time. before: Timeline of step 0 with the lanes main and compute; "
        "makespan 734 µs. after: Timeline of step 0 with the lanes main, ubatch 0, ubatch 1, compute and comm; "
        "makespan 500 µs. 100 % of the communication (248 µs of 248 µs) is hidden behind computation. "
        "after is 1.47 times as fast."
    )


def test_the_repr_is_stable() -> None:
    assert repr(before_after(alone(2), drawn(), names=("split", "overlapped"))) == (
        "<Picture: split: step 0, makespan 734 µs; overlapped: step 0, makespan 500 µs, 1.47 times as fast>"
    )


@pytest.mark.parametrize(
    "before, after, verdict",
    [
        (744, 476, ("is", "1.56 times as fast")),
        (476, 744, ("takes", "1.56 times as long")),
        (1000, 1001, ("is", "as fast")),
        (5000, 10, ("is", "500 times as fast")),
        (0, 0, ("is", "as fast")),
    ],
)
def test_how_they_compare(before: int, after: int, verdict: tuple[str, str]) -> None:
    frame = frame_of(drawn(layers=1))
    first, second = (Part("", frame, Numbers(ns, 0, 0, 0), {}, Layout()) for ns in (before, after))
    assert _compared((first, second)) == verdict


def test_the_longer_fills_the_ruler_and_an_inch_is_as_long_in_both() -> None:
    """Neither order of the two, nor the length of the other steps, changes the scale."""
    longest = frame_of(alone(2)).length_ns
    widths = [
        before_after(*pair).axes.get_xlim()
        for pair in ((alone(2), drawn()), (drawn(), alone(2)), (alone(2, steps=3), drawn(steps=3)))
    ]
    assert widths[0] == pytest.approx(widths[1])
    assert widths[0] == pytest.approx(widths[2])
    assert widths[0][0] < 0 < longest < widths[0][1] < 1.05 * longest


def test_the_last_complete_steps_are_drawn_unless_others_are_asked_for() -> None:
    before, after = alone(2, steps=2), drawn(steps=3)
    assert repr(before_after(before, after)).startswith(
        "<Picture: before: step 1, makespan 734 µs; after: step 2,"
    )
    shown = before_after(before, after, step_before=0, step_after=1)
    assert repr(shown).startswith("<Picture: before: step 0, makespan 734 µs; after: step 1,")
    assert any(text.endswith("step 0") for text in words(shown))


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_it_is_saved_to_the_same_bytes_twice(tmp_path: Any, suffix: str) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        before_after(alone(2), drawn()).save(path)
    first, second = (path.read_bytes() for path in paths)
    assert len(first) > 5_000
    assert first == second


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"step_after": 7}, "after: this trace has no step 7; it has 0"),
        ({"step_before": 7, "names": ("split", "b")}, "split: this trace has no step 7; it has 0"),
        ({"names": "ab"}, "names must be two strings, not 'ab'"),
        ({"names": ("a", "b", "c")}, "names must be two strings, not ('a', 'b', 'c')"),
        ({"names": ("a", 2)}, "names must be two strings, not ('a', 2)"),
        ({"theme": "blue"}, 'theme must be "light" or "dark", not \'blue\''),
        ({"width": 1}, "width is in inches, from 3 to 100, not 1"),
        (
            {"names": ("x" * 60, "y"), "width": 4},
            f"the names {'x' * 60!r} and 'y' are too long for a picture of this width",
        ),
    ],
)
def test_an_argument_that_cannot_be_used_is_refused_in_a_sentence(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadArgument) as caught:
        before_after(alone(), drawn(layers=1), **options)
    assert str(caught.value) == sentence


def test_what_holds_nothing_and_what_is_no_trace_are_refused() -> None:
    with pytest.raises(BadArgument) as caught:
        before_after(alone(), empty())
    assert str(caught.value) == "after: this recording holds nothing that could be drawn"
    with pytest.raises(BadArgument) as caught:
        before_after("run.json.gz", drawn(layers=1))  # type: ignore[arg-type]
    assert str(caught.value) == "before_after draws a Trace, not str; ubviz.load reads one from a file"
