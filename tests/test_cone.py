"""The past and the future of one row: against the order's own answers, hop by hop, and on known programs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.programs import graph, programs
from tests.traces import Traces
from ubviz.analysis import Cones, Order
from ubviz.analysis.cone import Row
from ubviz.trace import Trace


def rows_of(trace: Trace) -> list[Row]:
    return [*range(len(trace.events)), *(("spans", row) for row in range(len(trace.spans)))]


@settings(max_examples=50, deadline=None)
@given(programs())
def test_cones_hold_what_is_before_and_what_is_after(trace: Trace) -> None:
    order, cones, rows = Order(trace), Cones(trace), rows_of(trace)
    for row in rows:
        past, future = cones.past(row), cones.future(row)
        assert past.events.tolist() == [r for r in rows if isinstance(r, int) and order.before(r, row)]
        assert past.spans.tolist() == [r[1] for r in rows if isinstance(r, tuple) and order.before(r, row)]
        assert future.events.tolist() == [r for r in rows if isinstance(r, int) and order.before(row, r)]
        assert future.spans.tolist() == [r[1] for r in rows if isinstance(r, tuple) and order.before(row, r)]


@settings(max_examples=50, deadline=None)
@given(programs(), st.integers(0, 4))
def test_hops_are_edges_of_the_graph(trace: Trace, hops: int) -> None:
    cones, out = Cones(trace), graph(trace)
    back = {node: {other for other in out if node in out[other]} for node in out}
    for row in range(len(trace.events)):
        for edges, cone in ((out, cones.future(row, hops)), (back, cones.past(row, hops))):
            near = {("host", row)}
            for _ in range(hops):
                near |= {other for node in near for other in edges[node]}
            assert cone.events.tolist() == sorted(seq for what, seq in near if what == "host" and seq != row)
            near.discard(("host", row))
            spans = [("host" if s.cat == "blocked" else "device", s.seq) for s in trace.spans]
            assert cone.spans.tolist() == [i for i, node in enumerate(spans) if node in near]


@settings(max_examples=50, deadline=None)
@given(programs())
def test_as_many_hops_as_rows_are_the_whole_cone(trace: Trace) -> None:
    cones, most = Cones(trace), len(trace.events) + len(trace.spans) + 1
    for row in rows_of(trace):
        for whole, hops in (
            (cones.past(row), cones.past(row, most)), (cones.future(row), cones.future(row, most)),
        ):  # fmt: skip
            assert [part.tolist() for part in whole] == [part.tolist() for part in hops]


@settings(max_examples=50, deadline=None)
@given(strategies.traces())
def test_any_trace_has_cones(trace: Trace) -> None:
    cones = Cones(trace)
    for row in rows_of(trace):
        at = row[1] if isinstance(row, tuple) else row
        for cone in (cones.past(row), cones.future(row), cones.past(row, 1), cones.future(row, 1)):
            assert at not in (cone.spans if isinstance(row, tuple) else cone.events)


def test_of_a_wait_one_hop_is_its_record_its_call_and_its_neighbour() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.launch("a", "compute", takes=50)
    u0.record("done", "compute")
    u0.launch("b", "comm")
    wait = u0.wait_event("comm", "done")
    u0.launch("c", "comm")
    trace = t.finish()
    spans = {(span.cat, span.seq): row for row, span in enumerate(trace.spans)}
    cones, row = Cones(trace), spans["wait", wait]
    near = cones.past(("spans", row), hops=1)
    assert near.events.tolist() == [wait]
    assert near.spans.tolist() == sorted([spans["record", 1], spans["kernel", 2]])
    after = cones.future(("spans", row))
    assert (after.events.tolist(), after.spans.tolist()) == ([], [spans["kernel", 4]])


def test_an_operation_has_no_place_in_the_order() -> None:
    t = Traces()
    main = t.thread("main")
    main.tell("mark", text="here")
    t.builder.span(0, 10, "operation", "experts", lane=main.lane)
    cones = Cones(t.finish())
    assert [len(part) for part in (*cones.past(("spans", 0)), *cones.future(("spans", 0)))] == [0] * 4
