"""A saved page: one file, no network, everything that keys and pointer do."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ubviz
from tests.browser.scene import UBATCH, middle, place, rows, small
from tests.browser.watched import Watched
from tests.drawn import drawn
from ubviz.trace import Trace
from ubviz.view.palette import DARK, LIGHT

TRACES = {
    "small": small,
    "steps": lambda: drawn("ht", steps=3),
    "real": lambda: ubviz.example("whole_game_overlapped"),
}


class Saved:
    """A timeline, saved and opened."""

    def __init__(self, page: Watched, trace: Trace, path: Path) -> None:
        self.page, self.trace = page, trace
        page.page.goto(path.as_uri())
        page.painted()
        self.home = page.range()

    def point(self, row: int) -> tuple[float, float]:
        """Where the middle of a span is, on the screen."""
        role = next(lane.role for lane in self.trace.lanes if lane.id == self.trace.spans[row].lane)
        top, bottom = self.page.lane(place(self.trace, role))
        return self.page.at(self.page.x(middle(self.trace, row)), (top + bottom) / 2)

    def click(self, row: int, **options: Any) -> None:
        self.page.page.mouse.click(*self.point(row), **options)
        self.page.frames()

    def selection(self) -> list[list[Any]]:
        found: list[list[Any]] = self.page.json("selection")
        return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Trace, Path]]:
    """A trace of ``TRACES``, and its page: each page is written once."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def write(name: str, theme: str = "auto") -> tuple[Trace, Path]:
        trace = TRACES[name]()
        path = folder / f"{name}-{theme}.html"
        ubviz.Timeline(trace, theme=theme).to_html(path)
        return trace, path

    return write


@pytest.fixture
def opened(page: Watched, written: Callable[..., tuple[Trace, Path]]) -> Callable[..., Saved]:
    return lambda name, theme="auto": Saved(page, *written(name, theme))


@pytest.fixture
def saved(opened: Callable[..., Saved]) -> Saved:
    return opened("small")


def attention(trace: Trace, ubatch: int = 0) -> int:
    """The kernel of microbatch ``ubatch``'s first attention."""
    return rows(trace, "compute", cat="kernel", operation="attention", ubatch=ubatch)[0]


# ---- one file


def test_it_is_painted_and_needs_nothing_else(saved: Saved) -> None:
    assert saved.page.fact("order") == "wall"
    assert saved.page.live() == 1
    assert saved.page.page.locator("[role=alert]").is_hidden()


def test_its_policy_forbids_the_network_and_other_scripts(saved: Saved) -> None:
    saved.page.ignored.append("Content Security Policy")  # what the browser says of it
    refused = saved.page.page.evaluate(
        """async () => {
          const found = [];
          document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
          const tries = [
            () => fetch("http://127.0.0.1:9/").catch(() => {}),
            () => { new Image().src = "http://127.0.0.1:9/"; },
            () => {
              const script = document.createElement("script");
              script.textContent = "window.pwned = 1";
              document.body.append(script);
            },
            () => { document.body.insertAdjacentHTML("beforeend", "<img src='data:,' onerror='window.pwned = 2'>"); },
          ];
          for (const each of tries) {
            const before = found.length, end = performance.now() + 5000;
            await each();
            while (found.length === before && performance.now() < end) await new Promise(requestAnimationFrame);
          }
          return found;
        }"""
    )
    assert refused == ["connect-src", "img-src", "script-src-elem", "script-src-attr"]
    assert saved.page.page.evaluate("() => window.pwned ?? null") is None


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_microbatches_have_their_colour_in_the_lane_of_each_stream(
    opened: Callable[..., Saved], theme: str
) -> None:
    saved = opened("small", theme)
    for stream in ("compute", "comm"):
        box = saved.page.lane_box(place(saved.trace, stream))
        assert min(saved.page.pixels(*UBATCH[theme], box=box)) > 100, stream


def test_it_follows_the_colour_scheme(saved: Saved) -> None:
    for scheme, theme in (("dark", DARK), ("light", LIGHT)):
        with saved.page.repainted():
            saved.page.page.emulate_media(color_scheme=scheme)
        assert saved.page.fact("theme") == scheme
        assert saved.page.pixels(theme.background)[0] > 10_000
        ground = saved.page.page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
        red, green, blue = bytes.fromhex(theme.background[1:])
        assert ground == f"rgb({red}, {green}, {blue})"


def test_without_scripts_it_is_a_picture(browser: Any, written: Callable[..., tuple[Trace, Path]]) -> None:
    _, path = written("small")
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    image = page.locator("noscript img")
    assert image.bounding_box()["width"] > 300
    assert "compute" in image.get_attribute("alt")
    context.close()


# ---- keys


def length(page: Watched) -> int:
    start, end = page.range()
    return end - start


def test_w_and_s_zoom_and_a_and_d_pan(saved: Saved) -> None:
    page = saved.page
    page.stage().focus()
    whole = length(page)
    with page.repainted():
        page.keys("w", "w")
    near, (start, _) = length(page), page.range()
    assert near < 0.8 * whole
    with page.repainted():
        page.keys("d")
    assert page.range()[0] > start
    assert length(page) == pytest.approx(near, abs=2)
    with page.repainted():
        page.keys("a", "a")
    assert page.range()[0] < start
    with page.repainted():
        page.keys("s")
    assert length(page) > near


def test_home_shows_the_step_and_shift_home_everything(opened: Callable[..., Saved]) -> None:
    saved = opened("real")
    page = saved.page
    page.stage().focus()
    with page.repainted():
        page.keys("w", "w", "d")
    assert page.range() != saved.home
    with page.repainted():
        page.keys("Home")
    assert page.range() == saved.home
    with page.repainted():
        page.keys("w")
    with page.repainted():
        page.keys("Shift+Home")
    assert length(page) >= saved.trace.duration_ns


def test_o_turns_to_logical_order_and_back(saved: Saved) -> None:
    page = saved.page
    page.stage().focus()
    with page.repainted():
        page.keys("o")
    assert page.fact("order") == "logical"
    assert page.page.get_by_role("button", name="Order", exact=True).get_attribute("aria-pressed") == "true"
    with page.repainted():
        page.keys("o")
    assert (page.fact("order"), page.range()) == ("wall", saved.home)


def test_arrows_go_from_item_to_item_and_brackets_along_a_flow(saved: Saved) -> None:
    page, trace = saved.page, saved.trace
    kernel = attention(trace)
    saved.click(kernel)
    assert saved.selection() == [["spans", kernel]]
    page.keys("ArrowRight")
    router = rows(trace, "compute", cat="kernel", operation="router", ubatch=0)[0]
    assert saved.selection() == [["spans", router]]
    page.keys("ArrowLeft")
    assert saved.selection() == [["spans", kernel]]
    page.keys("[")
    launch = next(
        flow.from_row for flow in trace.flows if flow.kind == "launch -> kernel" and flow.to_row == kernel
    )
    assert saved.selection() == [["events", launch]]
    page.keys("]")
    assert saved.selection() == [["spans", kernel]]
    page.keys("ArrowDown")
    [(table, row)] = saved.selection()
    assert (table, trace.spans[row].lane) == ("spans", trace.lane("comm").id)
    page.keys("Escape", "Escape")
    assert saved.selection() == []


def test_f_frames_the_selection(saved: Saved) -> None:
    saved.click(attention(saved.trace))
    with saved.page.repainted():
        saved.page.keys("f")
    start, end = saved.page.range()
    assert start < 41_000 < 81_000 < end < start + 60_000


# ---- pointer


def test_a_click_shows_the_details_with_the_line_that_launched_it(opened: Callable[..., Saved]) -> None:
    saved = opened("real")
    page, trace = saved.page, saved.trace
    compute = rows(trace, "compute", cat="kernel", operation="experts")
    kernel = max(compute, key=lambda row: trace.spans[row].duration_ns)
    saved.click(kernel)
    assert saved.selection() == [["spans", kernel]]
    details = page.page.get_by_role("region", name="Details")
    launch = next(
        flow.from_row for flow in trace.flows if flow.kind == "launch -> kernel" and flow.to_row == kernel
    )
    file, _, number = str(trace.events[launch].site).rpartition(":")
    current = details.locator("[aria-current=true]").first
    current.wait_for()
    words = details.inner_text()
    assert trace.spans[kernel].name in words
    assert f"{file}:{number}" in words
    source = next(
        each
        for each in trace.meta["sources"]
        if each["file"] == file and 0 <= int(number) - each["line"] < len(each["text"].splitlines())
    )
    assert source["text"].splitlines()[int(number) - source["line"]].strip() in current.inner_text()
    details.get_by_role("button", name="Close details").click()
    assert details.is_hidden()


def test_a_click_with_ctrl_adds_and_one_beside_everything_clears(saved: Saved) -> None:
    first, second = attention(saved.trace), attention(saved.trace, ubatch=1)
    saved.click(first)
    saved.page.page.keyboard.down("Control")
    saved.click(second)
    saved.page.page.keyboard.up("Control")
    assert saved.selection() == [["spans", first], ["spans", second]]
    saved.page.keys("Escape")  # the details lie over the stage
    top, _ = saved.page.lane(place(saved.trace, "main"))
    saved.page.page.mouse.click(*saved.page.at(saved.page.x(1_000), top - 6))
    saved.page.frames()
    assert saved.selection() == []


def test_hovering_shows_a_tip(saved: Saved) -> None:
    tip = saved.page.page.locator(".ubviz-tip")
    assert tip.is_hidden()
    kernel = attention(saved.trace)
    saved.page.page.mouse.move(*saved.point(kernel))
    saved.page.until(
        "root.dataset.ubvizHovered === arg", json.dumps(["spans", kernel], separators=(",", ":"))
    )
    assert "attention" in tip.inner_text()
    assert "40 µs" in tip.inner_text()
    saved.page.page.mouse.move(5, 5)
    saved.page.until('root.dataset.ubvizHovered === "null"')
    assert tip.is_hidden()


def test_the_wheel_zooms_where_the_pointer_is_once_the_stage_has_the_focus(saved: Saved) -> None:
    page = saved.page
    point = saved.point(attention(saved.trace))
    page.page.mouse.move(*point)
    page.page.mouse.wheel(0, -120)
    page.frames()
    assert page.range() == saved.home  # the page would scroll
    saved.click(attention(saved.trace))
    page.keys("Escape", "Escape")
    at = point[0] - page.stage().bounding_box()["x"]
    before = page.ns(at)
    with page.repainted():
        page.page.mouse.wheel(0, -120)
    assert length(page) < 0.9 * (saved.home[1] - saved.home[0])
    assert page.ns(at) == pytest.approx(before, abs=length(page) / 500)
    start = page.range()[0]
    with page.repainted():
        page.page.mouse.wheel(150, 0)
    assert page.range()[0] > start


def test_dragging_pans_and_selects_nothing(saved: Saved) -> None:
    page = saved.page
    page.stage().focus()
    with page.repainted():
        page.keys("w", "w")
    box = page.stage().bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = page.ns(x - box["x"])
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x + 40, y, steps=4)
    page.page.mouse.move(x + 120, y, steps=4)
    page.page.mouse.up()
    page.frames()
    assert page.ns(x + 120 - box["x"]) == pytest.approx(before, abs=length(page) / 300)
    assert saved.selection() == []


def test_a_double_click_frames(saved: Saved) -> None:
    with saved.page.repainted():
        saved.page.page.mouse.dblclick(*saved.point(attention(saved.trace)))
    saved.page.frames()
    assert length(saved.page) < 60_000


def test_it_fits_into_another_width(saved: Saved) -> None:
    page = saved.page
    for width in (500, 1000):
        page.page.set_viewport_size({"width": width, "height": 900})
        page.until(
            'Math.abs(root.querySelector(".ubviz-base").getBoundingClientRect().width '
            '- root.querySelector(".ubviz-stage").getBoundingClientRect().width) < 1 '
            "&& document.documentElement.scrollWidth <= innerWidth && root.clientWidth > arg - 60 "
            '&& root.dataset.ubvizState === "painted"',
            width,
        )
        canvas = page.page.locator(".ubviz-base")
        assert canvas.evaluate(
            "(canvas) => canvas.width / canvas.getBoundingClientRect().width"
        ) == pytest.approx(1)
        box = page.lane_box(place(saved.trace, "compute"))
        assert min(page.pixels(*UBATCH["light"], box=box)) > 100


# ---- controls, by their names


def test_the_controls_do_what_they_are_called(opened: Callable[..., Saved]) -> None:
    saved = opened("steps")
    page = saved.page
    bar = page.page.get_by_role("toolbar", name="Timeline controls")
    whole = length(page)
    with page.repainted():
        bar.get_by_role("button", name="Zoom in").click()
    assert length(page) < whole
    with page.repainted():
        bar.get_by_role("button", name="Zoom out").click()
    with page.repainted():
        bar.get_by_role("button", name="Show all").click()
    assert length(page) >= saved.trace.duration_ns
    with page.repainted():
        bar.get_by_role("button", name="Previous step").click()
    earlier = page.range()
    with page.repainted():
        bar.get_by_role("button", name="Next step").click()
    assert page.range()[0] > earlier[0]
    with page.repainted():
        bar.get_by_role("button", name="Order", exact=True).click()
    assert page.fact("order") == "logical"
    with page.repainted():
        bar.get_by_role("button", name="Clock").click()
    assert page.fact("order") == "wall"
    bar.get_by_role("button", name="Keys").click()
    assert page.page.get_by_role("dialog", name="Keys").is_visible()
