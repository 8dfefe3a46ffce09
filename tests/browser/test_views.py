"""What every view has to do, whatever it shows: follow the theme of VS Code, whose media query always says light."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.watched import Watched
from tests.test_notebook_faults import VIEWS


@pytest.mark.parametrize("name", VIEWS)
def test_it_follows_a_theme_that_the_media_query_does_not_know(
    page: Watched, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "view.html"
    VIEWS[name]().to_html(path)
    page.page.goto(path.as_uri())
    root = page.page.locator(".ubviz[data-ubviz-first]")
    root.wait_for()
    assert page.page.evaluate("matchMedia('(prefers-color-scheme: light)').matches")
    ground = "(element) => getComputedStyle(element).backgroundColor"
    light = root.evaluate(ground)
    page.page.evaluate("() => { document.body.dataset.vscodeThemeKind = 'vscode-dark'; }")
    page.page.wait_for_selector(".ubviz[data-ubviz-theme=dark]")
    assert root.evaluate(ground) != light
