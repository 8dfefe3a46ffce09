"""``import ubviz`` is light: it brings none of the extras and starts no thread."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import ubviz
from ubviz.errors import MissingExtra
from ubviz.extras import install_command

EXTRAS = {"torch", "matplotlib", "pandas", "ipywidgets", "anywidget", "jupyterlab", "IPython"}


def fresh(code: str) -> str:
    """What a fresh Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("module", ["ubviz", "ubviz.cli", "ubviz.cli.doctor", "ubviz.cli.lab", "ubviz.trace"])
def test_import_brings_no_extra_and_no_thread(module: str) -> None:
    modules, threads = json.loads(
        fresh(
            f"import {module}, json, sys, threading\n"
            "print(json.dumps([list(sys.modules), threading.active_count()]))"
        )
    )
    assert EXTRAS.intersection(modules) == set()
    assert threads == 1


@pytest.mark.parametrize("name", sorted(ubviz._PUBLIC))
def test_every_public_name_is_there(name: str) -> None:
    assert name in dir(ubviz)
    assert name in ubviz.__all__
    assert getattr(ubviz, name) is getattr(ubviz, name)


def test_dir_shows_the_public_names_and_no_helper() -> None:
    shown = fresh("import ubviz; print(*[name for name in dir(ubviz) if name[0] != '_'])").split()
    assert shown == sorted(ubviz._PUBLIC)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'ubviz' has no attribute 'slice'$"):
        ubviz.slice  # noqa: B018


def test_a_missing_extra_names_its_install_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_module_that_draws.py").write_text("import matplotlib\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(ubviz._PUBLIC, "drawing", "a_module_that_draws:drawing")
    with pytest.raises(MissingExtra) as caught:
        ubviz.drawing  # noqa: B018
    command = install_command("view")
    assert str(caught.value) == f"ubviz.drawing needs matplotlib, which is not installed: {command}"


def test_a_missing_module_that_no_extra_brings_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ubviz._PUBLIC, "drawing", "ubviz.no_such_room:drawing")
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'ubviz\.no_such_room'$"):
        ubviz.drawing  # noqa: B018


def test_install_command_of_a_checkout_and_of_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ubviz.extras.__file__", str(tmp_path / "ubviz" / "extras.py"))
    assert install_command("run") == 'python -m pip install "ubviz[run]"'
    (tmp_path / "pyproject.toml").touch()
    pins = tmp_path.resolve() / "constraints.txt"
    assert install_command("run") == f'python -m pip install -c "{pins}" -e "{tmp_path.resolve()}[run]"'
