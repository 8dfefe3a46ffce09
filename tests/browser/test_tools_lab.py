"""The timeline's tools in JupyterLab: brush, search, sub-lanes, cones and lanes, and what Python knows of them."""

from __future__ import annotations

from typing import Any

from tests.browser.jupyter import Lab, Server
from tests.browser.scene import place, rows, small
from tests.browser.test_tools import over_one_another
from tests.drawn import drawn
from ubviz.analysis.cone import Cones


def opened(lab: Lab, server: Server, name: str, trace: Any) -> None:
    trace.save(server.folder / f"{name}.json")
    server.notebook(f"{name}.ipynb", f'import ubviz\nw = ubviz.Timeline(ubviz.load("{name}.json"))\nw')
    lab.open(f"{name}.ipynb")
    lab.run_cell(0)
    lab.painted()
    lab.root().and_(lab.page.locator("[data-ubviz-tools]")).wait_for()
    lab.stage().focus()


def says(lab: Lab, panel: str, words: str) -> None:
    lab.page.get_by_role("region", name=panel, exact=True).filter(has_text=words).wait_for()


def test_search_cones_and_lanes(lab: Lab, server: Server) -> None:
    trace = small()
    opened(lab, server, "tools_small", trace)
    kernels = [
        row for row in rows(trace, "compute", cat="kernel") if "experts" in str(trace.spans[row].operation)
    ]
    lab.keys("/")
    lab.page.keyboard.type("experts compute kernel")
    says(lab, "Search", f"{len(kernels)} matches")
    lab.keys("Enter", "Enter")
    lab.py_is("w.selection", [["spans", kernels[1]]])
    lab.keys("Escape")
    lab.stage().focus()
    past, future = (getattr(Cones(trace), way)(("spans", kernels[1])) for way in ("past", "future"))
    lab.keys("p")
    says(lab, "Past and future", f"{len(past.events)} trace events and {len(past.spans)} spans")
    lab.keys("n")
    says(lab, "Past and future", f"{len(future.events)} trace events and {len(future.spans)} spans")
    lab.keys("Escape")
    # its lane goes above the other stream, and Python knows; Python puts it back
    with lab.repainted():
        lab.keys("j")
    compute, comm = trace.lane("compute").id, trace.lane("comm").id
    lab.py_is("list(w.arranged)", [comm, compute])
    lab.py("setattr(w, 'arranged', ['compute', 'comm'])")
    lab.until(
        "JSON.parse(root.dataset.ubvizLanes).map(([lane]) => lane).slice(-2).join() === arg",
        f"{place(trace, 'compute')},{place(trace, 'comm')}",
    )
    # a tool is opened by Python, and closed here
    lab.py("setattr(w, 'tool', 'path')")
    says(lab, "Critical path", "kernels running")
    lab.stage().focus()
    lab.keys("b")
    lab.py_is("w.tool", "notes")
    lab.keys("Escape")
    lab.py_is("w.tool", "path")
    lab.keys("Escape")
    lab.py_is("w.tool", "")


def test_the_brush(lab: Lab, server: Server) -> None:
    opened(lab, server, "tools_steps", drawn("ht", steps=3))
    brush = lab.page.get_by_role("slider", name="What is shown")
    home = lab.range()
    with lab.repainted():
        brush.press("ArrowLeft")
    assert lab.range()[0] < home[0]
    lab.py_is("list(w.view_range)", list(lab.range()))
    box = brush.bounding_box()
    mouse = lab.page.mouse
    with lab.repainted():
        mouse.move(box["x"] + box["width"] / 2, box["y"] + 8)
        mouse.down()
        mouse.move(box["x"] + box["width"] / 2 - 120, box["y"] + 8, steps=3)
        mouse.up()
    lab.frames()
    assert lab.range()[1] < home[1]
    lab.py_is("list(w.view_range)", list(lab.range()))


def test_sub_lanes(lab: Lab, server: Server) -> None:
    opened(lab, server, "tools_sub", over_one_another())
    left, top, right, bottom = lab.lane_box(0)
    third = (bottom - top) / 3
    for number in range(3):
        box = [left, top + number * third + 2, right, top + (number + 1) * third - 2]
        assert lab.pixels("#6b7482", box=box)[0] > 50, f"sub-lane {number} is empty"
    lab.keys("r")
    says(lab, "Area", "5 spans that touch it")
    lab.py_is("len(w.measured())", 5)
