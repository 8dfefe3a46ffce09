"""A stream is first in, first out; a launch returns at once; the current stream belongs to a thread."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ubviz.errors import MixedRuntimes, StreamClosed

MS = 1_000_000


def test_a_stream_runs_its_work_in_order_and_one_after_the_other(rt, told):
    a, b = rt.Stream("a"), rt.Stream("b")
    for i in range(20):
        rt.launch(f"a{i}", stream=a)
        rt.launch(f"b{i}", stream=b, duration_ns=10_000)
    rt.synchronize()
    for stream in (a, b):
        ran = told.ran(stream)
        assert [kernel.name for kernel in ran] == [f"{stream.name}{i}" for i in range(20)]
        assert all(first.end_ns <= second.start_ns for first, second in pairwise(ran))


def test_a_launch_returns_at_once(rt, told, hold):
    stream = rt.Stream("s")
    gate = hold(stream)
    rt.launch("k", stream=stream)
    assert told.names(stream) == []
    assert not stream.query()
    gate.set()
    stream.synchronize()
    assert told.names(stream) == ["gate", "k"]
    assert stream.query()


def test_a_launch_with_host_wait_returns_when_the_device_has_passed_it(rt, told):
    stream = rt.Stream("s")
    rt.launch("k", stream=stream, duration_ns=20 * MS, host_wait=True)
    assert told.names(stream) == ["k"]


def test_synchronize_blocks_until_the_work_so_far_is_done(rt, told):
    stream = rt.Stream("s")
    rt.launch("k", stream=stream, duration_ns=20 * MS)
    stream.synchronize()
    assert told.names(stream) == ["k"]


def test_a_stream_is_idle_at_once_after_synchronize(rt, restless):
    stream = rt.Stream("s")
    for _ in range(2000):
        rt.launch("k", stream=stream)
        stream.synchronize()
        assert stream.query()
        assert rt.idle()


def test_synchronize_is_for_one_stream(rt, hold):
    held, free = rt.Stream("held"), rt.Stream("free")
    hold(held)
    rt.launch("k", stream=free)
    free.synchronize()
    assert (free.query(), held.query(), rt.idle()) == (True, False, False)


def test_synchronizing_the_runtime_waits_for_every_stream(rt, told):
    streams = [rt.Stream(f"s{i}") for i in range(3)]
    for stream in streams:
        rt.launch("k", stream=stream, duration_ns=5 * MS)
    rt.synchronize()
    assert [told.names(stream) for stream in streams] == [["k"]] * 3


def test_work_goes_to_the_current_stream(rt, told):
    a, b = rt.Stream("a"), rt.Stream("b")
    with rt.stream(a):
        rt.launch("on a")
        rt.launch("on b", stream=b)
        with rt.stream(b):
            rt.launch("on b too")
        rt.launch("on a again")
    rt.synchronize()
    assert told.names(a) == ["on a", "on a again"]
    assert told.names(b) == ["on b", "on b too"]


def test_the_stream_context_puts_the_former_stream_back_also_after_an_error(rt):
    a, b = rt.Stream("a"), rt.Stream("b")
    rt.set_stream(a)
    with pytest.raises(KeyError), rt.stream(b) as current:
        assert current is b
        assert rt.current_stream() is b
        raise KeyError
    assert rt.current_stream() is a
    with rt.stream(None):
        assert rt.current_stream() is a


def test_the_current_stream_belongs_to_a_thread(rt, start):
    a = rt.Stream("a")
    default = rt.current_stream()

    def use_a():
        before = rt.current_stream()
        rt.set_stream(a)
        return before, rt.current_stream()

    assert start(use_a).end() == (default, a)
    assert rt.current_stream() is default
    rt.set_stream(a)
    assert start(rt.current_stream).end() is default


def test_a_switch_is_told_with_both_streams(rt, told):
    a, b = rt.Stream("a"), rt.Stream("b")
    default = rt.current_stream()
    rt.set_stream(a)
    with rt.stream(b):
        pass
    switches = [(fact.arg, fact.obj) for fact in told.of("stream.switch")]
    assert switches == [(default, a), (a, b), (b, a)]


def test_a_stream_knows_its_runtime_and_its_name(rt):
    assert rt.Stream("a").runtime is rt
    assert rt.Stream("a").name == "a"
    assert rt.Stream().name is None
    assert rt.current_stream().runtime is rt


def test_the_streams_of_two_runtimes_are_not_combined(rt, other):
    foreign = other.Stream("foreign")
    with pytest.raises(MixedRuntimes):
        rt.set_stream(foreign)
    with pytest.raises(MixedRuntimes), rt.stream(foreign):
        pass
    with pytest.raises(MixedRuntimes):
        rt.launch("k", stream=foreign)
    with pytest.raises(MixedRuntimes):
        rt.Stream("a").wait_stream(foreign)
    assert rt.current_stream().runtime is rt
    assert foreign.query()


def test_a_closed_stream_ends_its_work_and_takes_no_more(rt, told):
    stream = rt.Stream("s")
    event = rt.Event("e")
    rt.launch("k", stream=stream, duration_ns=5 * MS)
    event.record(stream)
    stream.close()
    before = len(told.facts)
    for call in (lambda: rt.launch("late", stream=stream), lambda: event.record(stream), stream.synchronize,
                 lambda: stream.wait_event(event)):  # fmt: skip
        with pytest.raises(StreamClosed, match=r"^<stream s: .*> is closed and takes no more work$"):
            call()
    assert not {fact.kind for fact in told.facts[before:]} - {"kernel", "record"}
    event.synchronize()
    assert told.names(stream) == ["k"]
    rt.synchronize()
