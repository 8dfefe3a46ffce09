"""Same program, same costs: the same file, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.virtual_files import PROGRAMS, digest
from ubviz import get_runtime, load, record


def fresh(folder: Path, seed: int, count: int = 1) -> str:
    """What a new process prints under one hash seed."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.virtual_files", str(folder), str(count)],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )  # fmt: skip
    return done.stdout


def here(folder: Path) -> str:
    return "".join(f"{style} {n} {digest(style, n, folder)}\n" for style, n in PROGRAMS)


def test_the_same_file_in_one_process_and_in_fresh_ones(tmp_path: Path) -> None:
    expected = here(tmp_path)
    assert here(tmp_path) == expected
    assert [fresh(tmp_path, seed) for seed in (0, 1)] == [expected] * 2


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_hundred_runs_are_one_file(tmp_path: Path) -> None:
    assert {fresh(tmp_path, seed, count=20) for seed in range(10)} == {here(tmp_path)}


def test_a_virtual_file_holds_no_date_and_no_place(tmp_path: Path) -> None:
    digest("ht", 2, tmp_path)
    meta = load(tmp_path / "ht2.json").meta
    assert set(meta) == {"runtime", "device", "times", "base_ns", "snapshot", "threads", "sources", "path"}
    assert meta["base_ns"] == 0
    text = (tmp_path / "ht2.json").read_text(encoding="utf-8")
    for word in (str(Path.home()), sys.prefix, str(os.getpid())):
        assert f'"{word}' not in text


def test_other_costs_are_another_file(tmp_path: Path) -> None:
    traces = []
    for costs in ({"k": 1_000}, {"k": 1_000}, {"k": 1_001}):
        rt = get_runtime("virtual", costs=costs)
        stream = rt.Stream("s")
        with record(rt) as recording:
            rt.launch("k", stream=stream, host_wait=True)
        rt.close()
        traces.append(recording.trace)
    assert traces[0] == traces[1] != traces[2]
