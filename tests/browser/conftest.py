"""A browser for each module (the driver keeps an event loop running while it lives), and pages in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import chromium as found
from tests.browser.fake import Fake
from tests.browser.jupyter import Lab, Server
from tests.browser.watched import Watched

VIEWPORT = {"width": 1200, "height": 900}


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a browser; in CI there has to be one."""
    path = found.find()
    if path is None:
        missing = "no Chromium here: install it (apt-get install chromium) or set UBVIZ_CHROMIUM"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return path


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=found.ARGS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """As a reader's browser that has no network."""
    context = browser.new_context(viewport=VIEWPORT, offline=True, color_scheme="light")
    yield context
    context.close()


@pytest.fixture
def page(context: Any) -> Iterator[Watched]:
    """A page of files; at its end nothing was asked for and nothing went wrong."""
    watched = Watched(context)
    yield watched
    watched.clean()


@pytest.fixture
def fake(context: Any, tmp_path: Path) -> Iterator[Fake]:
    """A page with the widget, whose kernel is the test."""
    fake = Fake(context, tmp_path)
    yield fake
    fake.clean()


@pytest.fixture(scope="module")
def server(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab server with its own folders, and settings that ask nobody for news."""
    server = Server(tmp_path_factory.mktemp("jupyter"))
    yield server
    server.stop()


@pytest.fixture
def lab(server: Server, browser: Any) -> Iterator[Lab]:
    """JupyterLab in a page; its kernels end with it."""
    context = browser.new_context(viewport=VIEWPORT, color_scheme="light")
    lab = Lab(context, server)
    yield lab
    lab.shut_down()
    context.close()
    lab.clean()
