"""Two recordings side by side: what is the same, what is only in one, and both numbers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from tests import small, virtually
from tests.strategies import recorded, traces
from tests.traces import Traces
from ubviz.analysis import Operation, compare, operations, overlap
from ubviz.errors import BadArgument
from ubviz.trace import Lane, Trace, example
from ubviz.trace.build import Builder


def step(t: Traces, number: int, experts: int, ubatches: int = 2) -> None:
    """One step: attention and experts of each microbatch, then one kernel of no operation."""
    main = t.thread("main")
    main.step_begin(number)
    for i in range(ubatches):
        u = t.thread(f"ubatch {i}")
        u.launch("attention", "compute", takes=10, layer=0)
        u.launch("experts", "compute", takes=experts, layer=0)
    main.launch("sample", "compute", takes=1)
    t.now += 1_000
    main.step_end()


def one(*experts: int) -> Trace:
    t = Traces()
    for number, lasts in enumerate(experts):
        step(t, number, lasts)
    return t.finish()


def test_the_same_operation_of_both_and_the_difference() -> None:
    found = compare(one(50), one(70))
    assert [(p.operation.ubatch, p.operation.name, p.duration_diff_ns, p.start_diff_ns) for p in found.pairs] == [
        (0, "attention", 0, 0), (0, "experts", 20, 0), (1, "attention", 0, 20), (1, "experts", 20, 20),
        (None, "sample", 0, 40),
    ]  # fmt: skip
    assert (found.only_a, found.only_b, found.notices) == ((), (), ())
    assert found.totals["compute_busy_ns"].diff == 40
    assert found.totals["makespan_ns"].diff == 40
    assert found.totals["overlap_ratio"] == (None, None)


def test_what_only_one_of_them_has_is_listed() -> None:
    a, t = one(50), Traces()
    step(t, 0, 50)
    t.step = 0
    t.thread("ubatch 1").launch("combine", "comm", takes=5, cls="comm", layer=0)
    found = compare(a, t.finish())
    assert found.only_a == ()
    assert [lone.operation for lone in found.only_b] == [Operation(0, 1, 0, "combine", 0)]
    assert found.totals["comm_busy_ns"] == (0, 5)


def test_by_name_the_microbatches_are_put_together() -> None:
    t = Traces()
    step(t, 0, 100, ubatches=1)
    found = compare(t.finish(), one(50), by="name")
    assert (found.only_a, found.only_b) == ((), ())
    experts = found.pairs[1]
    assert experts.operation == Operation(0, None, 0, "experts", 0)
    assert (experts.a.duration_ns, experts.b.duration_ns) == (100, 100)
    assert (len(experts.a.rows), len(experts.b.rows)) == (1, 2)


def of_ranks(first: int, *lasts: int) -> Trace:
    """Both microbatches of each rank twice, ``first`` rank first; ``lasts``, by rank: how long its kernels last."""
    ranks = range(len(lasts))
    builder = Builder([Lane(rank, rank, "compute", "streams") for rank in ranks])
    for turn in range(4):
        for late, rank in enumerate(sorted(ranks, key=lambda rank: rank != first)):
            at = 200 * turn + late
            builder.span(
                at, at + lasts[rank], "kernel", "experts", lane=rank, rank=rank, ubatch=turn % 2, cls="compute",
                operation="experts", layer=0,
            )  # fmt: skip
    return builder.finish({})


def test_each_rank_is_compared_with_itself_whichever_begins_first() -> None:
    found = compare(of_ranks(0, 10, 90), of_ranks(1, 13, 95))
    assert (found.only_a, found.only_b) == ((), ())
    assert sorted((*pair.operation[1:], pair.duration_diff_ns) for pair in found.pairs) == sorted(
        (ubatch, 0, "experts", again, rank, more)
        for rank, more in enumerate((3, 5)) for ubatch in (0, 1) for again in (0, 1)
    )  # fmt: skip
    together = compare(of_ranks(0, 10, 90), of_ranks(1, 13, 95), by="name").pairs
    assert {(p.operation.rank, p.operation.ubatch, len(p.a.rows)) for p in together} == {
        (0, None, 2),
        (1, None, 2),
    }


def test_one_rank_stands_beside_itself_among_several() -> None:
    found = compare(of_ranks(0, 10), of_ranks(0, 10, 90))
    assert {pair.operation.rank for pair in found.pairs} == {0}
    assert [lone.operation.rank for lone in found.only_b] == [1] * 4


def test_kernels_belong_to_the_operation_that_was_open_when_they_were_launched() -> None:
    t = Traces()
    main = t.thread("main")
    for _ in range(2):
        begin = t.now
        for name in ("matmul", "add"):
            main.launch(name, "compute", takes=30, operation="experts", layer=1)
        t.builder.span(begin, t.now + 1, "operation", "experts", lane=main.lane, operation="experts", layer=1)
        t.now += 5
    found = operations(t.finish())
    assert [(key, len(part.rows), part.duration_ns) for key, part in found.items()] == [
        (Operation(None, None, 1, "experts", 0), 2, 60), (Operation(None, None, 1, "experts", 1), 2, 60),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "a, b, steps, notices",
    [
        ((9,), (9,), {0: 0}, []),
        ((9, 9), (9, 9, 9), {0: 0, 1: 1}, ["1 step is in one of the two recordings only, and not compared"]),
    ],
)
def test_steps_are_the_same_by_their_number(
    a: tuple[int, ...], b: tuple[int, ...], steps: dict[int, int], notices: list[str]
) -> None:
    found = compare(one(*a), one(*b))
    assert found.steps == steps
    assert [notice.sentence for notice in found.notices] == notices
    assert {pair.operation.step for pair in found.pairs} == set(steps)
    assert found.totals["kernels"] == (5 * len(steps), 5 * len(steps))


def test_steps_without_a_number_in_common_are_taken_in_order() -> None:
    late = one(5, 6, 7, 8).only(2, 3)
    found = compare(one(5, 6), late)
    assert found.steps == {0: 2, 1: 3}
    assert [notice.kind for notice in found.notices] == ["steps_in_order"]
    assert [p.duration_diff_ns for p in found.pairs if p.operation.name == "experts"] == [2, 2, 2, 2]
    assert compare(one(5), late.only(3)).steps == {0: 3}  # one of each: nothing to say


def test_a_recording_without_steps_is_compared_as_a_whole() -> None:
    t = Traces()
    t.thread("ubatch 0").launch("experts", "compute", takes=7, layer=0)
    found = compare(t.finish(), one(5, 6))
    assert found.steps == {None: None}
    assert [(p.operation.occurrence, p.a.duration_ns, p.b.duration_ns) for p in found.pairs] == [(0, 7, 5)]
    assert Operation(None, 0, 0, "experts", 1) in [lone.operation for lone in found.only_b]


def test_the_examples() -> None:
    before, after = example("whole_game_unsplit"), example("whole_game_overlapped")
    found = compare(before, after, by="name")
    assert found.only_a == ()
    assert found.totals["makespan_ns"].diff == 329_953_418 - 504_663_176
    assert json.loads(json.dumps(found.as_json())).keys() == {
        "totals", "pairs", "only_a", "only_b", "steps", "notices",
    }  # fmt: skip


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_host_and_virtual_have_the_same_operations(style: str) -> None:
    found = compare(small.recorded(style), virtually.recorded(style, 2))
    assert {lone.operation.name for lone in (*found.only_a, *found.only_b)} <= {"inputs"}
    assert len(found.pairs) > 35


def test_no_kernel_with_a_class_has_no_busy_times() -> None:
    t = Traces()
    t.builder.span(0, 10, "kernel", "gemm", lane=t.lane("stream 7", "streams"))
    trace = t.finish()
    assert compare(trace, trace).totals["compute_busy_ns"] == (None, None)
    assert compare(trace, trace, comm="nccl").totals["compute_busy_ns"] == (10, 10)


def test_what_it_cannot_align_by_is_refused() -> None:
    with pytest.raises(BadArgument) as error:
        compare(one(1), one(1), by="layer")
    assert str(error.value) == 'compare aligns by "ubatch" or "name", not \'layer\''


@settings(max_examples=60, deadline=None)
@given(traces() | recorded())
def test_with_itself_every_kernel_is_compared_and_nothing_differs(trace: Trace) -> None:
    found = compare(trace, trace)
    assert (found.only_a, found.only_b) == ((), ())
    assert all(pair.a == pair.b for pair in found.pairs)
    rows = sorted(row for pair in found.pairs for row in pair.a.rows)
    assert rows == [row for row, span in enumerate(trace.spans) if span.cat == "kernel"]
    assert found.totals["makespan_ns"] == (overlap(trace).makespan_ns,) * 2
