"""The start line in a page without a kernel: sliders, steps both ways, and a hang that is told at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.watched import Watched
from ubviz.course.start_line import StartLine, runs

SHOWN = ".ubviz-start-line[data-ubviz-first]"


@pytest.fixture
def opened(page: Watched, tmp_path: Path) -> Watched:
    StartLine().to_html(tmp_path / "line.html")
    page.page.goto((tmp_path / "line.html").as_uri())
    page.page.wait_for_selector(SHOWN)
    return page


def test_it_shows_something_without_a_click(opened: Watched) -> None:
    text = opened.page.locator(SHOWN).inner_text()
    assert "All come to an end, and nobody ran before all had come." in text
    assert f"step 0 of {len(runs()['3/4']['steps']) - 1}" in text
    assert opened.page.locator(f"{SHOWN} .ubviz-slot").count() == 4


def test_a_wrong_number_of_parties_hangs_at_once(opened: Watched) -> None:
    opened.page.get_by_role("slider", name="Parties of the barrier").press("ArrowLeft")
    opened.page.wait_for_selector('.ubviz-start-line[data-ubviz-parties="3"]')
    report = opened.page.get_by_role("status").filter(has_text="It hangs:").inner_text()
    assert report.splitlines() == [line.strip() for line in str(runs()["3/3"]["report"]).splitlines()]


def test_steps_go_forward_and_back(opened: Watched) -> None:
    for _ in range(4):
        opened.page.get_by_role("button", name="Step forward").click()
    opened.page.wait_for_selector('.ubviz-start-line[data-ubviz-at="4"] >> text=Barrier: it has opened')
    opened.page.get_by_role("button", name="Step back").click()
    opened.page.wait_for_selector('.ubviz-start-line[data-ubviz-at="3"] >> text=Barrier: closed')
    opened.page.get_by_role("button", name="Last step").click()
    opened.page.wait_for_selector(f'.ubviz-start-line[data-ubviz-at="{len(runs()["3/4"]["steps"]) - 1}"]')


def test_another_size_begins_anew(opened: Watched) -> None:
    opened.page.get_by_role("button", name="Step forward").click()
    opened.page.get_by_role("slider", name="Microbatches").press("End")
    opened.page.wait_for_selector('.ubviz-start-line[data-ubviz-n="6"][data-ubviz-at="0"]')
    assert opened.page.locator(f"{SHOWN} .ubviz-threads li").count() == 7
