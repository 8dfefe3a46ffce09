"""Boxes of ipywidgets with views in them, as a notebook shows them: what is published, and what is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets as w
import pytest

import ubviz
from ubviz.view import boxes

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    import IPython.display

    found: list[dict[str, Any]] = []
    monkeypatch.setattr(
        IPython.display, "publish_display_data", lambda data, metadata=None: found.append(data)
    )
    return found


@pytest.fixture
def shell() -> Iterator[Any]:
    from IPython.core.interactiveshell import InteractiveShell

    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def timeline() -> ubviz.Timeline:
    return ubviz.Timeline(ubviz.example("whole_game_overlapped"))


def test_a_box_is_followed_by_what_stands_in_for_each_view_in_it(published: list[dict[str, Any]]) -> None:
    first, second = timeline(), ubviz.Lab()
    boxes.show(w.VBox([w.IntSlider(), w.HBox([first, second]), first]))
    assert [next(iter(data)) for data in published] == [
        "text/plain",
        "image/png",
        "text/html",
        "image/png",
        "text/html",
    ]
    assert VIEW in published[0]
    assert [published[at]["text/plain"] for at in (2, 4)] == [first._still().words, second.alt]


def test_a_box_without_views_is_ipywidgets_own(published: list[dict[str, Any]]) -> None:
    with pytest.raises(NotImplementedError):
        boxes.show(w.Tab([w.VBox([w.IntSlider()])]))
    assert published == []


def test_a_notebook_shows_boxes_by_our_rule_once_it_has_a_view(
    published: list[dict[str, Any]], shell: Any
) -> None:
    formatter = shell.display_formatter
    formatter.ipython_display_formatter.type_printers.pop(w.Box, None)
    view = timeline()
    assert formatter.format(w.HBox([view])) == ({}, {})
    assert len(published) == 3
    data, _ = formatter.format(w.HBox([w.IntSlider()]))
    assert VIEW in data
    assert len(published) == 3


def test_a_rule_of_the_notebooks_own_stays(shell: Any) -> None:
    known = shell.display_formatter.ipython_display_formatter.type_printers
    own = known[w.Box] = lambda box: None
    timeline()
    assert known.pop(w.Box) is own
