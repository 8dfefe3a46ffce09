"""Compare in a browser: a page without a kernel and without a network, and one whose kernel is the test."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import ubviz
from tests.browser.jupyter import Lab as JupyterLab
from tests.browser.jupyter import Server
from tests.browser.watched import FRAMES, Watched
from tests.traces import Traces
from ubviz.exploration.lab_programs import simulate
from ubviz.view import Compare
from ubviz.view.paint.ticks import duration
from ubviz.view.widget import STATIC


class Opened:
    """A Compare in a page."""

    def __init__(self, watched: Watched, view: Compare) -> None:
        self.watched, self.page, self.view = watched, watched.page, view
        self.root = self.page.locator("section.ubviz.ubviz-compare")
        self.stage = self.root.get_by_role("application")
        self.said = self.root.locator(".ubviz-compare-said")

    def settled(self) -> None:
        self.page.evaluate(FRAMES)
        expect(self.root).to_have_attribute("data-ubviz-state", "painted")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.settled()

    def row(self, name: str, ubatch: int, layer: int) -> Any:
        """The row of an operation in the table."""
        number = next(
            i for i, (operation, _, _) in enumerate(self.view._rows)
            if (operation.name, operation.ubatch, operation.layer) == (name, ubatch, layer)
        )  # fmt: skip
        return self.root.locator(f"tr[data-ubviz-number='{number}']")

    def lit(self) -> str | None:
        found: str | None = self.root.get_attribute("data-ubviz-lit")
        return found

    def chosen(self) -> list[str]:
        found: list[str] = self.root.locator("tr[aria-selected='true'] th").all_inner_texts()
        return found


def two() -> Compare:
    return Compare(
        simulate(ubatches=2, layers=2), simulate(ubatches=2, layers=2, variant="record_after_yield"),
        names=("right", "wrong"),
    )  # fmt: skip


@pytest.fixture
def saved(page: Watched, tmp_path: Path) -> Callable[..., Opened]:
    def open_page(view: Compare | None = None, scheme: str = "light", width: int = 1200) -> Opened:
        view = two() if view is None else view
        view.to_html(tmp_path / "compare.html")
        page.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.page.set_viewport_size({"width": width, "height": 900})
        page.page.goto((tmp_path / "compare.html").as_uri())
        opened = Opened(page, view)
        opened.settled()
        return opened

    return open_page


@pytest.fixture
def live(context: Any, tmp_path: Path) -> Any:
    watched = Watched(context)

    def start(view: Compare) -> Opened:
        path = tmp_path / "live.html"
        css = (STATIC / "compare.css").read_text(encoding="utf-8")
        path.write_text(
            f'<!doctype html><meta charset="utf-8"><title>live</title><style>{css}</style>', "utf-8"
        )
        watched.page.goto(path.as_uri())
        watched.page.evaluate((Path(__file__).parent / "kernel.js").read_text(encoding="utf-8"))
        state = {name: getattr(view, name) for name in view.STATE} | {"_problem": ""}
        source = (STATIC / "compare.js").read_text(encoding="utf-8")
        head = base64.b64encode(view._store.head()).decode()
        watched.page.evaluate("(args) => window.start(...args)", [source, state, head, {}])
        watched.page.evaluate("() => kernel.view(1000)")
        opened = Opened(watched, view)
        opened.settled()
        return opened

    yield start
    watched.clean()


# ---- a page without a kernel


def test_pointing_lights_the_partner_and_clicking_selects_it(saved: Callable[..., Opened]) -> None:
    """From the lanes to the table and back."""
    found = saved()
    expect(found.root.locator(".ubviz-compare-figures")).to_contain_text("1.24 ms → 1.84 ms")
    expect(found.said).to_contain_text("Point at an operation")
    row = found.row("experts", 1, 0)
    row.hover()
    number = row.get_attribute("data-ubviz-number")
    expect(found.root).to_have_attribute("data-ubviz-lit", str(number))
    expect(found.said).to_have_text(
        "experts, microbatch 1, layer 0: in right 149 µs from 487 µs on, in wrong 149 µs from 693 µs on; "
        "wrong runs as long and begins 206 µs later."
    )
    found.stage.scroll_into_view_if_needed()
    box = found.stage.bounding_box()
    assert box is not None
    for x in range(100, int(box["width"]), 30):  # along the stream of the first recording, below its threads
        found.page.mouse.move(box["x"] + x, box["y"] + 117)
        found.page.evaluate(FRAMES)
        if found.lit() == number:
            break
    assert found.lit() == number
    found.page.mouse.down()
    found.page.mouse.up()
    found.settled()
    assert found.chosen() == ["experts"]
    expect(row).to_have_attribute("aria-selected", "true")
    expect(row).to_be_in_viewport()


def test_everything_without_a_mouse(saved: Callable[..., Opened]) -> None:
    found = saved()
    found.page.keyboard.press("Tab")
    expect(found.stage).to_be_focused()
    found.press("ArrowRight", "ArrowRight", "ArrowRight")
    operation = found.view._rows[2][0]
    assert found.chosen() == [operation.name]
    live = found.root.get_by_role("status")
    expect(live).to_contain_text(
        f"{operation.name}, microbatch {operation.ubatch}, layer {operation.layer}: in right"
    )
    found.press("ArrowLeft")
    assert found.lit() == "1"
    found.press("Enter")
    row = found.root.locator("tr[data-ubviz-number='1']")
    expect(row).to_be_focused()
    found.press("ArrowDown")
    assert found.lit() not in ("1", "")
    found.press("Escape")
    expect(found.stage).to_be_focused()
    found.press("f")
    found.press("Escape")
    assert found.lit() == ""
    found.press("0")
    sort = found.root.get_by_role("group", name="Order of the table")
    sort.get_by_role("button", name="name", exact=True).click()
    expect(found.root.locator("tbody th").first).to_contain_text("attention")
    names = found.root.locator("tbody th").all_inner_texts()
    assert names == sorted(names)


def test_the_table_is_shown_a_page_at_a_time(saved: Callable[..., Opened]) -> None:
    def many(lasts: int) -> Any:
        t = Traces()
        main = t.thread("main")
        for i in range(250):
            main.launch("experts", "compute", takes=100 + lasts * i, layer=i)
        return t.finish()

    found = saved(Compare(many(0), many(1)))
    rows = found.root.locator("tbody tr")
    expect(rows).to_have_count(100)
    expect(found.root.locator(".ubviz-compare-pages")).to_contain_text("1 to 100 of 250 operations")
    found.root.get_by_role("button", name="Next").click()
    expect(rows.first.locator("td").nth(3)).to_have_text("249 ns")  # the 101st by its difference
    found.stage.focus()
    found.press("ArrowRight")  # the first in time has the least difference: the last page
    expect(rows).to_have_count(50)
    expect(rows.last).to_be_in_viewport()
    expect(rows.last).to_have_attribute("aria-selected", "true")


def test_names_from_a_recording_are_text(saved: Callable[..., Opened]) -> None:
    t = Traces()
    main = t.thread("main")
    main.launch("<img src=x onerror='window.pwned = 1'>", "compute", takes=900)
    main.launch("a\u202eb", "<b>comm</b>", takes=500, cls="comm")
    found = saved(
        Compare(t.finish(), t.finish(), names=("<i>", "x"), title="<script>window.pwned = 2</script>")
    )
    assert found.root.locator("img").count() == 0
    assert "<img src=x onerror='window.pwned = 1'>" in found.root.locator("tbody th").all_inner_texts()
    assert found.root.locator(".ubviz-compare-title").inner_text() == "<script>window.pwned = 2</script>"
    assert found.page.evaluate("() => window.pwned ?? null") is None


@pytest.mark.parametrize("width", [320, 760])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off(saved: Callable[..., Opened], width: int, scheme: str) -> None:
    view = Compare(ubviz.example("whole_game_unsplit"), ubviz.example("whole_game_overlapped"))
    found = saved(view, scheme, width)
    found.stage.focus()
    found.press("ArrowDown")
    assert found.page.evaluate("() => document.documentElement.scrollWidth") <= width
    wide = found.root.locator(".ubviz-compare-box").evaluate("(box) => box.scrollWidth - box.clientWidth")
    assert wide <= 0
    makespan = view.comparison.totals["makespan_ns"]
    assert makespan.a
    assert makespan.b
    both = f"{duration(makespan.a)} → {duration(makespan.b)}"
    expect(found.root.locator(".ubviz-compare-figures dd").first).to_have_text(both)


# ---- a kernel


def test_what_python_sets_is_shown_and_what_is_done_here_goes_back(live: Callable[..., Opened]) -> None:
    found = live(two())
    found.page.evaluate("() => kernel.set('selection', [0, 1, 'combine', 0])")
    found.settled()
    assert found.chosen() == ["combine"]
    found.stage.focus()
    found.press("w")
    shown = json.loads(found.page.evaluate("() => JSON.stringify(kernel.saved.at(-1).view_range)"))
    kept = two()
    kept.set_state({"view_range": shown})
    assert kept.view_range is not None
    assert 0 < kept.view_range[0] < kept.view_range[1] < 1_900_000
    found.press("ArrowRight")
    selection = json.loads(found.page.evaluate("() => JSON.stringify(kernel.saved.at(-1).selection)"))
    kept.set_state({"selection": selection})
    assert len(kept.selected()) == 1
    found.press("0")
    assert found.page.evaluate("() => kernel.saved.at(-1).view_range") is None
    found.page.evaluate("() => kernel.set('selection', [9, 9, 'nothing', 9])")
    found.settled()
    assert found.chosen() == []


def test_it_ends_when_it_is_taken_down(live: Callable[..., Opened]) -> None:
    found = live(two())
    found.page.evaluate("() => kernel.remove(0, 'both')")
    assert found.page.evaluate("() => [globalThis.__ubvizLive.size, kernel.listening()]") == [0, 0]
    expect(found.root).to_have_count(0)


# ---- JupyterLab


def test_in_jupyterlab_both_sides_are_at_one_place(lab: JupyterLab, server: Server) -> None:
    made = (
        "import ubviz\na, b = ubviz.example('whole_game_unsplit'), ubviz.example('whole_game_overlapped')\n"
        "compare = ubviz.Compare(a, b)\ncompare"
    )
    server.notebook("compared.ipynb", made, "compare.selection = (None, 2, 'experts', 0)")
    lab.open("compared.ipynb")
    lab.run_cell(0)
    found = Opened(lab, two())
    expect(found.root).to_have_attribute("data-ubviz-state", "painted")
    found.stage.focus()
    found.press("ArrowDown", "ArrowDown", "x", "w")  # x would cut the cell
    lab.py_is("compare.selection", [None, 0, "experts", 0])
    lab.py_is("0 < compare.view_range[0] < compare.view_range[1]", True)
    assert len(lab.cells()) == 2
    lab.run_cell(1)
    expect(found.said).to_contain_text("experts, layer 2: in a ")
    expect(found.root.locator("tr[aria-selected='true']")).to_contain_text("experts")
