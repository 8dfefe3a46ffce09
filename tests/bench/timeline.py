"""The timeline in headless Chromium, beside bokeh's canvas and a bare sketch of a timeline, in one run.

Everything is a file without network, 1200 pixels wide, of the same spans: 32 lanes, with microbatch, name and depth.

- bytes a span: the deflated columns of all bars, per span of the recording.
- first paint: from the start of the navigation to the first frame with all bars; at bokeh to its first idle moment. The
  tab is open already, and the browser idle: what Chromium does for each new tab takes both cores for a while. Of
  100,000 spans the median of nine openings; in new tabs, where that is done beside it, it is told too.
- frame: the time between two animation frames while each turns the wheel once (zoom in, pan, zoom out), 95th
  percentile. Bokeh and the sketch are shown the same ranges; bokeh is told that the reader is dragging, and so may draw
  a tenth of the spans.
- redraw: the part of such a frame that is our script painting, 95th percentile.
- frame with the search open: the same frames while the search underlines what it found: most spans. Its ratio is of the
  processor time that the page's main thread takes for a frame, with the search to without.
- hover and click: from a pointer event to the end of the frame whose overlay shows it, 95th percentile.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import ubviz
from tests.bench import Row
from tests.browser import chromium
from tests.many import NAMES, many
from ubviz.trace import Trace
from ubviz.view.payload import Payload

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SKETCH = ROOT.parent / "shared" / "prototypes" / "canvas_timeline.html"
WIDTH, HEIGHT = 1200, 900
LONG, SHORT = 1_000_000, 100_000
BOKEH_MS = 15_000
"""Bokeh's frames end after so long, however few there were."""
PATIENCE_MS = 120_000
POINTS = 30
IDLE_MS = 300
SOUGHT = "a"
"""Nearly every span has it in its name, or in that of its lane."""


def rows() -> Iterator[Row]:
    """A recording of 1,000,000 spans, then one of 100,000."""
    widget = ROOT / "ubviz" / "static" / "widget.js"
    yield Row("widget.js", widget.stat().st_size, "B", 100_000)
    path = chromium.find()
    if path is None:
        print("  no Chromium here: the rest was not measured")
        return
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.ARGS)
        yield from _long(browser, Path(folder))
        yield from _short(browser, Path(folder))
        browser.close()


def _long(browser: Any, folder: Path) -> Iterator[Row]:
    trace = many(LONG)
    yield Row("bytes a span", bytes_a_span(trace), "B", 10)
    ours = timeline(browser, trace, folder)
    bokeh = bokeh_canvas(browser, trace, folder, ours["ranges"])
    yield Row("first paint of 1,000,000 spans", ours["first"], "ms")
    yield Row("bokeh's first paint of them", bokeh["first"], "ms")
    yield Row("first paint / bokeh's", ours["first"] / bokeh["first"], "", 0.5)
    yield Row("redraw of 1,000,000 spans", p95(ours["paints"]), "ms", 16)
    yield Row("frame of 1,000,000 spans", p95(ours["times"]), "ms", 33)
    yield Row("bokeh's frame of them", p95(bokeh["times"]), "ms")
    yield Row("frame / bokeh's", p95(ours["times"]) / p95(bokeh["times"]), "", 1 / 3)
    searched = searching(browser, folder / "timeline.html")
    yield Row("frame of 1,000,000 spans with the search open", p95(searched["times"]), "ms")
    yield Row("a frame's processor time with it / without", searched["ratio"], "", 2)
    yield Row("answer to hovering", p95(ours["hover"]), "ms", 32)
    yield Row("answer to a click", p95(ours["click"]), "ms", 32)


def _short(browser: Any, folder: Path) -> Iterator[Row]:
    trace = many(SHORT)
    ours = timeline(browser, trace, folder)
    path = folder / "timeline.html"
    firsts = [ours["first"], *(reopened(browser, path) for _ in range(8))]
    yield Row("first paint of 100,000 spans", median(firsts), "ms", 400)
    yield Row("in new tabs", median(reopened(browser, path, new=True) for _ in range(9)), "ms")
    yield Row("frame of 100,000 spans", p95(ours["times"]), "ms")
    if SKETCH.exists():
        sketch = canvas_sketch(browser, trace, folder, ours["ranges"])
        yield Row("the sketch's frame of them", p95(sketch), "ms")
        yield Row("frame / the sketch's", p95(ours["times"]) / p95(sketch), "", 1.5)


def p95(values: list[float]) -> float:
    return float(np.percentile(values, 95))


def bytes_a_span(trace: Trace) -> float:
    payload = Payload(trace)
    return sum(len(payload.block(key)) for key in payload.keys() if key.startswith("bars:")) / len(
        trace.spans
    )


def opened(browser: Any, path: Path, *, new: bool = False) -> Any:
    """A page without network, of this file; ``new``: opened at once in a new tab."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, offline=True)
    page.set_default_timeout(PATIENCE_MS)
    page.add_init_script(path=HERE / "timeline.js")
    if not new:
        until_idle(browser, page)
    page.goto(path.as_uri(), wait_until="commit")
    return page


def timeline(browser: Any, trace: Trace, folder: Path) -> dict[str, Any]:
    """What our timeline says and does."""
    path = folder / "timeline.html"
    ubviz.Timeline(trace).to_html(path)
    page = opened(browser, path)
    first = first_paint(page)
    found: dict[str, Any] = page.evaluate("() => bench.turned()")
    points = on_bars(page)
    hover = [answered(page, "pointermove", "ubvizHovered", at) for at in points]
    click = [answered(page, "pointerup", "ubvizSelection", at) for at in points]
    page.close()
    return {**found, "first": first, "hover": some(hover), "click": some(click)}


def searching(browser: Any, path: Path) -> dict[str, Any]:
    """The frames of this file while a search is open, and what they take of the processor against those without."""
    page = opened(browser, path)
    page.wait_for_selector(".ubviz-timeline[data-ubviz-state=painted][data-ubviz-tools]")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def turned() -> tuple[list[float], float]:
        before = busy(session)
        times = page.evaluate("() => bench.turned()")["times"]
        return times, (busy(session) - before) / len(times)

    turned()  # once, so that all code is compiled
    _, without = turned()
    page.locator(".ubviz-stage").focus()
    page.keyboard.press("/")
    page.keyboard.type(SOUGHT)
    page.get_by_role("region", name="Search").filter(has_text="matches").wait_for()
    turned()
    times, during = turned()
    page.close()
    return {"times": times, "ratio": during / without}


def busy(session: Any) -> float:
    """Seconds of processor time that the main thread of a page has had."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration")


def until_idle(browser: Any, page: Any) -> None:
    """Until all processes of the browser together take less than a tenth of one core."""
    session = browser.new_browser_cdp_session()
    passed, now = -math.inf, used(session)
    while now - passed > IDLE_MS / 10 / 1000:
        page.wait_for_timeout(IDLE_MS)
        passed, now = now, used(session)
    session.detach()


def used(session: Any) -> float:
    """Seconds of processor time that all processes of the browser have had."""
    return sum(each["cpuTime"] for each in session.send("SystemInfo.getProcessInfo")["processInfo"])


def reopened(browser: Any, path: Path, *, new: bool = False) -> float:
    """The first paint of this file, once more."""
    page = opened(browser, path, new=new)
    first = first_paint(page)
    page.close()
    return first


def first_paint(page: Any) -> float:
    page.wait_for_selector(".ubviz-timeline[data-ubviz-state=painted]")
    return float(page.locator(".ubviz-timeline").get_attribute("data-ubviz-first"))


def answered(page: Any, event: str, fact: str, at: tuple[float, float]) -> float | None:
    """How long the mouse waits for its answer."""
    if event == "pointerup":
        page.mouse.move(*at)
    page.evaluate("([event, fact]) => { bench.pending = bench.answered(event, fact); }", [event, fact])
    if event == "pointerup":
        page.mouse.click(*at)
    else:
        page.mouse.move(*at)
    found: float | None = page.evaluate("() => bench.pending")
    return found


def on_bars(page: Any) -> list[tuple[float, float]]:
    """Points on the bars of all lanes, zoomed in."""
    page.locator(".ubviz-stage").focus()
    for _ in range(12):
        page.keyboard.press("w")
    box = page.locator(".ubviz-stage").bounding_box()
    left, right = map(float, page.locator(".ubviz-timeline").get_attribute("data-ubviz-plot").split(","))
    lanes = page.evaluate("() => JSON.parse(document.querySelector('.ubviz-timeline').dataset.ubvizLanes)")
    seen = [(top + bottom) / 2 for _, top, bottom in lanes if box["y"] + bottom < HEIGHT]
    return [
        (box["x"] + left + (right - left) * (i + 0.5) / POINTS, box["y"] + seen[i * 7 % len(seen)])
        for i in range(POINTS)
    ]


def some(times: list[float | None]) -> list[float]:
    """The answers that there were: a point may lie on a gap, or twice on the same bar."""
    found = [time for time in times if time is not None]
    assert len(found) >= POINTS // 2, f"only {len(found)} of {POINTS} points were on a bar"
    return found


def drawn_rows(trace: Trace) -> tuple[np.ndarray, int]:
    """Which drawn row each span is on: its lane, and within it its depth."""
    spans = trace.spans
    depth = np.zeros(len(spans), np.int64)
    for lane in trace.lanes:
        if lane.group != "threads":
            continue
        mine = np.flatnonzero(spans["lane"] == lane.id)
        depth[mine] = np.tile([0, 1, 2, 1], len(mine) // 4)  # as tests.many makes them
    return spans["lane"] * 3 + depth, 3 * len(trace.lanes)


def bokeh_canvas(browser: Any, trace: Trace, folder: Path, ranges: list[list[int]]) -> dict[str, Any]:
    """Bokeh's canvas with the same spans as quads, coloured by microbatch, its scripts in the file."""
    from bokeh.models import ColumnDataSource, HoverTool
    from bokeh.plotting import figure, output_file, save
    from bokeh.resources import INLINE
    from bokeh.transform import linear_cmap

    spans = trace.spans
    row, count = drawn_rows(trace)
    source = ColumnDataSource({
        "left": spans["start_ns"].astype(np.float64), "right": spans["end_ns"].astype(np.float64),
        "bottom": row + 0.1, "top": row + 0.9, "ubatch": spans["ubatch"].astype(np.uint8),
        "name": spans.codes("name")[0].astype(np.uint8),
    })  # fmt: skip
    start, end = float(spans["start_ns"].min()), float(spans["end_ns"].max())
    plot = figure(width=WIDTH, height=700, x_range=(start, end), y_range=(count, 0), output_backend="canvas")
    colour = linear_cmap("ubatch", ["#2f6fde", "#d9780f"], 0, 1)
    plot.quad("left", "right", "top", "bottom", source=source, fill_color=colour, line_color=None)
    plot.add_tools(HoverTool(tooltips=[("name", "@name"), ("microbatch", "@ubatch")]))
    path = folder / "bokeh.html"
    output_file(path, title="bokeh", mode="inline")
    save(plot, resources=INLINE)
    page = opened(browser, path)
    first = page.evaluate(
        """() => new Promise((done) => {
          const look = () => {
            const [shown] = globalThis.Bokeh?.documents ?? [];
            if (shown?.is_idle) done(performance.now()); else requestAnimationFrame(look);
          };
          look();
        })"""
    )
    times = page.evaluate(
        """async ([ranges, most]) => {
          const [shown] = Bokeh.documents, plot = shown.roots()[0];
          return bench.frames(ranges, ([start, end]) => {
            shown.interactive_start(plot);
            plot.x_range.setv({ start, end });
          }, most);
        }""",
        [ranges, BOKEH_MS],
    )
    page.close()
    return {"first": first, "times": times}


def canvas_sketch(browser: Any, trace: Trace, folder: Path, ranges: list[list[int]]) -> list[float]:
    """The frames of the sketch: typed arrays and rectangles, no names, marks, patterns or selection."""
    spans = trace.spans
    row, count = drawn_rows(trace)
    lanes, columns = [], []
    for number in range(count):
        mine = np.flatnonzero(row == number)
        if not len(mine):
            continue
        start, end = spans["start_ns"][mine], spans["end_ns"][mine]
        gaps = start - np.concatenate([start[:1], end[:-1]])
        kind = (spans.codes("name")[0][mine] & 7).astype(np.uint8)
        columns += [gaps.astype("<u4").tobytes(), (end - start).astype("<u4").tobytes(), kind.tobytes()]
        lanes.append({"name": f"row {number}", "n": len(mine), "t0": int(start[0])})
    end = int(spans["end_ns"].max())
    meta = {"lanes": lanes, "kinds": NAMES[:8], "t0": 0, "t1": end, "deflate": True}
    text = SKETCH.read_text(encoding="utf-8").replace("/*META*/", json.dumps(meta))
    text = text.replace("/*DATA*/", base64.b64encode(zlib.compress(b"".join(columns), 1)).decode("ascii"))
    path = folder / "sketch.html"
    path.write_text(re.sub(r"\bLH=40\b", f"LH={round(700 / len(lanes))}", text), encoding="utf-8")
    page = opened(browser, path)
    page.evaluate("() => benchReady")
    times: list[float] = page.evaluate(
        "(ranges) => bench.frames(ranges, (range) => benchSetView(...range))", ranges
    )
    page.close()
    return times
