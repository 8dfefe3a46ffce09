"""``ubviz compare``: what it says of two recordings, what it writes, and what it refuses in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

import ubviz
from tests.traces import Traces
from ubviz.cli import compare, main
from ubviz.exploration.lab_programs import simulate

SAYS = """\
right (step 0) above wrong (step 0) on one axis of time, aligned by microbatch, layer and operation: makespan 1.24 ms \
and 1.84 ms, wrong is 1.49 times as long. 16 operations in both.

                         right    wrong  difference
makespan               1.24 ms  1.84 ms     +602 µs
compute busy              1 ms     1 ms           0
communication busy      760 µs   760 µs           0
overlap                 665 µs    95 µs     -570 µs
exposed communication    95 µs   665 µs     +570 µs
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    simulate(ubatches=2, layers=2).save(folder / "right.json")
    simulate(ubatches=2, layers=2, variant="record_after_yield").save(folder / "wrong.json.gz")
    simulate(ubatches=1, layers=2).save(folder / "unsplit.json")
    return folder


def run(files: Path, a: str, b: str, *more: str) -> int:
    return main(["compare", str(files / a), str(files / b), *more])


def test_it_says_both_numbers_and_the_difference(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "right.json", "wrong.json.gz") == 0
    assert capsys.readouterr() == (SAYS, "")


def test_operations_that_differ_are_listed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "unsplit.json", "right.json") == 0
    out = capsys.readouterr().out
    assert "aligned by layer and operation" in out
    assert "experts, layer 0" in out
    assert run(files, "unsplit.json", "right.json", "--align", "name") == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize(
    ("name", "begins"), [("x.html", b"<!doctype html>"), ("x.png", b"\x89PNG"), ("x.svg", b"<")]
)
def test_it_writes_what_the_name_says(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, begins: bytes
) -> None:
    out = tmp_path / name
    assert run(files, "right.json", "wrong.json.gz", "--out", str(out)) == 0
    assert out.read_bytes().startswith(begins)
    assert capsys.readouterr().out == f"{SAYS}\n{out}\n"


def test_nothing_aligned_says_why(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "unsplit.json", "right.json", "--align", "ubatch") == 2
    assert capsys.readouterr().err == (
        "ubviz: nothing could be aligned: no operation of 'unsplit' has the microbatch of one in 'right' ('unsplit' "
        "ran no microbatches; 'right' ran microbatches 0, 1); align=\"name\" leaves the microbatch out\n"
    )


@pytest.mark.parametrize("steps", ["3", "3:5", "a,b", "-1,2", "1,2,3", ""])
def test_steps_that_are_none_are_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    assert run(files, "right.json", "wrong.json.gz", f"--steps={steps}") == 2
    assert capsys.readouterr().err == (
        f"ubviz compare: argument --steps: steps are I,J, one of each recording, as in 3,5, not '{steps}' "
        "(see ubviz compare --help)\n"
    )


def test_a_step_that_there_is_not(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "right.json", "wrong.json.gz", "--steps", "0,7") == 2
    assert capsys.readouterr().err == "ubviz: wrong: this recording has no step 7; it has 0\n"


def test_a_recording_without_kernels(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t = Traces()
    t.thread("main").step_begin(0)
    t.finish().save(tmp_path / "empty.json")
    assert main(["compare", str(tmp_path / "empty.json"), str(files / "right.json")]) == 2
    err = capsys.readouterr().err
    assert err.startswith("ubviz: empty: ")
    assert err.count("\n") == 1


def test_names_are_those_of_the_files_where_they_tell_them_apart() -> None:
    assert compare.names_of(Path("x/run.json"), Path("y/run.json.gz")) is None
    assert compare.names_of(Path("x/.json"), Path("y/run.json")) is None


def test_a_name_of_two_lines_stays_on_one(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = tmp_path / "two\nlines.json"
    odd.write_bytes((files / "right.json").read_bytes())
    assert main(["compare", str(odd), str(files / "wrong.json.gz")]) == 0
    assert capsys.readouterr().out.startswith("two lines (step 0) above wrong (step 0)")


def test_a_file_that_is_not_there_is_named(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "right.json", "none.json") == 2
    assert "none.json" in capsys.readouterr().err


def test_the_public_name() -> None:
    assert ubviz.Compare.__module__ == "ubviz.view.compare"
