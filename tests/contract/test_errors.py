"""An error in queued work surfaces at the next synchronize, and is never lost."""

from __future__ import annotations

import pytest

from ubviz.errors import AsyncError


class Broken(Exception):
    """What the kernels here raise."""


def fail():
    raise Broken("on purpose")


@pytest.fixture
def a(rt):
    return rt.Stream("a")


@pytest.fixture
def b(rt):
    return rt.Stream("b")


def raises():
    return pytest.raises(AsyncError, match=r"^bad on stream a failed: Broken: on purpose$")


@pytest.mark.parametrize("where", ["stream", "event", "runtime", "host_wait", "next launch with host_wait"])
def test_an_error_surfaces_at_the_next_synchronize_and_is_then_cleared(rt, a, told, where):
    if where == "host_wait":
        with raises() as error:
            rt.launch("bad", fail, stream=a, host_wait=True)
    else:
        rt.launch("bad", fail, stream=a)
        event = a.record_event()
        synchronize = {
            "stream": a.synchronize,
            "event": event.synchronize,
            "runtime": rt.synchronize,
            "next launch with host_wait": lambda: rt.launch("next", stream=a, host_wait=True),
        }[where]
        with raises() as error:
            synchronize()
    assert isinstance(error.value.__cause__, Broken)
    a.synchronize()
    rt.launch("good", stream=a)
    a.record_event().synchronize()
    assert told.names(a) == ["bad", "good"]


def test_work_after_an_error_is_skipped(rt, a, told):
    said = []
    rt.launch("bad", fail, stream=a)
    rt.launch("later", said.append, 1, stream=a)
    with raises():
        a.synchronize()
    assert said == []
    assert told.names(a) == ["bad"]


def test_an_error_goes_along_with_waits(rt, a, b, told):
    c, apart = rt.Stream("c"), rt.Stream("apart")
    rt.launch("bad", fail, stream=a)
    b.wait_stream(a)
    rt.launch("on b", stream=b)
    c.wait_stream(b)
    rt.launch("on c", stream=c)
    rt.launch("on its own", stream=apart)
    apart.synchronize()
    for stream in (c, b, a):
        with raises():
            stream.synchronize()
        stream.synchronize()
    assert (told.names(b), told.names(c), told.names(apart)) == ([], [], ["on its own"])


def test_synchronizing_another_stream_does_not_lose_the_error(rt, a, b):
    rt.launch("bad", fail, stream=a)
    b.synchronize()
    with raises():
        rt.synchronize()
    rt.synchronize()


def test_synchronizing_the_runtime_raises_the_first_error_and_clears_all(rt, a, b):
    rt.launch("bad", fail, stream=a)
    rt.launch("also bad", fail, stream=b)
    with raises():
        rt.synchronize()
    rt.synchronize()


def test_an_event_recorded_before_the_error_is_good(rt, a, b, told):
    before = a.record_event()
    rt.launch("bad", fail, stream=a)
    before.synchronize()
    b.wait_event(before)
    rt.launch("k", stream=b)
    b.synchronize()
    assert told.names(b) == ["k"]
    with raises():
        a.synchronize()


def test_an_error_in_one_round_leaves_the_events_usable(rt, a, b, told):
    event = rt.Event("e")
    rt.launch("bad", fail, stream=a)
    event.record(a)
    b.wait_event(event)
    with raises():
        rt.synchronize()
    event.record(a)
    b.wait_event(event)
    rt.launch("k", stream=b)
    rt.synchronize()
    event.synchronize()
    assert told.names(b) == ["k"]


@pytest.mark.parametrize("skipped", [False, True])
def test_a_receive_fails_with_the_error_of_its_send(rt, a, b, skipped):
    flight = rt.Link().flight(1_000)
    rt.launch("bad", fail, stream=a, sends=None if skipped else flight)
    if skipped:
        rt.launch("send", stream=a, sends=flight)
    rt.launch("receive", stream=b, receives=flight)
    for stream in (b, a):
        with raises():
            stream.synchronize()
        stream.synchronize()


def test_a_listener_that_raises_fails_the_stream_and_not_its_worker(rt, a):
    class Bad:
        def host(self, kind, obj, arg):
            pass

        def device(self, kind, obj, arg):
            raise Broken("on purpose")

    listener = Bad()
    rt.hooks.subscribe(listener)
    rt.launch("k", stream=a)
    with pytest.raises(
        AsyncError, match=r"^the listener to 'kernel' on stream a failed: Broken: on purpose$"
    ):
        a.synchronize()
    rt.hooks.unsubscribe(listener)
    rt.launch("k", stream=a)
    a.synchronize()
