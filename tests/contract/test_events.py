"""Record, wait, query, synchronize and elapsed_time of events."""

from __future__ import annotations

import pytest

from ubviz.errors import MixedRuntimes, TimingError

MS = 1_000_000


@pytest.fixture
def a(rt):
    return rt.Stream("a")


@pytest.fixture
def b(rt):
    return rt.Stream("b")


def test_a_record_stands_at_the_tail_of_its_stream(rt, a, hold):
    before = hold(a)
    event = rt.Event("e")
    event.record(a)
    hold(a)
    assert not event.query()
    before.set()
    event.synchronize()  # what came later does not hold it up
    assert event.query()
    assert not a.query()


def test_a_later_record_replaces_the_earlier_one(rt, a, hold):
    event = rt.Event("e")
    event.record(a)
    event.synchronize()
    gate = hold(a)
    event.record(a)
    assert not event.query()
    gate.set()
    event.synchronize()
    assert event.query()


def test_a_wait_binds_to_the_record_that_is_current_when_wait_is_called(rt, a, b, hold, told):
    event = rt.Event("e")
    event.record(a)
    b.wait_event(event)
    hold(a)
    event.record(a)
    rt.launch("k", stream=b)
    b.synchronize()  # would hang if the wait were for the second record
    assert told.names(b) == ["k"]
    assert not event.query()


def test_a_wait_for_an_event_never_recorded_does_nothing_and_is_told_so(rt, a, told):
    event = rt.Event("e")
    a.wait_event(event)
    event.wait(a)
    rt.launch("k", stream=a)
    a.synchronize()
    assert told.names(a) == ["k"]
    assert [(fact.obj, fact.arg) for fact in told.of("event.wait")] == [(event, (a, None))] * 2
    assert told.of("wait") == []


def test_an_event_never_recorded_is_done(rt):
    event = rt.Event("e")
    assert event.query()
    event.synchronize()


@pytest.mark.parametrize("wait", [lambda e, s: s.wait_event(e), lambda e, s: e.wait(s)])
def test_a_wait_holds_the_stream_not_the_thread(rt, a, b, hold, told, wait):
    gate = hold(a)
    rt.launch("first", stream=a, duration_ns=2 * MS)
    event = rt.Event("e")
    event.record(a)
    wait(event, b)
    rt.launch("second", stream=b)
    assert told.names(b) == []
    gate.set()
    rt.synchronize()
    assert told.ran(a)[-1].end_ns <= told.ran(b)[0].start_ns


def test_record_and_wait_take_the_current_stream(rt, a, b, told):
    event = rt.Event("e")
    with rt.stream(a):
        event.record()
    with rt.stream(b):
        event.wait()
    assert [fact.arg for fact in told.of("event.record", "event.wait")] == [(a, 1), (b, 1)]


def test_records_are_numbered_and_waits_name_the_number(rt, a, b, told):
    event = rt.Event("e")
    event.record(a)
    b.wait_event(event)
    event.record(b)
    a.wait_event(event)
    rt.synchronize()
    host = [(fact.kind, fact.arg) for fact in told.of("event.record", "event.wait")]
    assert host == [
        ("event.record", (a, 1)),
        ("event.wait", (b, 1)),
        ("event.record", (b, 2)),
        ("event.wait", (a, 2)),
    ]
    assert [(fact.obj, fact.arg[:2]) for fact in told.of("record")] == [(a, (event, 1)), (b, (event, 2))]
    assert [(fact.obj, fact.arg[:2]) for fact in told.of("wait")] == [(b, (event, 1)), (a, (event, 2))]


def test_one_record_lets_every_waiting_stream_through(rt, a, hold, told):
    gate = hold(a)
    event = a.record_event()
    waiting = [rt.Stream(f"w{i}") for i in range(4)]
    for stream in waiting:
        stream.wait_event(event)
        rt.launch("k", stream=stream)
    assert [told.names(stream) for stream in waiting] == [[]] * 4
    gate.set()
    rt.synchronize()
    assert [told.names(stream) for stream in waiting] == [["k"]] * 4


def test_record_event_makes_an_event_or_takes_one(rt, a):
    mine = rt.Event("mine")
    assert a.record_event(mine) is mine
    made = a.record_event()
    made.synchronize()
    assert made.query()


def test_wait_stream_waits_for_all_that_the_other_holds_now(rt, a, b, hold, told):
    gate = hold(a)
    rt.launch("first", stream=a)
    b.wait_stream(a)
    rt.launch("second", stream=b)
    assert told.names(b) == []
    gate.set()
    rt.synchronize()
    assert told.ran(a)[-1].end_ns <= told.ran(b)[0].start_ns


def test_a_record_is_told_before_anyone_is_let_through(rt, a):
    done_when_told = []

    class Asks:
        def host(self, kind, obj, arg):
            pass

        def device(self, kind, obj, arg):
            if kind == "record":
                done_when_told.append(arg[0].query())

    rt.hooks.subscribe(Asks())
    a.record_event().synchronize()
    assert done_when_told == [False]


def test_elapsed_time_is_in_milliseconds(rt, a):
    begin, end = rt.Event("begin", enable_timing=True), rt.Event("end", enable_timing=True)
    begin.record(a)
    rt.launch("k", stream=a, duration_ns=3 * MS)
    end.record(a)
    end.synchronize()
    assert 3.0 <= begin.elapsed_time(end) < 3_000
    assert begin.elapsed_time(begin) == 0.0


def test_elapsed_time_of_what_has_no_time_is_an_error(rt, a, hold):
    plain, timed, never = rt.Event("plain"), rt.Event("timed", enable_timing=True), rt.Event("never", True)
    for event in (plain, timed):
        event.record(a)
    a.synchronize()
    without = r"^<event plain: done> was made without enable_timing=True: it has no time$"
    for pair in ((plain, timed), (timed, plain)):
        with pytest.raises(TimingError, match=without):
            pair[0].elapsed_time(pair[1])
    hold(a)
    late = a.record_event(rt.Event("late", enable_timing=True))
    for first, second, text in ((timed, never, "never: never recorded"), (timed, late, "late: pending"),
                                (late, timed, "late: pending")):  # fmt: skip
        with pytest.raises(TimingError) as error:
            first.elapsed_time(second)
        assert str(error.value) == (
            f"<event {text}> has not completed: record it and synchronize before asking for a time"
        )


def test_events_of_another_runtime_are_refused(rt, a, other, told):
    foreign, timed = other.Event("foreign", enable_timing=True), rt.Event("timed", enable_timing=True)
    theirs = other.Stream("theirs")
    timed.record(a)
    foreign.record(theirs)
    rt.synchronize()
    other.synchronize()
    before = len(told.facts)
    for call in (
        lambda: a.wait_event(foreign),
        lambda: a.record_event(foreign),
        lambda: foreign.record(a),
        lambda: foreign.wait(a),
        lambda: timed.wait(theirs),
        lambda: timed.record(theirs),
        lambda: timed.elapsed_time(foreign),
    ):
        with pytest.raises(MixedRuntimes):
            call()
    assert told.facts[before:] == []


def test_query_and_synchronize_are_told(rt, a, hold, told):
    event = rt.Event("e")
    gate = hold(a)
    event.record(a)
    event.query()
    gate.set()
    event.synchronize()
    event.query()
    a.synchronize()
    facts = [
        (fact.kind, fact.obj, fact.arg) for fact in told.of("event.query", "event.synchronize", "returned")
    ]
    assert facts == [
        ("event.query", event, False),
        ("event.synchronize", event, None),
        ("returned", event, None),
        ("event.query", event, True),
        ("returned", a, None),
    ]
