"""The check list of the notebooks, as far as a script can decide it; exceptions stand here with their reason."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ubviz.course.glossary import NOTEBOOKS as FILES
from ubviz.course.glossary import TERMS, meaning, text
from ubviz.errors import BadArgument

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
VIEWS = re.compile(r"(ubviz\.(Timeline|Stepper|Scheduler|Lab|Compare)|RankMap|CutRuler|StartLine)\(")
NO_BEFORE_AFTER = {
    "04": "no device is involved",
    "05": "one loop and two threads take equally long, and both numbers are printed",
    "06": "what is shown is an order, not a gain",
    "11": "a decision before anything runs",
}
"""Notebooks without a comparison on one time axis, and why."""


def cells(path: Path) -> list[Any]:
    return nbformat.read(path, as_version=4).cells


def tagged(path: Path, tag: str) -> list[int]:
    return [
        number for number, cell in enumerate(cells(path))
        if any(each == tag or each.startswith(f"{tag}:") for each in cell.metadata.get("tags", ()))
    ]  # fmt: skip


each = pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])


def test_all_notebooks_of_the_course_are_there() -> None:
    assert [path.stem for path in PATHS] == list(FILES.values())


@each
def test_the_header_says_the_idea_the_minutes_the_gpu_and_what_comes_before(path: Path) -> None:
    lines = cells(path)[0].source.splitlines()
    assert re.fullmatch(rf"# {path.stem[:2]} · .+", lines[0])
    assert re.fullmatch(r"\*\*.+[.]\*\*", lines[2])
    assert re.fullmatch(r"\d\d minutes · GPU: (no|optional) · previous notebook: .+", lines[4])


@each
def test_something_runs_at_once(path: Path) -> None:
    code = next(number for number, cell in enumerate(cells(path)) if cell.cell_type == "code")
    assert code <= 2
    assert len(cells(path)[code].source.splitlines()) <= 15


@each
def test_no_text_is_long_or_shouts(path: Path) -> None:
    for number, cell in enumerate(cells(path)):
        if cell.cell_type == "markdown":
            words = len(re.sub(r"\|", " ", cell.source).split())
            assert words <= 150, f"cell {number} has {words} words"
            assert "!" not in re.sub(r"`[^`]*`|\]\([^)]*\)", "", cell.source), f"cell {number}"


@each
def test_a_prediction_comes_before_its_reveal_and_is_a_plain_value(path: Path) -> None:
    predicted, revealed = tagged(path, "predict"), tagged(path, "reveal")
    assert predicted
    assert predicted[0] < revealed[0]
    for number in predicted:
        (statement,) = ast.parse(cells(path)[number].source).body
        assert isinstance(statement, ast.Assign)
        ast.literal_eval(statement.value)


@each
def test_there_is_an_interactive_piece(path: Path) -> None:
    assert any(VIEWS.search(cell.source) for cell in cells(path) if cell.cell_type == "code")


@each
def test_before_and_after_stand_on_one_axis(path: Path) -> None:
    shown = any(re.search(r"before_after\(|Compare\(|Lab\(", cell.source) for cell in cells(path))
    assert shown or path.stem[:2] in NO_BEFORE_AFTER


@each
def test_an_exercise_is_a_short_stub_and_its_check_follows(path: Path) -> None:
    for number in tagged(path, "exercise"):
        assert len(cells(path)[number].source.splitlines()) <= 20
        assert "check(" in cells(path)[number + 1].source
    assert tagged(path, "exercise")


@each
def test_hints_are_collapsed_and_no_solution_is_shown(path: Path) -> None:
    sources = [cell.source for cell in cells(path)]
    assert any("<details><summary>" in source and "hint(" in source for source in sources)
    assert not any("solution(" in source for source in sources)


@each
def test_something_is_broken_and_repaired(path: Path) -> None:
    assert tagged(path, "break")
    assert tagged(path, "repair")


@each
def test_it_ends_with_three_lines_a_question_and_the_place_in_vllm(path: Path) -> None:
    sources = [cell.source for cell in cells(path)]
    three = next(source for source in sources if source.startswith("## In three lines"))
    assert len(re.findall(r"^- ", three, re.MULTILINE)) == 3
    assert tagged(path, "quiz")
    assert re.search(r"^\*\*In vLLM\*\* \(V1 runner\)", sources[-1], re.MULTILINE)
    assert "GLOSSARY.md" in sources[-1]


@each
def test_views_have_words_where_no_kernel_is(path: Path) -> None:
    for number, cell in enumerate(cells(path)):
        if cell.cell_type == "code" and VIEWS.search(cell.source.splitlines()[-1]):
            texts = [output.data.get("text/html", "") for output in cell.outputs if "data" in output]
            assert any('class="ubviz-still"' in text for text in texts), (
                f"cell {number} has no words for its view"
            )


@each
def test_links_lead_somewhere(path: Path) -> None:
    for cell in cells(path):
        for target in re.findall(r"\]\(([^):]+)\)", cell.source if cell.cell_type == "markdown" else ""):
            assert (NOTEBOOKS / target).exists(), target


def test_the_glossary_is_what_the_package_holds() -> None:
    assert (NOTEBOOKS / "GLOSSARY.md").read_text(encoding="utf-8") == text()


def test_a_notebook_explains_few_new_words() -> None:
    for number in FILES:
        assert len([term for term in TERMS if term.notebook == number]) <= 3


def test_a_word_is_found_in_both_languages() -> None:
    assert meaning("yield") == meaning("让出")
    with pytest.raises(BadArgument, match="the glossary has no 'baton'"):
        meaning("baton")
