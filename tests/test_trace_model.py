"""The trace in memory: columns, rows, equality, immutability."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.strategies import traces
from ubviz.errors import BadArgument
from ubviz.trace import MISSING, Event, Flow, Lane, Notice, Span, Table, Trace, make_table

LANES = [Lane(0, 0, "main", "threads"), Lane(1, 0, "ubatch 0", "threads"), Lane(2, 0, "compute", "streams")]


def event(seq: int = 0, t_ns: int = 0, kind: str = "mark", **fields: Any) -> Event:
    row = Event(seq, t_ns, None, 0, None, None, None, 0, kind, None, None, {})
    return row._replace(**fields)


def span(start_ns: int, end_ns: int, name: str = "experts", **fields: Any) -> Span:
    row = Span(start_ns, end_ns, 0, None, None, 2, "kernel", name, None, None, None, None, None, {})
    return row._replace(**fields)


def trace(events: list[Event] = [], spans: list[Span] = [], flows: list[Flow] = [], **meta: Any) -> Trace:  # noqa: B006
    return Trace(make_table(Event, events), make_table(Span, spans), make_table(Flow, flows), LANES, meta)


@pytest.fixture
def table() -> Table:
    return make_table(
        Event,
        [
            event(0, 10, "ctx.enter", ubatch=0, args={"ubatch": 0}),
            event(1, 20, "mark", until_ns=25, site="", args={"text": "a"}),
            event(2, 30, "ctx.enter", ubatch=1, site="moe.py:3", args={"ubatch": 0}),
        ],
    )


def test_a_column_of_integers_is_an_int64_array(table: Table) -> None:
    assert table["t_ns"].tolist() == [10, 20, 30]
    assert table["t_ns"].dtype == np.int64
    assert table["until_ns"].tolist() == [MISSING, 25, MISSING]


def test_a_column_of_text_or_args_holds_the_objects(table: Table) -> None:
    assert table["kind"].tolist() == ["ctx.enter", "mark", "ctx.enter"]
    assert table["site"].tolist() == [None, "", "moe.py:3"]
    assert table["args"].tolist() == [{"ubatch": 0}, {"text": "a"}, {"ubatch": 0}]


def test_equal_text_and_args_are_kept_once(table: Table) -> None:
    assert table.codes("kind")[0].tolist() == [0, 1, 0]
    assert table.codes("kind")[1] == ("ctx.enter", "mark")
    assert table.codes("site")[0].tolist() == [-1, 0, 1]
    assert len(table.codes("args")[1]) == 2


def test_args_that_are_equal_and_not_alike_stay_apart() -> None:
    args: list[dict[str, Any]] = [
        {"a": 1},
        {"a": True},
        {"a": 1.0},
        {"a": 0.0},
        {"a": -0.0},
        {"a": [1]},
        {"a": {}},
    ]
    rows = make_table(Event, [event(seq, args=value) for seq, value in enumerate(args)])
    assert repr([row.args for row in rows]) == repr(args)


def test_rows(table: Table) -> None:
    assert len(table) == 3
    assert table[1] == event(1, 20, "mark", until_ns=25, site="", args={"text": "a"})
    assert table[-1] == table[2] == list(table)[2]
    assert table[1:] == [table[1], table[2]]
    assert table[::-1] == list(table)[::-1]
    assert (table[1].until_ns, table[0].until_ns, table[1].site, table[0].site) == (25, None, "", None)
    assert type(table[0].t_ns) is int


@pytest.mark.parametrize("index", [3, -4])
def test_a_row_that_is_not_there(table: Table, index: int) -> None:
    with pytest.raises(IndexError) as caught:
        table[index]
    assert str(caught.value) == f"row {index} of a table of 3"


def test_a_column_that_is_not_there() -> None:
    message = (
        "this table has no column 'start'; it has kind, from_table, from_row, from_ns, from_lane, "
        "to_table, to_row, to_ns, to_lane"
    )
    for ask in (lambda table: table["start"], lambda table: table.mask(start=1)):
        with pytest.raises(BadArgument) as caught:
            ask(make_table(Flow, []))
        assert str(caught.value) == message


def test_masks(table: Table) -> None:
    assert table.mask(kind="ctx.enter").tolist() == [True, False, True]
    assert table.mask(kind="ctx.enter", ubatch=1).tolist() == [False, False, True]
    assert table.mask(until_ns=None).tolist() == [True, False, True]
    assert table.mask(site=None).tolist() == [True, False, False]
    assert table.mask(kind="never").tolist() == [False, False, False]
    assert table.mask().all()
    assert table.rows(table.mask(ubatch=1)) == [table[2]]
    assert table.rows(np.array([2, 0])) == [table[2], table[0]]


def test_an_empty_table_has_its_columns() -> None:
    empty = make_table(Span, [])
    assert len(empty) == 0
    assert list(empty) == empty[:] == []
    assert empty["start_ns"].dtype == np.int64
    assert empty["name"].tolist() == []
    assert empty.mask(name="x").tolist() == []


@pytest.mark.parametrize("field", ["t_ns", "kind", "args"])
def test_columns_cannot_be_written(table: Table, field: str) -> None:
    with pytest.raises(ValueError, match="read-only"):
        table[field][0] = 1
    with pytest.raises(ValueError, match="read-only"):
        table.codes("kind")[0][0] = 1


def test_a_trace_cannot_be_changed() -> None:
    recording = trace([event()])
    with pytest.raises(AttributeError, match=r"^a Trace is immutable; events cannot be set$"):
        recording.events = make_table(Event, [])
    with pytest.raises(AttributeError, match=r"^a Trace is immutable; events cannot be deleted$"):
        del recording.events


def test_a_trace_is_equal_to_one_with_the_same_rows() -> None:
    assert trace([event()], [span(0, 1)], a=1) == trace([event()], [span(0, 1)], a=1)
    assert trace().__eq__("a trace") is NotImplemented
    assert make_table(Event, []) != make_table(Span, [])


def test_creation_date_and_path_do_not_count() -> None:
    assert trace(created="2025-01-01", path="a.json") == trace(created="2026-01-01")
    assert trace(created="2025-01-01") == trace()


@pytest.mark.parametrize(
    "other",
    [
        trace([event(t_ns=1)]),
        trace([event(args={"a": 1})]),
        trace([event(site="")]),
        trace([event(), event()]),
        trace([event()], [span(0, 1)]),
        trace([event()], [], [Flow("set -> wake", "events", 0, 0, 0, "events", 0, 0, 0)]),
        trace([event()], base_ns=1),
        Trace(make_table(Event, [event()]), make_table(Span, []), make_table(Flow, []), LANES[:1], {}),
        Trace(
            make_table(Event, [event()]),
            make_table(Span, []),
            make_table(Flow, []),
            LANES,
            {},
            [Notice("a", 1, "A.")],
        ),
    ],
)
def test_every_part_counts(other: Trace) -> None:
    assert trace([event()]) != other


@given(traces())
def test_copies_are_equal_and_as_immutable(recording: Trace) -> None:
    for twin in (copy.copy(recording), copy.deepcopy(recording), pickle.loads(pickle.dumps(recording))):
        assert twin == recording
        assert not twin.events["t_ns"].flags.writeable


@given(traces())
def test_rows_columns_and_iteration_agree(recording: Trace) -> None:
    for table in (recording.events, recording.spans, recording.flows):
        rows = list(table)
        assert [table[i] for i in range(len(table))] == rows == table[:]
        for position, field in enumerate(table.fields):
            column = [None if isinstance(v, int) and v == MISSING else v for v in table[field].tolist()]
            assert column == [row[position] for row in rows]


def test_steps_and_duration() -> None:
    recording = trace(
        [event(0, 5, step=2), event(1, 7, step=None, until_ns=40), event(2, 9, step=0)], [span(-3, 8)]
    )
    assert recording.steps == (0, 2)
    assert recording.duration_ns == 43
    assert trace().duration_ns == 0
    assert trace([], [span(-(2**63) + 1, 2**63 - 1)]).duration_ns == 2**64 - 2
    assert span(3, 8).duration_ns == 5


def test_a_lane_by_its_role() -> None:
    assert trace().lane("compute") == LANES[2]
    with pytest.raises(BadArgument) as caught:
        trace().lane("comm")
    assert str(caught.value) == "rank 0 has no lane 'comm'; it has main, ubatch 0, compute"


def test_as_data_frames() -> None:
    recording = trace([event(0, 5, until_ns=2**63 - 1), event(1, 6, args={"a": 1})], [span(0, 2)])
    frame = recording.to_pandas()
    assert list(frame.columns) == list(Event._fields)
    integers = {"seq", "t_ns", "until_ns", "rank", "step", "thread", "ubatch", "lane"}
    assert {name for name in frame.columns if str(frame[name].dtype) == "Int64"} == integers
    assert frame["until_ns"][0] == 2**63 - 1
    assert frame["until_ns"].isna().tolist() == [False, True]
    assert frame["args"].tolist() == [{}, {"a": 1}]
    assert recording.to_pandas("spans")["end_ns"].tolist() == [2]
    assert recording.to_pandas("flows").shape == (0, 9)
    some = recording.to_pandas("events", rows=[1, 0])
    assert (some.index.tolist(), some["seq"].tolist()) == ([1, 0], [1, 0])
    with pytest.raises(BadArgument) as caught:
        recording.to_pandas("lanes")
    assert str(caught.value) == 'to_pandas takes "events", "spans" or "flows", not \'lanes\''


def test_representations_hold_no_address() -> None:
    recording = trace([event(step=0), event(1, step=1)], [span(0, 1)])
    assert repr(recording) == "<Trace: 2 trace events, 1 spans, 0 flows, 3 lanes, 2 steps>"
    assert repr(recording.flows) == (
        "<0 rows: kind, from_table, from_row, from_ns, from_lane, to_table, to_row, to_ns, to_lane>"
    )
