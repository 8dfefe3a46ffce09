"""``ubviz lab``: JupyterLab on the course.

The user's own settings are neither read here nor changed: what the course wants is put below them, as defaults.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from urllib.parse import quote

import ubviz
from ubviz.errors import MissingExtra, UbvizError
from ubviz.extras import install_command

FIRST = "00_the_whole_game.ipynb"

#: Defaults of JupyterLab's settings for the course: it does not ask whether to fetch news, and fetches none.
#: (LabApp.news_url=None takes the news away, but not the question.)
DEFAULTS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-browser", action="store_true", help="print the address; open no browser")
    parser.add_argument(
        "--port", type=port_number, metavar="N", help="where to listen (default: 8888, or the next free)"
    )


def port_number(text: str) -> int:
    """A port that a server can listen on.

    >>> port_number("8888")
    8888
    """
    if not (text.isdecimal() and len(text) <= 5 and 1 <= int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    if find_spec("jupyterlab") is None:
        raise MissingExtra(f"JupyterLab is not installed: {install_command('lab')}")
    words = command(first_notebook(), no_browser=args.no_browser, port=args.port)
    with tempfile.TemporaryDirectory(prefix="ubviz-lab-") as folder:
        return serve(words, with_defaults(Path(folder), os.environ))


def with_defaults(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Write ``DEFAULTS`` into a folder, and put it on the path where Jupyter looks for configuration.

    A file in ``labconfig`` adds to what an administrator has set; ``LabApp.app_settings_dir`` would replace it.
    """
    file = folder / "labconfig" / "default_setting_overrides.json"
    file.parent.mkdir()
    file.write_text(json.dumps(DEFAULTS), encoding="utf-8")
    before = environment.get("JUPYTER_CONFIG_PATH")
    path = os.pathsep.join([str(folder), before] if before else [str(folder)])
    return {**environment, "JUPYTER_CONFIG_PATH": path}


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
    # The address that is printed, too, opens the notebook and not the Launcher.
    words.append(f"--LabApp.default_url=/lab/tree/{quote(notebook.name)}")
    # Nothing but the course: no news from the network, no question about updates.
    words += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container; JupyterLab asks for the word
        words.append("--allow-root")
    if no_browser:
        words.append("--no-browser")
    if port is not None:
        words.append(f"--port={port}")
    return words


def serve(words: list[str], environment: Mapping[str, str] | None = None) -> int:
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
        process = subprocess.Popen(words, env=environment)
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        return 130
    if code:
        raise UbvizError(f"JupyterLab ended with exit code {code}; its last lines above say why.")
    return 0
