"""What the tools of a page ask of the analysis: the analysis's own answers, block by block, and capture's edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.small import recorded
from tests.unpacked import index_of, json_of
from ubviz import Timeline, load
from ubviz.analysis.causes import causes
from ubviz.analysis.cone import Cones
from ubviz.analysis.critical_path import critical_path
from ubviz.analysis.gaps import gaps
from ubviz.analysis.overlap import overlap
from ubviz.errors import BadArgument
from ubviz.trace import Lane, Trace
from ubviz.trace.build import Builder
from ubviz.view.marked import TOOLS
from ubviz.view.payload import Payload, answers


@pytest.fixture(scope="module")
def trace() -> Trace:
    return recorded("ht", 2, steps=2)


def test_gaps_and_the_critical_path_are_those_of_the_analysis_step_by_step(trace: Trace) -> None:
    payload = Payload(trace)
    told = [gap for step in trace.steps for gap in json_of(payload, f"gaps:{step}")]
    wanted = [
        [payload.place[trace.lane(gap.stream).id], gap.start_ns, gap.end_ns, gap.cause, gap.sentence]
        for gap in gaps(trace).longest
    ]
    assert sorted(told) == sorted(wanted)
    for step in trace.steps:
        path = json_of(payload, f"critical:{step}")
        assert [[entry[0], entry[1], *entry[3:]] for entry in path] == [
            [e.table, e.row, e.start_ns, e.ns, e.edge] for e in critical_path(trace, step)
        ]
        assert sum(entry[4] for entry in path) == overlap(trace, step=step).makespan_ns


def test_the_intervals_behind_the_line_of_numbers_sum_to_them(trace: Trace) -> None:
    payload = Payload(trace)
    for step in trace.steps:
        found = overlap(trace, step=step)
        sums = [
            tuple(sum(b - a for a, b in each[kind]) for kind in ("all", "hidden"))
            for each in json_of(payload, f"intervals:{step}")
        ]
        assert sums == [
            (found.makespan_ns, 0), (found.compute_busy_ns, 0), (found.comm_busy_ns, found.overlap_ns),
        ]  # fmt: skip
        assert len(sums) == 1 + len(json_of(payload, f"numbers:{step}")["rest"])


def test_the_order_of_causes_comes_whole(trace: Trace) -> None:
    block, found = json_of(Payload(trace), "order"), causes(trace)
    assert np.cumsum(block["host"]).tolist() == list(found.host)
    assert np.cumsum(block["spans"]).tolist() == found.spans.tolist()
    assert np.cumsum(block["causes"]).tolist() == list(found.causes)
    assert np.cumsum(block["effects"]).tolist() == list(found.effects)
    numbers: dict[object, int] = {}
    assert block["lanes"] == [numbers.setdefault(lane, len(numbers)) for lane in found.lanes]


def test_of_a_large_recording_a_page_holds_no_answers_and_a_kernel_gives_each(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_ROWS", 10)
    payload = Payload(trace)
    assert not index_of(payload.head())[0]["answers"]
    assert not [key for key in payload.keys() if key.startswith(("gaps", "critical", "intervals", "order"))]
    row = len(trace.events) // 2
    for way in ("past", "future"):
        for hops in (None, 1):
            cone = json_of(payload, f"cone:{way}:events:{row}" + (":1" if hops else ""))
            wanted = getattr(Cones(trace), way)(row, hops=hops)
            assert (cone["events"], cone["spans"]) == (wanted.events.tolist(), wanted.spans.tolist())


@pytest.mark.parametrize("key", ["gaps:77", "critical:", "intervals:x", "cone:past:events", "cone:past:spans:-1",
                                 "cone:aside:spans:1", "cone:past:meta:0", "cone:past:spans:1:2"])  # fmt: skip
def test_what_is_not_there_is_refused_in_a_sentence(trace: Trace, key: str) -> None:
    with pytest.raises(BadArgument, match=r"^this recording has no (step|cone) "):
        Payload(trace).block(key)


def replays(edges: Any, nodes: list[Any]) -> Trace:
    """Two replays of one graph, each with kernels of these nodes."""
    builder = Builder([Lane(0, 0, "main", "threads"), Lane(1, 0, "compute", "streams")])
    for begin in (0, 1000):
        builder.event(begin, "graph.replay", {"graph": "split[8]", "key": 8}, lane=0, thread=0)
        seq = builder._events[-1][0]
        for number, node in enumerate(nodes):
            at = begin + 10 + 20 * number
            builder.span(at, at + 10, "kernel", "k", lane=1, cls="compute", seq=seq, args={"node": node})
    return builder.finish({"graphs": {"split[8]": edges}})


def test_the_edges_of_a_capture_lie_over_each_of_its_replays() -> None:
    edges = [
        {"kind": "set -> wake", "from_node": 0, "to_node": 2},
        {"kind": "record -> wait", "from_node": 1, "to_node": 2},
        {"kind": "set -> wake", "from_node": 2, "to_node": None},
        {"kind": "set -> wake", "from_node": 7, "to_node": 1},
    ]
    payload = Payload(replays(edges, [0, 1, 2]))
    assert index_of(payload.head())[0]["graphs"]
    assert json_of(payload, "graphs") == [
        [0, 2, "set -> wake"], [1, 2, "record -> wait"], [3, 5, "set -> wake"], [4, 5, "record -> wait"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "graphs", [None, "x", {"split[8]": "x"}, {"split[8]": [1]}, {"split[8]": [{"from_node": [1]}]}]
)
def test_edges_that_are_none_are_left_out(graphs: Any) -> None:
    trace = replays([], [0, "one", None])
    bent = Trace(
        trace.events, trace.spans, trace.flows, trace.lanes, {**trace.meta, "graphs": graphs}, trace.notices
    )
    assert json_of(Payload(bent), "graphs") == []


@pytest.mark.parametrize(
    ("clock", "bands"),
    [
        (None, []),
        ({"error_ns": 0}, []),
        ({"error_ns": True, "anchors": [None, {"error_ns": "x"}]}, []),
        ({"error_ns": 900, "source": "events on the device"},
         [([1], 900, "device times on the clock of the host, by events on the device")]),
        ({"common": "rank 0", "anchors": [{"error_ns": 40}, {"error_ns": 70}]},
         [([0, 1], 70, "times on the clock of rank 0")]),
    ],
)  # fmt: skip
def test_where_clocks_were_aligned_the_error_is_told(clock: Any, bands: list[Any]) -> None:
    trace = replays([], [0])
    told = Trace(
        trace.events, trace.spans, trace.flows, trace.lanes, {**trace.meta, "clock": clock}, trace.notices
    )
    found = index_of(Payload(told).head())[0]["bands"]
    assert [(band["lanes"], band["error_ns"], band["words"]) for band in found] == bands


# ---- what tools mark, from Python


def test_an_area_is_a_dataframe(trace: Trace) -> None:
    timeline = Timeline(trace)
    assert timeline.measured().empty
    start, end = timeline.view_range
    timeline.area = [start, (start + end) / 2, ["compute"]]
    compute = trace.lane("compute").id
    assert timeline.area == (start, round((start + end) / 2), (compute,))
    frame, middle = timeline.measured(), timeline.area[1]
    wanted = [
        row
        for row, span in enumerate(trace.spans)
        if span.lane == compute
        and (
            (span.start_ns < middle and span.end_ns > start)
            or span.start_ns == span.end_ns in range(start, middle)
        )
    ]
    assert frame.index.tolist() == wanted
    kernels = frame[frame.cat == "kernel"]
    assert len(kernels) > 3
    pd.testing.assert_series_equal(
        kernels.inside_ns,
        kernels.end_ns.clip(upper=middle) - kernels.start_ns.clip(lower=start),
        check_names=False,
        check_dtype=False,
    )
    assert (frame.duration_ns == frame.end_ns - frame.start_ns).all()


def test_lanes_are_named_by_role_or_number(trace: Trace) -> None:
    timeline = Timeline(trace)
    compute, comm = trace.lane("compute").id, trace.lane("comm").id
    timeline.pinned, timeline.hidden = ["comm", compute, "comm"], ("main",)
    assert (timeline.pinned, timeline.hidden) == ((comm, compute), (trace.lane("main").id,))
    timeline.arranged = ["comm", "compute"]
    assert timeline.arranged == (comm, compute)
    timeline.measure, timeline.query = (5.2, 9), "experts"
    assert (timeline.measure, timeline.query) == ((5, 9), "experts")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("area", 5, "area must be (start_ns, end_ns), (start_ns, end_ns, lanes) or None, not 5"),
        ("area", (9, 2), "area must end after it starts, not run from 9 to 2"),
        ("area", (1, 2, "compute"), "area is a list of lanes, as in [\"compute\"], not 'compute'"),
        ("pinned", "comm", "pinned is a list of lanes, as in [\"compute\"], not 'comm'"),
        (
            "hidden",
            ["gpu"],
            "this trace has no lane 'gpu'; it has main, ubatch 0, ubatch 1, compute, comm, default",
        ),
        ("arranged", {"comm": 1}, "arranged is a list of lanes, as in [\"compute\"], not {'comm': 1}"),
        (
            "notes",
            [(5, "")],
            "notes are pairs of a time and a text, as in [(1200, \"look here\")], not [(5, '')]",
        ),
        ("notes", 5, 'notes are pairs of a time and a text, as in [(1200, "look here")], not 5'),
        ("measure", (2, 1), "measure must not end before it starts, as 2 to 1 does"),
        ("measure", "x", "measure must be (start_ns, end_ns) or None, not 'x'"),
        ("query", None, "query is the text that is searched for, not None"),
        (
            "tool",
            "critical path",
            "tool must be one of search, list, area, ruler, past, future, path, lanes, notes, edges, bands, "
            "or \"\" for none, not 'critical path'",
        ),
        ("tool", None, f'tool must be one of {", ".join(TOOLS)}, or "" for none, not None'),
        (
            "tool",
            "edges",
            "tool: this recording has nothing for 'edges': no graph was captured in it",
        ),
    ],
)
def test_a_wrong_mark_is_refused_in_a_sentence(trace: Trace, name: str, value: Any, sentence: str) -> None:
    timeline = Timeline(trace)
    before = getattr(timeline, name)
    with pytest.raises(BadArgument) as raised:
        setattr(timeline, name, value)
    assert (str(raised.value), getattr(timeline, name)) == (sentence, before)


def test_a_timeline_begins_with_a_tool_open(trace: Trace) -> None:
    assert Timeline(trace).tool == ""
    for name in TOOLS[:-2]:
        assert Timeline(trace, tool=name).tool == name
    captured = replays([{"kind": "set -> wake", "from_node": 0, "to_node": 2}], [0, 1, 2])
    timeline = Timeline(captured, tool="edges")
    sentence = (
        "tool: this recording has nothing for 'bands': neither were clocks aligned in it, nor was it measured"
    )
    with pytest.raises(BadArgument, match=sentence):
        timeline.tool = "bands"
    timeline.tool = ""
    assert timeline.tool == ""
    with pytest.raises(BadArgument, match="no graph was captured in it"):
        Timeline(trace, tool="edges")


def test_notes_are_saved_with_the_recording(trace: Trace, tmp_path: Path) -> None:
    timeline = Timeline(trace)
    assert timeline.notes == ()
    timeline.notes = [(2000.0, "then"), (1000, "here <b>")]
    assert timeline.notes == ((1000, "here <b>"), (2000, "then"))
    timeline.annotated().save(tmp_path / "noted.json")
    assert Timeline(load(tmp_path / "noted.json")).notes == timeline.notes
    assert "notes" not in trace.meta
    assert load(tmp_path / "noted.json").to_pandas("spans").equals(trace.to_pandas("spans"))


@pytest.mark.parametrize("kept", [None, 5, "x", {"a": 1}, [[1]], [[1, ""], [None, "x"], ["x", "y"]]])
def test_what_a_file_holds_instead_of_notes_is_left_out(trace: Trace, kept: Any) -> None:
    told = Trace(
        trace.events, trace.spans, trace.flows, trace.lanes, {**trace.meta, "notes": kept}, trace.notices
    )
    assert Timeline(told).notes == ()
