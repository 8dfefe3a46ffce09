"""The widget against a kernel that the test plays: late, refusing, with several views; and what is left of a view."""

from __future__ import annotations

import pytest

from tests.browser.fake import Fake
from tests.browser.scene import UBATCH, middle, place, rows, small


def kernel_row() -> int:
    return rows(small(), "compute", cat="kernel", operation="attention", ubatch=0)[0]


def click(fake: Fake, row: int, view: int = 0) -> None:
    trace = small()
    top, bottom = fake.lane(place(trace, "compute"), view)
    fake.page.mouse.click(*fake.at(fake.x(middle(trace, row), view), (top + bottom) / 2, view))
    fake.frames()


# ---- what goes to the kernel


def test_a_view_that_only_shows_saves_nothing(fake: Fake) -> None:
    fake.start(small())
    fake.view()
    fake.painted()
    fake.frames()
    assert fake.saved() == []


def test_a_movement_is_saved_once_a_frame_and_as_whole_numbers(fake: Fake) -> None:
    fake.start(small())
    fake.view()
    fake.painted()
    fake.stage().focus()
    fake.page.evaluate(
        """() => {
          const key = () => new KeyboardEvent("keydown", { key: "d", bubbles: true, cancelable: true });
          for (let i = 0; i < 50; i += 1) document.querySelector(".ubviz-stage").dispatchEvent(key());
        }"""
    )
    fake.frames()
    [saved] = fake.saved()
    start, end = saved["view_range"]
    assert (int(start), int(end)) == (start, end) == tuple(fake.range())


def test_a_click_is_saved_and_a_selection_from_the_kernel_is_not_sent_back(fake: Fake) -> None:
    fake.start(small())
    fake.view()
    fake.painted()
    row = kernel_row()
    click(fake, row)
    assert [saved["selection"] for saved in fake.saved() if "selection" in saved] == [[["spans", row]]]
    before = len(fake.saved())
    other = rows(small(), "comm", cat="kernel")[0]
    fake.set("selection", [["spans", other]])
    fake.until("root.dataset.ubvizSelection === arg", f'[["spans",{other}]]')
    assert [saved for saved in fake.saved()[before:] if "selection" in saved] == []


# ---- what comes from the kernel


def test_traits_set_by_the_kernel_are_shown(fake: Fake) -> None:
    fake.start(small())
    fake.view()
    fake.painted()
    with fake.repainted():
        fake.set("view_range", [100_000, 200_000])
    assert fake.range() == (100_000, 200_000)
    with fake.repainted():
        fake.set("theme", "dark")
    box = fake.lane_box(place(small(), "compute"))
    assert min(fake.pixels(*UBATCH["dark"], box=box)) > 100
    with fake.repainted():
        fake.set("order", "logical")
    assert fake.fact("order") == "logical"
    row = kernel_row()
    fake.set("selection", [["spans", row]])
    fake.page.get_by_role("region", name="Details").wait_for()


@pytest.mark.parametrize(
    "name, value",
    [
        ("view_range", [5, 5]),
        ("view_range", [-1e300, 1e300]),
        ("view_range", None),
        ("selection", [["spans", 10**9]]),
        ("selection", "no list"),
        ("hovered", ["nothing", -1]),
        ("cursor", 1e300),
        ("theme", "pink"),
        ("order", "no order"),
    ],
)
def test_what_makes_no_sense_hurts_nothing(fake: Fake, name: str, value: object) -> None:
    fake.start(small())
    fake.view()
    fake.painted()
    fake.set(name, value)
    fake.frames()
    fake.painted()
    fake.stage().focus()
    with fake.repainted():
        fake.keys("w")


def test_two_views_show_the_same_state(fake: Fake) -> None:
    fake.start(small())
    fake.view()
    fake.view(width=600)
    fake.painted(2)
    assert fake.live() == 2
    row = kernel_row()
    click(fake, row, view=1)
    assert fake.json("selection", 0) == fake.json("selection", 1) == [["spans", row]]
    with fake.repainted(0), fake.repainted(1):
        fake.keys("w", "w")
    assert fake.range(0) == fake.range(1) != (0, small().duration_ns)


# ---- a kernel that is busy


def test_tracks_come_late_and_in_pieces_and_are_asked_for_once(fake: Fake) -> None:
    payload = fake.start(small(), small_head=True, prompt=False)
    fake.view()
    wanted = [key for key in payload.keys() if key.startswith(("bars:", "marks:", "flows:"))]
    for key in wanted:
        fake.until_asked(key)
    assert fake.fact("state") == "loading"
    waits = fake.page.locator(".ubviz-stage").get_by_text("waiting for the kernel")
    waits.wait_for()
    *most, last = wanted
    for key in most:
        fake.answer(key, pieces=3)
    fake.frames()
    assert fake.fact("state") == "loading"
    fake.answer(last)
    fake.painted()
    assert waits.is_hidden()
    assert sorted(set(fake.asked())) == sorted(fake.asked())


def test_details_say_at_once_what_is_known_and_wait_for_the_rest(fake: Fake) -> None:
    fake.start(small(), prompt=False)
    fake.view()
    fake.painted()
    click(fake, kernel_row())
    details = fake.page.get_by_role("region", name="Details")
    assert "attention" in details.inner_text()
    assert "correlation" not in details.inner_text()
    details.get_by_text("waiting for the kernel").wait_for()
    fake.answer_all()
    details.get_by_text("waiting for the kernel").wait_for(state="hidden")
    assert "correlation" in details.inner_text()


def test_answers_that_nobody_asked_for_hurt_nothing(fake: Fake) -> None:
    fake.start(small(), prompt=False)
    fake.view()
    fake.painted()
    fake.answer("sources", "rows:spans:0", "facts", pieces=2)
    fake.refuse("no such block", "because")
    fake.answer_all()
    click(fake, kernel_row())
    fake.page.get_by_role("region", name="Details").get_by_text("correlation").wait_for()
    assert fake.page.get_by_role("alert").count() == 0


def test_a_refusal_is_said(fake: Fake) -> None:
    fake.start(small(), prompt=False)
    fake.view()
    fake.painted()
    click(fake, kernel_row())
    fake.until_asked("rows:spans:0")
    fake.refuse("rows:spans:0", "this recording has no such row")
    fake.page.get_by_role("region", name="Details").get_by_text("this recording has no such row").wait_for()


def test_refused_tracks_are_an_error_in_the_page(fake: Fake) -> None:
    payload = fake.start(small(), small_head=True, prompt=False)
    fake.view()
    key = next(key for key in payload.keys() if key.startswith("bars:"))
    fake.until_asked(key)
    fake.refuse(key, "the recording is gone")
    fake.answer_all()
    fake.page.get_by_role("alert").get_by_text("the recording is gone").wait_for()
    assert fake.fact("state") == "error"


# ---- problems


def test_a_problem_is_an_alert_until_it_is_dismissed(fake: Fake) -> None:
    fake.start(small())
    fake.view()
    fake.painted()
    sentence = "ZeroDivisionError: division by zero (in a cell, line 3)"
    fake.set("_problem", sentence)
    alert = fake.page.get_by_role("alert")
    alert.get_by_text(sentence).wait_for()
    alert.get_by_role("button", name="Dismiss").click()
    alert.wait_for(state="hidden")
    fake.frames()
    assert fake.get("_problem") == ""
    assert fake.saved()[-1] == {"_problem": ""}


# ---- the end of a view


@pytest.mark.parametrize("how", ["both", "cleanup", "signal"])
def test_a_view_that_is_taken_down_leaves_nothing(fake: Fake, how: str) -> None:
    fake.start(small())
    fake.view()
    fake.painted()
    listening = fake.listening()
    assert listening > 0
    fake.view()
    fake.painted(2)
    fake.remove(1, how)
    assert (fake.live(), fake.listening()) == (1, listening)
    fake.stage().focus()
    with fake.repainted():
        fake.keys("w")
    fake.remove(0, how)
    assert (fake.live(), fake.listening()) == (0, 0)
    fake.set("theme", "dark")
    fake.frames()
    assert fake.page.locator(".ubviz").count() == 0


def test_a_view_that_is_taken_down_while_it_loads_leaves_nothing(fake: Fake) -> None:
    fake.start(small(), small_head=True, prompt=False)
    fake.view()
    fake.page.wait_for_function("() => kernel.asked.length > 0")
    fake.remove(0)
    fake.answer(*fake.asked())
    fake.frames()
    assert (fake.live(), fake.listening()) == (0, 0)


def test_another_view_goes_on_with_what_the_first_had_asked_for(fake: Fake) -> None:
    fake.start(small(), small_head=True, prompt=False)
    fake.view()
    fake.page.wait_for_function("() => kernel.asked.length > 0")
    fake.view()
    fake.remove(0)
    fake.page.evaluate("() => { kernel.prompt = true; kernel.answer(Object.keys(kernel.blocks), 1); }")
    fake.painted(1)
