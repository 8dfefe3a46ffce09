"""Exploration: which orders are tried, what is missed (nothing), and how a finding is shown again."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.faults import LAYERS, Broken
from ubviz import explore
from ubviz.errors import BadArgument
from ubviz.exploration.execution import Program, execute
from ubviz.exploration.replay import Branch, play, replay
from ubviz.exploration.ring_programs import RingProgram
from ubviz.exploration.states import States
from ubviz.exploration.variants import program_of
from ubviz.runtime.schedule import AtRandom, Dropped, read_schedule, written
from ubviz.ubatch import (
    UBatchWrapper,
    dbo_current_ubatch_id,
    dbo_enabled,
    maybe_create_ubatch_slices,
    set_forward_context,
)
from ubviz.ubatch.forward_context import is_forward_context_available

# ---- the counts of the protocol


@pytest.mark.parametrize(
    "n, layers, count",
    [
        (2, 1, 1_890),
        (2, 2, 1_890),
        (2, 4, 1_890),
        (3, 1, 2_827_440),
        (3, 2, 2_827_440),
        (3, 4, 2_827_440),
        (4, 1, 11_444_895_000),
    ],
)
def test_the_number_of_interleavings_does_not_depend_on_the_layers(n: int, layers: int, count: int) -> None:
    found = explore(program_of(ubatches=n, layers=layers), count=True, check=False)
    assert (found.interleavings, found.schedules, found.exhaustive) == (count, 2, True)


@pytest.mark.parametrize("style", ["ht", "ll"])
@pytest.mark.parametrize("ring", ["own", "vllm", "bare"])
@pytest.mark.parametrize("n", [2, 3])
def test_the_protocol_as_it_is_has_no_finding(n: int, ring: str, style: str) -> None:
    found = explore(program_of(ubatches=n, layers=2, style=style, ring=ring), stop_at_first=False)
    assert (found.findings, found.executions, found.exhaustive) == ((), 2, True)


def test_four_microbatches_on_four_layers() -> None:
    found = explore(program_of(ubatches=4, layers=4))
    assert (found.executions, found.pruned, found.exhaustive, found.findings) == (2, 73, True, ())


def test_plain_search_runs_all_interleavings() -> None:
    found = explore(RingProgram(yields=(0, 0)), "dfs", check=False)
    assert found.interleavings == found.executions == States(found.program).count()
    assert found.schedules == explore(found.program, check=False).schedules


@pytest.mark.slow
def test_plain_search_runs_all_1890() -> None:
    found = explore(program_of(), "dfs", check=False)
    assert (found.executions, found.interleavings, found.schedules) == (1_890, 1_890, 2)


def wrapped(style: str, fault: bool = False) -> Program:
    """The package's wrapper around a model that computes."""

    def program(rt: Any) -> None:
        def model(x: torch.Tensor) -> torch.Tensor:
            if fault and dbo_current_ubatch_id() == 1:
                raise Broken("on purpose")
            return LAYERS[style](rt, x)

        wrapper, x = UBatchWrapper(model, runtime=rt, num_ubatches=2), torch.arange(4.0)
        slices = maybe_create_ubatch_slices(True, [4], 4, 1, 2)[0]
        with rt.stream(rt.Stream("compute")), set_forward_context(None, ubatch_slices=slices):
            out = wrapper(x=x)
            rt.synchronize()
        assert torch.equal(out, 5 * (x + 1))

    return program


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_the_wrapper_itself_computes_right_in_every_order(style: str) -> None:
    found = explore(wrapped(style), stop_at_first=False, count=True)
    assert (found.findings, found.schedules, found.interleavings, found.exhaustive) == ((), 2, 1_890, True)


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_the_wrapper_itself_ends_in_every_order_when_a_microbatch_fails(style: str) -> None:
    found = explore(wrapped(style, fault=True), stop_at_first=False)
    assert found.exhaustive
    assert [f.sentence for f in found.findings if f.severity == "error"] == ["main raised Broken: on purpose"]


# ---- what is given


def lost(rt: Any) -> None:
    """Whether the flag is down when it is waited for depends on the order."""
    ready = rt.HostEvent("ready")
    work = {"setter": ready.set, "clearer": ready.clear, "waiter": ready.wait}
    threads = [rt.Thread(target, name=name) for name, target in work.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_finding_is_shown_again_by_its_string() -> None:
    found = explore(lost, stop_at_first=False)
    assert [f.kind for f in found.findings if f.severity == "error"] == ["deadlock", "lost_wakeup"]
    shortest = found.shortest
    assert shortest is not None
    assert (shortest.replay, shortest.steps) == ("look:1.0.2.0.3", 5)
    again = play(lost, shortest.replay)
    assert again.stuck == (("main", "thread.join", "waiter"), ("waiter", "host_event.wait", "ready"))
    assert again.replay == shortest.replay


def test_a_replay_is_the_same_recording(tmp_path: Any) -> None:
    program = program_of("clear_before_wait")
    found = explore(program)
    files = []
    for name in ("a.json", "b.json"):
        replay(program, found.findings[0].replay).save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_random_schedules_find_it_and_say_the_string() -> None:
    found = explore(lost, "random", stop_at_first=False, limit=30, seed=3)
    assert (found.executions, found.pruned, found.exhaustive) == (30, 0, False)
    dead = next(f for f in found.findings if f.kind == "deadlock")
    assert 0 < dead.executions < 30
    assert play(lost, dead.replay).deadlock is not None
    assert repr(found) == repr(explore(lost, "random", stop_at_first=False, limit=30, seed=3))


def test_to_stop_at_the_first_error_is_not_to_have_seen_all() -> None:
    found = explore(lost)
    assert found.wrong
    assert not found.exhaustive
    assert explore(lambda rt: rt.HostEvent("never").wait()).exhaustive  # unless that was all


def test_a_limit_that_is_just_enough() -> None:
    assert [explore(program_of(), limit=k).exhaustive for k in (11, 12)] == [False, True]


def test_what_a_thread_raises_is_a_finding() -> None:
    def program(rt: Any) -> None:
        thread = rt.Thread(int, ("four",), "counter")
        thread.start()
        thread.join()

    (found,) = explore(program).findings
    assert (found.kind, found.sentence) == (
        "raised", "counter raised ValueError: invalid literal for int() with base 10: 'four'",
    )  # fmt: skip


def test_the_tree_can_be_walked() -> None:
    branch = Branch(lost, looks=True)

    def walk(branch: Branch) -> int:
        return 1 if branch.is_leaf else sum(walk(branch.child(choice.thread)) for choice in branch.choices)

    assert walk(branch) == States(lost, looks=True).count()
    assert walk(branch) == explore(lost, "dfs", stop_at_first=False).executions
    assert repr(explore(lost).tree) == repr(branch)
    with pytest.raises(BadArgument, match=r"^thread 7 cannot go on here; 1 and 2 and 3 can$"):
        branch.child(7)
    assert len(branch.child(1).trace().events) > 0


@given(st.lists(st.integers(0, 12)))
def test_a_schedule_is_written_and_read(threads: list[int]) -> None:
    assert read_schedule(written(threads)) == tuple(threads)


def test_a_schedule_of_another_program_is_refused() -> None:
    with pytest.raises(
        BadArgument, match=r"^step 1 of the schedule lets thread 5 go on, but only 1 and 2 can"
    ):
        replay(lost, "5")
    with pytest.raises(BadArgument, match=r"^the schedule has 40 steps, but the program ends after "):
        replay(lambda rt: None, "0x40")


def test_bad_arguments() -> None:
    for call, words in (
        (lambda: explore(lost, "bfs"), "mode is one of sleep, dfs, random, not 'bfs'"),
        (
            lambda: explore("lost"),
            "a program is a function of a runtime, as in explore(lambda rt: ...), not 'lost'",
        ),  # type: ignore[arg-type]
        (lambda: explore(lost, limit=0), "limit is a number of executions, at least 1, not 0"),
        (lambda: program_of("other"), "there is no variant 'other'; there are none, parties_n"),
        (
            lambda: program_of("no_kick", ring="own"),
            "variant no_kick breaks the ring itself: choose ring vllm or bare",
        ),
        (lambda: program_of(style="hl"), "style is ht or ll, not 'hl'"),
        (lambda: program_of(ubatches=1), "ubatches is from 2 to 8, not 1"),
    ):
        with pytest.raises(BadArgument) as caught:
            call()
        assert str(caught.value).startswith(words)


def test_a_dropped_run_leaves_nothing_behind() -> None:
    class Stop(AtRandom):
        def choose(self, enabled: Any) -> int:
            self.left = getattr(self, "left", 20) - 1
            if not self.left:
                raise Dropped
            return super().choose(enabled)

    for ring in ("own", "vllm"):
        assert execute(program_of(ring=ring), Stop(1)).dropped
        assert not dbo_enabled()
        assert not is_forward_context_available()
