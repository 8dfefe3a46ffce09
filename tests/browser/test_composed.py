"""Views among other widgets of a notebook: in boxes, tied to sliders and to each other, made anew by a function."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import VIEWPORT
from tests.browser.jupyter import Lab, Server
from tests.browser.scene import small
from tests.browser.watched import PATIENCE_MS

MAKE = "import ubviz, ipywidgets as w\ntrace = ubviz.load('small.json')\nt = ubviz.Timeline(trace)\n"


def opened(lab: Lab, server: Server, name: str, *cells: str) -> None:
    """A notebook beside the recording that it loads, run from top to bottom."""
    small().save(server.folder / "small.json")
    server.notebook(name, *cells)
    lab.open(name)
    lab.run_all()


def shown(lab: Lab, kind: str, count: int = 1) -> Any:
    """The views of a kind, all painted."""
    views = lab.page.locator(f".ubviz-{kind}[data-ubviz-first]")
    expect(views).to_have_count(count, timeout=PATIENCE_MS)
    return views


def nothing_stands_in(lab: Lab, count: int) -> None:
    """So many pictures stand in for views, and none of them is to be seen."""
    images = lab.page.locator(".jp-OutputArea-output img")
    expect(images).to_have_count(count, timeout=PATIENCE_MS)  # they come after the views, and take longer
    for image in images.all():
        expect(image).to_be_hidden()


def test_different_views_in_boxes(lab: Lab, server: Server) -> None:
    """Beside each other, below each other, and behind a tab that is opened later."""
    stepper = "s = ubviz.Stepper(trace)\nw.HBox([t, s])"
    tabs = "w.Tab([w.VBox([w.FloatSlider(), t]), ubviz.Lab(), ubviz.Compare(trace, trace)])"
    opened(lab, server, "boxes.ipynb", MAKE + stepper, tabs)
    lab.painted(2)
    shown(lab, "stepper")
    boxes = [
        lab.page.locator(f".lm-Widget.widget-hbox > .lm-Widget:nth-child({n})").bounding_box() for n in (1, 2)
    ]
    assert all(box is not None and box["width"] > 200 for box in boxes), boxes
    for number, kind in ((1, "lab"), (2, "compare")):
        lab.page.locator(".widget-tab .lm-TabBar-tab").nth(number).click()
        view = shown(lab, kind)
        view.scroll_into_view_if_needed()
        assert view.bounding_box()["width"] > 600
    nothing_stands_in(lab, 5)
    assert lab.live() == 5


def test_a_slider_moves_what_it_is_tied_to(lab: Lab, server: Server) -> None:
    """In the page alone: the kernel is told, and has no part in it."""
    tied = (
        "moment = w.FloatSlider(min=0, max=400_000, step=500)\n"
        "part = w.IntRangeSlider(min=0, max=400_000, value=(0, 400_000))\n"
        "w.jslink((moment, 'value'), (t, 'cursor'))\n"
        "w.jslink((part, 'value'), (t, 'view_range'))\n"
        "w.VBox([moment, part, t])"
    )
    opened(lab, server, "tied.ipynb", MAKE + tied)
    lab.painted()
    expect(lab.root()).to_have_attribute("data-ubviz-range", "0,400000")
    lab.py("[setattr(moment, 'value', 120_000.0), setattr(part, 'value', (100_000, 300_000))] and 0")
    lab.until('root.dataset.ubvizRange === "100000,300000"')
    lab.py_is("t.cursor", 120_000)
    handle = lab.page.locator(".widget-slider [role=slider], .widget-slider .noUi-handle").first
    handle.focus()
    lab.page.keyboard.press("ArrowRight")
    lab.py_is("t.cursor == moment.value and t.cursor != 120_000", True)
    lab.stage().focus()
    with lab.repainted():
        lab.keys("w")
    lab.py_is("list(part.value)", list(lab.range()))


def test_two_timelines_share_range_and_cursor_and_a_stepper_follows(lab: Lab, server: Server) -> None:
    tied = (
        "u, s = ubviz.Timeline(trace), ubviz.Stepper(trace)\n"
        "for name in ('view_range', 'cursor'):\n    w.jslink((t, name), (u, name))\n"
        "w.jsdlink((t, 'cursor'), (s, 'cursor'))\n"
        "w.VBox([t, u, s])"
    )
    opened(lab, server, "two.ipynb", MAKE + tied)
    lab.painted(2)
    shown(lab, "stepper")
    lab.stage(0).focus()
    with lab.repainted(0), lab.repainted(1):
        lab.keys("w", "d")
    assert lab.range(0) == lab.range(1)
    lab.stage(1).focus()
    with lab.repainted(0), lab.repainted(1):
        lab.keys("a")
    assert lab.range(0) == lab.range(1)
    lab.py("setattr(t, 'cursor', 150_000)")
    lab.py_is("[u.cursor, s.cursor]", [150_000, 150_000])


def test_a_function_makes_views_anew(lab: Lab, server: Server) -> None:
    """Of ``interactive_output`` and ``interact``: the view before is taken down."""
    made = (
        "n = w.Dropdown(options=[2, 3, 4])\n"
        "def shows(n):\n    global made\n    made = ubviz.Lab(values={'ubatches': n})\n    display(made)\n"
        "w.VBox([n, w.interactive_output(shows, {'n': n})])"
    )
    interact = (
        "@w.interact(order=['wall', 'logical'])\n"
        "def again(order):\n    return ubviz.Timeline(trace, order=order)"
    )
    opened(lab, server, "made.ipynb", MAKE + made, interact)
    view = shown(lab, "lab")
    expect(view.get_by_label("Microbatches", exact=True)).to_have_value("1")
    lab.py("setattr(n, 'value', 4)")
    expect(shown(lab, "lab").get_by_label("Microbatches", exact=True)).to_have_value("3")
    lab.painted(1)
    assert lab.fact("order") == "wall"
    lab.page.locator(".widget-dropdown select").last.select_option("logical")
    expect(
        lab.page.locator(".ubviz-timeline[data-ubviz-order=logical][data-ubviz-state=painted]")
    ).to_have_count(1)
    lab.page.wait_for_function("() => globalThis.__ubvizLive.size === 2")
    nothing_stands_in(lab, 2)


def test_a_box_that_was_saved_shows_pictures_without_a_kernel(lab: Lab, server: Server, browser: Any) -> None:
    opened(lab, server, "saved.ipynb", MAKE + "w.HBox([t, ubviz.Lab()])", "w.HBox([w.IntSlider()])")
    lab.painted()
    shown(lab, "lab")
    nothing_stands_in(lab, 2)
    lab.save()
    lab.shut_down()
    book = json.loads((server.folder / "saved.ipynb").read_text(encoding="utf-8"))
    kinds = [[next(iter(output["data"])) for output in cell["outputs"]] for cell in book["cells"]]
    assert [len(cell) for cell in kinds] == [5, 1]
    context = browser.new_context(viewport=VIEWPORT)
    again = Lab(context, server)
    again.open_without_kernel("saved.ipynb")
    images = again.page.locator(".jp-OutputArea-output img")
    expect(images).to_have_count(2)
    for image in images.all():
        assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 300
    expect(again.page.locator(".jp-OutputArea-output .ubviz-still")).to_have_count(2)
    context.close()
    again.clean()
