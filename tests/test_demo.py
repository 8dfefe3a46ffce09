"""The demonstration and its command: verified outputs, all keys, files that load, exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from ubviz.cli import main
from ubviz.errors import BadArgument
from ubviz.exploration import Demo, demo
from ubviz.exploration.programs import requests
from ubviz.trace import KINDS, load

KEYS = {
    "runtime", "device", "ubatches", "layers", "tokens", "style", "outputs_equal", "max_abs_diff", "sequential_ns",
    "split_ns", "overlapped_ns", "speedup", "ideal_speedup", "overlap_ratio", "events", "findings", "files",
}  # fmt: skip
"""What the command's JSON holds by contract."""


@pytest.fixture(scope="module")
def small_demo() -> Demo:
    return demo(layers=1, tokens=48, steps=3)


@pytest.mark.parametrize("style", ["ht", "ll"])
@pytest.mark.parametrize("n", [2, 3])
def test_the_command(style: str, n: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (
        f"demo --json --layers 1 --tokens 48 --steps 2 --style {style} --ubatches {n} --out {tmp_path}"
    )
    assert main(arguments.split()) == 0
    printed = capsys.readouterr()
    numbers = json.loads(printed.out)
    assert set(numbers) >= KEYS
    assert numbers["outputs_equal"] is True
    assert numbers["max_abs_diff"] <= numbers["tolerance"]
    assert numbers["findings"] == []
    assert numbers["speedup"] == numbers["sequential_ns"] / numbers["overlapped_ns"]
    assert (numbers["overlap_ratio"] is None) == (style == "ll")
    assert numbers["events"]["ctx.yield"] == {"ht": 3, "ll": 2}[style] * n * 2
    assert set(numbers["events"]) <= set(KINDS)
    for name in ("unsplit", "split", "overlapped"):
        assert len(load(tmp_path / f"{name}.json.gz").steps) == 2
    assert [Path(file).name for file in numbers["files"]][3:] == [
        "overlapped.svg",
        "overlapped_logical.svg",
        "overlapped.html",
    ]
    assert all(Path(file).stat().st_size > 0 for file in numbers["files"])


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"demo --layers 1 --tokens 48 --steps 1 --out {tmp_path}".split()) == 0
    printed = capsys.readouterr()
    assert "speed-up" in printed.out
    assert "outputs equal: overlapped is split bitwise" in printed.out
    assert "no findings" in printed.out
    assert printed.err.splitlines()[1:] == [
        "running unsplit ...",
        "running split ...",
        "running overlapped ...",
        "recording one step of each ...",
    ]


def test_numbers_are_those_of_the_runs(small_demo: Demo) -> None:
    numbers = small_demo.numbers()
    assert numbers["sequential_ns"] == sorted(small_demo.unsplit.durations_ns)[1]
    found = small_demo.overlaps()
    assert len(found) == 3
    assert numbers["comm_busy_ns"] == sorted(o.comm_busy_ns for o in found)[1]
    assert small_demo.overlapped.median_step in small_demo.overlapped.trace.steps


def test_wrong_outputs_are_seen(small_demo: Demo) -> None:
    """A check that cannot fail is none: change the least bit of one number."""
    assert small_demo.outputs_equal
    hidden = small_demo.overlapped.hidden.clone()
    hidden[3, 5] = torch.nextafter(hidden[3, 5], torch.tensor(100.0))
    assert not replace(small_demo, overlapped=replace(small_demo.overlapped, hidden=hidden)).outputs_equal
    assert not replace(small_demo, unsplit=replace(small_demo.unsplit, sampled=(0, 0, 0))).outputs_equal
    assert not replace(small_demo, tolerance=-1.0).outputs_equal


def test_unequal_outputs_end_with_1(
    small_demo: Demo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ubviz.exploration.demo", lambda **_: replace(small_demo, tolerance=-1.0))
    assert main(["demo", "--out", str(tmp_path)]) == 1
    assert "outputs DIFFERENT" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--style xx", 'style is "ht" or "ll", not \'xx\''),
        ("--ubatches 1", "ubatches is at least 2, not 1"),
        ("--layers 0", "layers and steps are at least 1, not 0"),
        ("--tokens 9", "2 microbatches need at least 16 tokens, not 9"),
        ("--dtype int8", "dtype is float32 or bfloat16, not 'int8'"),
        ("--runtime mars", "there is no runtime 'mars'; this version has auto, host, cuda, virtual"),
    ],
)
def test_bad_arguments_are_one_line(
    option: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*f"demo --out {tmp_path / 'new'}".split(), *option.split()]) == 2
    assert capsys.readouterr().err.splitlines() == [f"ubviz: {sentence}"]
    assert list(tmp_path.iterdir()) == []


def test_view_draws_what_demo_wrote(
    small_demo: Demo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.json.gz"
    small_demo.overlapped.trace.save(path)
    for out, order in (("a.svg", "wall"), ("b.png", "logical")):
        assert main(["view", str(path), "--order", order, "--out", str(tmp_path / out)]) == 0
        assert (tmp_path / out).stat().st_size > 0
    assert str(tmp_path / "b.png") in capsys.readouterr().out
    assert main(["view", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err


def test_a_seed_makes_the_same_batch() -> None:
    assert requests("ht", 64, 16, 512, 7) == requests("ht", 64, 16, 512, 7)
    assert requests("ht", 64, 16, 512, 7) != requests("ht", 64, 16, 512, 8)
    with pytest.raises(BadArgument, match="a prefill needs at least 3 tokens, not 2"):
        requests("ht", 2, 16, 512, 0)
