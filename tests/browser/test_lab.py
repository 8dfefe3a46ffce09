"""The timeline in JupyterLab, from the cell that makes it to the notebook that is opened again."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import ubviz
from tests.browser.conftest import VIEWPORT
from tests.browser.jupyter import Lab, Server
from tests.browser.scene import UBATCH, middle, place, rows, small
from tests.browser.watched import Watched

ROOT = Path(__file__).resolve().parents[2]
MAKE = 'import ubviz\ntrace = ubviz.load("small.json")\nw = ubviz.Timeline(trace)\nw'


def kernel_row(ubatch: int = 0) -> int:
    return rows(small(), "compute", cat="kernel", operation="attention", ubatch=ubatch)[0]


def written(server: Server, name: str, *cells: str) -> str:
    """A notebook beside the recording that it loads; its name."""
    small().save(server.folder / "small.json")
    server.notebook(name, MAKE, *cells)
    return name


def both_colours(page: Watched, theme: str, index: int = 0) -> None:
    for stream in ("compute", "comm"):
        box = page.lane_box(place(small(), stream), index)
        assert min(page.pixels(*UBATCH[theme], box=box, index=index)) > 100, stream


def click(page: Watched, row: int, index: int = 0) -> None:
    page.stage(index).scroll_into_view_if_needed()
    top, bottom = page.lane(place(small(), "compute"), index)
    at = {"x": page.x(middle(small(), row), index), "y": (top + bottom) / 2}
    page.stage(index).click(position=at)
    page.frames()


def range_of(page: Watched) -> list[int]:
    return list(page.range())


def test_run_click_and_read_back(lab: Lab, server: Server) -> None:
    lab.open(written(server, "run.ipynb", "w.selected()[['table', 'operation']]"))
    lab.run_cell(0)
    lab.painted()
    both_colours(lab, "light")
    assert lab.stage().get_attribute("aria-label") == lab.root().get_attribute("aria-label")
    row = kernel_row()
    click(lab, row)
    lab.py_is("w.selection", [["spans", row]])
    assert "attention" in lab.page.get_by_role("region", name="Details").inner_text()
    lane = lab.root().locator(".ubviz-details dt").first  # JupyterLab floats terms, a fifth of a line wide
    assert lane.evaluate("(term) => [term.innerText, getComputedStyle(term).float]") == ["lane", "none"]
    assert lane.bounding_box()["width"] >= 60
    [output] = lab.run_cell(1)
    assert re.search(rf"^{row}\s+spans\s+attention$", output["data"]["text/plain"], re.M)
    lab.stage().focus()
    with lab.repainted():
        lab.keys("w", "w", "d")
    lab.py_is("list(w.view_range)", range_of(lab))
    lab.py("[setattr(w, 'view_range', (100_000, 300_000)), setattr(w, 'cursor', 200_000)] and 0")
    lab.until('root.dataset.ubvizRange === "100000,300000"')
    lab.py(f"setattr(w, 'selection', [('spans', {kernel_row(1)})])")
    lab.until("root.dataset.ubvizSelection === arg", f'[["spans",{kernel_row(1)}]]')
    lab.py("setattr(w, 'order', 'logical')")
    lab.until('root.dataset.ubvizOrder === "logical" && root.dataset.ubvizState === "painted"')


def test_what_the_tools_mark_is_known_to_python(lab: Lab, server: Server) -> None:
    lab.open(written(server, "tools.ipynb", "w.measured()[['cat', 'duration_ns', 'inside_ns']]"))
    lab.run_cell(0)
    lab.painted()
    lab.root().and_(lab.page.locator("[data-ubviz-tools]")).wait_for()
    click(lab, kernel_row())
    with lab.repainted():
        lab.keys("f")
    lab.keys("r", "m", "/")
    span = small().spans[kernel_row()]
    lab.py_is("w.area", [span.start_ns, span.end_ns, []])
    lab.page.keyboard.type("experts")
    lab.page.get_by_role("region", name="Search").filter(has_text="matches").wait_for()
    lab.py_is("w.query", "experts")
    [output] = lab.run_cell(1)
    lasts = span.end_ns - span.start_ns
    assert re.search(rf"^{kernel_row()}\s+kernel\s+{lasts}\s+{lasts}$", output["data"]["text/plain"], re.M)
    lab.py("[setattr(w, 'area', None), setattr(w, 'hidden', ['main'])] and 0")
    lab.page.get_by_text("1 lane is hidden: main").last.wait_for()
    expect(lab.page.get_by_role("region", name="Area", exact=True)).to_be_hidden()
    lab.page.get_by_role("button", name="Close search").click()
    lab.py_is("w.query", "")


def test_it_follows_the_theme(lab: Lab, server: Server) -> None:
    lab.open(written(server, "theme.ipynb", "w"))
    lab.run_all()
    lab.painted(2)
    for name in ("Dark", "Light"):
        lab.theme(name)
        theme = name.lower()
        lab.page.wait_for_function(
            "(theme) => [...document.querySelectorAll('.ubviz-timeline')].every((root) => "
            "root.dataset.ubvizTheme === theme)",
            arg=theme,
        )
        lab.frames()
        both_colours(lab, theme, 0)
        both_colours(lab, theme, 1)
    lab.theme("Light")


def test_plain_keys_leave_the_notebook_alone_and_its_own_work(lab: Lab, server: Server) -> None:
    lab.open(written(server, "keys.ipynb", "21 * 2"))
    lab.run_all()
    lab.painted()
    lab.save()
    before = lab.cells()
    click(lab, kernel_row())
    lab.keys(
        *"abxcvzymrjk", "d", "d", "0", "0", "i", "i", "ArrowDown", "ArrowUp", "Enter", "Escape", "Escape"
    )
    assert lab.cells() == before
    assert lab.ask("return panel.content.widgets.map((cell) => cell.model.type);") == ["code", "code"]
    assert lab.page.locator(".jp-Dialog").count() == 0
    lab.stage().focus()
    lab.ask("panel.context.model.dirty = true;")
    lab.page.keyboard.press("Control+s")
    lab.page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
    count = "jupyterapp.shell.currentWidget.content.widgets[0].model.executionCount"
    ran = lab.page.evaluate(f"() => {count}")
    lab.ask("panel.content.activeCellIndex = 0;")
    lab.stage().focus()
    lab.page.keyboard.press("Shift+Enter")
    lab.page.wait_for_function(f"(ran) => {count} > ran", arg=ran)


def test_two_views_a_restart_and_a_reload_leave_nothing_behind(lab: Lab, server: Server) -> None:
    lab.open(written(server, "views.ipynb", "w"))
    lab.run_all()
    lab.painted(2)
    assert lab.live() == 2
    lab.stage().focus()
    with lab.repainted(0), lab.repainted(1):
        lab.keys("w", "a")
    assert lab.range(0) == lab.range(1)
    lab.py_is("list(w.view_range)", range_of(lab))
    lab.save()
    kept = range_of(lab)
    lab.page.reload()
    lab.ready()
    lab.painted(2)
    assert range_of(lab) == kept
    lab.restart()
    lab.stage().focus()
    with lab.repainted():  # without its kernel a view still moves
        lab.keys("w")
    lab.run_all()
    lab.page.wait_for_function("() => globalThis.__ubvizLive.size === 2")
    lab.painted(2)
    lab.command("notebook:clear-all-cell-outputs")
    lab.page.wait_for_function("() => globalThis.__ubvizLive.size === 0")


def test_what_an_observer_raises_is_shown(lab: Lab, server: Server) -> None:
    observer = "def fails(change):\n    1 / 0\nw.observe(fails, 'selection')"
    lab.open(written(server, "observer.ipynb", observer))
    lab.run_all()
    lab.painted()
    click(lab, kernel_row())
    alert = lab.page.get_by_role("alert")
    alert.get_by_text("ZeroDivisionError: division by zero").wait_for()
    alert.get_by_role("button", name="Dismiss").click()
    alert.wait_for(state="hidden")
    lab.py_is("w._problem", "")


def test_while_a_cell_runs_the_picture_moves_and_details_come_at_last(lab: Lab, server: Server) -> None:
    """Whether they come before the cell has ended is Jupyter's: newer kernels answer a widget in between."""
    lab.open(written(server, "busy.ipynb", "import pathlib\nwhile not pathlib.Path('go').exists(): pass"))
    lab.run_cell(0)
    lab.painted()
    runs = "jupyterapp.shell.currentWidget.content.widgets[1].model.executionState"
    lab.ask("panel.content.activeCellIndex = 1; void app.commands.execute('notebook:run-cell');")
    lab.page.wait_for_function(f'() => {runs} === "running"')
    click(lab, kernel_row())
    with lab.repainted():
        lab.keys("w")
    details = lab.page.get_by_role("region", name="Details")
    assert "attention" in details.inner_text()
    assert lab.page.evaluate(f"() => {runs}") == "running"
    (server.folder / "go").touch()
    lab.page.wait_for_function(f'() => {runs} === "idle"')
    details.get_by_text("correlation").wait_for()


# ---- the notebook, saved


def saved(lab: Lab, server: Server, name: str) -> dict[str, Any]:
    """Run the notebook, save it, end its kernel; what the file holds."""
    lab.open(written(server, name))
    lab.run_all()
    lab.painted()
    lab.save()
    lab.shut_down()
    found: dict[str, Any] = json.loads((server.folder / name).read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("trusted", [True, False])
def test_a_saved_notebook_shows_the_picture_without_a_kernel(
    lab: Lab, server: Server, browser: Any, trusted: bool
) -> None:
    name = f"saved-{trusted}.ipynb"
    book = saved(lab, server, name)
    if not trusted:  # a signature is of the content: another one is not trusted
        book["metadata"]["changed"] = True
        (server.folder / name).write_text(json.dumps(book), encoding="utf-8")
    context = browser.new_context(viewport=VIEWPORT)
    again = Lab(context, server)
    again.open_without_kernel(name)
    assert again.ask("return panel.content.widgets[0].model.trusted;") is trusted
    image = again.page.locator(".jp-OutputArea-output img").first
    image.wait_for()
    assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 300
    again.page.locator(".jp-OutputArea-output").get_by_text("makespan").first.wait_for()
    context.close()
    again.clean()


def test_the_live_view_hides_the_picture(lab: Lab, server: Server) -> None:
    lab.open(written(server, "live.ipynb"))
    lab.run_all()
    lab.painted()
    images = lab.page.locator(".jp-OutputArea-output img")
    assert [image.is_visible() for image in images.all()] == [False]


def test_nbconvert_shows_the_picture_offline(lab: Lab, server: Server, browser: Any) -> None:
    saved(lab, server, "convert.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "convert.ipynb"]
    subprocess.run(command, cwd=server.folder, check=True, capture_output=True, timeout=60)
    context = browser.new_context(viewport=VIEWPORT, offline=True)
    page = Watched(context)
    page.page.goto((server.folder / "convert.html").as_uri())
    image = page.page.locator(".jp-OutputArea-output img").first
    assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 300
    assert "makespan" in page.page.locator("main").inner_text()
    context.close()


@pytest.mark.timeout(300)  # the notebook runs a model
def test_the_first_notebook_runs_from_top_to_bottom(lab: Lab, server: Server) -> None:
    book = ROOT / "notebooks" / "00_the_whole_game.ipynb"
    shutil.copy(book, server.folder / book.name)
    lab.open(book.name)
    lab.page.set_default_timeout(200_000)
    lab.run_all()
    failed = lab.ask(
        """return panel.content.widgets.filter((cell) => cell.model.type === "code")
             .flatMap((cell) => cell.model.outputs.toJSON()).filter((output) => output.output_type === "error");"""
    )
    assert failed == []
    after = ubviz.example("whole_game_overlapped")
    alt = ubviz.Timeline(after).alt
    timeline = lab.page.get_by_role("application", name=alt)
    timeline.scroll_into_view_if_needed()
    view = lab.page.locator(".ubviz-timeline").filter(has=timeline)
    expect(view).to_have_attribute("data-ubviz-state", "painted")
    index = lab.page.locator(".ubviz-timeline").evaluate_all(
        "(views, alt) => views.findIndex((view) => view.getAttribute('aria-label') === alt)", alt
    )
    for stream in ("compute", "comm"):
        box = lab.lane_box(place(after, stream), index)
        assert min(lab.pixels(*UBATCH["light"], box=box, index=index)) > 100, stream
    dispatches = [
        row
        for row, span in enumerate(after.spans)
        if (span.cat, span.operation, span.ubatch) == ("kernel", "dispatch", 0)
    ]
    selected = json.loads(view.get_attribute("data-ubviz-selection") or "[]")
    assert selected == [["spans", row] for row in dispatches]
