"""Faults that users of such systems have reported, tried here: each story names the row that it grew from.

Rows that are not here are told where their subject is: V11, V14, V15 and V22 in ``test_vote``, V11 and V10 in
``test_slicing`` too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.faults import Broken, Walk, note_of
from tests.graph_calls import FULL, NONE, Graphs, rows
from tests.small import Small, recorded
from tests.stories import Story, microbatch_threads
from tests.two_buffers import LateReceive, TwoBuffers
from ubviz.analysis import turns
from ubviz.engine.dp import ParallelConfig, Vote, coordinate_batch_across_dp
from ubviz.errors import AsyncError, CaptureError, SlicingError, TimingError
from ubviz.recording import record
from ubviz.runtime import get_runtime
from ubviz.ubatch import (
    CommonAttentionMetadata,
    dbo_current_ubatch_id,
    dbo_enabled,
    dbo_yield,
    maybe_create_ubatch_slices,
    split_attn_metadata,
)

# ---- the ring


@pytest.mark.parametrize("bad", [0, 1])
@pytest.mark.parametrize("when", [0, 1, 2, 3])
def test_v01_a_microbatch_that_raises_leaves_nobody_parked(bad: int, when: int) -> None:
    walk, fault = Walk(), ValueError("between two yields")

    def body(rt: Any, x: torch.Tensor) -> torch.Tensor:
        for turn in range(4):
            if (dbo_current_ubatch_id(), turn) == (bad, when):
                raise fault
            if turn < 3:
                dbo_yield()
        return x

    walk.body = body
    with pytest.raises(ValueError) as caught:
        walk.call({})
    assert caught.value is fault
    assert note_of(fault, bad)


def test_v04_a_ring_is_not_sized_by_the_one_before() -> None:
    rt = get_runtime("host")
    for n in (3, 2, 3):
        story = Story(n, rt)
        assert torch.equal(story.run(lambda x: (dbo_yield(), x)[1]), story.x)
        assert turns(story.trace) == [*range(n)] * 2
        assert {event.ubatch for event in story.trace.events} == {None, *range(n)}
    rt.close()


def test_v04_nor_by_one_that_failed() -> None:
    rt = get_runtime("host")
    walks = [Walk("ht", n, rt=rt) for n in (3, 2, 3)]
    for walk in walks:
        fault = Broken("here")
        assert walk.survives({("ubatch 1", 20): fault}) is fault
    rt.close()


def test_two_wrappers_are_called_in_turn_whatever_befalls_one() -> None:
    rt = get_runtime("host")
    a, b = Walk("ht", 2, rt=rt), Walk("ll", 3, rt=rt)
    for k in (1, 10, 20):
        a.survives({("ubatch 0", k): Broken()})
        assert torch.equal(b.call({}), b.right)
        b.survives({("ubatch 2", k): Broken()})
        assert torch.equal(a.call({}), a.right)
    rt.close()


def test_d01_a_receive_is_launched_before_the_next_send() -> None:
    """Two buffers, each send clears the other one's flags: the ring's order is right for any number of microbatches."""
    for n in (2, 3, 4):
        launches = recorded("ll", n, 2).events
        names = [e.args["name"] for e in launches.rows(launches.mask(kind="kernel.launch"))]
        order = [name.split()[1] for name in names if name.endswith(("send", "receive"))]
        assert stuck(order) == []
    assert stuck(["send", "receive", "send", "receive"]) == []
    assert stuck(["send", "send", "receive", "receive"]) == ["send 1 clears flags that receive 0 still polls"]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_d01_two_buffers_are_enough_for_any_number_of_microbatches(n: int) -> None:
    small = Small("ll", n)
    right = small.runner.execute_model(small.batch, "overlapped").hidden
    over(small, TwoBuffers)
    assert torch.equal(small.runner.execute_model(small.batch, "overlapped").hidden, right)
    small.close()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_d01_a_receive_that_comes_after_the_next_send_never_completes_and_is_named(n: int) -> None:
    """The hang itself: real kernels poll real flags; after it, the same runner works."""
    small = Small("ll", n)
    right = small.runner.execute_model(small.batch, "overlapped").hidden
    plain = over(small, LateReceive)
    with pytest.raises(AsyncError) as raised:
        small.runner.execute_model(small.batch, "overlapped")
    assert str(raised.value.__cause__) == "send 1 clears flags that receive 0 still polls"
    assert microbatch_threads() == []
    over(small, lambda _: plain)
    assert torch.equal(small.runner.execute_model(small.batch, "overlapped").hidden, right)
    small.close()


def over(small: Small, transport: Callable[[Any], Any]) -> Any:
    """Exchange tokens by ``transport`` from now on; what did before comes back."""
    model = small.runner.model.unwrap()
    before, model.all2all = model.all2all, transport(model.all2all)
    for moe in model.moe:
        moe.all2all = model.all2all
    return before


def stuck(order: list[str]) -> list[str]:
    """What goes wrong with two low-latency buffers: operation i uses buffer i mod 2 and clears the other."""
    sent = received = 0
    found = []
    for what in order:
        if what == "receive":
            received += 1
            continue
        if received < sent:
            found.append(f"send {sent} clears flags that receive {sent - 1} still polls")
        sent += 1
    return found


# ---- slices, votes, outputs


def test_v05_the_second_part_of_a_request_has_the_first_computed() -> None:
    parent = CommonAttentionMetadata([0, 8], [32], [*range(24, 32)], [[*range(8)]], [*range(24, 32)])
    before = repr(parent)
    slices, _ = maybe_create_ubatch_slices(True, [8], 8, 1, 2)
    halves = split_attn_metadata(slices, parent)
    assert [(h.seq_lens, h.query_lens, h.num_computed_tokens) for h in halves] == [
        ((28,), (4,), (24,)), ((32,), (4,), (28,)),
    ]  # fmt: skip
    assert repr(parent) == before


def test_v08_a_share_that_is_missing_is_named_before_any_thread_starts() -> None:
    graphs = Graphs()
    with pytest.raises(SlicingError) as error:
        graphs.call(NONE, metadata=["only one"], x=rows(8))
    assert str(error.value) == "attn_metadata in the forward context has 1 parts for 2 microbatches"
    assert graphs.count("thread.create") == 0
    graphs.rt.close()


def test_v18_a_vote_says_what_it_was_made_of() -> None:
    """A flag that is read before it is written shows as an input of the vote, and as its reason."""
    votes: list[Vote] = []
    config = ParallelConfig(dbo_decode_token_threshold=32, dbo_prefill_token_threshold=512)
    for uniform_decode in (False, True):  # as it was read, and as it should have been
        coordinate_batch_across_dp(64, True, config, uniform_decode=uniform_decode, on_vote=votes.append)
    assert [vote.inputs()["uniform_decode"] for vote in votes] == [False, True]
    assert [vote.why_not() for vote in votes] == [
        "rank 0 voted no: its 64 tokens are below the prefill threshold of 512", None,
    ]  # fmt: skip


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_v19_a_profile_run_in_halves_does_not_size_a_whole_step(style: str) -> None:
    small = Small(style, tokens=24)
    small.runner.execute_model(small.batch, "overlapped")
    whole = small.runner.execute_model(small.batch, "unsplit").hidden
    small.close()
    fresh = Small(style, tokens=24)
    assert torch.equal(whole, fresh.runner.execute_model(fresh.batch, "unsplit").hidden)
    fresh.close()


@pytest.mark.parametrize("shares", [(4, 4, 4), (4, 4, 2), (2, 2, 2, 2), (8, 8)])
def test_v20_one_capture_for_each_shape_and_the_second_call_replays(shares: tuple[int, ...]) -> None:
    graphs, total = Graphs(len(shares)), sum(shares)
    cuts = [sum(shares[:i]) for i in range(1, len(shares))]
    branches = [(graphs.call(FULL, cuts, x=rows(total)), graphs.branch)[1] for _ in range(2)]
    assert branches == ["capture", "replay"]
    assert list(graphs.wrapper.cudagraphs) == [total]
    graphs.rt.close()


@pytest.mark.parametrize("mode", [NONE, FULL])
def test_v30_outputs_of_several_parts_are_merged_by_part(mode: Any) -> None:
    graphs = Graphs()

    def body(x: torch.Tensor) -> Any:
        if dbo_current_ubatch_id() == 0:
            dbo_yield()  # microbatch 1 is done first
        return x * 2, [x * i for i in range(3)]

    graphs.body = body
    hidden, aux = graphs.call(mode, [5], x=rows(8))
    assert torch.equal(hidden, rows(8) * 2)
    assert all(torch.equal(part, rows(8) * i) for i, part in enumerate(aux))
    assert len(aux) == 3
    graphs.rt.close()


def test_v32_each_step_keeps_its_own_numbers() -> None:
    small = Small("ht", tokens=25)
    with record(small.rt) as recording:
        for batch in (small.batch, small.batch[:2]):
            small.runner.execute_model(batch, "overlapped")
    events = recording.trace.events
    steps = [(e.step, e.args["tokens"]) for e in events.rows(events.mask(kind="step.end"))]
    tokens = [sum(len(r.token_ids) for r in batch) for batch in (small.batch, small.batch[:2])]
    assert steps == [(0, tokens[0]), (1, tokens[1])]
    assert tokens[0] != tokens[1]
    small.close()


# ---- captures


def test_v24_work_that_was_forked_and_not_joined_is_named(rt: Any) -> None:
    s0, s1, graph = rt.Stream("S0"), rt.Stream("S1"), rt.graph("g")
    with pytest.raises(CaptureError, match="unjoined: stream S1 was forked into the capture of graph g"):
        with graph.capture(s0):
            s1.wait_stream(s0)
            rt.launch("on S1", stream=s1)
    with graph.capture(s0):
        s1.wait_stream(s0)
        rt.launch("on S1", stream=s1)
        s0.wait_stream(s1)
    assert [launch.name for launch in graph.kernels] == ["on S1"]


def test_v26_a_copy_of_another_thread_is_not_in_the_graph(rt: Any) -> None:
    s0, other, graph, copied = rt.Stream("S0"), rt.Stream("other"), rt.graph("g"), []

    def copy() -> None:
        rt.launch("copy", copied.append, 1, stream=other)
        other.synchronize()

    with graph.capture(s0, "thread_local"):
        rt.launch("k", stream=s0)
        thread = threading.Thread(target=copy)
        thread.start()
        thread.join()
    assert copied == [1]
    assert [launch.name for launch in graph.kernels] == ["k"]


def test_v28_an_event_of_a_capture_is_an_edge_and_has_no_time(rt: Any) -> None:
    s0, graph, event, end = rt.Stream("S0"), rt.graph("g"), rt.Event("E", True), rt.Event("end", True)
    with graph.capture(s0):
        rt.launch("k", stream=s0)
        event.record(s0)
    with rt.stream(s0):
        graph.replay()
    end.record(s0)
    s0.synchronize()
    asked: list[Callable[[], object]] = [event.synchronize, event.query, lambda: event.elapsed_time(end)]
    for ask in asked:
        with pytest.raises(
            (CaptureError, TimingError), match="event E was recorded in the capture of graph g"
        ):
            ask()


# ---- events


def test_p08_a_wait_that_comes_late_is_for_the_later_record(rt: Any) -> None:
    a, b, event, gate = rt.Stream("a"), rt.Stream("b"), rt.Event("step"), threading.Event()
    with record(rt) as recording:
        rt.launch("step 1", stream=a)
        event.record(a)
        b.wait_event(event)  # in time: for the first record
        a.synchronize()
        rt.launch("step 2", gate.wait, stream=a)
        event.record(a)
        b.synchronize()  # who waited in time is through, although step 2 is not
        assert not event.query()  # and who asks now asks for step 2
        b.wait_event(event)
        gate.set()
        event.synchronize()
    events = recording.trace.events
    assert [e.args["record"] for e in events.rows(events.mask(kind="event.wait"))] == [1, 2]


def test_p17_a_time_that_is_asked_for_too_early_is_refused(rt: Any) -> None:
    a, gate = rt.Stream("a"), threading.Event()
    start, end = rt.Event("start", enable_timing=True), rt.Event("end", enable_timing=True)
    start.record(a)
    start.synchronize()
    rt.launch("long", gate.wait, stream=a)
    end.record(a)
    with pytest.raises(TimingError) as error:
        start.elapsed_time(end)
    assert str(error.value) == (
        "<event end: pending> has not completed: record it and synchronize before asking for a time"
    )
    gate.set()
    end.synchronize()
    assert start.elapsed_time(end) >= 0


def test_nothing_of_all_this_is_left() -> None:
    assert microbatch_threads() == []
    assert not dbo_enabled()
