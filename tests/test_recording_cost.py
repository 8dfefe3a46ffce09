"""What recording itself costs: measured by each recording in real time, told to a page; in virtual time nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unpacked import index_of
from ubviz import get_runtime, load, record
from ubviz.recording.cost import FACTS, TIMES, fact_cost_ns
from ubviz.trace import Lane, Trace
from ubviz.trace.build import Builder
from ubviz.view.payload import Payload


def test_it_is_the_median_of_some_runs_after_a_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    each = (90_000, 7, 3, 900, 2, 4, 1, 5)
    assert len(each) == 1 + TIMES
    told, now = 0, 0

    def tell(kind: str, obj: Any, arg: Any) -> None:
        nonlocal told, now
        now += each[told // FACTS]
        told += 1

    monkeypatch.setattr("ubviz.recording.cost.perf_counter_ns", lambda: now)
    assert fact_cost_ns(tell) == 4
    assert told == FACTS * len(each)


def test_a_recording_in_real_time_says_it_and_holds_nothing_of_the_measuring() -> None:
    rt = get_runtime("host")
    with record(rt) as recording:
        rt.HostEvent(name="go").set()
    rt.close()
    trace = recording.trace
    assert [event.kind for event in trace.events] == ["host_event.set"]
    assert 0 < trace.meta["recording"]["fact_ns"] < 1_000_000


def test_virtual_time_says_none_so_that_two_runs_are_the_same_bytes() -> None:
    rt = get_runtime("virtual")
    with record(rt) as recording:
        rt.HostEvent(name="go").set()
    assert "recording" not in recording.trace.meta


def told(meta: dict[str, Any]) -> Trace:
    """A thread that lives 1000 ns with two trace events, one blocked call, and one operation; and a stream."""
    builder = Builder([Lane(0, 0, "ubatch 0", "threads"), Lane(1, 0, "compute", "streams")])
    builder.span(0, 1000, "thread", "ubatch 0", lane=0)
    builder.span(100, 300, "operation", "attn", lane=0, operation="attn")
    first = builder.event(10, "stream.synchronize", {"stream": "compute"}, lane=0, thread=1)
    builder.close(first, 60)
    builder.event(400, "mark", {"text": "here"}, lane=0, thread=1)
    builder.span(110, 310, "kernel", "k", lane=1, cls="compute")
    return builder.finish(meta)


def bands(trace: Trace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = index_of(Payload(trace).head())[0]["bands"]
    return found


def test_a_page_is_told_how_much_of_each_thread_it_was() -> None:
    # two trace events, the end of the blocked call, both edges of the operation: five facts
    [band] = bands(told({"recording": {"fact_ns": 20}}))
    assert band == {
        "lanes": [0], "error_ns": 20, "after": True,
        "words": "the recorder itself, as measured when the recording began: 10.0% of ubatch 0",
    }  # fmt: skip


@pytest.mark.parametrize("recording", [None, 5, {}, {"fact_ns": 0}, {"fact_ns": "20"}, {"fact_ns": True}])
def test_what_is_not_said_is_not_drawn(recording: Any) -> None:
    assert bands(told({"recording": recording})) == []


def test_it_stays_in_a_file(tmp_path: Any) -> None:
    trace = told({"recording": {"fact_ns": 20}})
    trace.save(tmp_path / "t.json")
    assert bands(load(tmp_path / "t.json")) == bands(trace)
