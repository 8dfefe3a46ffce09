"""The notebooks as pages: each view draws and works with no kernel and no network.

Left out of 00's page here: the live run, which takes long and has nothing to do with pages.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.watched import Watched
from ubviz import explore
from ubviz.course.site import build
from ubviz.exploration.variants import program_of
from ubviz.runtime.schedule import read_schedule

Site = Callable[[str], Path]
ROOT = Path(__file__).resolve().parent.parent.parent
BUILT = ("00_the_whole_game", "01_why_moe_waits", "05_the_baton", "08_changing_streams")
"""Those of which more is tested below, so that they are built anyway."""
BOOKS = [
    path.stem if path.stem in BUILT else pytest.param(path.stem, marks=pytest.mark.slow)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
]
LABS = ("00_the_whole_game", "01_why_moe_waits", "08_changing_streams")
"""Those whose page begins with a lab, or has one."""
MOST_S = 10
"""From opening a page to lanes that have slid."""
FIRST_LAB = ".ubviz-lab[data-ubviz-first]"
LANES = f'document.querySelector("{FIRST_LAB} canvas.ubviz-lab-lanes").toDataURL()'
DRAWN = """() => {
  const places = [...document.querySelectorAll("[data-ubviz-view]")];
  return places.length > 0 && places.every((place) => place.querySelector("[data-ubviz-first]"));
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site of one notebook; it is built when it is first asked for."""

    @cache
    def built(name: str) -> Path:
        books, folder = tmp_path_factory.mktemp("books"), tmp_path_factory.mktemp("site")
        notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
        notebook.cells = [cell for cell in notebook.cells if not runs_live(cell)]
        nbformat.write(notebook, books / f"{name}.ipynb")
        build(books, folder)
        return folder

    return built


def runs_live(cell: Any) -> bool:
    return "ubviz.demo(" in cell.source or "nbval-ignore-output" in cell.metadata.get("tags", ())


def test_the_index_leads_to_every_page(page: Watched, site: Site) -> None:
    page.page.goto((site("05_the_baton") / "index.html").as_uri())
    assert page.page.get_by_role("link").count() == 2
    page.page.get_by_role("link", name="05 · The baton").click()
    page.page.wait_for_selector("h1 >> text=05 · The baton")
    assert page.page.get_by_role("link", name="all notebooks").count() == 2


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", BOOKS)
def test_every_view_of_a_page_draws_and_stands_there_once(page: Watched, site: Site, name: str) -> None:
    page.page.goto((site(name) / f"{name}.html").as_uri())
    page.page.wait_for_function(DRAWN)
    assert page.page.locator(".ubviz-still").count() == 0, "words that stand for a view, beside the view"
    assert page.page.locator("pre.out").filter(has_not_text=" ").count() == 0, "an output that holds nothing"
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.page.evaluate(wider) <= 0, "the page can be pushed sideways"


@pytest.mark.parametrize("name", LABS)
def test_one_drags_the_communication_and_the_lanes_slide(
    page: Watched, site: Site, name: str, record_property: Any
) -> None:
    began = time.monotonic()
    page.page.goto((site(name) / f"{name}.html").as_uri())
    lab = page.page.locator(FIRST_LAB).first
    expect(lab).to_have_attribute("data-ubviz-state", "painted")
    before, figures = page.page.evaluate(LANES), lab.inner_text()
    slider = lab.get_by_role("slider", name="Communication", exact=True)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.page.mouse.move(box["x"] + box["width"] * 0.375, middle)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + box["width"] * 0.9, middle, steps=5)
    page.page.wait_for_function(f"(before) => {LANES} !== before", arg=before)
    took_s = time.monotonic() - began
    page.page.mouse.up()
    record_property("seconds", f"{took_s:.2f}")
    print(f"{name}: {took_s:.2f} s from opening to lanes that have slid")
    assert took_s < MOST_S
    assert lab.inner_text() != figures


@pytest.mark.parametrize("name", LABS[:2])
def test_a_page_begins_as_its_text_says(page: Watched, site: Site, name: str) -> None:
    """What later cells try does not change the lab at the top."""
    page.page.goto((site(name) / f"{name}.html").as_uri())
    labs = page.page.locator(FIRST_LAB)
    expect(labs).to_have_count(2)
    expect(labs.first.get_by_label("Protocol", exact=True).locator("option:checked")).to_have_text("as it is")
    slider = labs.first.get_by_role("slider", name="Communication", exact=True)
    expect(slider).to_have_attribute("aria-valuetext", "360 µs a layer")


def test_the_scheduler_plays_in_a_page(page: Watched, site: Site) -> None:
    page.page.goto((site("05_the_baton") / "05_the_baton.html").as_uri())
    game = page.page.locator(".ubviz-scheduler[data-ubviz-first]").first
    game.wait_for()
    game.get_by_role("button", name="Let ubatch 1 go on").click()
    page.page.wait_for_selector('.ubviz-scheduler[data-ubviz-schedule="2"]')
    game.get_by_role("button", name="Undo").click()
    page.page.wait_for_selector('.ubviz-scheduler[data-ubviz-schedule=""]')


def test_two_wrong_choices_deadlock_the_scheduler_and_undo_takes_them_back(page: Watched, site: Site) -> None:
    found = explore(program_of("clear_before_wait", ring="bare")).shortest
    assert found is not None
    page.page.goto((site("05_the_baton") / "05_the_baton.html").as_uri())
    game = page.page.locator(".ubviz-scheduler[data-ubviz-first]").first
    game.wait_for()
    choices = read_schedule(found.replay)
    for thread in choices:
        name = ("main", "ubatch 0", "ubatch 1")[thread]
        game.get_by_role("button", name=f"Let {name} go on").click()
    ended = f"Deadlock after {len(choices)} choices: nobody can go on"
    report = game.get_by_role("group", name="How it ended")
    expect(report).to_contain_text(ended)
    expect(report).to_contain_text("cpu_event[")
    game.get_by_role("button", name="Undo").click()
    expect(report).to_be_hidden()


def test_a_stepper_steps_back_in_a_page(page: Watched, site: Site) -> None:
    page.page.goto((site("05_the_baton") / "05_the_baton.html").as_uri())
    stepper = page.page.locator(".ubviz-stepper[data-ubviz-first]").first
    stepper.wait_for()
    stepper.get_by_role("button", name="Step forward").click()
    page.page.wait_for_selector('.ubviz-stepper[data-ubviz-at="1"]')
    stepper.get_by_role("button", name="Step back").click()
    page.page.wait_for_selector('.ubviz-stepper[data-ubviz-at="0"]')


def test_a_page_leads_to_the_glossary(page: Watched, site: Site) -> None:
    page.page.goto((site("05_the_baton") / "05_the_baton.html").as_uri())
    page.page.get_by_role("link", name="glossary").click()
    page.page.wait_for_selector("td >> text=让出")
