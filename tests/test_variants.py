"""The table of broken variants in two columns: the bare ring, and vLLM's checks. By exploration, not by one run."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from ubviz.analysis import overlap
from ubviz.analysis.findings import KINDS
from ubviz.exploration.execution import execute
from ubviz.exploration.explorer import Exploration, explore
from ubviz.exploration.replay import play, replay
from ubviz.exploration.ring_programs import RingProgram
from ubviz.exploration.states import States
from ubviz.exploration.variants import VARIANTS, program_of
from ubviz.recording import record
from ubviz.runtime import get_runtime

RINGS = ("bare", "vllm")


def explored(variant: str, ring: str, **options: object) -> Exploration:
    return explore(program_of(variant, ring=ring, **options), stop_at_first=False, limit=150)  # type: ignore[arg-type]


@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_has_to_be_found_is_found_and_no_other_error(variant: str, ring: str) -> None:
    found = explored(variant, ring)
    expected = getattr(VARIANTS[variant], ring)
    kinds = {finding.kind for finding in found.findings}
    errors = {finding.kind for finding in found.findings if finding.severity == "error"}
    assert errors <= expected <= kinds <= set(KINDS)
    seen = [sum(f.executions for f in found.findings if f.kind == kind) for kind in expected]
    if VARIANTS[variant].always and expected:
        assert max(seen) >= found.executions


@pytest.mark.parametrize("ring", RINGS)
def test_parties_n(ring: str) -> None:
    """Always a hang; in some schedules a first slice runs, and never more."""
    found = explored("parties_n", ring)
    dead = [f for f in found.findings if f.kind == "deadlock"]
    assert sum(f.executions for f in dead) == found.executions
    launches = {sum(replay(found.program, f.replay).events["kind"] == "kernel.launch") for f in dead}
    assert launches == {0, 1}


@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize("variant", ["parties_n_plus_2", "no_kick", "raise_before_barrier"])
def test_a_hang_without_any_work(variant: str, ring: str) -> None:
    found = explored(variant, ring)
    assert found.exhaustive
    assert "kernel.launch" not in set(found.trace().events["kind"])


@pytest.mark.parametrize("ring", RINGS)
def test_no_barrier(ring: str) -> None:
    """ht runs right; ll raises in schedules where a peer is late, and only there."""
    assert explored("no_barrier", ring, style="ht").findings == ()
    found = explored("no_barrier", ring, style="ll")
    raised = [f for f in found.findings if f.kind == "raised"]
    assert {f.sentence for f in raised} <= {
        f"ubatch {u} raised AttributeError: 'NoneType' object has no attribute 'recv_hook'" for u in (0, 1)
    }
    assert 0 < max(f.executions for f in raised) < found.executions


@pytest.mark.parametrize("ring", RINGS)
def test_the_law_of_unequal_yields(ring: str) -> None:
    """Two finish exactly if y0 = y1 or y0 = y1 + 1; at (2, 3) it is microbatch 1 that hangs."""
    switches = program_of("none", ring=ring).switches
    finish = {
        yields
        for yields in product(range(4), repeat=2)
        if not explore(RingProgram(yields=yields, switches=switches), check=False).wrong
    }
    assert finish == {(a, b) for a, b in product(range(4), repeat=2) if a - b in (0, 1)}
    end = explore(RingProgram(yields=(2, 3), switches=switches), check=False).findings[0]
    assert "ubatch 1 waits for host event cpu_event[1]" in end.sentence


@pytest.mark.parametrize("yields", [(a, b) for a in range(3) for b in range(3)])
def test_our_own_ring_lets_any_numbers_of_yields_end(yields: tuple[int, int]) -> None:
    found = explore(RingProgram(yields=yields), check=False)
    assert (found.exhaustive, found.findings) == (True, ())


def test_clear_is_missing() -> None:
    """Bare: two are awake at once. vLLM: its check speaks at the next yield."""
    assert "two_batons" in {f.kind for f in explored("no_clear", "bare").findings}
    sentences = {f.sentence for f in explored("no_clear", "vllm").findings if f.kind == "raised"}
    assert (
        "ubatch 0 raised ProtocolError: microbatch 0 yields, but its own host event is already set"
        in sentences
    )


@pytest.mark.parametrize("ring", RINGS)
def test_a_plain_run_does_not_see_clear_before_wait_and_exploration_does(ring: str) -> None:
    """vLLM's check sees the flag that stays up at a second yield; so each yields once."""
    program = replace(program_of("clear_before_wait", ring=ring), yields=(1, 1))
    for plain in (execute(program, None, recorded=True), play(program, "", recorded=True)):
        assert [f for f in plain.findings() if f.severity == "error"] == []
    found = explore(program, stop_at_first=False)
    assert found.exhaustive
    assert {"deadlock", "lost_wakeup"} <= {f.kind for f in found.findings}
    dead = sum(f.executions for f in found.findings if f.kind == "deadlock")
    assert 0 < dead < found.executions


@pytest.mark.parametrize("n, steps, interleavings", [(2, 15, 157_860), (3, 21, None)])
def test_the_shortest_way_to_lose_a_wake_up(n: int, steps: int, interleavings: int | None) -> None:
    program = program_of("clear_before_wait", ubatches=n, ring="bare")
    shortest = explore(program).shortest
    assert shortest is not None
    assert shortest.steps == steps
    assert play(program, shortest.replay).stuck
    assert interleavings is None or States(program).count() == interleavings


def test_context_not_restored() -> None:
    """Bare: no hang, wrong context. vLLM: each microbatch's first yield raises."""
    assert {f.kind for f in explored("no_restore", "bare").findings} == {"wrong_context"}
    sentences = {f.sentence for f in explored("no_restore", "vllm").findings if f.kind == "raised"}
    assert sentences == {
        f"ubatch {u} raised ProtocolError: microbatch {u} yields, but the forward context is not its own"
        for u in (0, 1)
    }


@pytest.mark.parametrize("ring", RINGS)
def test_signal_self_only_shows_in_the_order(ring: str) -> None:
    found = explored("signal_self", ring)
    assert {(f.kind, f.severity) for f in found.findings} == {("no_interleaving", "warning")}
    assert not found.wrong


@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize("n, style", [(2, "ht"), (3, "ht"), (3, "ll"), (4, "ht")])
def test_ring_off_by_one_is_no_fault_with_three(n: int, style: str, ring: str) -> None:
    found = explore(program_of("ring_off_by_one", ubatches=n, style=style, ring=ring), check=n != 3)
    assert found.wrong == (n != 3)


@pytest.mark.parametrize("ring", RINGS)
def test_no_exit_signal_leaves_all_but_the_first(ring: str) -> None:
    found = explore(program_of("no_exit_signal", ubatches=3, ring=ring), stop_at_first=False, check=False)
    (dead,) = (f for f in found.findings if f.kind == "deadlock")
    assert [f"ubatch {u} waits" in dead.sentence for u in range(3)] == [False, True, True]


@pytest.mark.parametrize("ring", RINGS)
def test_an_exception_in_the_model(ring: str) -> None:
    """Before the last yield the peer hangs, and main with it; after it nobody does."""
    found = explored("raise_in_model", ring)
    dead = next(f for f in found.findings if f.kind == "deadlock")
    assert "main joins thread ubatch 1" in dead.sentence
    assert "ubatch 1 waits for host event cpu_event[1]" in dead.sentence
    assert dead.executions == found.executions
    late = replace(found.program, fault="raise_at_the_end")
    assert {f.kind for f in explore(late, stop_at_first=False).findings} == {"raised"}


@pytest.mark.parametrize("style", ["ht", "ll"])
@pytest.mark.parametrize("fault", ["raise_in_model", "raise_before_barrier", "raise_at_the_end"])
def test_our_own_ring_survives_it_in_every_order(fault: str, style: str) -> None:
    found = explore(RingProgram(style=style, fault=fault), stop_at_first=False)
    assert found.exhaustive
    assert {f.kind for f in found.findings if f.severity == "error"} == {"raised"}
    assert all(
        f.sentence.startswith("main raised ModelFault: ") for f in found.findings if f.kind == "raised"
    )


def test_dbo_outside() -> None:
    found = explored("dbo_outside", "vllm")
    assert [f.sentence.split(":")[0] for f in found.findings] == ["main raised NotAMicrobatchThread"]


def makespan_and_exposed(variant: str) -> tuple[int, int]:
    """Microseconds that four layers take in the order of virtual time, and of communication that nothing hides."""
    rt = get_runtime("virtual", launch_ns=0, event_ns=0, wake_ns=0, barrier_ns=0, spawn_ns=0)
    with record(rt, watchdog_s=None) as recording:
        program_of(variant, layers=4, ring="vllm")(rt)
        rt.synchronize()
        end_ns = rt.now_ns()
    rt.close()
    found = overlap(recording.trace)
    return round(end_ns / 1000), round((found.comm_busy_ns - found.overlap_ns) / 1000)


def test_an_event_recorded_after_the_yield_only_costs_time() -> None:
    """No race, no deadlock: communication comes out from behind computation."""
    assert makespan_and_exposed("none") == (750, 30)
    assert makespan_and_exposed("record_after_yield") == (1110, 390)
