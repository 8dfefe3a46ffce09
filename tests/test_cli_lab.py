"""``ubviz lab``: the port it takes, and the settings that it lays below the user's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ubviz.cli import lab, main

NOTIFICATION = "@jupyterlab/apputils-extension:notification"


@pytest.mark.parametrize("port", ["-5", "0", "65536", "99999999", "9" * 5000, "8_8", "x"])
def test_a_port_that_is_none_is_one_line(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "--port", port]) == 2
    assert capsys.readouterr().err == (
        f"ubviz lab: argument --port: a port is a number from 1 to 65535, not '{port}' "
        "(see ubviz lab --help)\n"
    )


@pytest.mark.parametrize("port", [1, 65535])
def test_the_first_and_the_last_port_are_taken(port: int) -> None:
    assert lab.port_number(str(port)) == port


def test_jupyterlab_reads_our_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked of JupyterLab's own reader, which puts defaults of an administrator and ours together."""
    settings = pytest.importorskip("jupyterlab_server.settings_utils")
    system, ours = tmp_path / "system", tmp_path / "ours"
    ours.mkdir()
    (system / "labconfig").mkdir(parents=True)
    (system / "labconfig" / "default_setting_overrides.json").write_text('{"other": {"kept": true}}')
    environment = lab.with_defaults(ours, {"JUPYTER_CONFIG_PATH": str(system), "HOME": "home"})
    assert environment["HOME"] == "home"
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", environment["JUPYTER_CONFIG_PATH"])
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("JUPYTER_NO_CONFIG", raising=False)
    found, error = settings._get_overrides(str(tmp_path / "none"))
    assert error == ""
    assert found[NOTIFICATION] == {"fetchNews": "false", "checkForUpdates": False}
    assert found["other"] == {"kept": True}


def test_without_a_path_ours_is_the_only_one(tmp_path: Path) -> None:
    assert lab.with_defaults(tmp_path, {}) == {"JUPYTER_CONFIG_PATH": str(tmp_path)}


def test_the_server_gets_the_environment() -> None:
    check = "import os; raise SystemExit(os.environ['UBVIZ_TEST'] != 'here')"
    assert lab.serve([sys.executable, "-c", check], {**os.environ, "UBVIZ_TEST": "here"}) == 0
