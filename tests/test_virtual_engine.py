"""The mechanism and the engine on the virtual runtime, the demonstration, and costs taken from a recording."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.by_the_documents import operations
from tests.faults import Broken, Walk
from tests.small import Small, recorded
from tests.test_fidelity import operations_of
from tests.traces import Traces, Writer
from ubviz import costs_from, get_runtime, picture, record
from ubviz.analysis import handoff, overlap
from ubviz.cli import main
from ubviz.errors import BadArgument
from ubviz.runtime.schedule import ALL, SYNC, AtRandom
from ubviz.runtime.virtual_costs import Costs
from ubviz.trace import Trace

CASES = list(product(("ht", "ll"), (2, 3)))
COSTS = {
    "attention": 700_000, "router": 90_000, "experts": 900_000, "shared experts": 200_000, "residual": 30_000,
    "dispatch send": 60_000, "dispatch receive": 50_000, "combine send": 70_000, "combine receive": 80_000,
    "embed": 20_000, "norm": 20_000, "inputs": 5_000, "copy": 10_000, "merge": 15_000, "sample": 40_000,
}  # fmt: skip


@pytest.mark.parametrize(("style", "n"), CASES)
def test_the_mechanism_does_what_the_documents_say(style: str, n: int) -> None:
    trace = recorded(style, n, 2, runtime="virtual")
    assert {ubatch: operations_of(trace, ubatch) for ubatch in range(n)} == operations(style, n, 2)
    assert handoff(trace) == []
    assert trace.notices == ()


@pytest.mark.parametrize(("style", "n"), CASES)
def test_outputs_are_the_host_runtimes(style: str, n: int) -> None:
    outputs = []
    for runtime in ("host", "virtual"):
        small = Small(style, n, rt=get_runtime(runtime))
        outputs.append(small.runner.execute_model(small.batch, "overlapped"))
        small.close()
    assert torch.equal(outputs[0].hidden, outputs[1].hidden)
    assert outputs[0].sampled == outputs[1].sampled


def test_an_operation_is_one_kernel() -> None:
    trace = recorded("ht", 2, 2, runtime="virtual")
    kernels = Counter((s.ubatch, s.layer, s.operation) for s in trace.spans if s.cat == "kernel")
    named = Counter((s.ubatch, s.layer, s.name) for s in trace.spans if s.cat == "operation")
    assert kernels == named
    assert {count for (ubatch, _, _), count in kernels.items() if ubatch is not None} == {1}


@pytest.mark.parametrize(("style", "n"), CASES)
def test_any_order_of_threads_gives_the_same_outputs(style: str, n: int) -> None:
    right = None
    for seed, visible in product(range(3), (SYNC, ALL)):
        rt = get_runtime("virtual", schedule=AtRandom(seed, visible))
        small = Small(style, n, layers=1, rt=rt)
        hidden = small.runner.execute_model(small.batch, "overlapped").hidden
        small.close()
        right = hidden if right is None else right
        assert torch.equal(hidden, right)
        assert rt.deadlock is None


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_a_fault_at_every_operation_hangs_nobody(style: str) -> None:
    walk = Walk(style, 2, rt=get_runtime("virtual"))
    for ubatch in range(2):
        for k, kind in enumerate(walk.facts(f"ubatch {ubatch}"), 1):
            fault = Broken(f"at {kind}")
            assert walk.survives({(f"ubatch {ubatch}", k): fault}) is fault
    assert walk.rt.deadlock is None
    walk.rt.close()


def test_the_picture() -> None:
    assert repr(picture(recorded("ht", 2, 2, runtime="virtual"))) == (
        "<Picture: step 0, 5 lanes, 39 operations, makespan 2.14 ms>"
    )


@pytest.mark.parametrize(("style", "n"), CASES)
def test_the_demonstration_is_exact(
    style: str, n: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"demo --runtime virtual --json --no-html --layers 1 --tokens 48 --steps 2 --style {style} --ubatches {n}"
    found = []
    for folder in ("a", "b"):
        assert main([*words.split(), "--out", str(tmp_path / folder)]) == 0
        found.append(json.loads(capsys.readouterr().out))
        found[-1].pop("files")
    assert found[0] == found[1]
    assert found[0]["runtime"] == "virtual"
    for mode in ("unsplit", "split", "overlapped"):
        a, b = ((tmp_path / folder / f"{mode}.json.gz").read_bytes() for folder in "ab")
        assert a == b


def test_virtual_models_one_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--runtime", "virtual", "--ranks", "2", "--out", str(tmp_path)]) == 2
    assert "--runtime virtual models one rank; leave --ranks out" in capsys.readouterr().err


# ---- costs from a recording


def run(style: str, n: int, costs: Any) -> Trace:
    small = Small(style, n, rt=get_runtime("virtual", costs=costs))
    with record(small.rt) as recording:
        small.runner.execute_model(small.batch, "overlapped")
    small.close()
    return recording.trace


@pytest.mark.parametrize(("style", "n"), CASES)
def test_costs_of_a_virtual_recording_give_it_back_exactly(style: str, n: int) -> None:
    trace = run(style, n, Costs(COSTS, wake_ns=7_000, launch_ns=3_000, event_ns=500))
    again = run(style, n, costs_from(trace))
    assert makespan_ns(again) == makespan_ns(trace)
    assert again == trace


@pytest.mark.parametrize(("style", "n"), CASES)
def test_what_threads_do_between_and_before_launches_is_given_back_too(style: str, n: int) -> None:
    costs = Costs(
        COSTS, launches={"attention": 90_000, "embed": 20_000}, leads={"attention": 60_000},
        before={"experts": 33_000, "inputs": 41_000},
    )  # fmt: skip
    trace = run(style, n, costs)
    assert makespan_ns(trace) > makespan_ns(run(style, n, Costs(COSTS)))
    found = costs_from(trace)
    assert (found.leads["attention"], found.before["experts"], found.before["inputs"]) == (
        60_000,
        33_000,
        41_000,
    )
    assert run(style, n, found) == trace


def operation(t: Traces, main: Writer, name: str, *kernels: tuple[int, int]) -> None:
    """An operation with kernels, each launched at a time from its beginning on, and lasting a time."""
    begin = t.now
    for launched, takes in kernels:
        t.now = begin + launched - 1
        main.launch(f"kernel of {name}", "compute", takes=takes, operation=name)
    t.now += 1
    t.builder.span(
        begin, t.now, "operation", name, lane=main.lane, step=t.step, cls="compute", operation=name
    )  # fmt: skip


def test_a_cost_is_the_mean_over_the_steps_of_the_middle() -> None:
    """Every run of an operation costs the mean, so that all together take what they took; others are left out."""
    t = Traces()
    main = t.thread("main")
    for step, durations in enumerate([(10, 30), (10, 34), (1_000, 3_000), (12, 36), (1, 1)]):
        t.step, t.now = step, 10_000 * step
        for takes in durations:
            operation(t, main, "k", (5, takes))
    assert costs_from(t.finish()).operations == {"k": 22}


def test_gaps_within_an_operation_are_its_time_and_gaps_between_two_are_not() -> None:
    t = Traces()
    main = t.thread("main")
    t.now = 100
    operation(t, main, "k", (10, 5), (40, 7))  # from 110 to 147, 31 after its beginning the thread is done
    t.now = 200
    operation(t, main, "k", (20, 5), (26, 7))  # from 220 to 233
    costs = costs_from(t.finish())
    assert costs.operations == {"k": (37 + 13) // 2}
    assert costs.launches == {"k": (41 + 27) // 2}
    assert costs.leads == {"k": (10 + 20) // 2}
    assert costs.before == {"k": (200 - 141) // 2 + 1}  # there was nothing before the first one


@pytest.mark.parametrize(("style", "n"), CASES)
def test_costs_of_a_host_recording_are_its_own(style: str, n: int) -> None:
    trace = recorded(style, n)
    costs = costs_from(trace)
    assert set(costs.operations) == {
        span.operation or span.name for span in trace.spans if span.cat == "kernel"
    }
    kernels = [span for span in trace.spans if span.cat == "kernel"]
    took = sorted(
        span.end_ns - span.start_ns for span in kernels if span.name in ("dispatch", "dispatch receive")
    )
    if style == "ht":
        assert took[0] <= costs.operations["dispatch"] <= took[-1]
    else:  # a receive spins until the data is there, which is no work
        assert costs.operations["dispatch receive"] < took[-1]
    virtual = run(style, n, costs)
    assert overlap(virtual).compute_busy_ns > 0


def test_spinning_for_data_is_no_cost() -> None:
    rt = get_runtime("virtual", costs={"send": 40, "receive": 50})
    flight = rt.Link().flight(100_000)
    with record(rt) as recording:
        rt.launch("send", sends=flight)
        rt.launch("receive", receives=flight)
    rt.close()
    assert costs_from(recording).operations == {"send": 40, "receive": 50}


def test_costs_by_layer() -> None:
    trace = run("ht", 2, Costs({**COSTS, ("experts", 1): 1}))
    assert costs_from(trace, by_layer=True).operations["experts", 1] == 1
    assert costs_from(trace, by_layer=True).operations["experts", 0] == COSTS["experts"]
    assert run("ht", 2, costs_from(trace, by_layer=True)) == trace


def test_costs_come_from_kernel_spans() -> None:
    rt = get_runtime("virtual")
    with record(rt) as recording:
        rt.HostEvent().set()
    rt.close()
    with pytest.raises(BadArgument, match=r"^this recording has no kernel spans to take costs from$"):
        costs_from(recording)
    with pytest.raises(BadArgument, match=r"^costs_from takes a recording or a trace, not 3$"):
        costs_from(3)


def makespan_ns(trace: Trace) -> int:
    kernels = [span for span in trace.spans if span.cat == "kernel"]
    return max(span.end_ns for span in kernels) - min(span.start_ns for span in kernels)
