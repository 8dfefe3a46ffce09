"""Sleep sets miss nothing: small programs, drawn at random, end in the ways that plain search finds; bugs too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ubviz import explore
from ubviz.exploration.execution import Execution
from ubviz.exploration.search import DepthFirst
from ubviz.exploration.variants import program_of
from ubviz.runtime.schedule import ALL, SYNC

OPERATIONS = [
    ("set", 0), ("set", 1), ("clear", 0), ("clear", 1), ("wait", 0), ("wait", 1), ("look", 0), ("arrive", 0),
    ("arrive", 0), ("abort", 0), ("reset", 0), ("launch", 0), ("launch", 1), ("record", 0), ("await", 1),
]  # fmt: skip
Threads = list[list[tuple[str, int]]]


class Small:
    """A program of two or three threads with a few operations each."""

    def __init__(self, threads: Threads, up: list[bool], parties: int, visible: frozenset[str]) -> None:
        self.threads, self.up, self.parties, self.visible = threads, up, parties, visible
        self.outcome: dict[str, Any] = {}

    def __call__(self, rt: Any) -> None:
        events = [rt.HostEvent(f"flag {i}") for i in range(2)]
        barrier = rt.Barrier(self.parties, "barrier")
        streams, done = [rt.Stream("a"), rt.Stream("b")], rt.Event("done")
        for event, up in zip(events, self.up, strict=True):
            if up:
                event.set()
        log: dict[str, list[Any]] = {name: [] for name in ("a", "b", "0", "1", "2")}
        self.outcome = {"log": log, "events": events, "barrier": barrier}

        def body(me: int) -> None:
            for what, i in self.threads[me]:
                if what in ("set", "clear", "wait"):
                    getattr(events[i], what)()
                elif what == "look":
                    log[str(me)].append(events[i].is_set())
                elif what in ("abort", "reset"):
                    getattr(barrier, what)()
                elif what == "arrive":
                    barrier.wait()  # the number that it returns is the one thing by which arrivals differ
                elif what == "launch":
                    rt.launch("kernel", log["ab"[i]].append, me, stream=streams[i])
                elif what == "record":
                    done.record(streams[i])
                else:
                    streams[i].wait_event(done)
                    log[str(me)].append(done.state())  # the record that it is bound to

        threads = [rt.Thread(body, (i,), f"t{i}") for i in range(len(self.threads))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def end(self, execution: Execution) -> Any:
        """What somebody outside can tell of how it ended."""
        barrier = self.outcome["barrier"]
        return (
            execution.stuck,
            tuple(sorted((thread, type(error).__name__) for thread, error in execution.raised)),
            tuple(event.state() for event in self.outcome["events"]) if execution.deadlock is None else None,
            (barrier.broken, str(barrier.state())) if execution.deadlock is None else None,
            str(self.outcome["log"]) if execution.deadlock is None else None,
        )


def outcomes(program: Small, reduced: bool, most: int = 300) -> set[Any] | None:
    """All ways in which it ends; None when there are too many executions."""
    search, found = DepthFirst(program, reduced=reduced), set()
    for number, execution in enumerate(search.executions()):
        if not execution.dropped:
            found.add(program.end(execution))
        if number > most:
            return None
    return found


@st.composite
def small_programs(draw: st.DrawFn) -> Small:
    count = draw(st.integers(2, 3))
    operations = st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=4 if count == 2 else 2)
    return Small(
        [draw(operations) for _ in range(count)],
        [draw(st.booleans()), draw(st.booleans())],
        draw(st.integers(2, 3)),
        draw(st.sampled_from([ALL, SYNC | {"host_event.is_set"}])),
    )


def same_outcomes(program: Small) -> None:
    on_streams = any(what in ("launch", "record", "await") for ops in program.threads for what, _ in ops)
    if on_streams:
        program.visible = ALL  # else the order on a stream is no choice
    plain = outcomes(program, reduced=False)
    if plain is not None:
        assert outcomes(program, reduced=True) == plain


@given(small_programs())
@settings(max_examples=60)
def test_the_reduced_search_ends_in_the_same_ways(program: Small) -> None:
    same_outcomes(program)


@pytest.mark.slow
@given(small_programs())
@settings(max_examples=2_500)
def test_the_reduced_search_ends_in_the_same_ways_2500_times(program: Small) -> None:
    same_outcomes(program)


def test_a_reduction_that_takes_too_much_for_independent_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ubviz.exploration.sleep.dependent", lambda a, b: False)
    program = Small([[("set", 0)], [("clear", 0)], [("wait", 0)]], [False, False], 2, SYNC)
    with pytest.raises(AssertionError):
        same_outcomes(program)


def test_a_flag_that_goes_up_and_down_before_anybody_looks() -> None:
    same_outcomes(Small([[("set", 1), ("wait", 0)], [("set", 0), ("clear", 0)]], [False, False], 2, SYNC))


@pytest.mark.parametrize(
    "variant, yields",
    [
        ("parties_n", 0),
        ("no_kick", 0),
        ("no_exit_signal", 0),
        ("clear_before_wait", 1),
        ("raise_before_barrier", 0),
    ],
)
def test_plain_and_reduced_search_find_the_same_in_broken_rings(variant: str, yields: int) -> None:
    program = replace(program_of(variant, ring="bare"), yields=(yields, 0))
    found = {
        mode: {
            (f.kind, f.sentence) for f in explore(program, mode, stop_at_first=False, check=False).findings
        }
        for mode in ("dfs", "sleep")
    }
    assert found["dfs"] == found["sleep"] != set()
