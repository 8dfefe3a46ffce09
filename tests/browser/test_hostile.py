"""Names from a trace are text wherever they are shown: none of them runs, loads or reorders anything."""

from __future__ import annotations

from pathlib import Path

import pytest

import ubviz
from tests.browser.fake import Fake
from tests.browser.scene import rows, small
from tests.browser.watched import Watched
from ubviz.trace import Trace
from ubviz.trace.model import Event, Span, make_table

NAMES = {
    "script": "<script>window.pwned = 1</script>",
    "closing": "</script><script>window.pwned = 2</script><!--",
    "image": '<img src="http://127.0.0.1:9/x.png" onerror="window.pwned = 3">',
    "svg": "<svg onload=window.pwned=4><a href='javascript:window.pwned=5'>x</a></svg>",
    "control": "a\u0000b\u0007c\u001b[31md\u009be",
    "override": "\u202egnp.exe\u2066\u2069\u200f",
    "surrogate": "half \ud800 pair",
    "long": "x" * 10_000,
    "lines": "one\ntwo\r\n\tthree\u2028four",
    "template": "${window.pwned = 6} {{constructor.constructor('window.pwned=7')()}}",
    "__proto__": "__proto__",
    "empty": "",
}


def hostile(name: str) -> Trace:
    """The small trace in which everything that has a name has this one."""
    trace = small()
    args = {"name": name, name or "empty": name, "nested": {name: [name]}}
    spans = [
        span._replace(name=name, operation=span.operation and name, args={**span.args, **args})
        for span in trace.spans
    ]
    events = [event._replace(site=name, caller=name, args={**event.args, **args}) for event in trace.events]
    lanes = [lane._replace(role=name) if lane.role == "comm" else lane for lane in trace.lanes]
    sources = [{"file": name, "function": name, "line": 1, "text": name}]
    tables = make_table(Event, events), make_table(Span, spans)
    return Trace(*tables, trace.flows, lanes, {**trace.meta, "sources": sources})


def shown(watched: Watched, trace: Trace) -> str:
    """Touch everything that shows a name; the page's text at the end."""
    page = watched.page
    watched.stage().focus()
    row = rows(trace, "compute", cat="kernel")[0]
    top, bottom = watched.lane(3)
    box = watched.stage().bounding_box()
    x = box["x"] + watched.x((trace.spans[row].start_ns + trace.spans[row].end_ns) / 2)
    y = box["y"] + (top + bottom) / 2
    page.mouse.move(x, y)
    watched.until('root.dataset.ubvizHovered !== "null"')
    page.mouse.click(x, y)
    watched.until(f"root.dataset.ubvizSelection === '[[\"spans\",{row}]]'")
    page.wait_for_function("""() => document.querySelector(".ubviz-source").textContent !== ""
      || document.querySelector(".ubviz-wait").textContent === "" """)
    watched.keys("[", "]", "ArrowRight", "ArrowLeft")
    with watched.repainted():
        watched.keys("o")
    with watched.repainted():
        watched.keys("o")
    watched.root().and_(page.locator("[data-ubviz-tools]")).wait_for()
    for key in ("r", "p", "c", "t", "m", "l"):
        watched.stage().focus()
        watched.keys(key)
    page.get_by_role("region", name="List").get_by_role("row").nth(3).wait_for()
    return str(
        page.evaluate("() => document.body.innerText + document.querySelector('.ubviz-tip').textContent")
    )


def unharmed(watched: Watched) -> None:
    page = watched.page
    assert page.evaluate("() => window.pwned ?? null") is None
    inside = page.locator(".ubviz script, .ubviz img, .ubviz svg:not([aria-hidden]), .ubviz a, .ubviz iframe")
    assert inside.count() == 0
    assert page.evaluate("() => Object.keys(Object.prototype).length") == 0
    text = page.evaluate("() => document.querySelector('.ubviz').textContent")
    assert not set(text) & set("\u0000\u0007\u001b\u009b\u202e\u2066\u200f\u2028")
    assert watched.fact("state") == "painted"


@pytest.mark.parametrize("which", NAMES)
def test_it_is_shown_as_text(fake: Fake, which: str) -> None:
    """In a notebook no policy protects: the widget's own code has to."""
    name = NAMES[which]
    trace = hostile(name)
    fake.start(trace)
    fake.view()
    fake.painted()
    fake.set("_problem", name)
    text = shown(fake, trace)
    assert name[:20].strip() in text or not (name.isascii() and name.isprintable())
    unharmed(fake)


@pytest.mark.parametrize("which", ["closing", "surrogate"])
def test_no_name_ends_the_script_that_it_is_saved_in(page: Watched, tmp_path: Path, which: str) -> None:
    trace = hostile(NAMES[which])
    path = tmp_path / "hostile.html"
    ubviz.Timeline(trace, title=NAMES[which]).to_html(path)
    page.page.goto(path.as_uri())
    page.painted()
    shown(page, trace)
    unharmed(page)


def test_a_long_name_takes_no_more_room_than_there_is(fake: Fake) -> None:
    fake.start(hostile(NAMES["long"]))
    fake.view()
    fake.painted()
    fake.set("_problem", NAMES["long"])
    fake.set("selection", [["spans", rows(small(), "compute", cat="kernel")[0]]])
    fake.page.get_by_role("region", name="Details").get_by_text("correlation").first.wait_for()
    assert fake.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    left, right = map(float, fake.fact("plot").split(","))
    assert left < right / 2
