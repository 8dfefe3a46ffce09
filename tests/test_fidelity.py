"""Operation for operation as in vLLM: the mechanism against a second implementation, written from the documents."""

from __future__ import annotations

import ast
import threading
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import by_the_documents, faults
from tests.by_the_documents import operations
from tests.faults import Walk
from tests.small import recorded
from tests.stories import Story
from ubviz.recording import record
from ubviz.trace import Trace
from ubviz.ubatch import UBatchContext
from ubviz.ubatch.dbo import _on_context

CASES = list(product(("ht", "ll"), (2, 3, 4)))


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize(("style", "n"), CASES)
def test_the_engine_does_what_the_documents_say(style: str, n: int, layers: int) -> None:
    trace = recorded(style, n, layers)
    expected = operations(style, n, layers)
    assert {ubatch: operations_of(trace, ubatch) for ubatch in range(n)} == expected


@pytest.mark.parametrize(("style", "n"), CASES)
def test_so_does_a_model_of_a_few_lines(style: str, n: int) -> None:
    assert seen(Walk(style, n, 2)) == operations(style, n, 2)


def operations_of(trace: Trace, ubatch: int) -> list[str]:
    story: Any = SimpleNamespace(trace=trace)
    return Story.operations(story, ubatch)


def seen(walk: Walk) -> dict[int, list[str]]:
    with record(walk.rt) as recording:
        walk.call({})
    walk.rt.close()
    return {ubatch: operations_of(recording.trace, ubatch) for ubatch in range(walk.n)}


def test_the_second_implementation_stands_alone() -> None:
    tree = ast.parse(Path(by_the_documents.__file__).read_text(encoding="utf-8"))
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        )
    }
    assert imported == {"__future__", "threading", "collections.abc", "dataclasses"}


# ---- what the comparison notices


@pytest.mark.parametrize("rule", ["record after yield", "no clear at exit", "always set"])
def test_a_broken_reference_is_told_apart(rule: str) -> None:
    for style in ("ll", "ht"):  # the first rule is of ht, the last one of ll
        if operations(style, 2, 2, rule) != seen(Walk(style, 2, 2)):
            return
    raise AssertionError("nothing was noticed")


def record_after_yield(self: UBatchContext) -> None:
    self._cpu_yield()
    self._signal_compute_done()
    self.update_stream(self.comm_stream)
    self._wait_compute_done()


def no_clear(self: UBatchContext) -> None:
    self.cpu_wait_event.wait()
    self.woken = self._has_turn = True
    threading.Event.clear(self.cpu_wait_event)  # it goes down, but not by the operation


def no_wait(self: UBatchContext) -> None:
    self._signal_comm_done()
    self.update_stream(self.compute_stream)


def always_set(self: UBatchContext, stream: Any) -> None:
    self.current_stream = stream
    self.runtime.set_stream(stream)


@pytest.mark.parametrize(
    ("style", "name", "mutant"),
    [
        ("ht", "dbo_yield_and_switch_from_compute_to_comm", record_after_yield),
        ("ht", "dbo_switch_to_compute_sync", no_wait),
        ("ll", "dbo_maybe_run_recv_hook", lambda self: None),
        ("ll", "update_stream", always_set),
        ("ll", "_take_turn", no_clear),
    ],
)
def test_a_broken_mechanism_is_told_apart(
    style: str, name: str, mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name.startswith("dbo_"):
        monkeypatch.setattr(faults, name, _on_context(mutant))
    else:
        monkeypatch.setattr(UBatchContext, name, mutant)
    assert seen(Walk(style, 2, 2)) != operations(style, 2, 2)


def test_what_is_compared_is_not_empty() -> None:
    log = operations("ht", 3, 2)
    assert {len(lines) for lines in log.values()} == {4 + 2 * 23 + 2}
    assert log[2][:5] == [
        "barrier.arrive ready_barrier", "host_event.wait cpu_event[2]", "host_event.clear cpu_event[2]",
        "stream.switch compute", "event.record compute_done[2] compute",
    ]  # fmt: skip
    assert log[2][-2:] == ["host_event.set cpu_event[0]", "host_event.clear cpu_event[2]"]
