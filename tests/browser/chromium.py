"""Which browser the tests drive, and how it is started. Imports nothing that an extra brings."""

from __future__ import annotations

import os
from shutil import which

NAMES = ("chromium", "google-chrome", "chromium-browser")

ARGS = [
    "--headless=new",
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-dev-shm-usage",  # a container's /dev/shm is small
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",  # a pixel has the colour that was asked for
    "--hide-scrollbars",
]


def find() -> str | None:
    """The path of Chromium or Chrome; the environment variable UBVIZ_CHROMIUM goes first."""
    return os.environ.get("UBVIZ_CHROMIUM") or next(filter(None, map(which, NAMES)), None)
