"""The Lab: what it works out, in Python and in the page; what it says, refuses and stores."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ubviz
from tests.lab_cases import factors, in_the_page, numbers, program
from ubviz.analysis import overlap, retime
from ubviz.errors import BadArgument
from ubviz.exploration.lab_programs import Setting, simulate
from ubviz.play.lab import CONTROLS, Lab, made, shipped
from ubviz.trace import Trace
from ubviz.view.lab_controls import Slider
from ubviz.view.lab_flow import Factors, times
from ubviz.view.lab_made import plan_and_graph, plan_of
from ubviz.view.lab_numbers import bound_ns, makespan_ns, numbers_of
from ubviz.view.lab_plan import Plan
from ubviz.view.paint.ticks import duration

MEASURES = (
    "makespan_ns", "compute_busy_ns", "comm_busy_ns", "overlap_ns", "overlap_ratio", "exposed_comm_ns", "transfer_ns",
    "hidden_transfer_ns",
)  # fmt: skip
"""What ``overlap`` measures too."""


def same(plan: Plan, **more: Any) -> Factors:
    return Factors(1, [1] * len(plan.works), **more)


def bars(plan: Plan, given: Factors) -> list[tuple[int, int]]:
    time = times(plan, given)
    return [(time[a], time[b]) for a, b in zip(plan.bars["start"], plan.bars["end"], strict=True)]


def measured(trace: Trace) -> dict[str, Any]:
    found = overlap(trace)
    return {name: getattr(found, name) for name in MEASURES}


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


# ---- the same as retime, and as a run


def test_without_changes_everything_is_as_recorded() -> None:
    for seed in range(40):
        trace = program(random.Random(seed))
        plan = plan_of(trace)
        found = numbers(plan, same(plan))
        assert {name: found[name] for name in MEASURES} == measured(trace)


def test_a_plan_says_what_retime_says() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        trace = program(rng)
        plan = plan_of(trace)
        compute, comm, one = rng.random() * 3, rng.random() * 3, rng.random() * 3
        by = {"compute": compute, "comm": comm, "dispatch": one}
        works = [by.get(operation, by.get(cls, 1)) for cls, operation, _ in plan.works]
        changed = retime(trace, durations=by).trace()
        found = numbers(plan, Factors(1, works))
        assert {name: found[name] for name in MEASURES} == measured(changed)


def test_what_is_left_out_changes_no_time() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        trace = program(rng)
        small, (whole, _, _) = plan_of(trace), plan_and_graph(trace, whole=True)
        assert len(small.time) <= len(whole.time)
        given = factors(rng, small)
        assert bars(small, given) == bars(whole, given)


@pytest.mark.parametrize("seed", range(12))
def test_the_simulation_run_with_other_costs_gives_what_the_lab_predicts(lab: Lab, seed: int) -> None:
    rng = random.Random(seed)
    values = {s.name: rng.randrange(s.low, s.high + 1, s.step) for s in CONTROLS.sliders}
    values |= {c.name: rng.choice(c.values) for c in CONTROLS.choices} | {"contention": 0}
    compute, comm = (
        values["compute"] // 60 * 60,
        values["comm"] // 24 * 24,
    )  # whole for three and four microbatches
    values |= {"compute": compute, "comm": comm}
    ran = simulate(
        ubatches=values["ubatches"], layers=values["layers"], style=values["style"],
        variant="none" if values["ubatches"] == 1 else values["variant"], compute_ns=1000 * compute,
        comm_ns=1000 * comm, fixed_ns=1000 * values["fixed"], launch_ns=1000 * values["launch"],
    )  # fmt: skip
    found = lab.numbers_at(**values)
    assert {name: found[name] for name in MEASURES} == measured(ran)


# ---- contention


def two(compute: int, comm: int, later: int) -> Plan:
    """A compute kernel, and ``later`` ns after its start one that communicates on another stream."""
    from tests.traces import Traces

    t = Traces()
    main = t.thread("main")
    main.launch("attention", "compute", [], [], takes=compute)
    t.now += later - 1
    main.launch("dispatch", "comm", [], [], takes=comm, cls="comm")
    return plan_of(t.finish())


@pytest.mark.parametrize(
    ("compute", "comm", "later", "contention", "lasts"),
    [
        (100, 100, 1, 0, (100, 100)),
        (
            1000,
            1000,
            1,
            25,
            (1250, 1250),
        ),  # but for the first nanosecond: 1 + 1.25 * 999, and the rest is alone
        (1000, 100, 500, 50, (1050, 150)),  # 150 ns beside it cost 50
        (100, 100, 500, 50, (100, 100)),  # one after the other
        (1000, 0, 500, 50, (1000, 0)),
    ],
)
def test_kernels_are_slower_while_they_overlap(
    compute: int, comm: int, later: int, contention: int, lasts: tuple[int, int]
) -> None:
    plan = two(compute, comm, later)
    found = [end - start for start, end in bars(plan, same(plan, contention=contention))]
    names = [plan.works[work][1] for work in plan.bars["work"]]
    by_name = dict(zip(names, found, strict=True))
    assert by_name["attention"] == pytest.approx(lasts[0], abs=1)
    assert by_name["dispatch"] == pytest.approx(lasts[1], abs=1)


def test_each_kernel_gets_its_work_done_and_no_more() -> None:
    """What it did alone, and at its slower rate beside the other class, is its own duration, to a nanosecond."""
    overlapped = 0
    for seed in range(80):
        rng = random.Random(seed)
        plan = plan_of(program(rng))
        contention = rng.choice([10, 25, 60])
        own = [end - start for start, end in bars(plan, same(plan))]
        found = bars(plan, same(plan, contention=contention))
        cls = [plan.works[work][0] for work in plan.bars["work"]]
        covered: dict[str, np.ndarray] = {}
        for kind in ("compute", "comm"):
            covered[kind] = np.zeros(max(end for _, end in found) + 1, dtype=bool)
            for (start, end), which in zip(found, cls, strict=True):
                if which == kind:
                    covered[kind][start:end] = True
        for (start, end), lasts, which in zip(found, own, cls, strict=True):
            if which not in covered:
                assert end - start == lasts
                continue
            beside = int(covered["comm" if which == "compute" else "compute"][start:end].sum())
            done = end - start - beside + beside / (1 + contention / 100)
            assert lasts <= done + 1e-6
            assert done < lasts + 1
            overlapped += beside > 0
    assert overlapped > 50


def test_contention_takes_the_gain_back_and_leaves_the_ratio(lab: Lab) -> None:
    alone, beside = lab.numbers_at(layers=8), lab.numbers_at(layers=8, contention=40)
    assert beside["makespan_ns"] > 1.15 * alone["makespan_ns"]
    assert beside["unsplit_ns"] == alone["unsplit_ns"]  # nothing overlaps there
    assert beside["overlap_ratio"] > 0.9
    assert beside["speedup"] < alone["speedup"]


def test_data_in_flight_slows_nothing_down(lab: Lab) -> None:
    alone, beside = (lab.numbers_at(style="ll", contention=percent) for percent in (0, 50))
    assert alone == beside


# ---- the page


def compared(seeds: range) -> None:
    cases = []
    for seed in seeds:
        rng = random.Random(seed)
        plan = plan_of(program(rng))
        cases.append((plan, factors(rng, plan)))
    for seed, (plan, given), found in zip(seeds, cases, in_the_page(cases), strict=True):
        assert found["time"] == times(plan, given), f"seed {seed}"
        assert found["numbers"] == numbers(plan, given), f"seed {seed}"


def test_the_page_works_out_the_same() -> None:
    compared(range(100))


@pytest.mark.slow
def test_the_page_works_out_the_same_of_a_thousand_recordings() -> None:
    compared(range(1000, 2000))


def test_the_page_works_out_the_same_of_plans_that_ship_and_of_a_recording() -> None:
    rng = random.Random(3)
    plans = [
        Plan.of(shipped()[name]) for name in ("2/2/ht/none", "4/8/ht/none", "3/4/ll/none", "1/1/ht/none")
    ]
    plans.append(plan_of(ubviz.example("whole_game_overlapped")))
    cases = [(plan, factors(rng, plan)) for plan in plans for _ in range(4)]
    for (plan, given), found in zip(cases, in_the_page(cases), strict=True):
        assert found["time"] == times(plan, given)
        assert found["numbers"] == numbers(plan, given)


def test_points_that_wait_for_one_another_go_by_the_clock_in_both() -> None:
    """A broken recording: 1 waits for 2 and 2 for 1; the kernel starts at 1."""
    table = {
        "source": [0, 2, 1, 1],
        "target": [1, 1, 2, 3],
        "lag": [5, 1, 1, 100],
        "own": [0, 0, 0, 100],
        "by": [0, 0, 0, 2],
    }
    plan = Plan(
        [0, 9, 7, 50], True, table,
        {"start": [1], "end": [3], "lane": [0], "ubatch": [-1], "work": [0], "edge": [3], "slows": [1]},
        {"start": [], "start_ns": [], "end": [], "end_ns": [], "lane": []},
        [["compute", "attention", "kernel"]], [["compute", "streams", 0]], [0],
    )  # fmt: skip
    cases = [(plan, same(plan)), (plan, same(plan, contention=30))]
    assert [times(*case) for case in cases] == [[0, 8, 7, 108]] * 2
    assert [found["time"] for found in in_the_page(cases)] == [[0, 8, 7, 108]] * 2


# ---- the bound, and where splitting pays


def test_nothing_is_sooner_than_the_bound() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        plan = plan_of(program(rng))
        given = factors(rng, plan)
        assert makespan_ns(plan, given) >= bound_ns(plan, given)
    plan = two(100, 30, 10)
    assert bound_ns(plan, same(plan, kernel_ns=7)) == 107


def test_break_even_is_where_the_curves_cross(lab: Lab) -> None:
    even = lab.break_even("comm")
    slider = CONTROLS.slider("comm")
    assert even in slider.grid()
    assert even is not None
    assert slider.low < even < slider.high
    at, before = lab.numbers_at(comm=even), lab.numbers_at(comm=slider.grid()[slider.grid().index(even) - 1])
    assert at["makespan_ns"] <= at["unsplit_ns"]
    assert before["makespan_ns"] > before["unsplit_ns"]
    with pytest.raises(BadArgument, match="no unsplit run"):
        Lab(ubviz.example("whole_game_overlapped")).break_even()
    with pytest.raises(BadArgument, match="no slider 'colour'; it has comm, compute"):
        lab.break_even("colour")


def test_a_curve_has_some_forty_points_at_most() -> None:
    for slider in CONTROLS.sliders:
        grid = slider.grid()
        assert grid[0] == slider.low
        assert 20 <= len(grid) <= 41
        assert all(value in range(slider.low, slider.high + 1, slider.step) for value in grid)
    assert Slider("a", "A", "%", 0, 3, 1, 1, 1, "comm").grid() == [0, 1, 2, 3]


# ---- a recording


def test_one_operation_of_a_recording_is_scaled_as_retime_scales_it() -> None:
    trace = ubviz.example("whole_game_overlapped")
    lab = Lab(trace, unsplit=ubviz.example("whole_game_unsplit"))
    before = lab.numbers
    (note,) = lab._store.index["notes"]
    assert note["sentence"].startswith(
        f"{duration(retime(trace).slack_ns)} of delays are explained by nothing"
    )
    assert before["makespan_ns"] == before["measured_ns"] == overlap(trace).makespan_ns
    lab.values = {"operation": "experts", "factor": 50}
    assert (
        lab.numbers["makespan_ns"]
        == retime(trace, durations={"experts": 0.5}).makespan_ns
        < before["makespan_ns"]
    )
    assert lab.numbers["measured_ns"] == before["measured_ns"]
    unsplit = retime(ubviz.example("whole_game_unsplit"), durations={"experts": 0.5})
    assert lab.numbers["unsplit_ns"] == unsplit.makespan_ns
    lab.values = {"operation": None}
    assert lab.numbers["makespan_ns"] == before["makespan_ns"]  # the factor waits for an operation


def test_of_several_steps_one_is_played_with() -> None:
    from tests.drawn import drawn

    trace = drawn("ht", steps=2)
    lab = Lab(trace, step=0)
    assert lab.numbers["makespan_ns"] == overlap(trace, step=0).makespan_ns
    assert lab.trace().steps == (0,)
    assert Lab(trace).numbers["makespan_ns"] == overlap(trace, step=1).makespan_ns


# ---- what it gives


def test_its_trace_has_its_numbers(lab: Lab) -> None:
    try:
        for values in ({"comm": 720}, {"contention": 35}, {"style": "ll", "launch": 30}, {"ubatches": 1}):
            lab.values = values
            found = lab.numbers
            assert {name: found[name] for name in MEASURES} == measured(lab.trace())
    finally:
        lab.values = CONTROLS.defaults()
    assert measured(lab.reference())["makespan_ns"] == lab.numbers["unsplit_ns"]


def test_with_nothing_changed_a_recording_comes_back_as_it_was() -> None:
    trace = ubviz.example("whole_game_overlapped")
    assert Lab(trace).trace() == trace


def test_it_says_what_it_shows(lab: Lab) -> None:
    assert repr(lab) == (
        "<Lab: ubatches 2, layers 2, style ht, variant none, makespan 1.24 ms, unsplit 1.74 ms>"
    )  # fmt: skip
    assert lab.alt.startswith(
        "What if: Microbatches 2; Layers 2; All-to-all high throughput; Protocol as it is; "
    )
    assert (
        "Then: makespan 1.24 ms, unsplit 1.74 ms, best possible 1 ms, 88 % of the communication hidden."
        in lab.alt
    )
    real = Lab(ubviz.example("whole_game_overlapped"), values={"comm": 200})
    assert repr(real) == "<Lab: comm 200 %, makespan 461 ms, measured 330 ms>"
    assert Lab(title="What if?").title == "What if?"


def test_values_are_a_dict_both_ways() -> None:
    lab = Lab(values={"comm": 120})
    lab.values = {"ubatches": 3}
    assert (lab.values["comm"], lab.values["ubatches"], lab.values["compute"]) == (120, 3, 480)
    lab.set_state({"values": {**lab.values, "comm": 240}})  # as the page does
    assert lab.numbers == Lab(values={"comm": 240, "ubatches": 3}).numbers
    lab.reset()
    assert lab.values == {**CONTROLS.defaults(), "comm": 120}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"comm": 2000}, "comm is a whole number from 0 to 960, not 2000"),
        ({"comm": 1.5}, "comm is a whole number from 0 to 960, not 1.5"),
        ({"comm": True}, "not True"),
        ({"style": "dp"}, "style is one of 'ht', 'll', not 'dp'"),
        ({"ubatches": True}, "ubatches is one of 1, 2, 3, 4, not True"),
        ({"colour": 1}, "this Lab has no control 'colour'; it has ubatches, layers"),
        ([1], "values is a dict"),
    ],
)
def test_values_that_there_are_not_are_refused(lab: Lab, values: Any, says: str) -> None:
    before = lab.values
    with pytest.raises(BadArgument, match=says):
        lab.values = values
    assert lab.values == before


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        ((3,), {}, "a Lab takes a simulator or a Trace, not int"),
        ((), {"step": 1}, "step is for a recording"),
        ((), {"unsplit": {}}, "unsplit goes with"),
        ((), {"controls": {"a": (1,)}}, "controls are a simulator's"),
        ((simulate, {"ubatches": 2}), {}, r"controls\['ubatches'\] is a tuple of values, not 2"),
        ((simulate, {"ubatches": ()}), {}, "is a tuple of values"),
        ((simulate, {"ubatches": (2.5,)}), {}, "whole numbers or strings"),
        ((simulate, {"comm": (1, 2)}), {}, "'comm' is a slider of every Lab"),
        ((simulate, {"layers": range(1, 30), "ubatches": range(1, 30)}), {}, "841 combinations"),
        ((simulate, {"ubatches": (2,)}), {"unsplit": 1}, "unsplit says which controls"),
        ((), {"title": 3}, "title is a string"),
        ((), {"theme": "blue"}, "theme must be"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments: Any, options: Any, says: str) -> None:
    with pytest.raises(BadArgument, match=says):
        Lab(*arguments, **options)


def test_a_recording_without_kernels_is_refused() -> None:
    from tests.traces import Traces

    t = Traces()
    t.thread("main").record("e", "s")
    with pytest.raises(BadArgument, match="nothing to change"):
        Lab(t.finish())
    with pytest.raises(BadArgument, match=r"has the steps \[6\], not 7"):
        Lab(ubviz.example("whole_game_unsplit"), step=7)


# ---- a simulator of one's own


def test_a_simulator_is_asked_for_what_is_looked_at() -> None:
    asked = []

    def run(ubatches: int, style: str) -> Trace:
        asked.append((ubatches, style))
        return simulate(ubatches=ubatches, style=style, layers=1)

    lab = Lab(run, {"ubatches": (2, 3, 1), "style": ("ht", "ll")}, unsplit={"ubatches": 1})
    assert set(asked) == {(2, "ht"), (1, "ht")}
    assert lab.numbers["makespan_ns"] == overlap(simulate(ubatches=2, layers=1)).makespan_ns
    lab.values = {"style": "ll", "comm": 200}
    assert set(asked) == {(2, "ht"), (1, "ht")}
    assert lab.numbers["hidden_transfer_ns"] > 0
    assert set(asked) == {(2, "ht"), (1, "ht"), (2, "ll"), (1, "ll")}
    assert lab._block("plan:3/ht")
    assert (3, "ht") in asked
    with pytest.raises(BadArgument, match="no plan '9/ht'"):
        lab._block("plan:9/ht")


def test_a_simulator_that_fails_says_with_what() -> None:
    def broken(n: int) -> Trace:
        if n == 2:
            raise ValueError("no two")
        return simulate(layers=1)

    lab = Lab(broken, {"n": (1, 2)})
    with pytest.raises(BadArgument, match=r"simulate\(n=2\) raised ValueError: no two"):
        lab._block("plan:2")
    with pytest.raises(BadArgument, match="simulate has to return a Trace, not int"):
        Lab(lambda n: n, {"n": (1,)})


# ---- what is stored


def test_the_plans_that_ship_are_what_the_simulation_gives() -> None:
    """Some of them; all in the long run."""
    names = list(shipped())
    assert len(names) == 4 * 2 * (1 + 3 * 3)
    for name in ("2/2/ht/none", "4/1/ll/missing_wait", "3/4/ht/record_after_yield", "1/8/ht/none"):
        ubatches, layers, style, variant = name.split("/")
        trace = simulate(ubatches=int(ubatches), layers=int(layers), style=style, variant=variant, fixed_ns=0)
        assert shipped()[name] == json.loads(json.dumps(plan_of(trace, None, Setting.launch_ns).data()))


@pytest.mark.slow
def test_all_the_plans_that_ship_are_what_the_simulation_gives() -> None:
    assert shipped() == json.loads(json.dumps(made()))


def test_a_plan_survives_its_way_to_the_page() -> None:
    plan = plan_of(program(random.Random(5)))
    assert Plan.of(json.loads(json.dumps(plan.data()))) == plan


def test_a_page_holds_all_plans_and_a_still_picture(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "lab.html"
    lab.to_html(path)
    text = path.read_text(encoding="utf-8")
    assert 'data-ubviz-script="lab"' in text
    assert "<noscript><img alt=" in text
    assert "https://" not in text.replace("http://www.w3.org", "")
    own = tmp_path / "own.html"
    Lab(lambda layers: simulate(layers=layers), {"layers": (1, 2)}).to_html(own)
    assert 'data-block="plan:2"' in own.read_text(encoding="utf-8")


def test_it_is_drawn_without_scripts(lab: Lab, tmp_path: Path) -> None:
    lab.to_picture(tmp_path / "lab.svg")
    assert (tmp_path / "lab.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert lab._still().words == lab.alt


def test_where_nothing_takes_any_time_nothing_goes_wrong() -> None:
    lab = Lab(values={"comm": 0, "compute": 0, "fixed": 0, "launch": 0})
    assert lab.numbers["bound_ns"] == lab.numbers["compute_busy_ns"] == lab.numbers["unsplit_ns"] == 0
    assert (lab.numbers["overlap_ratio"], lab.numbers["speedup"]) == (None, 0)
    assert lab._still().words == lab.alt


def test_it_works_without_pytorch() -> None:
    code = """
import sys
sys.modules["torch"] = None
import ubviz
lab = ubviz.Lab()
lab.values = {"comm": 720}
assert lab.numbers["makespan_ns"] > 0 and lab.trace().steps == (0,)
assert ubviz.Lab(ubviz.example("whole_game_overlapped")).numbers["measured_ns"] > 0
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_numbers_of_a_plan_are_whole(lab: Lab) -> None:
    found = numbers_of(Plan.of(shipped()["2/2/ht/none"]), Factors(1 / 3, [1 / 3] * 4, 5, 17))
    assert all(type(getattr(found, name)) is int for name in ("makespan_ns", "bound_ns", "overlap_ns"))
