"""``rt.launch`` for what is no torch code, operations around launches, and the modelled wire."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from ubviz.runtime import Launch

MS = 1_000_000


@pytest.fixture
def s(rt):
    return rt.Stream("s")


def launches(told):
    """Those of ``rt.launch``; on cuda an operation is announced as a launch of another class."""
    return [fact.arg for fact in told.of("kernel.launch") if type(fact.arg) is Launch]


def test_a_launch_calls_the_function_with_its_arguments(rt, s):
    said = []
    rt.launch("k", lambda *args: said.append(args), 1, "two", stream=s)
    s.synchronize()
    assert said == [(1, "two")]


def test_a_launch_takes_its_duration_at_least(rt, s, told):
    rt.launch("short", stream=s, duration_ns=1 * MS)
    rt.launch("with work", lambda: None, stream=s, duration_ns=2 * MS)
    s.synchronize()
    short, with_work = told.ran(s)
    assert short.end_ns - short.start_ns >= 1 * MS
    assert with_work.end_ns - with_work.start_ns >= 2 * MS


def test_a_launch_is_told_as_it_was_asked_for(rt, s, told):
    rt.launch("plain", stream=s)
    rt.launch("full", stream=s, cls="comm", duration_ns=1_000, host_wait=True)
    plain, full = launches(told)
    assert [fact.obj for fact in told.of("kernel.launch")] == [s, s]
    assert (plain.name, plain.cls, plain.operation, plain.duration_ns, plain.host_wait) == (
        "plain", "other", None, None, False,
    )  # fmt: skip
    assert (full.name, full.cls, full.duration_ns, full.host_wait) == ("full", "comm", 1_000, True)
    assert plain.correlation != full.correlation
    assert [fact.obj for fact in told.of("returned")] == [s]  # of the one that waited


def test_a_kernel_names_its_launch(rt, s, told):
    rt.launch("one", stream=s)
    rt.launch("two", stream=s)
    s.synchronize()
    assert [fact.arg[0] for fact in told.of("kernel")] == launches(told)


def test_reads_and_writes_are_numbers_of_storages(rt, s, told):
    x, y = torch.zeros(4), torch.zeros(4)
    rt.launch("k", stream=s, reads=(x, x[1:]), writes=(y.view(2, 2),))
    rt.launch("k", stream=s, reads=(y,), writes=(x,))
    first, second = launches(told)
    assert first.reads == (first.reads[0],) * 2
    assert (second.reads, second.writes) == (first.writes, first.reads[:1])
    assert first.reads[0] != first.writes[0]


# ---- operations


def test_a_launch_belongs_to_the_innermost_operation(rt, s, told):
    with rt.op("outer", cls="comm", layer=3) as outer:
        rt.launch("a", stream=s)
        with rt.op("inner") as inner:
            rt.launch("b", stream=s)
        rt.launch("c", stream=s)
    rt.launch("d", stream=s)
    assert [launch.operation for launch in launches(told)] == [outer, inner, outer, None]
    assert (outer.name, outer.cls, outer.layer) == ("outer", "comm", 3)
    assert (inner.name, inner.cls, inner.layer) == ("inner", "compute", None)


def test_an_operation_ends_with_an_error_too(rt, s, told):
    with pytest.raises(KeyError), rt.op("o"):
        raise KeyError
    rt.launch("k", stream=s)
    assert launches(told)[0].operation is None
    assert [fact.kind for fact in told.of("op.begin", "op.end")] == ["op.begin", "op.end"]


def test_an_operation_belongs_to_its_thread(rt, s, told, start):
    with rt.op("mine"):
        start(lambda: rt.launch("theirs", stream=s)).end()
        rt.launch("mine", stream=s)
    assert {launch.name: launch.operation and launch.operation.name for launch in launches(told)} == {
        "theirs": None,
        "mine": "mine",
    }


def test_operations_are_told_as_they_nest(rt, told):
    with rt.op("outer"):
        with rt.op("inner"):
            pass
    facts = [(fact.kind, fact.obj.name) for fact in told.of("op.begin", "op.end")]
    assert facts == [("op.begin", "outer"), ("op.begin", "inner"), ("op.end", "inner"), ("op.end", "outer")]


# ---- the wire


def transfers(told):
    return {fact.arg[0]: fact for fact in told.of("transfer")}


def test_a_transfer_departs_when_its_sending_kernel_ends(rt, s, told):
    link = rt.Link("wire")
    flight = link.flight(2 * MS, nbytes=64)
    rt.launch("send", stream=s, duration_ns=1 * MS, sends=flight)
    s.synchronize()
    fact = transfers(told)[flight]
    _, launch, start_ns, end_ns = fact.arg
    send = told.ran(s)[0]
    assert (fact.obj, launch.name, flight.nbytes) == (link, "send", 64)
    assert send.start_ns + 1 * MS <= start_ns
    assert end_ns - start_ns == flight.duration_ns == 2 * MS
    assert launch.sends is flight


def test_a_receive_is_not_over_before_the_arrival(rt, s, told):
    flight = rt.Link().flight(3 * MS)
    rt.launch("send", stream=s, sends=flight)
    rt.launch("receive", stream=s, receives=flight)
    s.synchronize()
    arrival_ns = transfers(told)[flight].arg[3]
    send, receive = told.ran(s)
    assert send.end_ns < arrival_ns <= receive.end_ns
    assert [launch.receives for launch in launches(told)] == [None, flight]


def test_what_a_receive_does_comes_after_the_arrival(rt, s, told):
    seen = []
    flight = rt.Link().flight(3 * MS)
    rt.launch("send", stream=s, sends=flight)
    rt.launch("receive", lambda: seen.append(rt.now_ns()), stream=s, receives=flight)
    s.synchronize()
    assert seen[0] >= transfers(told)[flight].arg[3]


def test_a_receive_on_another_stream_waits_for_the_send(rt, s, told, hold):
    flight = rt.Link().flight(1 * MS)
    receiving = rt.Stream("receiving")
    gate = hold(s)
    rt.launch("receive", stream=receiving, receives=flight)
    rt.launch("send", stream=s, sends=flight)
    assert told.names(receiving) == []
    gate.set()
    rt.synchronize()
    assert told.ran(receiving)[0].end_ns >= transfers(told)[flight].arg[3]


def test_a_link_carries_one_transfer_after_another(rt, told):
    link = rt.Link()
    flights = [link.flight(2 * MS) for _ in range(3)]
    streams = [rt.Stream(f"s{i}") for i in range(3)]
    for stream, flight in zip(streams, flights, strict=True):
        rt.launch("send", stream=stream, sends=flight)
    rt.synchronize()
    spans = sorted(fact.arg[2:] for fact in told.of("transfer"))
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert {end - start for start, end in spans} == {2 * MS}


def test_two_links_do_not_wait_for_each_other(rt, s, told):
    far, near = rt.Link("far").flight(3_600_000 * MS), rt.Link("near").flight(1 * MS)
    rt.launch("send far", stream=s, sends=far)
    rt.launch("send near", stream=s, sends=near)
    rt.launch("receive near", stream=s, receives=near)
    s.synchronize()
    assert transfers(told)[near].arg[3] < transfers(told)[far].arg[3]
