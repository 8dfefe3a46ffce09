"""A stepper on a saved page without network: forward and back, along threads and objects, by keys and by clicks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ubviz
from tests.browser.watched import Watched
from tests.traces import Traces
from tests.virtually import recorded
from ubviz.analysis.states import KEYFRAME
from ubviz.trace import Trace
from ubviz.view import Stepper, Timeline
from ubviz.view.page import standalone

SETS = "ubatch 0 sets cpu_event[1]: ubatch 1 may run"


class Open:
    """A stepper in a page, and what Python says of the same recording."""

    def __init__(self, page: Watched, stepper: Stepper, path: Path) -> None:
        self.page, self.inner, self.stepper = page, page.page, stepper
        stepper.to_html(path)
        self.inner.goto(path.as_uri())
        self.root = self.inner.locator(".ubviz-stepper")
        self.is_at(stepper.at)

    def is_at(self, row: int) -> None:
        """Wait until the page shows a trace event; what it says must be what Python says."""
        self.inner.wait_for_function(
            """(at) => {
              const { ubvizAt, ubvizState } = document.querySelector(".ubviz-stepper").dataset;
              return ubvizState === "error" || ubvizAt === at && ubvizState === "painted";
            }""",
            arg=str(row),
        )
        assert self.root.get_attribute("data-ubviz-state") == "painted"
        assert self.root.locator(".ubviz-says").inner_text() == self.stepper._states.says[row]
        # how the page came here must not matter: its panels are those of the state
        for key, flag in self.stepper._states.at(row).get("flags", {}).items():
            words = self.panel("flags").locator("li", has_text=key).inner_text()
            assert ("not set" in words) is not flag["set"], key

    def panel(self, name: str) -> Any:
        return self.root.locator(f'[data-panel="{name}"]')

    def click(self, name: str) -> None:
        self.root.get_by_role("button", name=name, exact=True).click()

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.inner.keyboard.press(key)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return recorded("ht", 2, layers=1)


@pytest.fixture
def opened(page: Watched, tmp_path: Path) -> Callable[..., Open]:
    return lambda trace, **options: Open(page, Stepper(trace, **options), tmp_path / "page.html")


def test_forward_and_back_by_buttons(opened: Callable[..., Open], trace: Trace) -> None:
    row = Stepper(trace)._states.says.index(SETS)
    here = opened(trace, at=row - 1)
    here.click("Step forward")
    here.is_at(row)
    assert here.panel("ring").inner_text().endswith("ubatch 0 hands on to ubatch 1")
    assert here.panel("flags").locator(".ubviz-changed").all_inner_texts() == ["set"]
    here.click("Step forward")
    here.is_at(row + 1)
    for back in (row, row - 1, row - 2):
        here.click("Step back")
        here.is_at(back)
    here.click("Last")
    here.is_at(len(trace.events) - 1)
    assert here.root.get_by_role("button", name="Step forward").get_attribute("aria-disabled") == "true"
    here.click("First")
    here.is_at(0)


def test_keys_step_along_threads_and_objects(opened: Callable[..., Open], trace: Trace) -> None:
    states = Stepper(trace)._states
    row = states.says.index(SETS)
    here = opened(trace, at=row)
    here.root.locator(".ubviz-says").click()
    for key, to in (
        ("ArrowRight", row + 1), ("ArrowLeft", row), ("Shift+ArrowRight", states.along(row, 1, thread="ubatch 0")),
        ("Shift+ArrowLeft", row), ("]", states.along(row, 1, object="cpu_event[1]")), ("[", row),
        ("End", len(states) - 1), ("Home", 0),
    ):  # fmt: skip
        here.keys(key)
        here.is_at(to or 0)
    assert here.inner.evaluate("document.activeElement.className") == "ubviz-step-stage"


def test_the_same_along_by_buttons(opened: Callable[..., Open], trace: Trace) -> None:
    states = Stepper(trace)._states
    row = states.says.index(SETS)
    here = opened(trace, at=row)
    here.click("Next of this thread")
    here.is_at(states.along(row, 1, thread="ubatch 0") or 0)
    here.click("Previous of this thread")
    here.is_at(row)
    here.click("Next of this object")
    here.is_at(states.along(row, 1, object="cpu_event[1]") or 0)
    here.click("Previous of this object")
    here.is_at(row)


def test_jumps_by_slider_number_and_list(opened: Callable[..., Open], trace: Trace) -> None:
    here = opened(trace)
    slider = here.root.get_by_role("slider", name="Trace event")
    slider.focus()
    here.keys("ArrowRight", "ArrowRight")
    here.is_at(2)
    says = here.stepper._states.says[2]
    assert slider.get_attribute("aria-valuetext") == f"trace event 2 of {len(trace.events)}: {says}"
    number = here.root.get_by_role("spinbutton", name="Go to trace event")
    number.fill("50")
    here.keys("ArrowLeft")  # moves in the field
    here.keys("Enter")
    here.is_at(50)
    number.fill("99999")
    here.keys("Enter")
    here.is_at(len(trace.events) - 1)
    assert number.input_value() == str(len(trace.events) - 1)
    rows = here.root.get_by_role("list", name="Trace events").get_by_role("button")
    shown = rows.count()
    assert rows.last.inner_text().startswith(str(len(trace.events) - 1)), "it is full at the end"
    rows.nth(2).click()
    to = len(trace.events) - shown + 2
    here.is_at(to)
    assert here.root.locator(".ubviz-event[aria-current]").inner_text().startswith(str(to))


def test_play_goes_on_until_it_is_paused_or_at_its_end(opened: Callable[..., Open], trace: Trace) -> None:
    last = len(trace.events) - 1
    here = opened(trace, at=last - 2)
    here.root.get_by_role("combobox", name="Speed").select_option("16")
    here.click("Play")
    here.is_at(last)
    here.root.get_by_role("button", name="Play", exact=True).wait_for()
    here.root.locator(".ubviz-says").click()
    here.keys(" ")  # from the beginning
    at = "Number(document.querySelector('.ubviz-stepper').dataset.ubvizAt)"
    here.inner.wait_for_function(f"() => {at} > 0 && {at} < {last}")
    here.click("Pause")
    here.root.get_by_role("button", name="Play", exact=True).wait_for()


def test_help_opens_and_closes_by_keys_and_no_plain_key_gets_out(
    opened: Callable[..., Open], trace: Trace
) -> None:
    here = opened(trace)
    here.inner.evaluate(
        "() => { window.got = []; addEventListener('keydown', ({ key }) => window.got.push(key)); }"
    )
    here.root.locator(".ubviz-says").click()
    here.keys("?")
    help_ = here.root.get_by_role("dialog", name="Keys")
    help_.wait_for()
    here.keys("Escape")
    help_.wait_for(state="hidden")
    here.keys("x", "d", "ArrowRight")
    here.is_at(1)
    assert here.inner.evaluate("window.got") == []
    here.keys("Tab")
    assert here.inner.evaluate("window.got") == ["Tab"]


def test_what_happened_is_said_aloud(opened: Callable[..., Open], trace: Trace) -> None:
    here = opened(trace, at=5)
    here.root.locator(".ubviz-says").click()
    here.keys("ArrowRight")
    here.is_at(6)
    words = f"trace event 6 of {len(trace.events)}: {here.stepper._states.says[6]}"
    here.root.get_by_role("status").filter(has_text=words).wait_for(state="attached")
    assert here.root.get_by_role("application").get_attribute("aria-label") == words


def test_code_stands_with_its_line(opened: Callable[..., Open], trace: Trace) -> None:
    row = Stepper(trace)._states.says.index(SETS)
    here = opened(trace, at=row)
    acting = here.panel("code").locator(".ubviz-acting")
    acting.locator("[aria-current]").nth(1).wait_for()
    assert acting.locator("[aria-current]").nth(0).inner_text().strip().endswith("blocks this thread")
    assert acting.locator("[aria-current]").nth(1).inner_text().strip().endswith("heir.cpu_wait_event.set()")


def test_a_timeline_cursor_and_a_stepper_are_one_in_a_page(
    page: Watched, trace: Trace, tmp_path: Path
) -> None:
    """Two views on one page have models of their own; here their cursors are set as a link would."""
    here = Open(page, Stepper(trace, at=3), tmp_path / "page.html")
    assert here.stepper.cursor == trace.events["t_ns"][3]
    timeline = Timeline(trace)
    import ipywidgets

    link = ipywidgets.link((timeline, "cursor"), (here.stepper, "cursor"))
    timeline.cursor = int(trace.events["t_ns"][60])
    assert trace.events["t_ns"][here.stepper.at] <= timeline.cursor
    here.stepper.at = 30
    assert timeline.cursor == trace.events["t_ns"][30]
    link.unlink()
    assert "ubviz-stepper" in standalone(here.stepper)


def test_the_list_is_as_long_as_there_is_room_beside_the_panels(
    opened: Callable[..., Open], page: Watched, trace: Trace
) -> None:
    panels = ["ring", "flags", "streams", "context", "calls"]
    here = opened(trace, at=60, panels=panels)
    rows = here.root.get_by_role("list", name="Trace events").get_by_role("button")
    ends = """() => ["events", "panels"].map((name) =>
      document.querySelector(".ubviz-" + name).getBoundingClientRect().bottom)"""
    beside = rows.count()
    low, panels = here.inner.evaluate(ends)
    assert beside > 9
    assert panels - 75 < low <= panels, "it ends where the panels end, and needs no more room than they"
    assert here.root.locator(".ubviz-event[aria-current]").inner_text().startswith("60")
    page.page.set_viewport_size({"width": 700, "height": 900})
    here.root.and_(here.inner.locator(".ubviz-narrow")).wait_for()
    here.inner.wait_for_function(
        "() => document.querySelectorAll('.ubviz-event').length && "
        "[...document.querySelectorAll('.ubviz-events li')].filter((row) => !row.hidden).length === 9"
    )
    page.page.set_viewport_size({"width": 1200, "height": 900})
    here.inner.wait_for_function(
        "(many) => [...document.querySelectorAll('.ubviz-events li')].filter((row) => !row.hidden).length === many",
        arg=beside,
    )


HOSTILE = '<img src=x onerror="document.title=1">'


def test_names_from_a_trace_are_text_and_nothing_else(opened: Callable[..., Open]) -> None:
    t = Traces(sources=[{"file": HOSTILE, "function": HOSTILE, "line": 1, "text": HOSTILE + "</script><b>x"}])
    main = t.thread(HOSTILE)
    main.set(HOSTILE, at=f"{HOSTILE}:1")
    main.set("__proto__")
    main.arrive("constructor", 3)
    main.launch("</script><script>document.title=2</script>", "toString")
    main.record(HOSTILE + "\u202e", "toString")
    main.tell("hook.register", from_ubatch=0, to_ubatch=HOSTILE)
    main.tell("vote", rank=HOSTILE, step=1, inputs={"num_tokens": HOSTILE}, vote=True)
    main.tell("step.begin", step=1, tokens=2, branch=HOSTILE, why=HOSTILE)
    main.tell("error", type="E", text=HOSTILE)
    trace = t.finish()
    here = opened(trace, title=HOSTILE)
    before = here.inner.title()
    here.root.locator(".ubviz-when").click()
    for row in range(1, len(trace.events)):
        here.keys("ArrowRight")
        here.root.and_(here.inner.locator(f'[data-ubviz-at="{row}"]')).wait_for()
    assert here.root.get_attribute("data-ubviz-state") == "painted"
    assert here.root.locator("img, script, b b").count() == 0
    assert here.inner.title() == before
    assert HOSTILE in here.root.inner_text()
    assert "\u202e" not in here.root.inner_text()


def test_a_long_recording_is_jumped_through_at_once(opened: Callable[..., Open]) -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    for i in range(3 * KEYFRAME):
        (u0.set if i % 2 == 0 else u0.clear)("cpu_event[0]")
    here = opened(t.finish(), panels=["flags"])
    here.root.locator(".ubviz-says").click()
    here.keys("End")
    here.is_at(3 * KEYFRAME - 1)
    number = here.root.get_by_role("spinbutton", name="Go to trace event")
    for row in (KEYFRAME, KEYFRAME - 1, KEYFRAME + 2):
        number.fill(str(row))
        here.keys("Enter")
        here.is_at(row)


@pytest.mark.parametrize("width", [320, 700, 1200])
@pytest.mark.parametrize("zoom", [1, 2])
def test_nothing_is_cut_off_at_any_width(
    opened: Callable[..., Open], page: Watched, width: int, zoom: int
) -> None:
    page.page.set_viewport_size({"width": max(width // zoom, 320), "height": 900})
    trace = ubviz.example("whole_game_overlapped")
    here = opened(trace, at=101)
    for row in (101, 124):
        here.inner.evaluate("() => document.fonts.ready")
        cut = here.inner.evaluate(
            """() => [...document.querySelectorAll(".ubviz-stepper *")].filter((element) => {
              if (element.closest("select, input, svg, .ubviz-unseen") || !element.clientWidth) return false;
              const style = getComputedStyle(element);
              return element.scrollWidth > element.clientWidth + 1 && style.overflowX !== "visible"
                || element.getBoundingClientRect().right > innerWidth + 1;
            }).map((element) => element.className || element.tagName)"""
        )
        assert cut == [], f"at trace event {row}"
        assert here.inner.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if row == 101:
            here.root.get_by_role("spinbutton", name="Go to trace event").fill("124")
            here.keys("Enter")
            here.is_at(124)
