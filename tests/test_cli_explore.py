"""``ubviz explore``: what it prints, and how it ends."""

from __future__ import annotations

import json

import pytest

from ubviz.cli import main


def called(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["explore", *words])
    return code, capsys.readouterr().out


def test_the_command_prints_what_it_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = called(capsys, "--count", "--json")
    numbers = json.loads(out)
    assert code == 0
    assert (numbers["exhaustive"], numbers["interleavings"], numbers["findings"]) == (True, 1_890, [])
    assert {"executions", "pruned"} <= numbers.keys()


def test_the_command_says_how_to_see_a_finding_again(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = called(capsys, "--variant", "clear_before_wait")
    again = out.splitlines()[-1].split()
    assert code == 1
    assert again[:4] == ["ubviz", "explore", "--variant", "clear_before_wait"]
    code, out = called(capsys, *again[2:])
    assert code == 1
    assert "lost_wakeup" in out


def test_the_command_refuses_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ("--variant x", "--replay 1y", "--mode bfs", "--ubatches 99", "--replay 0x9.7"):
        assert main(["explore", *words.split()]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("ubviz: ")


def test_the_command_names_the_variants(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = called(capsys, "--list")
    assert (code, len(out.splitlines())) == (0, 20)
