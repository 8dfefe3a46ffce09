"""Views that a notebook has tied together, in its page: no kernel, no network."""

from __future__ import annotations

from pathlib import Path

import nbformat

from tests.browser.watched import Watched
from ubviz.course.site import build

TIED = """import ipywidgets as w, ubviz
from tests.browser.scene import small
a, b, c = (ubviz.Timeline(small()) for _ in range(3))
a.view_range = 100_000, 300_000
for name in ("view_range", "cursor"):
    w.jslink((a, name), (b, name))
w.jsdlink((a, "view_range"), (c, "view_range"))
w.VBox([w.HBox([a, b]), c])"""


def test_both_ways_with_jslink_and_one_way_with_jsdlink(page: Watched, tmp_path: Path) -> None:
    """Beside a box of views nothing is left of what stands in for them."""
    cells = [nbformat.v4.new_markdown_cell("# Tied"), nbformat.v4.new_code_cell(TIED)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "tied.ipynb")
    build(tmp_path, tmp_path / "site")
    page.page.goto((tmp_path / "site" / "tied.html").as_uri())
    page.painted(3)
    assert page.page.locator("main img").count() == 0
    assert [page.range(i) for i in range(3)] == [(100_000, 300_000)] * 3
    page.stage(1).focus()
    with page.repainted(0), page.repainted(1), page.repainted(2):
        page.keys("w", "d")
    moved = page.range(1)
    assert moved != (100_000, 300_000)
    assert [page.range(0), page.range(2)] == [moved, moved]
    page.stage(2).focus()
    with page.repainted(2):
        page.keys("s")
    assert page.range(2) != moved
    assert [page.range(0), page.range(1)] == [moved, moved]
