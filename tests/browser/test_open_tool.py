"""The trait ``tool``: which tool of a timeline stands open, set by Python and seen there, and kept in a saved page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ubviz
from tests.browser.fake import Fake
from tests.browser.scene import rows, small
from tests.browser.test_tools import Tooled, replayed
from tests.browser.watched import Watched
from ubviz.analysis.cone import Cones
from ubviz.trace import Trace
from ubviz.view.marked import TOOLS

PANELS = {
    "search": "Search", "list": "List", "area": "Area", "ruler": "Ruler", "past": "Past and future",
    "future": "Past and future", "path": "Critical path", "lanes": "Lanes", "notes": "Notes", "edges": "Edges",
    "bands": "Error bands",
}  # fmt: skip
OPEN = """(root) => [...root.querySelectorAll("section.ubviz-tool")]
  .filter((panel) => !panel.hidden).map((panel) => panel.ariaLabel)"""


class Opened:
    """Views of one model whose kernel is the test, and which of their panels are open."""

    def __init__(self, fake: Fake, trace: Trace, views: int = 1, **traits: Any) -> None:
        self.fake, self.trace = fake, trace
        fake.start(trace, **traits)
        for _ in range(views):
            fake.view()
        fake.painted(views)
        fake.page.wait_for_function(
            "(views) => document.querySelectorAll('[data-ubviz-tools]').length === views", arg=views
        )
        fake.frames()

    def panels(self, view: int = 0) -> list[str]:
        found: list[str] = self.fake.root(view).evaluate(OPEN)
        return found

    def set(self, name: str, value: Any) -> None:
        self.fake.set(name, value)
        self.fake.frames()

    def press(self, *keys: str) -> None:
        self.fake.stage().focus()
        self.fake.keys(*keys)
        self.fake.frames()

    @property
    def told(self) -> list[str]:
        """What the kernel was told of the tool."""
        return [saved["tool"] for saved in self.fake.saved() if "tool" in saved]


def test_python_opens_one_tool_after_another(fake: Fake) -> None:
    view = Opened(fake, replayed())
    assert view.panels() == []
    fake.page.evaluate("() => document.activeElement.blur()")
    for name in TOOLS:
        view.set("tool", name)
        assert view.panels() == [PANELS[name]]
        assert fake.get("tool") == name
    view.set("tool", "")
    assert view.panels() == []
    assert view.told == []
    assert fake.page.evaluate("() => document.activeElement === document.body"), (
        "the focus stays where it was"
    )


def test_what_the_user_opens_and_closes_is_seen_in_python(fake: Fake) -> None:
    view = Opened(fake, replayed())
    view.press("c")
    view.press("e")
    assert view.panels() == ["Critical path", "Edges"]
    assert view.told == ["path", "edges"]
    fake.page.get_by_role("button", name="Close edges").click()
    fake.frames()
    assert view.told == ["path", "edges", "path"], "the one before stands open still"
    view.press("Escape")
    assert view.told == ["path", "edges", "path", ""]
    assert view.panels() == []
    # Python names another: the one that was named last is closed, the other stays
    view.press("c")
    view.press("l")
    view.set("tool", "bands")
    assert view.panels() == ["Critical path", "Error bands"]
    view.set("tool", "")
    assert view.panels() == []
    assert fake.get("tool") == ""


def test_a_timeline_begins_with_its_tool_and_the_overview_as_it_is(fake: Fake) -> None:
    trace = small()
    start, end = trace.to_pandas("spans").start_ns.min(), trace.to_pandas("spans").end_ns.max()
    view = Opened(fake, trace, tool="path", measure=[int(start), int(end)])
    assert sorted(view.panels()) == ["Critical path", "Ruler"]
    fake.page.get_by_role("region", name="Critical path").filter(has_text="kernels running").wait_for()
    assert view.told == []
    # the ruler shows what is measured, and is named by nobody: another tool leaves it
    view.set("tool", "lanes")
    assert sorted(view.panels()) == ["Lanes", "Ruler"]
    assert fake.get("measure") == [start, end]
    view.press("m")
    assert fake.get("tool") == "ruler"
    view.set("tool", "path")
    assert sorted(view.panels()) == ["Critical path", "Lanes"]
    assert fake.get("measure") is None


def test_the_past_waits_for_a_selection(fake: Fake) -> None:
    trace = small()
    view = Opened(fake, trace, tool="past")
    panel = fake.page.get_by_role("region", name="Past and future")
    panel.filter(has_text="select something: its past is shown").wait_for()
    row = rows(trace, "comm", cat="kernel")[1]
    view.set("selection", [["spans", row]])
    cone = Cones(trace).past(("spans", row))
    panel.filter(has_text=f"{len(cone.events)} trace events and {len(cone.spans)} spans").wait_for()
    view.set("selection", [])
    assert (view.panels(), fake.get("tool")) == ([], "")


def test_a_tool_that_cannot_open_is_not_named(fake: Fake) -> None:
    view = Opened(fake, small())
    view.set("tool", "edges")
    assert (view.panels(), view.told) == ([], [""])


def test_two_views_of_one_timeline_have_the_same_tools_open(fake: Fake) -> None:
    view = Opened(fake, small(), views=2)
    start, end = fake.range()
    view.set("measure", [start, end])
    view.press("m")
    view.press("c")
    for number in (0, 1):
        assert view.panels(number) == ["Ruler", "Critical path"]
    assert fake.get("measure") == [start, end], "the other view closes nothing for that"
    view.press("c")
    for number in (0, 1):
        assert view.panels(number) == ["Ruler"]
    view.press("Escape")
    for number in (0, 1):
        assert view.panels(number) == []
    assert (fake.get("tool"), fake.get("measure")) == ("", None)
    view.press("r")
    for number in (0, 1):
        assert view.panels(number) == ["Area"]
    assert fake.get("area") == [start, end, []]
    view.set("tool", "notes")
    for number in (0, 1):
        assert view.panels(number) == ["Notes"]


@pytest.mark.parametrize("tool", ["edges", "ruler"])
def test_a_saved_page_opens_its_tool(page: Watched, tmp_path: Path, tool: str) -> None:
    trace = replayed()
    timeline = ubviz.Timeline(trace, tool=tool)
    first, second = (trace.spans[row] for row in rows(trace, "compute", cat="kernel")[:2])
    if tool == "ruler":
        timeline.measure = first.start_ns, second.end_ns
    timeline.to_html(tmp_path / "page.html")
    view = Tooled(page, trace, tmp_path / "page.html")
    if tool == "ruler":
        view.says("Ruler", f"{second.end_ns - first.start_ns:,} ns")
    else:
        view.says("Edges", "2 edges that captures saw")
    assert page.root().evaluate(OPEN) == [PANELS[tool]]
    page.keys("Escape")
    page.frames()
    assert page.root().evaluate(OPEN) == []
