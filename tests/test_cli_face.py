"""The face of the ``ubviz`` command: what it accepts, and how it ends."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ubviz
from ubviz import cli
from ubviz.cli import doctor, lab
from ubviz.errors import UbvizError
from ubviz.extras import install_command

Ended = tuple[int, str, str]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Call the command in this process: (exit code, stdout, stderr)."""

    def called(*words: str) -> Ended:
        code = cli.main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return called


@pytest.fixture
def doctor_does(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Put something else in place of what ``ubviz doctor`` does."""

    def does(action: Any) -> None:
        def run(args: argparse.Namespace) -> int:
            if isinstance(action, BaseException):
                raise action
            return action

        monkeypatch.setattr(doctor, "run", run)

    return does


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "ubviz: the following arguments are required: COMMAND (see ubviz --help)\n"),
        (["doctor", "--loud"], "ubviz doctor: unrecognized arguments: --loud (see ubviz doctor --help)\n"),
        (["lab", "--port"], "ubviz lab: argument --port: expected one argument (see ubviz lab --help)\n"),
        (["lab", "--por", "1"], "ubviz lab: unrecognized arguments: --por 1 (see ubviz lab --help)\n"),
        (["lab", "two\nlines"], "ubviz lab: unrecognized arguments: two lines (see ubviz lab --help)\n"),
        (["demo", "extra"], "ubviz demo: unrecognized arguments: extra (see ubviz demo --help)\n"),
        (["--loud", "doctor"], "ubviz: unrecognized arguments: --loud (see ubviz --help)\n"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_2(
    call: Callable[..., Ended], words: list[str], line: str
) -> None:
    assert call(*words) == (2, "", line)


def test_an_unknown_command_is_one_line_that_names_the_known_ones(call: Callable[..., Ended]) -> None:
    code, out, err = call("draw")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("ubviz: argument COMMAND: invalid choice: 'draw' (choose from ")
    assert all(name in err for name in cli.COMMANDS)


def test_version(call: Callable[..., Ended]) -> None:
    assert call("--version") == (0, f"ubviz {ubviz.__version__}\n", "")


def test_help_has_a_line_for_every_command(call: Callable[..., Ended]) -> None:
    code, out, err = call("--help")
    assert (code, err) == (0, "")
    assert [name for name in cli.COMMANDS if not re.search(rf"^ +{name} +\w", out, re.MULTILINE)] == []


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(call: Callable[..., Ended], name: str) -> None:
    code, out, err = call(name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: ubviz {name} ")


@pytest.mark.parametrize(
    ("ending", "code", "line"),
    [
        (0, 0, ""),
        (1, 1, ""),
        (UbvizError("Lane 7 is not in the recording."), 2, "ubviz: Lane 7 is not in the recording.\n"),
        (UbvizError("RaceError: a\nraces with b."), 2, "ubviz: RaceError: a races with b.\n"),
        (KeyboardInterrupt(), 130, "ubviz: interrupted\n"),
        (FileNotFoundError(2, "No such file", "run.json"), 2, "ubviz: run.json: No such file\n"),
        (
            ModuleNotFoundError("No module named 'torch'", name="torch"),
            2,
            f"ubviz: this command needs torch, which is not installed: {install_command('run')}\n",
        ),
    ],
)
def test_how_a_command_ends(
    call: Callable[..., Ended], doctor_does: Callable[[Any], None], ending: Any, code: int, line: str
) -> None:
    doctor_does(ending)
    assert call("doctor") == (code, "", line)


@pytest.mark.parametrize(
    "defect", [ZeroDivisionError("x"), OSError("no file"), ModuleNotFoundError("y", name="y")]
)
def test_a_defect_of_ours_is_not_dressed_up(
    call: Callable[..., Ended], doctor_does: Callable[[Any], None], defect: Exception
) -> None:
    doctor_does(defect)
    with pytest.raises(type(defect)):
        call("doctor")


def test_as_a_process_bad_arguments_are_one_line() -> None:
    words = ["-m", "ubviz", "lab", "--port", "x"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "ubviz lab: argument --port: a port is a number from 1 to 65535, not 'x' (see ubviz lab --help)\n"
    )


def test_a_reader_that_stops_reading_is_no_error() -> None:
    script = "import sys; sys.stdin.read(); from ubviz.cli import main; raise SystemExit(main(['--help']))"
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    process.stdin.close()
    with process.stderr as stderr:
        assert stderr.read() == ""
    assert process.wait() == 0


def test_doctor_on_this_machine(call: Callable[..., Ended]) -> None:
    code, out, err = call("doctor")
    assert (code, err) == (0, "")
    rows = dict(re.findall(r"^(\S+(?: \S+)*)  +(.+)$", out, re.MULTILINE))
    assert rows["Python"] == sys.version.split()[0]
    assert rows["runtime host"] == "yes"
    assert out == call("doctor")[1]


def test_doctor_on_the_bare_install(call: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("torch", "matplotlib", "anywidget", "ipywidgets", "pandas", "jupyterlab"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(doctor, "machine", lambda: [doctor.Row("Python", "3.11.7")])
    monkeypatch.setattr(doctor, "cuda_runtime", lambda why: doctor.Row("runtime cuda", f"no: {why}"))
    versions = {"numpy": "2.4.6", "msgspec": "0.23.0"}
    monkeypatch.setattr("ubviz.cli.doctor.metadata.version", versions.__getitem__)
    monkeypatch.setattr(doctor, "install_command", lambda extra: f'python -m pip install "ubviz[{extra}]"')
    code, out, err = call("doctor")
    assert (code, err) == (0, "")
    assert out == (
        f"ubviz {ubviz.__version__}\n"
        "Python        3.11.7\n"
        "numpy         2.4.6\n"
        "msgspec       0.23.0\n"
        "anywidget     not installed\n"
        "ipywidgets    not installed\n"
        "matplotlib    not installed\n"
        "pandas        not installed\n"
        "torch         not installed\n"
        "jupyterlab    not installed\n"
        "CUDA devices  none: torch is not installed\n"
        "runtime host  no: torch is not installed\n"
        "runtime cuda  no: torch is not installed\n"
        "\n"
        "To get what is missing:\n"
        'view          python -m pip install "ubviz[view]"\n'
        'run           python -m pip install "ubviz[run]"\n'
        'lab           python -m pip install "ubviz[lab]"\n'
    )


def torch_with(*, cuda: str | None, devices: tuple[str, ...] = (), failure: str = "") -> SimpleNamespace:
    def init() -> None:
        if failure:
            raise RuntimeError(failure)

    return SimpleNamespace(
        version=SimpleNamespace(cuda=cuda),
        cuda=SimpleNamespace(
            is_available=lambda: bool(devices),
            device_count=lambda: len(devices),
            get_device_name=devices.__getitem__,
            init=init,
        ),
    )


@pytest.mark.parametrize(
    ("torch", "said"),
    [
        (torch_with(cuda="13.0", devices=("H200", "H200")), (["H200", "H200"], "")),
        (torch_with(cuda=None), ([], "this torch is built without CUDA")),
        (torch_with(cuda="13.0", failure="No driver.\nGet one."), ([], "No driver.")),
        (torch_with(cuda="13.0"), ([], "torch for CUDA 13.0 sees no device")),
    ],
)
def test_doctor_says_why_there_is_no_cuda_device(torch: Any, said: tuple[list[str], str]) -> None:
    assert doctor.cuda(torch) == said


@pytest.mark.parametrize("version, here", [("2.6.0", "yes"), ("2.13.0+cpu", "yes"), ("3.0.0a0", "yes")])
def test_doctor_accepts_a_torch_that_is_new_enough(version: str, here: str) -> None:
    assert doctor.host_runtime(version) == doctor.Row("runtime host", here)


def test_doctor_refuses_a_torch_that_is_too_old() -> None:
    row = doctor.Row("runtime host", "no: torch 2.5.1 is older than 2.6", "run")
    assert doctor.host_runtime("2.5.1") == row


def test_lab_without_jupyterlab(call: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    assert call("lab") == (2, "", f"ubviz: JupyterLab is not installed: {install_command('lab')}\n")


def test_lab_without_the_notebooks(
    call: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("ubviz.cli.lab.find_spec", lambda name: object())
    monkeypatch.setattr(ubviz, "__file__", str(tmp_path / "ubviz" / "__init__.py"))
    assert call("lab") == (
        2,
        "",
        "ubviz: The course is not part of the installed package: get the ubviz source and run "
        "`make lab` there, which opens notebooks/00_the_whole_game.ipynb.\n",
    )


def test_lab_opens_the_first_notebook_with_the_options(
    call: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = tmp_path.resolve() / "notebooks" / "00_the_whole_game.ipynb"
    first.parent.mkdir()
    first.touch()
    started: list[list[str]] = []
    monkeypatch.setattr("ubviz.cli.lab.find_spec", lambda name: object())
    monkeypatch.setattr(ubviz, "__file__", str(tmp_path / "ubviz" / "__init__.py"))
    monkeypatch.setattr(lab, "serve", lambda words, environment: started.append(words) or 0)
    assert call("lab", "--no-browser", "--port", "9001") == (0, "", "")
    assert started[0][1:4] == ["-m", "jupyterlab", str(first)]
    assert "--LabApp.default_url=/lab/tree/00_the_whole_game.ipynb" in started[0]
    assert started[0][-2:] == ["--no-browser", "--port=9001"]


def test_lab_whose_server_fails_says_so() -> None:
    with pytest.raises(
        UbvizError, match=r"^JupyterLab ended with exit code 3; its last lines above say why\.$"
    ):
        lab.serve([sys.executable, "-c", "raise SystemExit(3)"])


def test_lab_whose_server_is_ended_by_its_own_menu_is_done() -> None:
    assert lab.serve([sys.executable, "-c", ""]) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_lab_waits_for_its_server_after_a_signal_and_returns_130(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    signal_us = f"import os; os.kill({os.getpid()}, {number.value})"
    assert lab.serve([sys.executable, "-c", signal_us]) == 130
    assert signal.getsignal(number) is before


def test_lab_hands_a_request_to_terminate_on_to_its_server() -> None:
    stay = f"import os, signal; os.kill({os.getpid()}, {signal.SIGTERM.value}); signal.pause()"
    assert lab.serve([sys.executable, "-c", stay]) == 130
