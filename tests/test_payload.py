"""What the page is told of a recording: complete, exact to the nanosecond, the picture's rules, small."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.small import recorded
from tests.strategies import traces as any_trace
from tests.unpacked import index_of, json_of, tracks_of, whole
from ubviz.analysis.intervals import length, union
from ubviz.errors import BadArgument
from ubviz.trace import Lane, Trace, example
from ubviz.trace.build import Builder
from ubviz.view.paint.blocks import blocks
from ubviz.view.paint.frame import extent, frame_of
from ubviz.view.paint.marks import openings
from ubviz.view.paint.wall import layer_starts
from ubviz.view.payload import Payload
from ubviz.view.payload.bars import NEW_BLOCK, STYLES, sub_rows


def traces() -> list[Trace]:
    return [recorded("ht", 2, steps=2), recorded("ll", 2), recorded("ht", 3), example("whole_game_unsplit")]


TRACES = pytest.mark.parametrize("number", range(4), ids=["ht 2", "ll 2", "ht 3", "unsplit"])


@TRACES
def test_every_span_on_a_stream_is_there_once_and_exact(number: int) -> None:
    trace = traces()[number]
    payload = Payload(trace)
    found: dict[int, tuple[int, int, int]] = {}
    for track, columns in tracks_of(payload):
        if track["table"] != "spans" or track["layer"] not in ("main", "waits"):
            continue
        lane = payload.lanes[track["lane"]]
        if lane.group == "threads":
            continue
        for t, dur, row in zip(columns["t"], columns["dur"], columns["row"]):
            assert row not in found
            found[int(row)] = (int(t), int(t + dur), lane.id)
    wanted = {
        row: (span.start_ns, span.end_ns, span.lane)
        for row, span in enumerate(trace.spans)
        if span.cat in ("kernel", "transfer", "wait")
    }
    assert found == wanted


@TRACES
def test_a_thread_is_awake_or_blocked_and_nothing_else(number: int) -> None:
    trace = traces()[number]
    payload = Payload(trace)
    for track, columns in tracks_of(payload):
        lane = payload.lanes[track["lane"]]
        if lane.group != "threads" or track["layer"] != "main":
            continue
        ends = columns["t"] + columns["dur"]
        assert (columns["t"][1:] >= ends[:-1]).all()
        bars = union(np.stack([columns["t"], ends], axis=1))
        lives = trace.spans.mask(cat="thread", lane=lane.id)
        life = union(np.stack([trace.spans["start_ns"][lives], trace.spans["end_ns"][lives]], axis=1))
        assert bars.tolist() == life.tolist()
        awake = columns["style"] == STYLES.index("awake")
        blocked = trace.spans.mask(cat="blocked", lane=lane.id)
        spans = union(np.stack([trace.spans["start_ns"][blocked], trace.spans["end_ns"][blocked]], axis=1))
        assert int(columns["dur"][awake].sum()) == length(life) - length(spans)


@TRACES
def test_blocks_begin_where_those_of_the_picture_begin(number: int) -> None:
    trace = traces()[number]
    payload = Payload(trace)
    for step in trace.steps:
        frame = frame_of(trace, step)
        for lane in (lane for lane in frame.lanes if lane.group != "threads"):
            made = blocks(frame.on(lane, "kernel", "transfer"), frame.on(lane, "wait"))
            begins = [
                int(t)
                for track, columns in tracks_of(payload)
                if payload.lanes[track["lane"]] == lane and track["layer"] == "main"
                for t, style, row in zip(columns["t"], columns["style"], columns["row"])
                if style >= NEW_BLOCK and trace.spans[int(row)].step == step
            ]
            assert begins == [block.start_ns for block in made]


@TRACES
def test_every_trace_event_has_its_mark_on_its_lane(number: int) -> None:
    trace = traces()[number]
    payload = Payload(trace)
    index, _ = index_of(payload.head())
    found = {}
    for track, columns in tracks_of(payload):
        if track["layer"] == "events":
            for t, kind, row in zip(columns["t"], columns["kind"], columns["row"]):
                found[int(row)] = (int(t), index["kinds"][kind], payload.lanes[track["lane"]].id)
    assert found == {row: (event.t_ns, event.kind, event.lane) for row, event in enumerate(trace.events)}


@TRACES
def test_every_arrow_between_lanes_is_there(number: int) -> None:
    trace = traces()[number]
    payload = Payload(trace)
    index, _ = index_of(payload.head())
    columns = whole(payload, index["flows"])
    found = sorted(
        (index["flow_kinds"][kind], int(t), int(t + dt), ("events", "spans")[a], int(i), ("events", "spans")[b], int(j))
        for kind, t, dt, a, i, b, j in zip(*(columns[name] for name in
            ("kind", "t", "dt", "from_table", "from_row", "to_table", "to_row")))
    )  # fmt: skip
    assert found == sorted(
        (flow.kind, flow.from_ns, flow.to_ns, flow.from_table, flow.from_row, flow.to_table, flow.to_row)
        for flow in trace.flows
    )


@TRACES
def test_barriers_and_layers_are_those_of_the_picture(number: int) -> None:
    trace = traces()[number]
    facts = json_of(Payload(trace), "facts")
    wanted = sorted(t for t, _, _ in openings(trace.events))
    assert [gate["t"] for gate in facts["gates"]] == wanted
    by_step = [start for step in trace.steps for start in layer_starts(frame_of(trace, step))]
    assert [tuple(layer) for layer in facts["layers"]] == by_step


def test_logical_order_has_the_columns_of_the_picture() -> None:
    trace = recorded("ht", 2, steps=2)
    payload = Payload(trace)
    score = json_of(payload, "logical")
    assert (
        len({len(score[name]) for name in ("row", "lane", "thread", "sign", "text", "cls", "ubatch", "t")})
        == 1
    )
    assert [trace.events[row].t_ns for row in score["row"]] == score["t"]
    wakes = [number for number, text in enumerate(score["text"]) if text == "wakes"]
    assert [to for _, to, kind in score["arrows"] if kind == "set -> wake"] == wakes
    for lane in (lane for lane in range(len(payload.lanes)) if payload.lanes[lane].group == "threads"):
        mine = sorted(stretch for stretch in score["stretches"] if stretch[0] == lane)
        assert all(a[2] == b[1] or a[2] <= b[1] for a, b in pairwise(mine))


def test_rows_and_sources_are_the_traces_own() -> None:
    trace = recorded("ht", 2)
    payload = Payload(trace)
    for table in ("spans", "events"):
        keys = [key for key in payload.keys() if key.startswith(f"rows:{table}:")]
        rows = [row for key in keys for row in json_of(payload, key)]
        lent = [
            {name: row.pop(name, None) for name in ("site", "caller", "event_row") if table == "spans"}
            for row in rows
        ]
        assert rows == [
            {name: value for name, value in row._asdict().items() if value is not None}
            for row in getattr(trace, table)
        ]
        for row, more in zip(rows, lent):
            if table == "spans" and "seq" in row:
                event = trace.events[more["event_row"]]
                assert (event.seq, event.site, event.caller) == (row["seq"], more["site"], more["caller"])
    assert json_of(payload, "sources") == trace.meta["sources"]


@pytest.mark.parametrize("key", ["bars:99:0", "nothing", "", "rows:spans", "rows:spans:-1", "rows:meta:0",
                                 "numbers:77", "numbers:x", "rows:spans:1;2"])  # fmt: skip
def test_what_is_not_there_is_refused_in_a_sentence(key: str) -> None:
    with pytest.raises(BadArgument, match=r"^this recording has no "):
        Payload(recorded("ht", 2)).block(key)


def test_every_key_has_a_block_and_the_head_holds_the_small_ones() -> None:
    payload = Payload(recorded("ht", 2))
    index, blocks_at_once = index_of(payload.head())
    outside = set(payload.keys_outside())
    assert set(blocks_at_once) | outside == set(payload.keys())
    assert not set(blocks_at_once) & outside
    assert {part["key"] for track in index["tracks"] for part in track["parts"]} <= set(blocks_at_once)
    assert all(payload.block(key) for key in payload.keys())


def long_lane(count: int) -> Trace:
    """A stream with many spans, some very long, some far apart."""
    builder = Builder([Lane(0, 0, "compute", "streams")])
    t = 10
    for number in range(count):
        long = 5_000_000_000 if number % 1000 == 0 else 7
        builder.span(t, t + long, "kernel", f"k{number % 3}", lane=0, cls="compute", ubatch=number % 2)
        t += long + (6_000_000_000 if number % 1500 == 0 else 3)
    return builder.finish({})


def test_a_large_track_comes_in_parts_and_stays_exact() -> None:
    trace = long_lane(150_000)
    payload = Payload(trace)
    ((track, columns),) = tracks_of(payload)
    assert [part["rows"] for part in track["parts"]] == [65_536, 65_536, 18_928]
    assert (columns["t"] == trace.spans["start_ns"]).all()
    assert (columns["t"] + columns["dur"] == trace.spans["end_ns"]).all()
    assert (columns["row"] == np.arange(150_000)).all()
    assert set(index_of(payload.head())[1]) == {"facts"}


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), max_size=40))
def test_sub_rows_never_lie_over_one_another(pairs: list[tuple[int, int]]) -> None:
    pairs.sort()
    starts = np.array([start for start, _ in pairs], np.int64)
    ends = starts + np.array([long for _, long in pairs], np.int64)
    rows = sub_rows(starts, ends)
    for row in set(rows.tolist()):
        mine = rows == row
        assert (starts[mine][1:] >= ends[mine][:-1]).all()
    deepest = max((int(((starts <= t) & (ends > t)).sum()) for t in range(100)), default=0)
    assert rows.max(initial=0) + 1 <= max(deepest, 1)


def test_spans_over_one_another_get_sub_rows() -> None:
    builder = Builder([Lane(0, 0, "stream 7", "streams")])
    for start, end in ((0, 100), (10, 40), (20, 30), (50, 60), (120, 130)):
        builder.span(start, end, "kernel", "k", lane=0, cls="compute")
    payload = Payload(builder.finish({}))
    assert index_of(payload.head())[0]["lanes"][0]["subs"] == 3
    by_sub = {track["sub"]: columns["t"].tolist() for track, columns in tracks_of(payload)}
    assert by_sub == {0: [0, 120], 1: [10, 50], 2: [20]}


def test_an_empty_recording_has_an_index() -> None:
    payload = Payload(Builder([]).finish({}))
    index, _ = index_of(payload.head())
    assert (index["lanes"], index["tracks"], index["steps"]) == ([], [], [])
    assert all(payload.block(key) for key in payload.keys())


@given(any_trace())
def test_whatever_a_file_may_hold_can_be_told(trace: Trace) -> None:
    begin, end = extent(trace, None)
    if max(-begin, end) >= 2**53:
        with pytest.raises(BadArgument, match="cannot tell apart to the nanosecond"):
            Payload(trace)
        return
    payload = Payload(trace)
    assert index_of(payload.head())[0]["rows"] == {"spans": len(trace.spans), "events": len(trace.events)}
    assert all(payload.block(key) for key in payload.keys())
