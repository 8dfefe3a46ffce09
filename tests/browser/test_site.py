"""The notebooks as pages: each view draws and works with no kernel and no network."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.browser.watched import Watched
from ubviz.course.site import build

ROOT = Path(__file__).resolve().parent.parent.parent
BOOKS = ("01_why_moe_waits", "05_the_baton")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of a few notebooks."""
    books = tmp_path_factory.mktemp("books")
    for name in BOOKS:
        shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", books)
    folder = tmp_path_factory.mktemp("site")
    build(books, folder)
    return folder


def test_the_index_leads_to_every_page(page: Watched, site: Path) -> None:
    page.page.goto((site / "index.html").as_uri())
    assert page.page.get_by_role("link").count() == len(BOOKS) + 1
    page.page.get_by_role("link", name="05 · The baton").click()
    page.page.wait_for_selector("h1 >> text=05 · The baton")
    assert page.page.get_by_role("link", name="all notebooks").count() == 2


def test_a_lab_answers_in_a_page(page: Watched, site: Path) -> None:
    page.page.goto((site / "01_why_moe_waits.html").as_uri())
    lab = page.page.locator(".ubviz-lab[data-ubviz-first]").first
    lab.wait_for()
    makespan = lab.inner_text()
    slider = lab.get_by_role("slider", name="Communication")
    slider.focus()
    slider.press("End")
    page.page.wait_for_function(
        "([root, before]) => document.querySelector(root).innerText !== before",
        arg=[".ubviz-lab[data-ubviz-first]", makespan],
    )


def test_the_scheduler_plays_in_a_page(page: Watched, site: Path) -> None:
    page.page.goto((site / "05_the_baton.html").as_uri())
    game = page.page.locator(".ubviz-scheduler[data-ubviz-first]").first
    game.wait_for()
    game.get_by_role("button", name="Let ubatch 1 go on").click()
    page.page.wait_for_selector('.ubviz-scheduler[data-ubviz-schedule="2"]')
    game.get_by_role("button", name="Undo").click()
    page.page.wait_for_selector('.ubviz-scheduler[data-ubviz-schedule=""]')


def test_a_stepper_steps_back_in_a_page(page: Watched, site: Path) -> None:
    page.page.goto((site / "05_the_baton.html").as_uri())
    stepper = page.page.locator(".ubviz-stepper[data-ubviz-first]").first
    stepper.wait_for()
    stepper.get_by_role("button", name="Step forward").click()
    page.page.wait_for_selector('.ubviz-stepper[data-ubviz-at="1"]')
    stepper.get_by_role("button", name="Step back").click()
    page.page.wait_for_selector('.ubviz-stepper[data-ubviz-at="0"]')


def test_a_page_leads_to_the_glossary(page: Watched, site: Path) -> None:
    page.page.goto((site / "05_the_baton.html").as_uri())
    page.page.get_by_role("link", name="glossary").click()
    page.page.wait_for_selector("td >> text=让出")
