"""A stepper in JupyterLab: beside a timeline whose cursor is its own, moved from Python and from the page."""

from __future__ import annotations

from tests.browser.jupyter import Lab, Server
from tests.browser.scene import small

MAKE = """import ubviz, ipywidgets
trace = ubviz.load("small.json")
timeline, stepper = ubviz.Timeline(trace), ubviz.Stepper(trace, panels=["ring", "flags", "streams"], at=20)
link = ipywidgets.jslink((timeline, "cursor"), (stepper, "cursor"))
ipywidgets.VBox([timeline, stepper])"""


def test_a_timeline_and_a_stepper_are_one(lab: Lab, server: Server) -> None:
    small().save(server.folder / "small.json")
    server.notebook("steps.ipynb", MAKE)
    lab.open("steps.ipynb")
    lab.run_cell(0)
    lab.painted()
    page = lab.page
    root = page.locator(".ubviz-stepper[data-ubviz-state=painted]")
    root.wait_for()
    at = lambda row: page.locator(f'.ubviz-stepper[data-ubviz-at="{row}"]').wait_for()  # noqa: E731
    at(20)
    times = [int(t) for t in small().events["t_ns"]]

    root.get_by_role("button", name="Step forward").click()
    at(21)
    lab.py_is("[stepper.at, stepper.cursor, timeline.cursor]", [21, times[21], times[21]])
    lab.py_is("stepper.selection", [["events", 21]])

    lab.py("setattr(stepper, 'at', 30)")
    at(30)
    lab.py_is("timeline.cursor", times[30])

    lab.py(f"setattr(timeline, 'cursor', {times[40]})")
    row = max(i for i, t in enumerate(times) if t <= times[40])
    at(row)
    lab.py_is("stepper.at", row)

    # a key of JupyterLab's command mode does nothing to the notebook
    root.locator(".ubviz-says").click()
    for key in ("x", "d", "d", "ArrowLeft"):
        page.keyboard.press(key)
    at(row - 1)
    assert len(lab.cells()) == 1
