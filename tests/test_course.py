"""The exercises: starters fail, references pass, each wrong answer gets a diagnosis of its own, nothing hangs."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ubviz import course
from ubviz.course import limit, progress
from ubviz.course.check import SOLUTIONS
from ubviz.course.exercises import named, names
from ubviz.errors import BadArgument

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


@pytest.fixture(autouse=True)
def own_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UBVIZ_PROGRESS", str(tmp_path / "progress.json"))


def reference(name: str) -> Any:
    return import_module(f"tests.course_solutions.s{name.replace('.', '_')}")


WRONG = [(name, belief) for name in names() for belief in reference(name).wrong]


@pytest.mark.parametrize("name", names())
def test_the_reference_passes_and_is_noted(name: str) -> None:
    verdict = course.check(name, reference(name).answer)
    assert verdict.passed, str(verdict)
    assert course.solved() == [name]


@pytest.mark.parametrize(("name", "belief"), WRONG)
def test_a_wrong_answer_gets_its_own_diagnosis(name: str, belief: str) -> None:
    answer, diagnosis = reference(name).wrong[belief]
    began = time.process_time()  # not by the clock: other tests run beside this one
    verdict = course.check(name, answer)
    assert not verdict.passed
    assert diagnosis in str(verdict)
    assert time.process_time() - began < 5
    assert course.solved() == []


@pytest.mark.parametrize("name", names())
def test_hints_grow_and_the_solution_is_in_the_checkout(name: str) -> None:
    hints = [course.hint(name, number) for number in (1, 2, 3)]
    assert len(set(hints)) == 3
    text = course.solution(name)
    assert "answer" in text
    assert (SOLUTIONS / f"s{name.replace('.', '_')}.py").read_text(encoding="utf-8") == text
    with pytest.raises(BadArgument, match="hints are numbered 1 to 3, there is none 4"):
        course.hint(name, 4)


@pytest.mark.parametrize("name", names())
def test_the_starter_of_the_notebook_fails(name: str) -> None:
    """The stub cell has the tag of its exercise; the cell after it checks it, without changing a letter."""
    starter = starters().get(name)
    if starter is None:
        pytest.fail(f"no notebook has a cell with the tag exercise:{name}")
    source, check = starter
    assert len(source.splitlines()) <= 20
    space: dict[str, Any] = {}
    exec(compile(source, f"starter of {name}", "exec"), space)
    assert f'"{name}"' in check
    answered = check.split(",")[-1].strip(" )\n")
    assert not course.check(name, space[answered]).passed


def starters() -> dict[str, tuple[str, str]]:
    """By exercise: its stub, and the last line of the cell that follows."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        for cell, after in pairwise(cells):
            for tag in cell.metadata.get("tags", ()):
                if tag.startswith("exercise:"):
                    found[tag.removeprefix("exercise:")] = (cell.source, after.source.splitlines()[-1])
    return found


def test_an_exercise_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadArgument, match=r"there is no exercise '05.nothing'; there are .*05\.yields"):
        named("05.nothing")


def test_a_stub_is_told_from_a_wrong_answer() -> None:
    assert "still holds its stub" in course.check("05.yields", ...).sentence
    assert "still holds its stub" in course.check("05.yields", None).sentence


def test_what_an_answer_raises_is_a_verdict_with_its_line() -> None:
    def finishes(y0: int, y1: int) -> bool:
        raise ZeroDivisionError("by me")

    verdict = course.check("05.yields", finishes)
    line = finishes.__code__.co_firstlineno + 1
    assert verdict.sentence == f"The answer raised ZeroDivisionError at line {line}: by me"


def test_an_answer_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(course.check.__globals__, "LIMIT_S", 0.3)

    def finishes(y0: int, y1: int) -> bool:
        while True:
            pass

    assert "without coming to an end" in course.check("05.yields", finishes).sentence


def test_threads_of_an_answer_that_is_stopped_end() -> None:
    started: list[threading.Thread] = []

    def spin() -> None:
        with suppress(SystemExit):  # by which a thread ends without a word, but pytest hears it
            while True:
                pass

    def work() -> None:
        started.append(threading.Thread(target=spin, daemon=True))
        started[0].start()
        started[0].join()

    with pytest.raises(limit.TookTooLong):
        limit.within(2, work)
    started[0].join(10)
    assert not started[0].is_alive()


def test_the_limit_holds_outside_the_main_thread() -> None:
    raised: list[BaseException] = []

    def spin() -> None:
        while True:
            pass

    def check() -> None:
        try:
            limit.within(0.3, spin)
        except limit.TookTooLong as error:
            raised.append(error)

    thread = threading.Thread(target=check)
    thread.start()
    thread.join(20)
    assert len(raised) == 1


@pytest.mark.parametrize("text", ["", "[]", '{"solved": 3}', '{"solved": [1, null]}', "{"])
def test_a_spoilt_file_of_progress_counts_as_none(text: str) -> None:
    progress.path().write_text(text, encoding="utf-8")
    assert course.solved() == []


def test_an_answer_to_a_closed_question() -> None:
    ask = ("b", "So it is.", {"a": "as if it blocked Python."})
    assert course.answered("b", *ask) == "Right. So it is."
    assert course.answered("a", *ask) == "No: as if it blocked Python."
    assert course.answered(..., *ask).startswith("No answer yet")
    with pytest.raises(BadArgument, match="'c' is none of the answers; they are 'a', 'b'"):
        course.answered("c", *ask)


def test_after_an_answer_that_could_not_be_stopped_the_next_check_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_go = threading.Event()
    thread = threading.Thread(target=let_go.wait, daemon=True)
    thread.start()
    monkeypatch.setattr(limit, "_left_behind", [thread])
    answer = reference("13.replay").answer
    assert "Restart the kernel" in course.check("13.replay", answer).sentence
    let_go.set()
    thread.join(10)
    assert course.check("13.replay", answer).passed


def test_a_run_in_a_notebook_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(course.run.__globals__, "LIMIT_S", 0.3)

    def endless(rt: Any) -> None:
        while True:
            pass

    with pytest.raises(BadArgument, match="without coming to an end"):
        course.run(endless)


def test_a_type_that_cannot_be_read_names_no_line_of_the_judge() -> None:
    def vote(tokens: list[int]) -> bool:
        return True

    sentence = course.check("11.vote", vote).sentence
    assert sentence.startswith("The answer raised TypeError: ")
