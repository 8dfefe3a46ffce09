"""Capture and replay: what a graph may hold, what it gives back, and what is refused in a sentence."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from tests.contract.language import until
from ubviz.errors import AsyncError, CaptureError

MS = 1_000_000


@pytest.fixture
def s0(rt):
    return rt.Stream("S0")


@pytest.fixture
def s1(rt):
    return rt.Stream("S1")


def refused(sentence):
    return pytest.raises(CaptureError, match=f"^{sentence}")


def fork(rt, graph, s0, s1, join=True):
    """One kernel on each stream, the second after the first; the origin goes on after both."""
    with graph.capture(s0):
        rt.launch("on S0")
        s1.wait_stream(s0)
        rt.launch("on S1", stream=s1)
        if join:
            s0.wait_stream(s1)
        rt.launch("after")


# ---- capturing notes, replaying runs


def test_a_capture_runs_nothing_and_a_replay_runs_it(rt, s0, told):
    said = []
    graph = rt.graph("g")
    with graph.capture(s0):
        rt.launch("k", said.append, 1)
    s0.synchronize()
    assert said == []
    with rt.stream(s0):
        graph.replay()
        graph.replay()
    s0.synchronize()
    assert said == [1, 1]
    assert told.names(s0) == ["k", "k"]


def test_a_replay_reads_what_is_in_its_inputs_now(rt, s0):
    x = torch.ones(16)
    position = torch.full((16,), 5.0)
    graph = rt.graph()
    with rt.device_context(), rt.stream(s0):
        with graph.capture(s0):
            out = 2 * x + position
        for value, place, right in ((3.0, 5.0, 11.0), (1.0, 0.5, 2.5)):
            x.fill_(value)
            position.fill_(place)
            graph.replay()
            s0.synchronize()
            assert out.tolist() == [right] * 16


def test_tensors_of_a_capture_keep_their_place(rt, s0):
    x = torch.ones(4)
    graph = rt.graph()
    with rt.device_context(), rt.stream(s0):
        with graph.capture(s0):
            y = (x + 1) * 2  # the sum is nobody's but the graph's
        address = y.untyped_storage()._cdata
        others = [torch.zeros(4) for _ in range(100)]
        graph.replay()
        assert y.tolist() == [4.0] * 4
        assert y.untyped_storage()._cdata == address
        assert [other.sum().item() for other in others] == [0.0] * 100


def test_a_replay_returns_at_once_and_is_one_piece_of_its_stream(rt, s0, s1, told, hold):
    graph = rt.graph("g")
    fork(rt, graph, s0, s1)
    gate = hold(s0)
    with rt.stream(s0):
        rt.launch("before")
        graph.replay()
        rt.launch("behind")
    assert told.names(s0) == []
    gate.set()
    s0.synchronize()
    assert told.names(s0) == ["gate", "before", "on S0", "after", "behind"]
    ran = {kernel.name: kernel for fact in told.of("kernel") for kernel in told.ran(fact.obj)}
    order = ["before", "on S0", "on S1", "after", "behind"]
    for first, second in pairwise(order):
        assert ran[first].end_ns <= ran[second].start_ns


def test_a_replay_does_not_wait_for_the_streams_that_were_captured(rt, s0, s1, hold, told):
    graph = rt.graph("g")
    fork(rt, graph, s0, s1)
    hold(s0)
    hold(s1)
    elsewhere = rt.Stream("elsewhere")
    with rt.stream(elsewhere):
        graph.replay()
    elsewhere.synchronize()
    assert told.names(elsewhere) == ["on S0", "after"]


def test_branches_of_a_graph_overlap(rt, s0, s1, told):
    link = rt.Link()
    to_right, to_left = link.flight(1_000), link.flight(1_000)
    graph = rt.graph()
    with graph.capture(s0):
        s1.wait_stream(s0)
        rt.launch("left sends", sends=to_right)
        rt.launch("right sends", stream=s1, sends=to_left)
        rt.launch("left receives", receives=to_left)  # neither goes on alone
        rt.launch("right receives", stream=s1, receives=to_right)
        s0.wait_stream(s1)
    with rt.stream(s0):
        graph.replay()
        graph.replay()
    s0.synchronize()
    assert told.names(s0) == ["left sends", "left receives"] * 2


def test_more_kernels_than_a_stream_may_lag_behind(rt, s0, hold):
    count = []
    graph = rt.graph()
    with graph.capture(s0):
        for _ in range(3_000):
            rt.launch("k", count.append, 1)
    gate = hold(s0)
    with rt.stream(s0):
        graph.replay()
        graph.replay()
    gate.set()
    s0.synchronize()
    assert len(count) == 6_000


def test_a_graph_does_not_run_beside_itself(rt, s0, told):
    graph = rt.graph()
    with graph.capture(s0):
        rt.launch("k", duration_ns=3 * MS)
    streams = [rt.Stream(f"r{i}") for i in range(3)]
    for stream in streams:
        with rt.stream(stream):
            graph.replay()
    rt.synchronize()
    ran = [told.ran(stream)[0] for stream in streams]
    for first, second in pairwise(ran):
        assert first.end_ns <= second.start_ns


def test_several_graphs_in_any_order(rt, s0):
    said = []
    graphs = [rt.graph(f"g{i}") for i in range(3)]
    for i, graph in enumerate(graphs):
        with graph.capture(s0):
            rt.launch("k", said.append, i)
    with rt.stream(s0):
        for i in (2, 0, 1, 1, 2):
            graphs[i].replay()
    s0.synchronize()
    assert said == [2, 0, 1, 1, 2]


def test_begin_and_end_without_a_block(rt, s0, told):
    graph = rt.graph("g")
    graph.key = 8
    with rt.stream(s0):
        graph.capture_begin()
        rt.launch("k")
        graph.capture_end()
        graph.replay()
    s0.synchronize()
    facts = [(fact.kind, fact.obj, fact.arg) for fact in told.of("graph.capture_begin", "graph.capture_end")]
    assert facts == [("graph.capture_begin", graph, 8), ("graph.capture_end", graph, 8)]
    key, correlation, kernels = told.of("graph.replay")[0].arg
    assert (key, kernels) == (8, 1)
    assert [fact.arg[0].correlation for fact in told.of("kernel")] == [correlation]


# ---- what is kept of a launch


def test_launches_keep_what_they_are_while_nobody_listens(rt, s0, s1):
    x, y = torch.zeros(4), torch.zeros(4)
    graph = rt.graph()
    with graph.capture(s0):
        with rt.op("experts", cls="compute", layer=3):
            rt.launch("k", cls="comm", reads=(x,), writes=(y,), duration_ns=1_000)
    launch = graph.kernels[0]
    assert (launch.name, launch.cls, launch.operation.name, launch.operation.layer, launch.node) == (
        "k", "comm", "experts", 3, 0,
    )  # fmt: skip
    assert (launch.reads, launch.writes) == (rt.buffers([x]), rt.buffers([y]))


def test_a_replay_announces_no_launch_and_its_kernels_name_the_captured_ones(rt, s0, s1, told):
    graph = rt.graph("g")
    fork(rt, graph, s0, s1)
    assert [(fact.arg.name, fact.arg.node) for fact in told.of("kernel.launch")] == [
        ("on S0", 0), ("on S1", 1), ("after", 2),
    ]  # fmt: skip
    told.facts.clear()
    with rt.stream(s0):
        graph.replay()
    rt.synchronize()
    assert told.of("kernel.launch", "event.record", "event.wait", "record", "wait") == []
    kernels = [fact.arg[0] for fact in told.of("kernel")]
    assert sorted((k.name, k.node) for k in kernels) == [("after", 2), ("on S0", 0), ("on S1", 1)]


def test_flights_are_made_anew_for_every_replay(rt, s0, told):
    link = rt.Link("wire")
    flight = link.flight(2 * MS, nbytes=64)
    graph = rt.graph()
    with graph.capture(s0):
        rt.launch("send", sends=flight)
        rt.launch("receive", receives=flight)
    with rt.stream(s0):
        graph.replay()
        graph.replay()
    s0.synchronize()
    flown = [fact.arg for fact in told.of("transfer")]
    assert len({id(one[0]) for one in flown}) == len(flown) == 2
    assert flight not in [one[0] for one in flown]
    receives = [kernel for kernel in told.ran(s0) if kernel.name == "receive"]
    for (_, launch, start_ns, end_ns), receive in zip(flown, receives, strict=True):
        assert launch.name == "send"
        assert end_ns - start_ns == 2 * MS
        assert receive.end_ns >= end_ns
    rt.launch("stray", stream=s0, receives=flight)
    with pytest.raises(
        AsyncError, match=r"^the flight was sent inside the capture of graph unnamed; each replay"
    ):
        s0.synchronize()


# ---- errors in a replay


def test_an_error_in_a_replayed_kernel_surfaces_at_the_next_synchronize(rt, s0, s1):
    right = []

    def fail():
        if not right:
            raise ValueError("on purpose")

    graph, after = rt.graph("g"), []
    with graph.capture(s0):
        s1.wait_stream(s0)
        rt.launch("bad", fail, stream=s1)
        s0.wait_stream(s1)
        rt.launch("after", after.append, 1)
    with rt.stream(s0):
        graph.replay()
    with pytest.raises(AsyncError, match=r"^bad on stream S1 of graph g failed: ValueError: on purpose$"):
        s0.synchronize()
    rt.synchronize()  # told once
    assert after == []
    right.append(True)
    with rt.stream(s0):
        graph.replay()
    rt.synchronize()
    assert after == [1]


# ---- spreading, and joining back


def test_capture_spreads_to_a_stream_that_waits(rt, s0, s1):
    graph = rt.graph()
    outside = rt.Stream("outside")
    said = []
    with graph.capture(s0, "relaxed"):
        s1.wait_stream(s0)
        rt.launch("k", said.append, "in", stream=s1)
        rt.launch("k", said.append, "out", stream=outside)
        s0.wait_stream(s1)
        outside.synchronize()
        assert said == ["out"]
    with rt.stream(s0):
        graph.replay()
    s0.synchronize()
    assert said == ["out", "in"]


def test_a_stream_that_was_never_joined_is_named(rt, s0, s1):
    graph = rt.graph("g")
    with refused(
        r"unjoined: stream S1 was forked into the capture of graph g and never joined back; let stream S0 wait for "
        r"an event recorded there before the capture ends$"
    ):
        fork(rt, graph, s0, s1, join=False)
    with refused("graph g holds nothing to replay: capture into it first$"):
        graph.replay()


def test_a_join_through_a_third_stream_counts(rt, s0, s1):
    third = rt.Stream("S2")
    graph = rt.graph()
    with graph.capture(s0):
        s1.wait_stream(s0)
        third.wait_stream(s1)
        rt.launch("k", stream=third)
        s1.wait_stream(third)
        s0.wait_stream(s1)
    assert len(graph.kernels) == 1


def test_a_wait_for_an_older_record_undoes_no_join(rt, s0, s1):
    graph = rt.graph()
    with graph.capture(s0):
        s1.wait_stream(s0)
        early = s1.record_event()
        rt.launch("k", stream=s1)
        s0.wait_stream(s1)
        s0.wait_event(early)
    assert len(graph.kernels) == 1


def test_work_after_the_join_is_not_joined(rt, s0, s1):
    with refused("unjoined: stream S1 was forked"):
        with rt.graph().capture(s0):
            s1.wait_stream(s0)
            s0.wait_stream(s1)
            rt.launch("late", stream=s1)


# ---- what a capture cannot hold


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        (lambda rt, s, e: s.synchronize(), "synchronize is not possible while stream S0 is captured into graph g"),
        (lambda rt, s, e: s.query(), "query is not possible while stream S0 is captured"),
        (lambda rt, s, e: rt.synchronize(), "synchronize of the runtime is not possible while stream S0 is captured"),
        (lambda rt, s, e: e.synchronize(), "event e was recorded in the capture of graph g: it is an edge of the "
         "graph, not a point in time, so synchronize has nothing to go by; record it again outside the capture"),
        (lambda rt, s, e: e.query(), "event e was recorded in the capture of graph g: .* so query has nothing"),
        (lambda rt, s, e: e.elapsed_time(e), "event e was recorded in the capture of graph g: .* so elapsed_time has"),
        (lambda rt, s, e: rt.launch("d", host_wait=True), "the launch d, which waits for its kernel .host_wait=True., "
         "is not possible while stream S0 is captured"),
        (lambda rt, s, e: torch.ones(3).tolist(), "the host read tolist is not possible while stream S0 is captured"),
        (lambda rt, s, e: torch.ones(3).sum().item(), "the host read .* is not possible while stream S0 is captured"),
        (lambda rt, s, e: torch.ones(3).nonzero(), "the host read nonzero is not possible while stream S0 is captured"),
        (lambda rt, s, e: torch.rand(3), "the random operation rand on stream S0 cannot be captured into graph g: "),
        (lambda rt, s, e: torch.ones(3).uniform_(), "the random operation uniform_ on stream S0 cannot be captured"),
        (lambda rt, s, e: rt.graph("h").capture_begin(), "stream S0 is already captured into graph g: one at a time"),
        (lambda rt, s, e: rt.done.replay(), "a replay of graph done is not possible while stream S0 is captured"),
        (lambda rt, s, e: s.wait_stream(rt.Stream("out")), "stream S0, which is captured into graph g, cannot wait "
         "for event unnamed: it was recorded outside, on stream out; record it in this capture, or wait "
         "before it begins"),
    ],
)  # fmt: skip
def test_what_waits_for_the_device_or_the_outside_is_refused(rt, s0, what, sentence):
    rt.done, event = rt.graph("done"), rt.Event("e", enable_timing=True)
    with rt.done.capture(s0):
        rt.launch("k")
    graph, said = rt.graph("g"), []
    with rt.device_context(), rt.stream(s0), refused(sentence):
        with graph.capture(s0):
            event.record(s0)
            what(rt, s0, event)
    with rt.stream(s0):  # out of capture, and works
        rt.launch("k", said.append, 1)
        event.record()
    event.synchronize()
    assert event.query()
    assert said == [1]
    with refused("graph g holds nothing to replay"):
        graph.replay()


def test_an_error_that_was_swallowed_fails_the_end(rt, s0):
    graph = rt.graph("g")
    with refused(
        "the capture of graph g was broken: synchronize is not possible while stream S0 is captured"
    ):
        with graph.capture(s0):
            with pytest.raises(CaptureError):
                s0.synchronize()
    s0.synchronize()


def test_an_error_of_the_block_comes_out_and_nothing_is_kept(rt, s0, s1):
    fault, said = KeyError("mine"), []
    with pytest.raises(KeyError) as caught, rt.graph("g").capture(s0):
        s1.wait_stream(s0)
        rt.launch("k", said.append, 1, stream=s1)
        raise fault
    assert caught.value is fault
    for stream in (s0, s1):
        rt.launch("k", said.append, stream.name, stream=stream)
        stream.synchronize()
    assert said == ["S0", "S1"]


def test_a_receive_of_a_flight_from_outside(rt, s0):
    flight = rt.Link().flight(1_000)
    with refused("the launch receive receives a flight that was sent outside the capture of graph g$"):
        with rt.graph("g").capture(s0):
            rt.launch("receive", receives=flight)


def test_two_captures_do_not_wait_for_each_other(rt, s0, s1):
    other = rt.graph("other")
    other.capture_begin(s1)
    event = s1.record_event(rt.Event("e"))
    with refused("stream S0, which is captured into graph g, cannot wait for event e: it was recorded in the capture "
                 "of graph other, on stream S1"):  # fmt: skip
        with rt.graph("g").capture(s0):
            s0.wait_event(event)
    other.capture_end()


def test_an_event_of_a_capture_is_no_point_in_time_afterwards(rt, s0, s1):
    event = rt.Event("e")
    with rt.graph("g").capture(s0):
        event.record(s0)
    for ask in (event.query, event.synchronize, lambda: s1.wait_event(event)):
        with refused("event e was recorded in the capture of graph g: it is an edge of the graph"):
            ask()
    event.record(s0)
    s1.wait_event(event)
    event.synchronize()


def test_a_wait_for_an_event_never_recorded_does_nothing(rt, s0, told):
    graph = rt.graph()
    with graph.capture(s0):
        s0.wait_event(rt.Event("never"))
        rt.launch("k")
    with rt.stream(s0):
        graph.replay()
    s0.synchronize()
    assert told.names(s0) == ["k"]


def test_captured_once_and_ended_where_it_began(rt, s0, start):
    graph = rt.graph("g")
    with refused("graph g is not being captured: capture_begin comes before capture_end$"):
        graph.capture_end()
    with refused("the default stream cannot be captured into graph g; make one with rt.Stream"):
        graph.capture_begin(rt.current_stream())
    graph.capture_begin(s0)
    with refused("graph g is being captured already; capture_end.. comes first$"):
        graph.capture_begin(s0)
    with refused("the capture of graph g was begun by thread 'MainThread' and must end there$"):
        start(graph.capture_end).end()
    graph.capture_end()
    s0.synchronize()
    with refused("graph g has been captured already; make another one with rt.graph"):
        graph.capture_begin(s0)


# ---- other threads


def test_global_forbids_every_thread_to_wait(rt, s0, start):
    other = rt.Stream("other")
    running = None
    with refused('the capture of graph g was broken: synchronize on stream other, in thread .*, is not possible while '
                 'stream S0 is captured into graph g with capture_error_mode="global"'):  # fmt: skip
        with rt.graph("g").capture(s0, "global"):
            running = start(other.synchronize)
            until(lambda: not running.thread.is_alive(), "the thread has ended")
    with refused("synchronize on stream other, in thread "):
        running.end()


def test_thread_local_leaves_other_threads_alone_and_takes_their_captured_work(rt, s0, start):
    other, said = rt.Stream("other"), []

    def copy():
        rt.launch("their own", said.append, "own", stream=other)
        other.synchronize()
        rt.launch("captured", said.append, "captured", stream=s0)

    graph = rt.graph()
    with graph.capture(s0, "thread_local"):
        start(copy).end()
        assert said == ["own"]
    assert [launch.name for launch in graph.kernels] == ["captured"]


def test_a_mode_that_is_none(rt, s0):
    with pytest.raises(
        ValueError, match=r"^capture_error_mode is one of global, thread_local, relaxed, not 'loud'$"
    ):
        rt.graph().capture_begin(s0, "loud")


def test_a_replay_after_its_runtime_is_closed_fails_in_the_open(rt, s0, s1, other):
    theirs = [other.Stream("a"), other.Stream("b")]
    graph = other.graph("g")
    fork(other, graph, *theirs)
    other.close()
    late = other.Stream("late")
    with other.stream(late):
        graph.replay()
    with pytest.raises(AsyncError, match=r"^the replay of graph g on stream late failed: StreamClosed"):
        late.synchronize()
