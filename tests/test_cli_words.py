"""What ``ubviz demo`` prints, and the window of ``ubviz view``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.drawn import drawn
from ubviz.cli import main
from ubviz.cli.demo import table
from ubviz.cli.view import milliseconds, window_of
from ubviz.errors import BadArgument
from ubviz.exploration.demo import Demo, demo


@pytest.fixture(scope="module")
def ran() -> Demo:
    return demo(layers=1, tokens=48, steps=1)


@pytest.fixture
def numbers(ran: Demo) -> dict[str, Any]:
    return {**ran.numbers(), "files": ["out/run.json.gz", "out/run.svg"], "pictured_step": 7}


def test_one_is_singular(numbers: dict[str, Any]) -> None:
    said = table(numbers)
    assert "2 microbatches, 1 layer, 48 tokens, style ht" in said
    assert said.splitlines()[1].endswith("; one step")
    finding = {"severity": "warning", "sentence": "Something."}
    assert " kinds; 1 finding\n" in table({**numbers, "findings": [finding]})


def test_more_are_plural(numbers: dict[str, Any]) -> None:
    said = table({**numbers, "layers": 2, "steps": 3})
    assert "2 microbatches, 2 layers, 48 tokens, style ht" in said
    assert said.splitlines()[1].endswith("; medians of 3 steps")


def test_the_pictures_say_their_step(numbers: dict[str, Any]) -> None:
    assert table(numbers).splitlines()[-2:] == ["  out/run.json.gz", "  out/run.svg  (step 7)"]


def test_at_best_is_said_only_where_it_is_a_bound(numbers: dict[str, Any]) -> None:
    best = f", at best {numbers['ideal_speedup']:.2f}"
    assert best in table({**numbers, "overlap_ratio": 0.5})
    assert "at best" not in table({**numbers, "overlap_ratio": None})


@pytest.mark.parametrize("dtype, warned", [("bfloat16", True), ("float32", False)])
def test_bfloat16_is_said_to_be_slow_before_it_runs(
    ran: Demo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    dtype: str, warned: bool,
) -> None:  # fmt: skip
    said: list[str] = []

    def pretend(**options: Any) -> Demo:
        said.append(capsys.readouterr().err)
        return ran

    monkeypatch.setattr("ubviz.exploration.demo", pretend)
    assert main(["demo", "--dtype", dtype, "--out", str(tmp_path)]) == 0
    assert said == ["bfloat16 is slow on most CPUs: a step may take ten seconds\n" if warned else ""]


@pytest.mark.parametrize(
    ("text", "window_ns"), [("0:1", (0, 1_000_000)), ("0.5:12.25", (500_000, 12_250_000))]
)
def test_a_window_is_in_milliseconds(text: str, window_ns: tuple[int, int]) -> None:
    assert milliseconds(text) == window_ns


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1", "a window is A:B in milliseconds, as in 0:12.5, not '1'"),
        ("1:", "a window is A:B in milliseconds, as in 0:12.5, not '1:'"),
        ("nan:inf", "a window is A:B in milliseconds, as in 0:12.5, not 'nan:inf'"),
        ("2:1", "a window ends after it begins, which '2:1' does not"),
        ("2:2.0", "a window ends after it begins, which '2:2.0' does not"),
    ],
)
def test_a_window_that_is_none_is_one_line(text: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "run.json", "--window", text]) == 2
    assert capsys.readouterr().err == f"ubviz view: argument --window: {why} (see ubviz view --help)\n"


def test_a_window_counts_from_the_beginning_of_its_step() -> None:
    trace = drawn(layers=1, steps=3)
    begins = int(trace.events["t_ns"][trace.events["step"] == 1].min())
    assert window_of(trace, 1, (5_000, 90_000)) == (begins + 5_000, begins + 90_000)


def test_a_window_after_its_step_is_refused() -> None:
    with pytest.raises(BadArgument, match=r"^the window begins at 900 ms, but step 1 lasts [0-9.]+ ms$"):
        window_of(drawn(layers=1, steps=3), 1, (900_000_000, 901_000_000))


@pytest.mark.parametrize("order", ["wall", "logical"])
def test_view_draws_a_window(order: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.json.gz"
    drawn(layers=1, steps=3).save(file)
    whole, part = tmp_path / "whole.svg", tmp_path / "part.svg"
    assert main(["view", str(file), "--order", order, "--out", str(whole)]) == 0
    assert main(["view", str(file), "--order", order, "--window", "0:0.1", "--out", str(part)]) == 0
    assert part.stat().st_size < whole.stat().st_size
    assert capsys.readouterr().err == ""


def test_view_writes_a_page_unless_a_picture_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    trace = drawn(layers=1, steps=3)
    trace.save("run.json.gz")
    assert main(["view", "run.json.gz"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(
        "Timeline of step 2 on the lanes main, ubatch 0, ubatch 1, compute, comm: makespan "
    )
    assert said[1:] == ["run.html"]
    assert 'id="ubviz-head-0"' in Path("run.html").read_text(encoding="utf-8")


def test_view_keeps_the_steps_that_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.json.gz"
    drawn(layers=1, steps=3).save(file)
    assert main(["view", str(file), "--steps", "0:1", "--out", str(tmp_path / "a.html")]) == 0
    assert capsys.readouterr().out.startswith("Timeline of step 1 on the lanes ")
    assert main(["view", str(file), "--steps", "7:9", "--out", str(tmp_path / "b.html")]) == 2
    assert capsys.readouterr().err == "ubviz: --steps 7:9: this recording has the steps 0 to 2\n"
    assert not (tmp_path / "b.html").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("3", "steps are A:B, the first and the last, as in 3:5, not '3'"),
        ("a:b", "steps are A:B, the first and the last, as in 3:5, not 'a:b'"),
        ("5:3", "the last step does not come before the first, as in '5:3'"),
    ],
)
def test_steps_that_are_none_are_one_line(text: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "run.json", "--steps", text]) == 2
    assert capsys.readouterr().err == f"ubviz view: argument --steps: {why} (see ubviz view --help)\n"
