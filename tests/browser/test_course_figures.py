"""The small views of the course in a page without a kernel: dragged, clicked, narrow and wide."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.watched import FRAMES, Watched
from ubviz.course.cut_ruler import CutRuler
from ubviz.course.rank_map import RankMap

Saved = Callable[[Any], Any]


@pytest.fixture
def saved(page: Watched, tmp_path: Path) -> Saved:
    def open_page(view: Any) -> Any:
        path = tmp_path / "figure.html"
        view.to_html(path)
        page.page.goto(path.as_uri())
        root = page.page.locator("section.ubviz-figure")
        expect(root).to_have_attribute("data-ubviz-state", "painted")
        return root

    return open_page


def test_one_rank_below_the_threshold_is_a_no_for_all(saved: Saved) -> None:
    root = saved(RankMap((600, 640)))
    expect(root).to_have_attribute("data-ubviz-taken", "microbatches")
    root.get_by_role("slider", name="rank 1").fill("100")
    expect(root).to_have_attribute("data-ubviz-taken", "whole")
    expect(root).to_contain_text("Rank 1 voted no: its 100 tokens are below the prefill threshold of 512.")
    root.get_by_role("slider", name="threshold").fill("80")
    expect(root).to_contain_text("rank 1 would have nothing in the last of 2 microbatches")
    root.get_by_role("slider", name="rank 1").fill("400")
    expect(root).to_have_attribute("data-ubviz-taken", "microbatches")


def test_a_rank_may_be_forbidden_microbatches(saved: Saved) -> None:
    root = saved(RankMap((600, 640)))
    root.get_by_role("checkbox", name="rank 0 is allowed microbatches").uncheck()
    expect(root).to_contain_text("Rank 0 voted no: its caller did not allow microbatches.")


def test_ranks_come_and_go(saved: Saved) -> None:
    root = saved(RankMap((600, 640)))
    root.get_by_label("Ranks").select_option("4")
    expect(root.get_by_role("slider", name=re.compile("^rank"))).to_have_count(4)
    root.get_by_label("Ranks").select_option("3")
    expect(root.get_by_role("slider", name=re.compile("^rank"))).to_have_count(3)


def test_the_cut_wanders(saved: Saved) -> None:
    ruler = CutRuler()
    root = saved(ruler)
    root.get_by_role("slider", name="request 0").fill("30")
    ruler.values = {"lengths": [30, 11, 3, 8]}
    expect(root).to_have_attribute("data-ubviz-parts", json.dumps(ruler.parts, separators=(",", ":")))
    root.get_by_label("Microbatches", exact=True).select_option("4")
    ruler.values = {"ubatches": 4}
    expect(root).to_have_attribute("data-ubviz-parts", json.dumps(ruler.parts, separators=(",", ":")))
    for _ in range(3):
        root.get_by_role("button", name="One request less").click()
    expect(root.get_by_role("slider")).to_have_count(1)
    expect(root.get_by_role("button", name="One request less")).to_be_disabled()
    root.get_by_role("button", name="One request more").click()
    expect(root.get_by_role("slider")).to_have_count(2)


def test_a_slider_keeps_the_focus_while_keys_move_it_and_the_result_is_said(
    saved: Saved, page: Watched
) -> None:
    root = saved(CutRuler())
    slider = root.get_by_role("slider", name="request 1")
    slider.focus()
    for _ in range(3):
        page.page.keyboard.press("ArrowRight")
        page.page.evaluate(FRAMES)
    expect(slider).to_be_focused()
    expect(slider).to_have_attribute("aria-valuetext", "14 tokens")
    expect(root.get_by_role("status")).to_contain_text(
        "30 tokens, cut at token 15, in the middle of request 1."
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 700, 1200])
@pytest.mark.parametrize(
    "view",
    [lambda **t: RankMap((600, 640, 100, 1024), ubatches=4, **t), lambda **t: CutRuler((7,) * 8, 4, **t)],
)
def test_nothing_is_cut_off(saved: Saved, page: Watched, view: Any, width: int, theme: str) -> None:
    page.page.set_viewport_size({"width": width, "height": 900})
    root = saved(view(theme=theme))
    expect(root).to_have_attribute("data-ubviz-theme", theme)
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= width
    outside = root.locator("label, input, select, button, svg, p, .ubviz-figure-said").evaluate_all(
        """(items) => items.filter((item) => {
          if (item.getClientRects().length === 0) return false;
          const { left, right } = item.getBoundingClientRect();
          const room = item.closest(".ubviz-figure").getBoundingClientRect();
          return left < room.left - 0.5 || right > room.right + 0.5;
        }).map((item) => item.outerHTML)"""
    )
    assert outside == []
