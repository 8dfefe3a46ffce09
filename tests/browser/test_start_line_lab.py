"""The start line in JupyterLab: sliders and steps reach Python, and Python moves the page."""

from __future__ import annotations

from tests.browser.jupyter import Lab, Server

MAKE = """from ubviz.course.start_line import StartLine
line = StartLine(n=3, parties=4)
line"""


def test_sliders_and_steps_go_both_ways(lab: Lab, server: Server) -> None:
    server.notebook("line.ipynb", MAKE)
    lab.open("line.ipynb")
    lab.run_cell(0)
    page = lab.page
    page.wait_for_selector(".ubviz-start-line[data-ubviz-first]")

    page.get_by_role("button", name="Step forward").click()
    lab.py_is("line.at", 1)
    page.get_by_role("slider", name="Parties of the barrier").press("ArrowLeft")
    lab.py_is("[line.n, line.parties, line.at]", [3, 3, 0])
    page.get_by_role("status").filter(has_text="It hangs:").wait_for()

    lab.py("[setattr(line, 'n', 6), setattr(line, 'parties', 7), setattr(line, 'at', 7)]")
    page.wait_for_selector('.ubviz-start-line[data-ubviz-n="6"][data-ubviz-parties="7"][data-ubviz-at="7"]')
    page.get_by_role("status").filter(has_text="All come to an end").wait_for()
    # the still picture and its words, which stand in where no script runs, are hidden
    assert not page.locator(".ubviz-still").first.is_visible()
