"""Sleep sets miss nothing: small programs, drawn at random, end in the ways that plain search finds; bugs too.

Where one thread puts a flag down for which another one waits, looks at flags are steps (``LOOK``). That this is all
that ``threading.Event`` may do is held against a machine of its own (``by_hand``), which knows nothing of the package.
"""

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

    def flags(self, count: int) -> tuple[Any, ...]:
        """How the flags stood when nobody could go on, and what the threads had seen of them."""
        up = tuple(event.state() for event in self.outcome["events"])
        return up, tuple(tuple(self.outcome["log"][str(i)]) for i in range(count))

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


def outcomes(program: Small, reduced: bool, looks: bool, most: int = 300) -> set[Any] | None:
    """All ways in which it ends; None when there are too many executions."""
    search, found = DepthFirst(program, reduced=reduced, looks=looks), set()
    for number, execution in enumerate(search.executions()):
        if not execution.dropped:
            found.add(program.end(execution))
        if number > most:
            return None
    return found


def contested(program: Small) -> bool:
    """Whether looks have to be steps, as ``explore`` decides it: by all executions of the reduced search."""
    return any(execution.contested for execution in DepthFirst(program).executions())


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
    looks = contested(program)
    plain = outcomes(program, reduced=False, looks=looks)
    if plain is not None:
        assert outcomes(program, reduced=True, looks=looks) == plain


@given(small_programs())
@settings(max_examples=60)
def test_the_reduced_search_ends_in_the_same_ways(program: Small) -> None:
    same_outcomes(program)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(small_programs())
@settings(max_examples=2_500)
def test_the_reduced_search_ends_in_the_same_ways_2500_times(program: Small) -> None:
    same_outcomes(program)


# ---- what threading.Event may do, by hand

FLAGS = st.lists(
    st.tuples(st.sampled_from(["set", "clear", "wait", "wait", "look"]), st.integers(0, 1)), max_size=4
)


def by_hand(threads: Threads, up: list[bool]) -> set[Any]:
    """Who may be stuck where, and how the flags stand then, by every order of the steps of CPython's ``Event``.

    A wait is two steps: under the event's lock it sees the flag up and goes on, or it falls asleep; a set wakes all who
    sleep.
    """
    asleep, awake = "asleep", "awake"
    start = (tuple(0 for _ in threads), tuple(None for _ in threads), tuple(up), tuple(() for _ in threads))
    seen, todo, ends = {start}, [start], set()
    while todo:
        at, sleep, flags, saw = todo.pop()
        able = [t for t in range(len(threads)) if at[t] < len(threads[t]) and sleep[t] != asleep]
        if not able:
            stuck = tuple((f"t{t}", threads[t][at[t]][1]) for t in range(len(threads)) if sleep[t] == asleep)
            ends.add((stuck, flags, saw))
        for t in able:
            what, i = threads[t][at[t]]
            now, sleeping, flag, seen_up = at[t] + 1, list(sleep), list(flags), list(saw)
            if what == "wait" and sleep[t] is None and not flags[i]:
                now, sleeping[t] = at[t], asleep
            else:
                sleeping[t] = None
            if what == "look":
                seen_up[t] = (*saw[t], flags[i])
            if what in ("set", "clear"):
                flag[i] = what == "set"
            for other in range(len(threads)):
                if what == "set" and sleep[other] == asleep and threads[other][at[other]][1] == i:
                    sleeping[other] = awake
            state = (
                (*at[:t], now, *at[t + 1 :]),
                tuple(sleeping),
                tuple(flag),
                tuple(seen_up),
            )
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return ends


def found(threads: Threads, up: list[bool], reduced: bool) -> set[Any]:
    """The same by exploration."""
    program = Small(threads, up, 2, SYNC | {"host_event.is_set"})
    ends = set()
    for execution in DepthFirst(program, reduced=reduced, looks=contested(program)).executions():
        if not execution.dropped:
            stuck = tuple(
                (who, int(name[-1])) for who, kind, name in execution.stuck if kind != "thread.join"
            )
            ends.add((stuck, *program.flags(len(threads))))
    return ends


@given(st.lists(FLAGS, min_size=2, max_size=3), st.lists(st.booleans(), min_size=2, max_size=2))
@settings(max_examples=60)
def test_a_flag_does_all_that_a_threading_event_does(threads: Threads, up: list[bool]) -> None:
    assert found(threads, up, reduced=True) == by_hand(threads, up)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(st.lists(FLAGS, min_size=2, max_size=3), st.lists(st.booleans(), min_size=2, max_size=2))
@settings(max_examples=2_500)
def test_a_flag_does_all_that_a_threading_event_does_2500_times(threads: Threads, up: list[bool]) -> None:
    assert found(threads, up, reduced=True) == by_hand(threads, up)


def test_a_sleeper_is_woken_and_who_comes_late_is_not() -> None:
    """The case by which the two differ: a flag that goes up and down while somebody waits for it."""
    threads: Threads = [[("wait", 0)], [("set", 0), ("clear", 0)]]
    ends = {stuck for stuck, *_ in by_hand(threads, [False, False])}
    assert ends == {stuck for stuck, *_ in found(threads, [False, False], True)} == {(), (("t0", 0),)}


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
