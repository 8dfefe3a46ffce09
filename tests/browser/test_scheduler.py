"""The scheduler in a browser: a page without a kernel and without a network, and JupyterLab."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.fake import HERE, STATIC, text_of
from tests.browser.jupyter import Lab, Server
from tests.browser.watched import Watched
from tests.games import PROGRAMS
from ubviz import Scheduler
from ubviz.exploration.replay import play

BEFORE = "0.1.2.0x2.1x4.2x4"
"""Of ``clear before wait``: two choices from here lose a set, and nobody wakes any more."""


class Played:
    """A scheduler, saved and opened; controls are found by what they are called."""

    def __init__(self, page: Watched, path: Path) -> None:
        self.page = page.page
        self.root = self.page.locator("section.ubviz.ubviz-scheduler")
        self.page.goto(path.as_uri())
        self.painted()

    def painted(self) -> None:
        expect(self.root).to_have_attribute("data-ubviz-state", "painted")

    @property
    def schedule(self) -> str:
        return str(self.root.get_attribute("data-ubviz-schedule"))

    def at(self, schedule: str) -> None:
        """Wait until the page is there."""
        expect(self.root).to_have_attribute("data-ubviz-schedule", schedule)

    def thread(self, name: str) -> Any:
        return self.root.locator(".ubviz-thread").filter(has=self.page.locator("header b", has_text=name))

    def button(self, name: str) -> Any:
        return self.root.get_by_role("button", name=name, exact=True)

    def let(self, name: str) -> None:
        self.button(f"Let {name} go on").click()

    def able(self) -> list[str]:
        names: list[str] = self.root.locator(".ubviz-thread[data-standing=able] header b").all_inner_texts()
        return names

    def report(self) -> Any:
        return self.root.get_by_role("group", name="How it ended")


@pytest.fixture
def opened(page: Watched, tmp_path: Path) -> Callable[..., Played]:
    def open_page(name: str, schedule: str = "", **options: Any) -> Played:
        path = tmp_path / "scheduler.html"
        Scheduler(PROGRAMS[name], schedule, **options).to_html(path)
        return Played(page, path)

    return open_page


# ---- playing


def test_two_wrong_clicks_deadlock_it_and_undo_takes_them_back(opened: Callable[..., Played]) -> None:
    game = opened("clear before wait", BEFORE)
    assert game.report().is_hidden()
    game.let("ubatch 0")
    assert game.report().is_hidden()
    game.let("ubatch 1")
    game.at(f"{BEFORE}.1.2")
    live = play(PROGRAMS["clear before wait"], game.schedule)
    assert live.deadlock is not None
    words = game.report().inner_text()
    assert "Deadlock after 15 choices: nobody can go on" in words
    for line in str(live.deadlock).splitlines()[1:]:
        assert line.strip() in words
    assert "bare_ring.py:100" in words
    assert "main and ubatch 1 could have set it, but wait" in words
    game.button("Take the last choice back").click()
    game.at(f"{BEFORE}.1")
    assert game.report().is_hidden()
    assert game.able() == list(Scheduler(PROGRAMS["clear before wait"], game.schedule).enabled)


def test_who_cannot_go_on_is_said_why_and_a_click_changes_nothing(opened: Callable[..., Played]) -> None:
    game = opened("equal yields", "0.1.2.0x2.1x3")
    main = game.thread("main")
    assert "waits for ubatch 0 to end" in main.inner_text()
    assert game.button("Let main go on").get_attribute("aria-disabled") == "true"
    game.button("Let main go on").click(force=True)
    expect(game.root.get_by_role("status")).to_have_text("main cannot go on now. ubatch 0 or ubatch 1 can.")
    game.at("0.1.2.0x2.1x3")


def test_a_good_end_says_how_many_schedules_there_are(opened: Callable[..., Played]) -> None:
    game = opened("equal yields")
    choices = 0
    while able := game.able():
        game.let(able[0])
        choices += 1
        expect(game.root.locator(".ubviz-chip")).to_have_count(choices + 1)
    words = game.report().inner_text()
    assert f"All have ended after {choices} choices" in words
    assert "It is one of 1,890 schedules of this program." in words
    assert not Scheduler(PROGRAMS["equal yields"], game.schedule).findings


@pytest.mark.parametrize("name", ["three", "unequal yields", "parties n", "looks"])
def test_the_page_offers_at_each_place_what_the_program_does(
    opened: Callable[..., Played], name: str
) -> None:
    game, live = opened(name), Scheduler(PROGRAMS[name])
    game.root.focus()
    for step in range(100):
        assert game.able() == list(live.enabled)
        if live.over:
            break
        able = live.here.choices
        chosen = able[step % len(able)].thread
        game.page.keyboard.press(str(chosen))
        game.at(live.choose(chosen).replay)
    assert live.over
    assert (game.root.get_attribute("data-ubviz-end") == "deadlock") == (live.deadlock is not None)


def test_what_was_taken_back_is_chosen_again_or_replaced(opened: Callable[..., Played]) -> None:
    game = opened("equal yields", "0.1.2")
    game.button("Undo").click()
    game.at("0.1")
    game.button("Redo").click()
    game.at("0.1.2")
    game.button("Choice 1: main arrived at ready_barrier").click()
    game.at("0")
    assert game.root.locator(".ubviz-chip[data-ahead=true]").count() == 2
    game.let("ubatch 1")
    game.at("0.2")
    assert game.root.locator(".ubviz-chip[data-ahead=true]").count() == 0
    tried = game.root.locator(".ubviz-tried button")
    assert tried.count() == 2
    game.button("Schedule of 3 choices: left open").click()
    game.at("0.1.2")
    game.button("Start again").click()
    game.at("")


def test_run_on_stops_where_there_is_a_choice(opened: Callable[..., Played]) -> None:
    game = opened("equal yields", "0.1.2.0x2.1x2.2.1x2")
    assert game.able() == ["ubatch 1"]
    game.button("Run on").click()
    game.page.wait_for_function(
        "() => document.querySelector('.ubviz-scheduler').dataset.ubvizSchedule !== '0.1.2.0x2.1x2.2.1x2'"
    )
    live = Scheduler(PROGRAMS["equal yields"], game.schedule)
    assert len(live.enabled) != 1
    assert game.able() == list(live.enabled)


# ---- the replay string


def test_a_replay_string_is_shown_taken_and_refused(opened: Callable[..., Played]) -> None:
    game = opened("looks")
    box = game.root.get_by_role("textbox", name="Replay string")
    assert box.input_value() == ""
    box.fill("look:2.1.0")
    box.press("Enter")
    game.at("look:2.1.0")
    box.fill("2.1")
    box.press("Enter")
    expect(game.root.get_by_role("alert")).to_contain_text(
        "A replay string of this program begins with “look:”."
    )
    assert box.input_value() == "2.1"
    game.at("look:2.1.0")
    box.press("Escape")
    assert box.input_value() == "look:2.1.0"
    game.root.get_by_role("alert").get_by_role("button", name="Dismiss").click()
    assert game.root.get_by_role("alert").is_hidden()


def test_the_replay_string_is_copied(opened: Callable[..., Played], context: Any) -> None:
    game = opened("equal yields", "0.1.2")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    game.button("Copy the replay string").click()
    expect(game.root.get_by_role("status")).to_have_text("Copied")
    assert game.page.evaluate("() => navigator.clipboard.readText()") == "0.1.2"


# ---- without a mouse, without sight


def test_it_is_played_with_the_keyboard_alone(opened: Callable[..., Played]) -> None:
    game = opened("clear before wait")
    keys = game.page.keyboard
    keys.press("Tab")
    assert game.page.evaluate("() => document.activeElement.closest('[role=toolbar]') !== null")
    for key in "012001111222212":
        keys.press(key)
    game.at(f"{BEFORE}.1.2")
    assert game.report().is_visible()
    keys.press("Backspace")
    keys.press("Backspace")
    game.at(BEFORE)
    keys.press("Home")
    keys.press("Tab")
    assert game.page.evaluate("() => document.activeElement.textContent") == "Let main go on0"
    keys.press("ArrowLeft")
    keys.press("?")
    assert game.root.get_by_role("dialog", name="Keys").is_visible()
    keys.press("Escape")
    assert game.root.get_by_role("dialog", name="Keys").is_hidden()
    assert game.page.evaluate("() => document.activeElement.textContent") == "Let main go on0"
    keys.press("Enter")
    keys.press("ArrowRight")
    game.page.wait_for_function(
        "() => document.querySelector('.ubviz-scheduler').dataset.ubvizSchedule.startsWith('0')"
    )


def test_what_happened_and_who_can_go_on_is_said(opened: Callable[..., Played]) -> None:
    game = opened("clear before wait", "0.1.2.0")
    game.let("main")
    status = game.root.get_by_role("status")
    expect(status).to_have_text("main set cpu_event[0]. ubatch 0 or ubatch 1 can.")
    assert game.root.get_attribute("aria-label") == "Scheduler: you choose which thread goes on."
    assert (
        game.root.get_by_role("group", name="main: waits for ubatch 0 to end; it has not ended").count() == 1
    )
    for key in "111122221":
        game.page.keyboard.press(key)
    game.page.keyboard.press("2")
    expect(status).to_contain_text("Deadlock after 15 choices: nobody can go on. main joins thread ubatch 0")


# ---- how it looks


@pytest.mark.parametrize("width", [320, 560, 1200])
@pytest.mark.parametrize("schedule", ["", f"{BEFORE}.1.2"])
def test_nothing_is_clipped_or_lies_on_something_else(
    opened: Callable[..., Played], width: int, schedule: str
) -> None:
    game = opened("clear before wait", schedule)
    game.page.set_viewport_size({"width": width, "height": 900})
    game.page.wait_for_function(
        "(narrow) => document.querySelector('.ubviz-scheduler').classList.contains('ubviz-narrow') === narrow",
        arg=width < 620,
    )
    wide, boxes = game.page.evaluate(
        """() => [document.documentElement.scrollWidth, [...document.querySelectorAll(
          ".ubviz-scheduler :is(button, p, li, header b)")]
          .filter((each) => each.getClientRects().length > 0 && !each.closest(".ubviz-unseen, pre"))
          .map((each) => [each.textContent, each.scrollWidth - each.clientWidth,
            each.getBoundingClientRect().right])]"""
    )
    assert wide <= width
    assert [text for text, beyond, right in boxes if beyond > 1 or right > width] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_thread_has_the_colour_of_its_microbatch(opened: Callable[..., Played], theme: str) -> None:
    from tests.browser.scene import UBATCH

    game = opened("equal yields", theme=theme)
    assert game.root.get_attribute("data-ubviz-theme") == theme
    for number, colour in enumerate(UBATCH[theme]):
        found = game.thread(f"ubatch {number}").evaluate(
            "(card) => getComputedStyle(card).getPropertyValue('--ubviz-own')"
        )
        assert found == colour


def test_hints_are_told_where_they_are_wanted(opened: Callable[..., Played]) -> None:
    game = opened("clear before wait", hints=True)
    hint = game.root.locator(".ubviz-hint")
    assert hint.inner_text() == "Hint: from here it can end well, or not."
    game = opened("unequal yields", hints=True)
    assert hint.inner_text() == "Hint: from here it can no longer end well."
    game = opened("unequal yields")
    assert hint.is_hidden()


def test_without_scripts_it_is_a_picture(browser: Any, tmp_path: Path) -> None:
    Scheduler(PROGRAMS["clear before wait"], BEFORE).to_html(tmp_path / "scheduler.html")
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto((tmp_path / "scheduler.html").as_uri())
    image = page.locator("noscript img")
    assert image.bounding_box()["width"] > 300
    assert "ubatch 0 can go on: clear cpu_event[0]." in image.get_attribute("alt")
    context.close()


def test_a_name_is_text_whatever_it_holds(page: Watched, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=window.pwned=1>\u202e"

    def program(rt: Any) -> None:
        flag = rt.HostEvent(hostile)
        thread = rt.Thread(flag.wait, name=hostile)
        thread.start()
        thread.join()

    Scheduler(program).to_html(tmp_path / "hostile.html")
    game = Played(page, tmp_path / "hostile.html")
    game.page.keyboard.press("Tab")
    while game.able():
        game.page.locator(".ubviz-thread[data-standing=able] .ubviz-go").first.click()
    assert game.root.locator("img").count() == 0
    assert "\\u202e" in game.report().inner_text()
    assert game.page.evaluate("() => window.pwned ?? null") is None


# ---- a kernel, played by the test


@pytest.fixture
def kernel(context: Any, tmp_path: Path) -> Iterator[Any]:
    """A page with a view whose kernel has been asked for the graph, and has not answered."""
    view = Scheduler(PROGRAMS["equal yields"], "0.1.2")
    watched, page = Watched(context), tmp_path / "kernel.html"
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><style>{(STATIC / "scheduler.css").read_text(encoding="utf-8")}</style>'
    )
    watched.page.goto(page.as_uri())
    watched.page.evaluate((HERE / "kernel.js").read_text(encoding="utf-8"))
    source = (STATIC / "scheduler.js").read_text(encoding="utf-8")
    state = {"schedule": view.schedule, "theme": "auto", "hints": False, "_problem": ""}
    blocks = {"game": text_of(view._store.block("game"))}
    watched.page.evaluate(
        "(args) => window.start(...args)", [source, state, text_of(view._store.head()), blocks]
    )
    watched.page.evaluate("() => { kernel.prompt = false; return kernel.view(900); }")
    watched.page.wait_for_function("() => kernel.asked.includes('game')")
    yield watched.page
    watched.clean()


def test_it_waits_for_the_graph_and_follows_what_python_sets(kernel: Any) -> None:
    root = kernel.locator(".ubviz-scheduler")
    expect(root).to_have_attribute("data-ubviz-state", "loading")
    expect(root.locator(".ubviz-question")).to_contain_text("Working out what can happen")
    kernel.evaluate("() => kernel.answerAll()")
    expect(root).to_have_attribute("data-ubviz-schedule", "0.1.2")
    kernel.evaluate("() => { kernel.set('schedule', '0.1.2.0'); }")
    expect(root).to_have_attribute("data-ubviz-schedule", "0.1.2.0")
    root.get_by_role("button", name="Let ubatch 1 go on").click()
    kernel.wait_for_function("() => kernel.saved.length > 0")
    assert kernel.evaluate("() => kernel.saved") == [{"schedule": "0.1.2.0.2"}]
    kernel.evaluate("async () => { await kernel.remove(0, 'both'); }")
    assert kernel.evaluate("() => [kernel.listening(), globalThis.__ubvizLive.size]") == [0, 0]
    assert root.count() == 0


def test_a_refusal_is_shown_and_nothing_can_be_played(kernel: Any) -> None:
    kernel.evaluate("() => kernel.refuse('game', 'a page cannot play this program')")
    root = kernel.locator(".ubviz-scheduler")
    expect(root).to_have_attribute("data-ubviz-state", "error")
    expect(root.get_by_role("alert")).to_contain_text("a page cannot play this program")
    expect(root.locator(".ubviz-question")).to_have_text("There is nothing to play here. ")
    root.focus()
    kernel.keyboard.press("0")
    assert kernel.evaluate("() => kernel.saved") == []


# ---- a notebook


CELL = """from tests.games import PROGRAMS
import ubviz
s = ubviz.Scheduler(PROGRAMS["clear before wait"])
s"""


def test_the_cell_and_python_are_at_one_place(lab: Lab, server: Server) -> None:
    server.notebook(
        "scheduler.ipynb", CELL, f's.schedule = "{BEFORE}"', "import ipywidgets; ipywidgets.HBox([s])"
    )
    lab.open("scheduler.ipynb")
    lab.run_cell(0)
    root = lab.page.locator(".ubviz-scheduler").first
    expect(root).to_have_attribute("data-ubviz-state", "painted")
    assert lab.page.locator(".jp-OutputArea-child:has(img)").first.is_hidden()  # what stands in for it
    root.get_by_role("button", name="Let main go on").click()
    for key in ("0", "1", "2"):
        lab.page.keyboard.press(key)
    lab.py_is("s.replay", "0.1.2")
    assert len(lab.cells()) == 3
    lab.run_cell(1)
    expect(root).to_have_attribute("data-ubviz-schedule", BEFORE)
    lab.run_cell(2)
    expect(lab.page.locator(".ubviz-scheduler")).to_have_count(2)
    second = lab.page.locator(".ubviz-scheduler").nth(1)
    expect(second).to_have_attribute("data-ubviz-schedule", BEFORE)
    second.get_by_role("button", name="Let ubatch 0 go on").click()
    second.get_by_role("button", name="Let ubatch 1 go on").click()
    expect(root.get_by_role("group", name="How it ended")).to_contain_text("Deadlock after 15 choices")
    lab.py_is("repr(s)", "<Scheduler: 15 choices made, deadlock>")
    lab.py_is("s.trace().events['kind'].size > 0", True)
