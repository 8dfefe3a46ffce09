"""The Lab in a browser: a page without a kernel and without a network, and one whose kernel is the test."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from playwright.sync_api import expect

import ubviz
from tests.browser.jupyter import Lab as JupyterLab
from tests.browser.jupyter import Server
from tests.browser.watched import FRAMES, Watched
from tests.traces import Traces
from ubviz.exploration.lab_programs import simulate
from ubviz.play.lab import CONTROLS, Lab
from ubviz.view.paint.ticks import duration
from ubviz.view.palette import DARK, LIGHT
from ubviz.view.widget import STATIC

MOST_MS = 150
"""From a movement of a slider to its picture."""

COUNT = """([name, colours]) => {
  const canvas = document.querySelector(`.ubviz-lab canvas.ubviz-lab-${name}`);
  const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const wanted = colours.map((colour) => parseInt(colour.slice(1), 16));
  const found = colours.map(() => 0);
  for (let i = 0; i < image.length; i += 4) {
    const at = wanted.indexOf((image[i] << 16) | (image[i + 1] << 8) | image[i + 2]);
    if (at >= 0) found[at] += 1;
  }
  return found;
}"""


class Opened:
    """A Lab in a page; controls are found by their names, numbers by theirs."""

    def __init__(self, watched: Watched, lab: Lab) -> None:
        self.watched, self.page, self.lab = watched, watched.page, lab
        self.root = self.page.locator("section.ubviz.ubviz-lab")

    def painted(self) -> None:
        expect(self.root).to_have_attribute("data-ubviz-state", "painted")
        expect(self.root).to_have_attribute("data-ubviz-curve", "done")

    def slider(self, label: str) -> Any:
        return self.root.get_by_role("slider", name=label, exact=True)

    def choose(self, label: str, words: str) -> None:
        self.root.get_by_label(label, exact=True).select_option(label=words)
        self.settled()

    def drag(self, label: str, value: int) -> None:
        self.slider(label).fill(str(value))
        self.settled()

    def settled(self) -> None:
        self.page.evaluate(FRAMES)
        self.painted()

    def figures(self) -> dict[str, str]:
        found: dict[str, str] = self.root.locator(".ubviz-lab-figures > div").evaluate_all(
            "(items) => Object.fromEntries(items.map(({ children: [label, value] }) => "
            "[label.textContent, value.textContent]))"
        )
        return found

    def shows(self, **values: Any) -> None:
        """Its numbers are Python's at these values."""
        numbers = self.lab.numbers_at(**values)
        found = self.figures()
        assert found["Makespan"] == duration(numbers["makespan_ns"])
        assert found["Best possible"] == duration(numbers["bound_ns"])
        if numbers["unsplit_ns"] is not None:
            assert found["Unsplit"] == duration(numbers["unsplit_ns"])
        if numbers["overlap_ratio"] is not None:
            assert found["Exposed"] == duration(numbers["exposed_comm_ns"])


@pytest.fixture
def saved(page: Watched, tmp_path: Path) -> Callable[..., Opened]:
    def open_page(lab: Lab | None = None) -> Opened:
        lab = Lab() if lab is None else lab
        path = tmp_path / "lab.html"
        lab.to_html(path)
        page.page.goto(path.as_uri())
        opened = Opened(page, lab)
        opened.painted()
        return opened

    return open_page


# ---- a page without a kernel


def test_one_drags_communication_and_the_lanes_slide(saved: Callable[..., Opened]) -> None:
    lab = saved()
    lab.shows()
    before = lab.page.evaluate(COUNT, ["lanes", [LIGHT.ubatches[0], LIGHT.main]])
    lab.drag("Communication", 720)
    lab.shows(comm=720)
    after = lab.page.evaluate(COUNT, ["lanes", [LIGHT.ubatches[0], LIGHT.main]])
    assert min(before) > 500
    assert after != before
    expect(lab.root.locator(".ubviz-lab-slider[data-ubviz-curve] .ubviz-lab-value")).to_have_text(
        "720 µs a layer"
    )
    expect(lab.slider("Communication")).to_have_attribute("aria-valuetext", "720 µs a layer")


@pytest.mark.parametrize("microbatches", ["1 (unsplit)", "2", "3", "4"])
@pytest.mark.parametrize("style", ["high throughput", "low latency"])
def test_every_structure_is_in_the_page(saved: Callable[..., Opened], microbatches: str, style: str) -> None:
    lab = saved()
    lab.choose("Microbatches", microbatches)
    lab.choose("All-to-all", style)
    ubatches, short = int(microbatches[0]), "ht" if style == "high throughput" else "ll"
    lab.shows(ubatches=ubatches, style=short)
    for words, variant in (
        ("record after yield", "record_after_yield"),
        ("one wait left out", "missing_wait"),
    ):
        lab.choose("Protocol", words)
        lab.shows(ubatches=ubatches, style=short, variant=variant)
        assert lab.root.locator(".ubviz-lab-notes").inner_text()
    lab.choose("Layers", "8")
    lab.drag("Slowdown while overlapped", 25)
    lab.drag("Launch cost", 31)
    lab.drag("Fixed cost of a kernel", 0)
    lab.shows(
        ubatches=ubatches, style=short, variant="missing_wait", layers=8, contention=25, launch=31, fixed=0
    )  # fmt: skip


def test_it_keeps_up_with_the_hand(saved: Callable[..., Opened]) -> None:
    """Four microbatches, eight layers, contention: the most there is to work out."""
    lab = saved(Lab(values={"ubatches": 4, "layers": 8, "contention": 30}))
    lab.page.evaluate("() => performance.clearMeasures('ubviz lab redraw')")
    for value in range(0, 960, 48):
        lab.slider("Communication").fill(str(value))
        lab.page.evaluate(FRAMES)
    lab.painted()
    took = lab.page.evaluate(
        "() => performance.getEntriesByName('ubviz lab redraw').map((entry) => entry.duration)"
    )
    assert len(took) >= 15
    assert median(took) < MOST_MS


def test_keys_move_a_slider_and_the_result_is_said(saved: Callable[..., Opened]) -> None:
    lab = saved()
    lab.slider("Computation").focus()
    expect(lab.root.locator(".ubviz-lab-slider[data-ubviz-curve] label")).to_have_text("Computation")
    lab.page.keyboard.press("ArrowRight")
    lab.page.keyboard.press("ArrowRight")
    lab.settled()
    lab.shows(compute=504)
    makespan = duration(lab.lab.numbers_at(compute=504)["makespan_ns"])
    expect(lab.root.get_by_role("status")).to_contain_text(f"Makespan {makespan}")
    lab.page.keyboard.press("Home")
    lab.settled()
    lab.shows(compute=0)


def test_every_control_without_a_mouse(saved: Callable[..., Opened]) -> None:
    """Tab leads through all of them in the order in which they stand; each does by keys what it does by pointer."""
    lab = saved()
    controls = lab.root.locator("input, select, button").filter(visible=True)
    count = controls.count()
    assert count == len(CONTROLS.sliders) + len(CONTROLS.choices) + 1
    reached = []
    for _ in range(count):
        lab.page.keyboard.press("Tab")
        reached.append(controls.evaluate_all("(all) => all.indexOf(document.activeElement)"))
    assert reached == list(range(count))
    for choice, words in (("Microbatches", "3"), ("Layers", "4"), ("All-to-all", "low latency")):
        lab.root.get_by_label(choice, exact=True).focus()
        lab.page.keyboard.type(words)
        lab.settled()
    lab.slider("Launch cost").focus()
    lab.page.keyboard.press("End")
    lab.settled()
    lab.shows(ubatches=3, layers=4, style="ll", launch=40)
    lab.root.get_by_role("button", name="Reset all controls").focus()
    lab.page.keyboard.press("Enter")
    lab.settled()
    lab.shows()


def test_reset_puts_everything_back(saved: Callable[..., Opened]) -> None:
    lab = saved()
    lab.drag("Communication", 0)
    lab.choose("Microbatches", "4")
    lab.root.get_by_role("button", name="Reset all controls").click()
    lab.settled()
    lab.shows()
    expect(lab.slider("Communication")).to_have_value("360")


def test_the_break_even_is_pythons(saved: Callable[..., Opened]) -> None:
    lab = saved()
    expect(lab.root.locator(".ubviz-lab-caption")).to_contain_text(
        f"Splitting pays from {lab.lab.break_even('comm')} µs"
    )
    lab.slider("Computation").focus()
    lab.settled()
    expect(lab.root.locator(".ubviz-lab-caption")).to_contain_text(
        f"Splitting pays from {lab.lab.break_even('compute')} µs"
    )
    assert lab.page.evaluate(COUNT, ["chart", [LIGHT.ubatches[0], LIGHT.main]])[0] > 300


def test_a_recording_is_predicted_beside_what_was_measured(saved: Callable[..., Opened]) -> None:
    lab = saved(Lab(ubviz.example("whole_game_overlapped"), unsplit=ubviz.example("whole_game_unsplit")))
    lab.shows()
    expect(lab.slider("Chosen operation")).to_be_disabled()
    lab.choose("One operation", "experts")
    lab.drag("Chosen operation", 40)
    lab.shows(operation="experts", factor=40)
    lab.drag("Communication", 250)
    lab.shows(operation="experts", factor=40, comm=250)
    measured = duration(lab.lab.numbers["measured_ns"])
    expect(lab.root.locator(".ubviz-lab-figures")).to_contain_text(f"measured {measured}")


def test_pictures_say_what_they_show(saved: Callable[..., Opened]) -> None:
    lab = saved()
    lanes, chart = (lab.root.get_by_role("img").nth(i) for i in (0, 1))
    expect(lanes).to_have_attribute("aria-label", re.compile(r"unsplit above split\. Makespan 1\.24 ms"))
    expect(chart).to_have_attribute("aria-label", re.compile("Makespan against communication: "))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "zoom"), [(320, 1), (640, 2), (1200, 1)])
def test_nothing_is_cut_off(saved: Callable[..., Opened], theme: str, width: int, zoom: int) -> None:
    lab = saved(Lab(theme=theme, values={"ubatches": 4}))
    lab.page.set_viewport_size({"width": width // zoom, "height": 900})
    lab.settled()
    assert lab.page.evaluate("() => document.documentElement.scrollWidth") <= width // zoom
    outside = lab.root.locator(
        "label, .ubviz-lab-value, select, dd, canvas, .ubviz-lab-caption"
    ).evaluate_all(
        """(items) => items.filter((item) => {
          const { left, right } = item.getBoundingClientRect();
          const room = item.closest(".ubviz-lab").getBoundingClientRect();
          return left < room.left - 0.5 || right > room.right + 0.5;
        }).length"""
    )
    assert outside == 0
    colours = (DARK if theme == "dark" else LIGHT).ubatches[:4]
    assert min(lab.page.evaluate(COUNT, ["lanes", list(colours)])) > 30


def test_names_from_a_recording_are_text(saved: Callable[..., Opened]) -> None:
    t = Traces()
    main = t.thread("main")
    main.launch("<img src=x onerror='window.pwned = 1'>", "compute", [], [], takes=900)
    main.launch("a\u202eb", "<b>comm</b>", [], [], takes=500, cls="comm")
    lab = saved(Lab(t.finish(), title="<script>window.pwned = 2</script>"))
    assert lab.root.locator("img").count() == 0  # canvases have the role, not the element
    words = lab.root.get_by_label("One operation", exact=True).locator("option").all_inner_texts()
    assert words == ["none", "<img src=x onerror='window.pwned = 1'>", "a\\u202eb"]
    assert lab.root.locator(".ubviz-lab-title").inner_text() == "<script>window.pwned = 2</script>"
    assert lab.page.evaluate("() => window.pwned ?? null") is None


def test_where_nothing_takes_any_time_it_is_drawn(saved: Callable[..., Opened]) -> None:
    lab = saved(Lab(values={"comm": 0, "compute": 0, "fixed": 0, "launch": 0}))
    lab.shows()


# ---- a kernel


@pytest.fixture
def live(context: Any, tmp_path: Path) -> Any:
    watched = Watched(context)

    def start(lab: Lab, answered: bool = True) -> Opened:
        path = tmp_path / "live.html"
        css = (STATIC / "lab.css").read_text(encoding="utf-8")
        path.write_text(
            f'<!doctype html><meta charset="utf-8"><title>live</title><style>{css}</style>', "utf-8"
        )
        watched.page.goto(path.as_uri())
        watched.page.evaluate((Path(__file__).parent / "kernel.js").read_text(encoding="utf-8"))
        keys = lab._store.keys_outside() if answered else []
        blocks = {key: base64.b64encode(lab._block(key)).decode() for key in keys}
        state = {name: getattr(lab, name) for name in lab.STATE} | {"_problem": ""}
        source = (STATIC / "lab.js").read_text(encoding="utf-8")
        head = base64.b64encode(lab._store.head()).decode()
        watched.page.evaluate("(args) => window.start(...args)", [source, state, head, blocks])
        watched.page.evaluate("() => kernel.view(1000)")
        return Opened(watched, lab)

    yield start
    watched.clean()


def test_values_go_both_ways(live: Callable[..., Opened]) -> None:
    lab = live(Lab())
    lab.painted()
    values = {**CONTROLS.defaults(), "comm": 600, "ubatches": 3}
    lab.page.evaluate("(values) => { kernel.set('values', values); }", values)
    lab.settled()
    lab.shows(comm=600, ubatches=3)
    expect(lab.slider("Communication")).to_have_value("600")
    lab.drag("Computation", 240)
    saved = json.loads(lab.page.evaluate("() => JSON.stringify(kernel.saved.at(-1).values)"))
    assert saved == {**values, "compute": 240}
    kept = Lab()
    kept.set_state({"values": saved})
    assert kept.numbers == lab.lab.numbers_at(**saved)


def test_a_plan_is_asked_for_when_it_is_looked_at(live: Callable[..., Opened]) -> None:
    lab = live(Lab(lambda layers: simulate(layers=layers), {"layers": (1, 3)}))
    lab.painted()
    assert lab.page.evaluate("() => kernel.asked") == []
    lab.choose("layers", "3")
    assert lab.page.evaluate("() => kernel.asked") == ["plan:3"]
    lab.shows(layers=3)


def test_a_simulator_that_fails_is_told_in_the_page(live: Callable[..., Opened]) -> None:
    lab = live(Lab(lambda layers: simulate(layers=layers), {"layers": (1, 3)}), answered=False)
    lab.painted()
    lab.page.evaluate("() => { kernel.prompt = false; }")
    lab.root.get_by_label("layers", exact=True).select_option(label="3")
    lab.page.wait_for_function("() => kernel.asked.includes('plan:3')")
    lab.page.evaluate("() => kernel.refuse('plan:3', 'simulate(layers=3) raised ValueError: no')")
    expect(lab.root.get_by_role("alert")).to_contain_text("simulate(layers=3) raised ValueError: no")
    lab.root.get_by_role("button", name="Dismiss").click()
    lab.root.get_by_label("layers", exact=True).select_option(label="1")
    lab.painted()
    lab.shows(layers=1)


def test_values_from_elsewhere_that_cannot_be_shown_are_made_to_fit(live: Callable[..., Opened]) -> None:
    lab = live(Lab())
    lab.painted()
    lab.page.evaluate("() => { kernel.set('values', { comm: 1e9, compute: 'x', ubatches: 77 }); }")
    lab.settled()
    lab.shows(comm=960)


def test_it_ends_when_it_is_taken_down(live: Callable[..., Opened]) -> None:
    lab = live(Lab())
    lab.painted()
    lab.page.evaluate("() => kernel.remove(0, 'both')")
    assert lab.page.evaluate("() => [globalThis.__ubvizLive.size, kernel.listening()]") == [0, 0]
    expect(lab.root).to_have_count(0)


# ---- JupyterLab


def test_in_jupyterlab_the_slider_and_python_are_at_one_place(lab: JupyterLab, server: Server) -> None:
    server.notebook("what_if.ipynb", "import ubviz\nlab = ubviz.Lab()\nlab", "lab.values = {'ubatches': 4}")
    lab.open("what_if.ipynb")
    lab.run_cell(0)
    opened = Opened(lab, Lab())
    opened.painted()
    opened.drag("Communication", 600)
    lab.py_is("lab.values['comm']", 600)
    lab.page.keyboard.press("x")  # with the slider in focus this cuts no cell
    assert len(lab.cells()) == 2
    lab.run_cell(1)
    expect(opened.root.get_by_label("Microbatches", exact=True)).to_have_value("3")
    opened.painted()
    opened.shows(comm=600, ubatches=4)
    lab.py_is("lab.numbers['makespan_ns']", Lab().numbers_at(comm=600, ubatches=4)["makespan_ns"])
