"""The tools of the timeline on a saved page without a network, by keys and by pointer, against Python's own answers."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ubviz
from tests.browser.fake import Fake
from tests.browser.scene import middle, place, rows, small
from tests.browser.watched import Watched
from tests.drawn import drawn
from tests.small import recorded
from tests.test_answers import replays
from ubviz.analysis.cone import Cones
from ubviz.analysis.gaps import gaps
from ubviz.analysis.overlap import overlap
from ubviz.trace import Lane, Trace
from ubviz.trace.build import Builder
from ubviz.view.payload import Payload
from ubviz.view.widget import code


def over_one_another() -> Trace:
    """Kernels of one stream that overlap, as imported files may have them; one has a hostile name."""
    builder = Builder([Lane(0, 0, "stream 7", "streams")])
    names = ("<img src=x onerror='window.pwned = 1'>", "b", "b", "b", "b")
    for name, (start, end) in zip(names, ((0, 100), (10, 40), (20, 30), (50, 60), (120, 130)), strict=True):
        builder.span(1000 * start, 1000 * end, "kernel", name, lane=0, cls="compute")
    return builder.finish({})


def replayed() -> Trace:
    edges = [{"kind": "set -> wake", "from_node": 0, "to_node": 2}]
    trace = replays(edges, [0, 1, 2])
    meta = {**trace.meta, "clock": {"error_ns": 3, "source": "events on the device"}}
    return Trace(trace.events, trace.spans, trace.flows, trace.lanes, meta, trace.notices)


TRACES: dict[str, Callable[[], Trace]] = {
    "small": small,
    "steps": lambda: drawn("ht", steps=3),
    "over one another": over_one_another,
    "replayed": replayed,
}


class Tooled:
    """A saved timeline whose tools have come."""

    def __init__(self, page: Watched, trace: Trace, path: Path) -> None:
        self.page, self.trace = page, trace
        page.page.goto(path.as_uri())
        page.painted()
        page.root().and_(page.page.locator("[data-ubviz-tools]")).wait_for()
        page.stage().focus()

    def lane(self, role: str) -> float:
        top, bottom = self.page.lane(place(self.trace, role))
        return (top + bottom) / 2

    def click(self, ns: float, role: str) -> None:
        self.page.page.mouse.click(*self.page.at(self.page.x(ns), self.lane(role)))
        self.page.frames()

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        mouse = self.page.page.mouse
        mouse.move(*self.page.at(*start))
        mouse.down()
        mouse.move(*self.page.at(*end), steps=4)
        mouse.up()
        self.page.frames()

    def panel(self, name: str) -> Any:
        return self.page.page.get_by_role("region", name=name, exact=True)

    def says(self, name: str, words: str) -> None:
        """Wait until a panel says something."""
        self.panel(name).filter(has_text=words).wait_for()

    @property
    def selection(self) -> list[list[Any]]:
        found: list[list[Any]] = self.page.json("selection")
        return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Trace, Path]]:
    folder = tmp_path_factory.mktemp("tools")

    @cache
    def write(name: str) -> tuple[Trace, Path]:
        trace, path = TRACES[name](), folder / f"{name}.html"
        ubviz.Timeline(trace).to_html(path)
        return trace, path

    return write


@pytest.fixture
def opened(page: Watched, written: Callable[[str], tuple[Trace, Path]]) -> Callable[[str], Tooled]:
    return lambda name: Tooled(page, *written(name))


def test_the_menu_names_every_tool_and_is_walked_by_keys(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    page = view.page.page
    page.get_by_role("toolbar", name="Timeline controls").get_by_role("button", name="Tools").click()
    menu = page.get_by_role("menu", name="Tools")
    names = [name.split("\n")[0] for name in menu.get_by_role("menuitemcheckbox").all_inner_texts()]
    assert names == [
        "Search", "List of what is shown", "Overview", "Area: count, sum, mean", "Ruler: measure a gap",
        "Past: what must come before", "Future: what must come after", "Critical path", "Lanes: pin, hide, reorder",
        "Notes",
    ]  # fmt: skip
    view.page.keys("ArrowUp")
    assert menu.get_by_role("menuitemcheckbox", name="Notes").evaluate(
        "(item) => item === document.activeElement"
    )
    view.page.keys("Home", "Enter")
    assert menu.is_hidden()
    assert page.get_by_role("searchbox", name="Search").evaluate(
        "(field) => field === document.activeElement"
    )
    view.page.keys("Escape")
    assert view.panel("Search").is_hidden()
    view.page.keys("?")
    assert "critical path" in page.get_by_role("dialog", name="Keys").inner_text()


def test_search_goes_from_match_to_match(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    kernels = rows(view.trace, "compute", cat="kernel")
    wanted = [row for row in kernels if "experts" in str(view.trace.spans[row].operation)]
    view.page.keys("/")
    view.page.page.keyboard.type("Experts compute kernel")
    view.says("Search", f"{len(wanted)} matches")
    for number, row in enumerate(wanted, start=1):
        view.page.keys("Enter")
        assert view.selection == [["spans", row]]
        view.says("Search", f"{number} of {len(wanted)}")
    view.page.keys("Enter")
    assert view.selection == [["spans", wanted[0]]]
    view.page.keys("Shift+Enter")
    assert view.selection == [["spans", wanted[-1]]]
    view.page.stage().focus()
    view.page.keys(".", ".", ",")
    assert view.selection == [["spans", wanted[0]]]


def test_an_area_is_what_python_measures_in_it(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    page = view.page.page
    left, right = map(float, view.page.fact("plot").split(","))
    y = view.lane("comm")
    page.keyboard.down("Shift")
    view.drag((left + 0.2 * (right - left), y), (left + 0.7 * (right - left), y + 3))
    page.keyboard.up("Shift")
    timeline = ubviz.Timeline(view.trace)
    timeline.area = view.page.json("area")
    assert timeline.area is not None
    assert timeline.area[2] == (view.trace.lane("comm").id,)
    frame = timeline.measured()
    kernels = frame[frame.cat == "kernel"]
    assert len(kernels) > 2
    for sort, group in kernels.groupby("cls"):
        words = {"comm": "kernel, communication", "copy": "kernel, copy"}[str(sort)]
        cells = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=words))
        count, *times = cells.get_by_role("cell").all()
        lasts = group.duration_ns
        assert count.inner_text() == str(len(group))
        exact = [int(cell.get_attribute("title").removesuffix(" ns").replace(",", "")) for cell in times]
        assert exact == [lasts.sum(), group.inside_ns.sum(), round(lasts.mean()), lasts.min(), lasts.max()]
    view.page.keys("Escape")
    assert view.page.json("area") is None


def test_r_measures_round_the_selection_and_a_click_with_shift_still_adds(
    opened: Callable[[str], Tooled],
) -> None:
    view = opened("small")
    first, second = rows(view.trace, "compute", cat="kernel")[:2]
    view.click(middle(view.trace, first), "compute")
    view.page.page.keyboard.down("Shift")
    view.click(middle(view.trace, second), "compute")
    view.page.page.keyboard.up("Shift")
    assert view.selection == [["spans", first], ["spans", second]]
    view.page.keys("r")
    spans = view.trace.spans
    assert view.page.json("area") == [spans[first].start_ns, spans[second].end_ns, []]
    view.page.keys("r")
    assert view.page.json("area") is None


def test_the_ruler_measures_a_gap_to_the_nanosecond_and_says_its_cause(
    opened: Callable[[str], Tooled],
) -> None:
    view = opened("small")
    start, end = view.page.range()
    inside = [
        gap
        for gap in gaps(view.trace).longest
        if gap.stream == "comm" and start < gap.start_ns and gap.end_ns < end
    ]
    kernels = rows(view.trace, "comm", cat="kernel")
    between = [
        gap for gap in inside
        if gap.start_ns >= view.trace.spans[kernels[0]].end_ns and gap.end_ns <= view.trace.spans[kernels[-1]].start_ns
    ]  # fmt: skip
    gap = max(between, key=lambda each: each.end_ns - each.start_ns)
    view.page.keys("m")
    view.click((gap.start_ns + gap.end_ns) / 2, "comm")
    assert view.page.json("measure") == [gap.start_ns, gap.end_ns]
    view.says("Ruler", f"{gap.end_ns - gap.start_ns:,} ns")
    view.says("Ruler", gap.sentence)
    # by keys the same: from the kernel before to the kernel after
    view.page.keys("Escape")
    before = next(row for row in kernels if view.trace.spans[row].end_ns == gap.start_ns)
    view.click(middle(view.trace, before), "comm")
    view.page.keys("m")
    after = next(row for row in kernels if view.trace.spans[row].start_ns == gap.end_ns)
    view.click(middle(view.trace, after), "comm") if not view.panel("Ruler").is_visible() else None
    for _ in range(12):
        if view.selection == [["spans", after]]:
            break
        view.page.keys("ArrowRight")
    view.page.keys("m")
    assert view.page.json("measure") == [gap.start_ns, gap.end_ns]


def test_a_dragged_ruler_snaps_to_edges(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    first, second = (view.trace.spans[row] for row in rows(view.trace, "compute", cat="kernel")[:2])
    view.page.keys("m")
    y = view.lane("compute")
    view.drag((view.page.x(first.start_ns) + 4, y), (view.page.x(second.end_ns) - 3, y))
    assert view.page.json("measure") == [first.start_ns, second.end_ns]


def test_past_and_future_are_those_of_the_analysis_and_the_rest_is_dimmed(
    opened: Callable[[str], Tooled],
) -> None:
    view = opened("small")
    cones = Cones(view.trace)
    row = rows(view.trace, "comm", cat="kernel")[1]
    view.click(middle(view.trace, row), "comm")
    for key, way in (("p", "past"), ("n", "future")):
        view.page.keys(key)
        cone = getattr(cones, way)(("spans", row))
        view.says("Past and future", f": {len(cone.events)} trace events and {len(cone.spans)} spans")
        cleared = view.page.page.evaluate(
            """([xs, y]) => {
              const canvas = document.querySelector(".ubviz-marks");
              const scale = canvas.width / canvas.getBoundingClientRect().width;
              const alpha = (x) => canvas.getContext("2d").getImageData(x * scale, y * scale, 1, 1).data[3];
              return xs.map(alpha);
            }""",
            [
                [view.page.x(middle(view.trace, n)) for n in rows(view.trace, "compute", cat="kernel")],
                view.lane("compute"),
            ],
        )
        inside = set(cone.spans.tolist())
        assert [alpha == 0 for alpha in cleared] == [
            n in inside for n in rows(view.trace, "compute", cat="kernel")
        ]
    view.page.keys("h")
    hop = cones.future(("spans", row), hops=1)
    many = f"{len(hop.events)} trace event{'s' * (len(hop.events) != 1)} and {len(hop.spans)} span"
    view.says("Past and future", many)
    view.page.keys("Escape")
    assert view.page.page.locator(".ubviz-marks").count() == 0


def test_a_cone_can_be_selected_and_an_area_widened(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    row = rows(view.trace, "comm", cat="kernel")[0]
    view.click(middle(view.trace, row), "comm")
    view.page.keys("p")
    cone = Cones(view.trace).past(("spans", row))
    view.says("Past and future", f"and {len(cone.spans)} spans")
    view.page.page.get_by_role("button", name="Select these").click()
    view.page.frames()
    wanted = [*(("events", n) for n in cone.events.tolist()), *(("spans", n) for n in cone.spans.tolist())]
    assert [tuple(each) for each in view.selection] == wanted
    view.says("Past and future", f"and {len(cone.spans)} spans")  # it stays what it was
    first, last = (rows(view.trace, "compute", cat="kernel")[at] for at in (0, 5))
    view.click(middle(view.trace, first), "compute")
    view.page.keys("r")
    view.click(middle(view.trace, last), "compute")
    view.page.keys("Shift+R")
    assert view.page.json("area")[:2] == [view.trace.spans[first].start_ns, view.trace.spans[last].end_ns]


def test_the_pages_cones_are_the_analysis_own_on_any_recording(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    source = zlib.decompress(code("tools")).decode()
    for trace in (drawn("ll"), recorded("ht", 3), recorded("ll", 2), ubviz.example("whole_game_overlapped")):
        block = json.loads(zlib.decompress(Payload(trace).block("order")))
        cones = Cones(trace)
        asked = [("events", row) for row in range(0, len(trace.events), 7)]
        asked += [("spans", row) for row in range(0, len(trace.spans), 5)]
        found = view.page.page.evaluate(
            """async ([source, block, asked]) => {
              const { Order } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
              const order = new Order(block);
              const rows = (of) => [...of].flatMap((is, row) => (is ? [row] : []));
              return asked.flatMap(([table, row]) => ["past", "future"].flatMap((way) => [1, Infinity].map((hops) => {
                const { events, spans } = order.cone(order.node(table, row), way, hops);
                return [rows(events), rows(spans)];
              })));
            }""",
            [source, block, asked],
        )
        wanted = [
            [part.tolist() for part in getattr(cones, way)(row, hops=hops)]
            for row in asked
            for way in ("past", "future")
            for hops in (1, None)
        ]
        assert found == wanted


def test_the_overview_has_a_brush_for_pointer_and_keys(opened: Callable[[str], Tooled]) -> None:
    view = opened("steps")
    brush = view.page.page.get_by_role("slider", name="What is shown")
    home, length = view.page.range(), view.page.range()[1] - view.page.range()[0]
    with view.page.repainted():
        brush.press("ArrowLeft")
    assert view.page.range()[0] < home[0]
    with view.page.repainted():
        brush.press("Home")
    assert view.page.range() == home
    box = brush.bounding_box()
    mouse = view.page.page.mouse
    with view.page.repainted():
        mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
        mouse.down()
        mouse.move(box["x"] + box["width"] / 2 - 150, box["y"] + 10, steps=3)
        mouse.up()
    view.page.frames()
    start, end = view.page.range()
    assert start < home[0] - length / 10
    assert end - start == pytest.approx(length, abs=2)
    assert "of " in brush.get_attribute("aria-valuetext")
    with view.page.repainted():
        mouse.move(box["x"] - 300, box["y"] + 10)
        mouse.down()
        mouse.move(box["x"] - 200, box["y"] + 10, steps=3)
        mouse.up()
    view.page.frames()
    assert view.page.range()[1] - view.page.range()[0] < length


def test_the_list_and_the_picture_select_together(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    page = view.page.page
    view.page.keys("l")
    grid = page.get_by_role("grid", name="What the picture shows")
    grid.wait_for()
    for _ in range(30):
        view.page.keys("ArrowDown")
    row = grid.locator("[aria-selected=true]")
    assert row.get_attribute("id") == grid.get_attribute("aria-activedescendant")
    [(table, number)] = view.selection
    name = row.get_by_role("gridcell").nth(3).inner_text()
    lanes = {lane.id: lane.role for lane in view.trace.lanes}
    assert name == lanes[getattr(view.trace, table)[number].lane]
    kernel = rows(view.trace, "compute", cat="kernel", operation="experts")[0]
    view.click(middle(view.trace, kernel), "compute")
    row.filter(has_text="compute").wait_for()
    assert row.get_by_role("gridcell").nth(2).inner_text() == view.trace.spans[kernel].name
    assert grid.get_by_role("row").count() < 40, "only rows near those that are seen are made"


def test_lanes_are_pinned_and_hidden_and_it_is_said(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    page = view.page.page
    shown = lambda: [lane for lane, _, _ in view.page.json("lanes")]  # noqa: E731
    before = shown()
    view.page.keys("t")
    comm, main = place(view.trace, "comm"), place(view.trace, "main")
    with view.page.repainted():
        page.get_by_role("button", name="Pin comm", exact=True).press("Enter")
    assert shown() == [comm, *(lane for lane in before if lane != comm)]
    with view.page.repainted():
        page.get_by_role("button", name="Hide main", exact=True).click()
    assert main not in shown()
    view.page.keys("Escape")
    assert page.get_by_text("1 lane is hidden: main").last.is_visible()
    box = view.page.lane_box(comm)
    assert min(view.page.pixels("#2f6fde", "#d9780f", box=box)) > 100, "it is drawn where it is pinned"
    kernel = rows(view.trace, "comm", cat="kernel")[0]
    view.click(middle(view.trace, kernel), "comm")
    assert view.selection == [["spans", kernel]]
    with view.page.repainted():
        page.get_by_role("button", name="Show all", exact=True).last.click()
    assert sorted(shown()) == before


def test_lanes_are_moved_among_their_kind_by_buttons_and_by_keys(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    page = view.page.page
    lanes = [place(view.trace, role) for role in ("main", "ubatch 0", "ubatch 1", "compute", "comm")]
    main, first, second, compute, comm = lanes
    shown = lambda: [lane for lane, _, _ in view.page.json("lanes")]  # noqa: E731
    assert shown() == lanes
    kernel = rows(view.trace, "comm", cat="kernel")[0]
    view.click(middle(view.trace, kernel), "comm")
    with view.page.repainted():
        view.page.keys("k")
    assert shown() == [main, first, second, comm, compute]
    view.page.keys("k")  # the first of its kind stays
    page.get_by_text("comm is the first of its kind; pinned it goes above all others").first.wait_for()
    assert shown() == [main, first, second, comm, compute]
    view.page.keys("t")
    up = page.get_by_role("button", name="Move ubatch 1 up", exact=True)
    with view.page.repainted():
        up.press("Enter")
    assert shown() == [main, second, first, comm, compute]
    assert up.evaluate("(button) => button === document.activeElement"), "the next press moves it on"
    # past a lane that is hidden, to the next that is shown
    with view.page.repainted():
        page.get_by_role("button", name="Hide main", exact=True).click()
    with view.page.repainted():
        page.get_by_role("button", name="Move ubatch 1 down", exact=True).click()
    assert shown() == [first, second, comm, compute]
    with view.page.repainted():
        page.get_by_role("button", name="Show all lanes", exact=True).click()
    assert shown() == [main, first, second, comm, compute]
    # pinned ones keep their place among their kind, and are moved among themselves
    for role in ("compute", "ubatch 1"):
        with view.page.repainted():
            page.get_by_role("button", name=f"Pin {role}", exact=True).click()
    assert shown() == [compute, second, main, first, comm]
    with view.page.repainted():
        page.get_by_role("button", name="Move compute down", exact=True).click()
    assert shown() == [second, compute, main, first, comm]
    for role in ("compute", "ubatch 1"):
        with view.page.repainted():
            page.get_by_role("button", name=f"Pin {role}", exact=True).click()
    assert shown() == [main, first, second, comm, compute]


def test_the_critical_path_sums_to_the_makespan(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    view.page.keys("c")
    parts = view.panel("Critical path").get_by_role("listitem")
    parts.first.wait_for()
    exact = [int(part.get_attribute("title").removesuffix(" ns").replace(",", "")) for part in parts.all()]
    assert sum(exact) == overlap(view.trace).makespan_ns
    assert "kernels running" in view.panel("Critical path").inner_text()


def test_a_number_shows_the_intervals_that_it_is_the_sum_of(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    found = overlap(view.trace)
    number = view.page.page.get_by_role("button", name="communication busy")
    number.click()
    view.says("Intervals", f"{found.comm_busy_ns:,} ns in {len(found.intervals['comm_busy_ns'])} intervals")
    view.says("Intervals", f"{found.overlap_ns:,} ns")
    assert number.get_attribute("aria-pressed") == "true"
    view.page.page.get_by_role("button", name="makespan").click()
    view.says("Intervals", f"{found.makespan_ns:,} ns in 1 interval")
    view.page.page.get_by_role("button", name="makespan").click()
    assert view.panel("Intervals").is_hidden()


def test_edges_of_a_capture_and_error_bands_are_drawn_where_a_recording_has_them(
    opened: Callable[[str], Tooled],
) -> None:
    view = opened("replayed")
    view.page.keys("e")
    view.says("Edges", "2 edges that captures saw, over their replays: set -> wake 2 (dashed)")
    inked = "() => { const c = document.querySelector('.ubviz-marks');" \
        " return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((byte) => byte > 0); }"  # fmt: skip
    view.page.frames()
    assert view.page.page.evaluate(inked)
    view.page.keys("e", "u")
    view.says(
        "Error bands",
        "± 3 ns (3 ns) on compute: device times on the clock of the host, by events on the device",
    )


def test_behind_each_fact_is_a_band_of_what_the_recorder_took(page: Watched, tmp_path: Path) -> None:
    trace, cost = small(), 300
    meta = {**trace.meta, "recording": {"fact_ns": cost}}
    trace = Trace(trace.events, trace.spans, trace.flows, trace.lanes, meta, trace.notices)
    lane = trace.lane("ubatch 0")
    times = [event.t_ns for event in trace.events if event.lane == lane.id]
    edges = [
        edge for span in trace.spans if span.lane == lane.id and span.cat in ("operation", "blocked")
        for edge in (span.start_ns, span.end_ns)
    ]  # fmt: skip
    alone = next(
        t for t in times if all(other == t or abs(other - t) > 2 * cost for other in [*times, *edges])
    )
    timeline = ubviz.Timeline(trace)
    timeline.to_html(tmp_path / "wide.html")
    view = Tooled(page, trace, tmp_path / "wide.html")
    view.page.keys("u")
    view.says("Error bands", "300 ns (300 ns) behind each fact of a thread: the recorder itself")
    view.says("Error bands", "zoom in to see it")
    timeline.view_range = alone - 10 * cost, alone + 10 * cost
    timeline.to_html(tmp_path / "near.html")
    view = Tooled(page, trace, tmp_path / "near.html")
    view.page.keys("u")
    view.page.frames()
    assert "zoom in" not in view.panel("Error bands").inner_text()
    covered = view.page.page.evaluate(
        """([xs, y]) => {
          const canvas = document.querySelector(".ubviz-marks");
          const scale = canvas.width / canvas.getBoundingClientRect().width;
          return xs.map((x) => canvas.getContext("2d").getImageData(x * scale, y * scale, 1, 1).data[3] > 0);
        }""",
        [
            [view.page.x(alone + share * cost) for share in (-0.2, 0.2, 0.8, 1.2)],
            view.page.lane(place(trace, "ubatch 0"))[1],
        ],
    )
    assert covered == [False, True, True, False]


def test_a_note_is_written_and_removed_by_keys_and_drawn_where_it_is(opened: Callable[[str], Tooled]) -> None:
    view = opened("small")
    page = view.page.page
    kernel = rows(view.trace, "comm", cat="kernel")[1]
    view.click(middle(view.trace, kernel), "comm")
    view.page.keys("b")
    page.keyboard.type("<img src=x onerror='window.pwned = 1'> late")
    view.page.keys("Enter")
    start = view.trace.spans[kernel].start_ns
    note = view.panel("Notes").get_by_role("listitem")
    assert note.count() == 1
    assert "<img src=x onerror='window.pwned = 1'> late" in note.inner_text()
    assert page.evaluate("() => [window.pwned ?? null, document.querySelectorAll('.ubviz img').length]") == [
        None,
        0,
    ]
    inked = """([x, y]) => {
      const canvas = document.querySelector(".ubviz-marks");
      const scale = canvas.width / canvas.getBoundingClientRect().width;
      return canvas.getContext("2d").getImageData((x - 5) * scale, y * scale, 1, 1).data[3];
    }"""
    view.page.frames()
    assert page.evaluate(inked, [view.page.x(start), 34]) == 255
    view.page.keys("Escape")
    assert view.panel("Notes").is_hidden()
    assert page.evaluate(inked, [view.page.x(start), 34]) == 255, "it is there while its panel is closed"
    view.page.keys("b")
    page.get_by_role("button", name="Remove note 1").press("Enter")
    view.page.frames()
    assert note.count() == 0
    assert page.locator(".ubviz-marks").count() == 0


def test_spans_over_one_another_have_sub_lanes_and_all_are_counted(opened: Callable[[str], Tooled]) -> None:
    view = opened("over one another")
    page = view.page.page
    left, top, right, bottom = view.page.lane_box(0)
    third = (bottom - top) / 3
    for number in range(3):
        box = [left, top + number * third + 2, right, top + (number + 1) * third - 2]
        assert view.page.pixels("#6b7482", box=box)[0] > 50, f"sub-lane {number} is empty"
    view.page.keys("r")
    view.says("Area", "5 spans that touch it")
    cell = page.get_by_role("rowheader", name="<img src=x").first
    assert cell.locator("img").count() == 0
    view.page.keys("l", "ArrowDown")
    assert page.evaluate("() => [window.pwned ?? null, document.querySelectorAll('.ubviz img').length]") == [
        None,
        0,
    ]


# ---- with a kernel


def test_what_python_sets_is_shown_and_taken_back(fake: Fake) -> None:
    trace = small()
    fake.start(trace)
    fake.view()
    fake.painted()
    fake.root().and_(fake.page.locator("[data-ubviz-tools]")).wait_for()
    start, end = fake.range()
    region = lambda name: fake.page.get_by_role("region", name=name, exact=True)  # noqa: E731
    fake.set("area", [start, end, []])
    fake.set("measure", [start, start + 5])
    fake.set("query", "experts")
    region("Area").filter(has_text="spans that touch it").wait_for()
    region("Ruler").filter(has_text="5 ns").wait_for()
    region("Search").filter(has_text="matches").wait_for()
    fake.set("area", None)
    assert region("Area").is_hidden()
    fake.set("hidden", [trace.lane("main").id])
    fake.page.get_by_text("1 lane is hidden: main").last.wait_for()
    fake.page.get_by_role("button", name="Close search").click()
    fake.frames()
    assert fake.get("query") == ""


def test_without_the_tools_the_timeline_works(fake: Fake) -> None:
    trace = small()
    fake.start(trace, prompt=False)
    fake.view()
    fake.painted()
    fake.until_asked("code:tools")
    fake.refuse("code:tools", "this kernel has none")
    fake.stage().focus()
    with fake.repainted():
        fake.keys("w", "m", "l", "p", "w")
    fake.keys("ArrowRight")
    assert fake.json("selection")
    assert fake.page.get_by_role("button", name="Tools").count() == 0
