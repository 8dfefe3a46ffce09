"""Which extra brings which optional dependency, and the command that installs it."""

from __future__ import annotations

from pathlib import Path

from ubviz.errors import MissingExtra

#: Module -> the extra of pyproject.toml that brings it.
EXTRA_OF = {
    "anywidget": "view",
    "ipywidgets": "view",
    "matplotlib": "view",
    "pandas": "view",
    "torch": "run",
    "jupyterlab": "lab",
}


def install_command(extra: str) -> str:
    """The pip command that brings an extra.

    From a checkout it installs the checkout again, with its pins; else the package by its name.
    """
    checkout = Path(__file__).resolve().parent.parent
    if not (checkout / "pyproject.toml").is_file():
        return f'python -m pip install "ubviz[{extra}]"'
    return f'python -m pip install -c "{checkout / "constraints.txt"}" -e "{checkout}[{extra}]"'


def explain(error: ModuleNotFoundError, who: str) -> ModuleNotFoundError | MissingExtra:
    """The same error, said with the install command where an extra would have brought the module."""
    module = (error.name or "").partition(".")[0]
    if module not in EXTRA_OF:
        return error
    return MissingExtra(f"{who} needs {module}, which is not installed: {install_command(EXTRA_OF[module])}")
