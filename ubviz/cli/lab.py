"""``ubviz lab``: JupyterLab on the course."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

import ubviz
from ubviz.errors import MissingExtra, UbvizError
from ubviz.extras import install_command

FIRST = "00_the_whole_game.ipynb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-browser", action="store_true", help="print the address; open no browser")
    parser.add_argument(
        "--port", type=int, metavar="N", help="where to listen (default: 8888, or the next free)"
    )


def run(args: argparse.Namespace) -> int:
    if find_spec("jupyterlab") is None:
        raise MissingExtra(f"JupyterLab is not installed: {install_command('lab')}")
    return serve(command(first_notebook(), no_browser=args.no_browser, port=args.port))


def first_notebook() -> Path:
    """The notebook to open; it lies in the source tree, not in the installed package."""
    notebook = Path(ubviz.__file__).resolve().parent.parent / "notebooks" / FIRST
    if not notebook.is_file():
        raise UbvizError(
            "The course is not part of the installed package: get the ubviz source and run `make lab` there, "
            f"which opens notebooks/{FIRST}."
        )
    return notebook


def command(notebook: Path, *, no_browser: bool, port: int | None) -> list[str]:
    words = [sys.executable, "-m", "jupyterlab", str(notebook)]
    # Nothing but the course: no news from the network, no question about updates.
    words += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container; JupyterLab asks for the word
        words.append("--allow-root")
    if no_browser:
        words.append("--no-browser")
    if port is not None:
        words.append(f"--port={port}")
    return words


def serve(words: list[str]) -> int:
    """Run the server until it ends, and leave none behind.

    Ctrl-C reaches the server too, which asks and decides when to go; a request to terminate is handed on.
    """
    received: set[int] = set()

    def note(number: int, frame: FrameType | None) -> None:
        received.add(number)
        if number == signal.SIGTERM:
            process.terminate()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        process = subprocess.Popen(words)
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        return 130
    if code:
        raise UbvizError(f"JupyterLab ended with exit code {code}; its last lines above say why.")
    return 0
