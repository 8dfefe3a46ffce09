"""The times of a CUDA device on the host's clock: the arithmetic, and that nothing is waited for to get them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.language import Listener
from tests.fake_cuda import FakeCuda, Gate
from ubviz.runtime import cuda_anchor, cuda_clock, cuda_timing
from ubviz.runtime.cuda import CudaRuntime
from ubviz.runtime.cuda_clock import (
    DRIFT_PPM,
    RESOLUTION_NS,
    Seen,
    elapsed_error_ns,
    error_ns,
    observe,
    widened,
)

MS = 1_000_000
S = 1_000 * MS


def on(fake: FakeCuda) -> CudaRuntime:
    return CudaRuntime(cuda=fake, now_ns=fake.clock.now_ns)


@pytest.fixture
def fake() -> FakeCuda:
    return FakeCuda(drift_ppm=40.0)


@pytest.fixture
def rt(fake: FakeCuda) -> Iterator[CudaRuntime]:
    runtime = on(fake)
    yield runtime
    runtime.close()


@pytest.fixture
def told(rt: CudaRuntime) -> Listener:
    listener = Listener()
    rt.hooks.subscribe(listener)
    return listener


# ---- the arithmetic


@given(st.floats(0.001, 1e8))
def test_a_float32_time_is_within_its_error(ms: float) -> None:
    assert abs(float(np.float32(ms)) - ms) * 1e6 <= elapsed_error_ns(ms) - RESOLUTION_NS


def test_float32_milliseconds_lose_4_us_at_a_minute() -> None:
    told = float(np.float32(60_000.0019))  # 1.9 us after the minute
    assert (told, elapsed_error_ns(60_000.0)) == (60_000.0, RESOLUTION_NS + 3_907)


drifts = st.floats(-0.99 * DRIFT_PPM, 0.99 * DRIFT_PPM)
steps = st.lists(
    st.tuples(
        st.integers(1_000, 3 * S),  # to the next event
        st.integers(0, 5 * MS),  # between its record and the moment at which it is reached
        st.integers(0, 5 * MS),  # until the host sees that it is done
        st.booleans(),  # it becomes the anchor
    ),
    min_size=1,
    max_size=12,
)


@given(st.integers(0, 10**15), drifts, st.integers(1, RESOLUTION_NS), steps)
def test_the_true_time_is_always_inside_the_band(
    offset: int, ppm: float, resolution: int, events: list[tuple[int, int, int, bool]]
) -> None:
    fake = FakeCuda(offset_ns=offset, drift_ppm=ppm, resolution_ns=resolution)
    now, anchor, anchor_ns, fit = 10 * S, 0, 0, None
    seen: list[tuple[int, int, int]] = []
    for gap, lag, late, renews in events:
        now += gap
        reached = now + lag
        shown = fake.device_ns(reached)
        ms = float(np.float32((shown - anchor) / 1e6)) if fit is not None else 0.0
        device_ns, error = anchor_ns + round(ms * 1e6), elapsed_error_ns(ms) if fit is not None else 0
        fit = observe(fit, Seen(device_ns, error, now, reached + late))
        seen.append((device_ns, error, reached))
        if renews or anchor == 0:
            anchor, anchor_ns, fit = shown, device_ns, widened(fit, error)
        for place, own, truth in seen[-1:]:
            assert abs(place + fit.offset_ns - truth) <= error_ns(fit, place, own)
    assert fit is not None
    assert fit.resets == 0


def test_the_error_of_a_device_time_widens_the_band() -> None:
    assert cuda_clock.band_of(Seen(1_000, 5, 7_000, 7_100)) == (1_000, 5_995, 6_105)
    fit = observe(None, Seen(1_000, 5, 7_000, 7_100))
    assert widened(fit, 10) == fit._replace(band=cuda_clock.Band(1_000, 5_985, 6_115))


def test_events_on_idle_streams_that_are_seen_at_once_make_the_band_narrow() -> None:
    fit = observe(None, Seen(0, 0, after_ns=0, before_ns=5 * MS))  # a busy stream, looked at late
    assert error_ns(fit, 0, 0) == 2_500_000
    fit = observe(fit, Seen(1_000, 500, after_ns=1_001_000, before_ns=1_010_000))
    assert error_ns(fit, 1_000, 500) < 11_000


def test_the_offset_in_use_moves_no_further_than_into_the_band() -> None:
    fit = observe(None, Seen(0, 0, after_ns=0, before_ns=100))
    assert observe(fit, Seen(0, 0, after_ns=20, before_ns=90)).offset_ns == fit.offset_ns == 50
    assert observe(fit, Seen(0, 0, after_ns=60, before_ns=90)).offset_ns == 60
    assert observe(fit, Seen(0, 0, after_ns=10, before_ns=40)).offset_ns == 40


def test_bands_that_do_not_meet_are_counted_and_the_newer_one_counts() -> None:
    fit = observe(observe(None, Seen(0, 0, 0, 100)), Seen(10, 0, after_ns=1_000_010, before_ns=1_000_110))
    assert (fit.resets, fit.offset_ns) == (1, 1_000_050)


# ---- twins


class Truth:
    """Checks every placed time against the fake's own."""

    def __init__(self, rt: CudaRuntime) -> None:
        self.rt, self.errors = rt, []
        clock = rt.timing.clock
        see, place, truth = clock.see, clock.place, {}

        def checked_see(twin: Any, before_ns: int) -> tuple[int, int]:
            assert twin.after_ns <= twin.event.true_ns() <= before_ns
            told = see(twin, before_ns)
            truth[told[0]] = twin.event.true_ns()
            return told

        def checked_place(device_ns: int, own: int) -> int:
            placed = place(device_ns, own)
            self.errors.append(abs(placed - truth[device_ns]))
            assert self.errors[-1] <= clock.worst_ns
            return placed

        clock.see, clock.place = checked_see, checked_place  # type: ignore[method-assign]


actions = st.lists(
    st.one_of(
        st.tuples(st.just("op"), st.integers(0, 1), st.integers(0, 2 * MS)),
        st.tuples(st.just("record and wait"), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("pause"), st.just(0), st.integers(0, 2 * S)),
    ),
    max_size=40,
)


@given(drifts, st.integers(1, RESOLUTION_NS), actions)
def test_every_time_that_is_told_is_within_the_error_that_is_told(
    ppm: float, resolution: int, program: list[tuple[str, int, int]]
) -> None:
    fake = FakeCuda(drift_ppm=ppm, resolution_ns=resolution)
    rt = on(fake)
    listener = Listener()
    rt.hooks.subscribe(listener)
    truth = Truth(rt)
    streams = [rt.Stream("a"), rt.Stream("b")]
    waited = fake.synchronizes
    for what, which, ns in program:
        stream = streams[which]
        if what == "pause":
            fake.clock.pass_ns(ns)
        elif what == "op":
            with rt.stream(stream), rt.op("op"):
                fake.kernel(ns)
        else:
            streams[1 - which].wait_event(stream.record_event())
    assert fake.synchronizes == waited
    rt.synchronize()
    operations = sum(what == "op" for what, *_ in program)
    waits = sum(what == "record and wait" for what, *_ in program)
    assert {kind: len(listener.of(kind)) for kind in ("kernel", "record", "wait")} == {
        "kernel": operations, "record": waits, "wait": waits,
    }  # fmt: skip
    assert len(truth.errors) == 2 * (operations + 2 * waits)
    assert rt.timing.clock.fit.resets == 0


def test_the_anchor_is_renewed_every_second_and_the_band_stays_narrow(
    fake: FakeCuda, rt: CudaRuntime, told: Listener
) -> None:
    truth, waited = Truth(rt), fake.synchronizes
    for _ in range(600):  # a minute
        with rt.op("op"):
            fake.kernel(90 * MS)
        fake.clock.pass_ns(100 * MS)
    assert fake.synchronizes == waited
    assert fake.longest_ms < 1_000
    clock = rt.describe()["clock"]
    assert max(truth.errors) <= clock["error_ns"] < 100_000
    assert clock["anchors"] > 60
    assert len(told.of("kernel")) >= 598  # told while it goes on


def test_a_new_anchor_brings_its_own_error(
    fake: FakeCuda, rt: CudaRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors: list[int] = []
    monkeypatch.setattr(cuda_anchor, "widened", lambda fit, error: (errors.append(error), fit)[1])
    fake.clock.pass_ns(300 * MS)
    rt.timing.clock.renew()
    assert errors == [elapsed_error_ns(300.0)]


def test_without_renewal_float32_would_lose_microseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_anchor, "REANCHOR_NS", 3_600 * S)
    fake = FakeCuda()
    rt = on(fake)
    rt.hooks.subscribe(Listener())
    fake.clock.pass_ns(70 * S)
    rt.launch("k", duration_ns=1_000, host_wait=True)
    assert cuda_clock.spacing_ns(fake.longest_ms) > 3_900


def test_durations_are_the_devices_own(fake: FakeCuda, rt: CudaRuntime, told: Listener) -> None:
    stream = rt.Stream("s")
    for i in range(50):
        rt.launch("k", duration_ns=(i + 1) * 100_000, stream=stream)
        fake.clock.pass_ns(40 * MS)
    rt.synchronize()
    for i, kernel in enumerate(told.ran(stream)):
        asked = int((i + 1) * 100_000 * 1.01)
        assert abs(kernel.end_ns - kernel.start_ns - asked) < 2_000 + asked // 1_000


# ---- what is told when


def test_nothing_is_told_before_it_has_completed_and_then_without_waiting(
    fake: FakeCuda, rt: CudaRuntime, told: Listener
) -> None:
    stream, waited = rt.Stream("s"), fake.synchronizes
    rt.launch("first", duration_ns=2 * MS, stream=stream)
    stream.record_event()
    rt.launch("second", duration_ns=2 * MS, stream=stream)
    assert told.of("kernel", "record") == []
    fake.clock.pass_ns(3 * MS)
    with rt.op("later"):  # any call of the runtime looks
        pass
    assert [fact.kind for fact in told.of("kernel", "record")] == ["kernel", "record"]
    assert fake.synchronizes == waited


def test_a_held_stream_does_not_hold_up_what_others_tell(
    fake: FakeCuda, rt: CudaRuntime, told: Listener
) -> None:
    held, free, gate = rt.Stream("held"), rt.Stream("free"), Gate(fake)
    rt.launch("gate", fake.hold, gate, stream=held)
    rt.launch("behind", stream=held)
    rt.launch("k", stream=free)
    free.synchronize()
    assert (told.names(held), told.names(free)) == ([], ["k"])
    gate.set()
    held.synchronize()
    assert told.names(held) == ["gate", "behind"]


def test_a_cause_is_told_before_its_effect_across_streams(
    fake: FakeCuda, rt: CudaRuntime, told: Listener
) -> None:
    streams = [rt.Stream(f"s{i}") for i in range(4)]
    for i in range(40):
        stream = streams[i % 4]
        rt.launch(str(i), duration_ns=50_000, stream=stream)
        streams[(i + 1) % 4].wait_event(stream.record_event())
        fake.clock.pass_ns((i % 7) * 30_000)
    rt.synchronize()
    assert [fact.arg[0].name for fact in told.of("kernel")] == [str(i) for i in range(40)]
    ends = [fact.arg[2] for fact in told.of("kernel")]
    assert all(first <= second for first, second in pairwise(ends))


def test_what_completes_during_a_look_is_told_before_its_effect() -> None:
    """The moment falls between asking the one stream and the other, for some of these."""
    for early_ns in range(0, 6_000, 100):
        fake = FakeCuda()
        rt, listener = on(fake), Listener()
        rt.hooks.subscribe(listener)
        cause, effect = rt.Stream("cause"), rt.Stream("effect")
        rt.launch("cause", duration_ns=5 * MS, stream=cause)
        effect.wait_stream(cause)
        rt.launch("effect", stream=effect)
        end_ns = cause.raw.tail.end()
        fake.clock.now = end_ns - early_ns
        rt.timing.look(now=True)
        rt.synchronize()
        assert [fact.arg[0].name for fact in listener.of("kernel")] == ["cause", "effect"]


def test_looking_is_not_done_more_often_than_it_is_worth(
    fake: FakeCuda, rt: CudaRuntime, told: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    completed = rt.timing._completed
    monkeypatch.setattr(rt.timing, "_completed", lambda: (looks.append(fake.clock.now), completed())[1])
    for _ in range(300):
        rt.launch("k", duration_ns=1_000)
    assert len(looks) > 5
    assert all(second - first >= cuda_timing.LOOK_EVERY_NS for first, second in pairwise(looks))


def test_while_nobody_listens_nothing_is_timed(fake: FakeCuda, rt: CudaRuntime) -> None:
    made = []
    fake.Event = lambda enable_timing=False: made.append(enable_timing)  # type: ignore[method-assign, assignment, func-returns-value]
    with rt.op("op"):
        rt.launch("k", duration_ns=1_000)
    assert made == []


def test_what_was_half_timed_when_somebody_came_or_left_is_not_told(fake: FakeCuda, rt: CudaRuntime) -> None:
    listener = Listener()
    with rt.op("began before"):
        rt.hooks.subscribe(listener)
        fake.kernel(1_000)
    with rt.op("whole"):
        fake.kernel(1_000)
    with rt.op("left in it"):
        fake.kernel(1_000)
        rt.hooks.unsubscribe(listener)
    rt.synchronize()
    rt.hooks.subscribe(listener)
    rt.launch("again", host_wait=True)
    assert [fact.arg[0].name for fact in listener.of("kernel")] == ["again"]  # what waited has been forgotten


def test_twins_are_used_again(fake: FakeCuda, rt: CudaRuntime, told: Listener) -> None:
    made = []
    make = fake.Event

    def counted(enable_timing: bool = False) -> Any:
        made.append(enable_timing)
        return make(enable_timing)

    fake.Event = counted  # type: ignore[method-assign]
    for _ in range(200):
        rt.launch("k", host_wait=True)
    assert made.count(True) <= 6
    assert len(told.of("kernel")) == 200


def test_the_error_in_the_meta_is_that_of_this_recording(fake: FakeCuda, rt: CudaRuntime) -> None:
    first = Listener()
    rt.hooks.subscribe(first)
    gate = Gate(fake)
    fake.hold(gate)
    rt.timing.clock._fit = rt.timing.clock.fit._replace(band=cuda_clock.Band(0, -S, S))  # nothing was known
    gate.set()
    rt.launch("k", host_wait=True)
    loose = rt.describe()["clock"]["error_ns"]
    rt.hooks.unsubscribe(first)
    assert rt.describe()["clock"]["error_ns"] < loose


def test_a_host_clock_that_jumps_is_counted(fake: FakeCuda, rt: CudaRuntime, told: Listener) -> None:
    rt.now_ns = rt.timing.clock._now = lambda: fake.clock.now_ns() + 50 * MS  # it was set
    rt.launch("k", host_wait=True)
    assert rt.describe()["clock"]["resets"] == 1
