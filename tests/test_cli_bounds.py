"""Sizes, folders and outputs that cannot be used: one line and exit 2, before anything is run."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ubviz.cli import main
from ubviz.cli.demo import make_folder
from ubviz.exploration.demo import Options

FULL = Path("/dev/full")
DEMO = ("demo", "--json", "--layers", "1", "--tokens", "48", "--steps", "1", "--out")


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The one line of a command that runs no demonstration."""

    def no_run(**options: object) -> None:
        pytest.fail("the demonstration was run")

    def line(*words: str) -> str:
        monkeypatch.setattr("ubviz.exploration.demo", no_run)
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        return err.removeprefix("ubviz: ").rstrip("\n")

    return line


@pytest.mark.parametrize(
    ("option", "value", "line"),
    [
        ("--seed", "9" * 24, f"seed is from 0 to 2**63 - 1, not {'9' * 24}"),
        ("--seed", "-1", "seed is from 0 to 2**63 - 1, not -1"),
        ("--tokens", "99999999999", "tokens is at most 32,768 in style ht, not 99,999,999,999"),
        ("--ubatches", "65", "ubatches is at most 64, not 65"),
        ("--layers", "129", "layers is at most 128, not 129"),
        ("--steps", "1001", "steps is at most 1,000, not 1,001"),
    ],
)
def test_a_size_out_of_bounds_is_one_line(refused, option: str, value: str, line: str) -> None:
    assert refused("demo", option, value) == line


def test_a_decode_has_a_bound_of_its_own(refused) -> None:
    line = refused("demo", "--style", "ll", "--tokens", "4097")
    assert line == "tokens is at most 4,096 in style ll, not 4,097"


def test_the_bounds_themselves_are_accepted() -> None:
    assert Options(ubatches=64, layers=128, steps=1000, tokens=32_768, seed=2**63 - 1).num_tokens == 32_768
    assert Options(style="ll", tokens=4_096, seed=0).num_tokens == 4_096


def test_a_file_is_no_folder(refused, tmp_path: Path) -> None:
    file = tmp_path / "afile"
    file.touch()
    assert refused("demo", "--out", str(file)) == f"--out {file}: {file} is not a folder"
    below = file / "new" / "one"
    assert refused("demo", "--out", str(below)) == f"--out {below}: {file} is not a folder"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
def test_a_folder_that_takes_no_file(refused) -> None:
    assert refused("demo", "--out", "/proc/self").startswith(
        "--out /proc/self: no file can be written there: "
    )


def test_a_folder_without_permission(refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shut(**_: object) -> None:  # root may write anywhere, so the answer of the system is played
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", shut)
    for out in (tmp_path, tmp_path / "new"):
        line = refused("demo", "--out", str(out))
        assert line == f"--out {out}: no file can be written there: Permission denied"


def test_the_attempt_to_write_leaves_nothing(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize("words", [("doctor",), DEMO], ids=["doctor", "demo"])
def test_an_output_that_is_full_is_one_line(words: tuple[str, ...], tmp_path: Path) -> None:
    out = (str(tmp_path),) if "--out" in words else ()
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ubviz", *words, *out], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if not line.endswith(" ...")]
    assert said == ["ubviz: cannot write: No space left on device"]


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_an_output_that_is_closed_is_no_error() -> None:
    words = ["sh", "-c", 'exec "$0" -m ubviz doctor >&-', sys.executable]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
