"""Buffers that a program calls by name are called so in what is found, in virtual time; the bytes stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ubviz import analyze
from ubviz.course import run


def program(rt: Any) -> None:
    one, other = rt.Stream("one"), rt.Stream("other")
    rt.launch("write", cls="compute", duration_ns=1000, writes=["x"], stream=one)
    rt.launch("read", cls="comm", duration_ns=1000, reads=["x"], writes=["y"], stream=other)


def test_a_race_names_the_buffer() -> None:
    trace = run(program)
    assert trace.meta["buffers"] == {"1": "x", "2": "y"}
    (race,) = [finding for finding in analyze(trace).findings if finding.kind == "race"]
    assert " x " in race.sentence
    assert "buffer 1" not in race.sentence


def test_a_name_that_is_free_again_names_both_buffers() -> None:
    def again(rt: Any) -> None:
        stream = rt.Stream("one")
        rt.launch("first", cls="compute", duration_ns=1000, writes=["x"], stream=stream)
        rt.buffer_numbers.free("x")
        rt.launch("second", cls="compute", duration_ns=1000, writes=["x"], stream=stream)

    assert run(again).meta["buffers"] == {"1": "x", "2": "x"}


def test_without_names_nothing_is_said() -> None:
    trace = run(lambda rt: rt.launch("alone", cls="compute", duration_ns=1000, stream=rt.Stream("one")))
    assert "buffers" not in trace.meta


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    for path in (first, second):
        run(program).save(path)
    assert first.read_bytes() == second.read_bytes()
