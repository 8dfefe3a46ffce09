"""The file format: what is saved comes back equal, Perfetto's rules hold, and a bad file is refused in a sentence."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.strategies import INT64, NUMBERS, recorded, traces
from ubviz.errors import BadArgument, MissingFile, NotATrace, UbvizError
from ubviz.trace import Event, Flow, Lane, Notice, Span, Trace, load, make_table, save
from ubviz.trace.chrome_write import to_json
from ubviz.trace.decimal_ns import ns_from_us, us_text

Document = dict[str, Any]
Edit = Callable[[Document], Any]

LANES = [
    Lane(0, 0, "main", "threads"),
    Lane(1, 0, "ubatch 0", "threads"),
    Lane(2, 0, "compute", "streams"),
    Lane(3, 0, "network", "network"),
]
EXAMPLE = Trace(
    make_table(
        Event,
        [
            Event(0, 0, None, 0, 0, 0, None, 0, "step.begin", None, None, {"step": 0, "tokens": 8}),
            Event(1, 1_500, 9_001, 0, 0, 1, 0, 1, "barrier.arrive", "moe.py:3", "cell[5]", {"barrier": "é"}),
            Event(
                2, 2_000, None, 0, 0, 1, 0, 1, "kernel.launch", None, None, {"name": "experts", "reads": [1]}
            ),
        ],
    ),
    make_table(
        Span,
        [
            Span(2_500, 7_042, 0, 0, 0, 2, "kernel", "experts", "compute", "moe", 1, 7, 2, {}),
            Span(
                3_000,
                3_000,
                0,
                None,
                None,
                3,
                "transfer",
                "send",
                None,
                None,
                None,
                None,
                None,
                {"modelled": True},
            ),
        ],
    ),
    make_table(Flow, [Flow("launch -> kernel", "events", 2, 2_000, 1, "spans", 0, 2_500, 2)]),
    LANES,
    {"base_ns": 1_735_689_600_000_000_000, "created": "2025-01-01", "path": "elsewhere.json"},
    [Notice("modelled", 1, "The link is modelled.")],
)


def exact(trace: Trace) -> str:
    """All that a trace holds, as text in which 1, 1.0 and true differ."""
    meta = {key: value for key, value in trace.meta.items() if key != "path"}
    parts = [list(trace.events), list(trace.spans), list(trace.flows), trace.lanes, meta, trace.notices]
    return json.dumps(parts, sort_keys=True)


def document(trace: Trace = EXAMPLE) -> Document:
    return json.loads(to_json(trace))


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(UbvizError) as caught:
        load(source, **options)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


# Save, then load


@given(traces())
def test_save_then_load_is_the_identity(tmp_path_factory: pytest.TempPathFactory, trace: Trace) -> None:
    folder = tmp_path_factory.mktemp("saved")
    for name in ("a.json", "a.json.gz"):
        save(trace, folder / name)
        loaded = load(folder / name)
        assert loaded == trace
        assert exact(loaded) == exact(trace)
        assert loaded.meta["path"] == str(folder / name)


@given(recorded())
def test_a_recorded_trace_comes_back(trace: Trace) -> None:
    assert exact(load(to_json(trace))) == exact(trace)


@given(traces())
def test_the_same_trace_gives_the_same_bytes(trace: Trace) -> None:
    assert to_json(load(to_json(trace))) == to_json(trace)


def test_packed_bytes_hold_no_time_and_no_name(tmp_path: Path) -> None:
    for name in ("a.json.gz", "b.json.gz"):
        EXAMPLE.save(tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert (tmp_path / "a.json.gz").read_bytes()[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def test_the_path_is_not_saved() -> None:
    assert b"elsewhere" not in to_json(EXAMPLE)
    assert b"2025-01-01" in to_json(EXAMPLE)


def test_gzip_is_known_by_its_bytes_not_its_name(tmp_path: Path) -> None:
    (tmp_path / "plain.json.gz").write_bytes(to_json(EXAMPLE))
    (tmp_path / "packed.json").write_bytes(gzip.compress(to_json(EXAMPLE)))
    assert load(tmp_path / "plain.json.gz") == load(tmp_path / "packed.json") == EXAMPLE


def test_every_kind_of_source(tmp_path: Path) -> None:
    path, data = tmp_path / "a.json", to_json(EXAMPLE)
    path.write_bytes(data)
    sources: list[Any] = [
        path,
        str(path),
        data,
        bytearray(data),
        memoryview(data),
        io.BytesIO(data),
        document(),
    ]
    sources += [gzip.compress(data), b"\xef\xbb\xbf" + data, [path], (data,)]
    assert all(load(source) == EXAMPLE for source in sources)
    with path.open("rb") as file:
        assert load(file, format="chrome") == EXAMPLE
    assert load(str(path)).meta["path"] == str(path)
    assert "path" not in load(data).meta


def test_a_parsed_object_is_left_as_it_is() -> None:
    given_object = document()
    load(given_object)
    assert given_object == document()


@pytest.mark.parametrize("indent", [None, 3])
def test_another_writer_of_json_may_have_rewritten_it(indent: int | None) -> None:
    turned = dict(reversed(document().items()))
    turned["traceEvents"] = [dict(reversed(entry.items())) for entry in reversed(turned["traceEvents"])]
    loaded = load(json.dumps(turned, indent=indent).encode())
    assert list(loaded.events) == list(EXAMPLE.events)[::-1]
    assert [flow.kind for flow in loaded.flows] == ["launch -> kernel"]


def test_one_hundred_thousand_rows() -> None:
    rows = 50_000
    events = [Event(i, i * 10, None, 0, 0, 0, None, 0, "mark", None, None, {"i": i}) for i in range(rows)]
    spans = [
        Span(i * 10, i * 10 + 7, 0, 0, 0, 2, "kernel", "k", None, None, None, i, i, {}) for i in range(rows)
    ]
    trace = Trace(make_table(Event, events), make_table(Span, spans), make_table(Flow, []), LANES, {})
    assert load(to_json(trace)) == trace


# A file written by hand

BY_HAND = b"""
{"ubviz": {"version": 1, "meta": {"runtime": "virtual"}, "notices": [],
           "lanes": [{"id": 5, "rank": 3, "role": "ubatch 1", "group": "threads"},
                     {"id": 9, "rank": 3, "role": "comm", "group": "streams"}]},
 "traceEvents": [
  {"name": "process_name", "ph": "M", "pid": 7, "args": {"name": "rank 3: CPU threads"}},
  {"ph": "X", "pid": 8, "tid": 2, "ts": "1700000000000000.0005", "dur": 1.25e1, "cat": "kernel", "name": "combine",
   "args": {"bytes": 64, "ubviz": {"cls": "comm", "seq": 4}}},
  {"ph": "f", "bp": "e", "cat": "ubviz", "name": "launch -> kernel", "id": 1, "pid": 8, "tid": 2, "ts": 2},
  {"ph": "s", "cat": "ubviz", "name": "launch -> kernel", "id": 1, "pid": 7, "tid": 1, "ts": -0.001,
   "args": {"ubviz": {"from_table": "events", "from_row": 0, "to_table": "spans", "to_row": 0}}},
  {"ph": "i", "pid": 7, "tid": 1, "ts": -0.001, "cat": "ubviz", "name": "kernel.launch", "s": "t",
   "args": {"ubviz": {"seq": 4, "ubatch": 1, "site": "moe.py:41", "own_ubviz": [1]}, "name": "combine"}}]}
"""


def test_a_file_written_by_hand() -> None:
    trace = load(BY_HAND)
    assert list(trace.lanes) == [Lane(5, 3, "ubatch 1", "threads"), Lane(9, 3, "comm", "streams")]
    assert list(trace.events) == [
        Event(
            4,
            -1,
            None,
            3,
            None,
            None,
            1,
            5,
            "kernel.launch",
            "moe.py:41",
            None,
            {"name": "combine", "ubviz": [1]},
        )
    ]
    at = 1_700_000_000_000_000_000
    args = {"bytes": 64}
    assert list(trace.spans) == [
        Span(at, at + 12_500, 3, None, None, 9, "kernel", "combine", "comm", None, None, None, 4, args)
    ]
    assert list(trace.flows) == [Flow("launch -> kernel", "events", 0, -1, 5, "spans", 0, 2000, 9)]
    assert trace.meta == {"runtime": "virtual"}


def test_the_file_of_a_small_trace() -> None:
    text = to_json(EXAMPLE).decode().splitlines()
    assert text[0] == '{"traceEvents":['
    assert text[1] == '{"ph":"M","name":"process_name","pid":1,"args":{"name":"rank 0: CPU threads"}},'
    assert text[13:] == [
        '{"ph":"i","cat":"ubviz","name":"step.begin","pid":1,"tid":1,"ts":0,"args":{"step":0,"tokens":8,'
        '"ubviz":{"seq":0,"step":0,"thread":0}},"s":"t"},',
        '{"ph":"i","cat":"ubviz","name":"barrier.arrive","pid":1,"tid":2,"ts":1.5,"args":{"barrier":"é",'
        '"ubviz":{"seq":1,"until_ns":9001,"step":0,"thread":1,"ubatch":0,"site":"moe.py:3","caller":"cell[5]"}},"s":"t"},',
        '{"ph":"i","cat":"ubviz","name":"kernel.launch","pid":1,"tid":2,"ts":2,"args":{"name":"experts","reads":[1],'
        '"ubviz":{"seq":2,"step":0,"thread":1,"ubatch":0}},"s":"t"},',
        '{"ph":"s","cat":"ubviz","name":"launch -> kernel","id":1,"pid":1,"tid":2,"ts":2,'
        '"args":{"ubviz":{"from_table":"events","from_row":2,"to_table":"spans","to_row":0}}},',
        '{"ph":"X","cat":"kernel","name":"experts","pid":2,"tid":3,"ts":2.5,"dur":4.542,'
        '"args":{"ubviz":{"cls":"compute","operation":"moe","layer":1,"correlation":7,"seq":2,"step":0,"ubatch":0}}},',
        '{"ph":"f","cat":"ubviz","name":"launch -> kernel","id":1,"pid":2,"tid":3,"ts":2.5,"bp":"e"},',
        '{"ph":"X","cat":"transfer","name":"send","pid":2,"tid":4,"ts":3,"dur":0,"args":{"modelled":true,"ubviz":{}}}',
        "],",
        '"displayTimeUnit":"ns","baseTimeNanoseconds":1735689600000000000,"ubviz":{"version":1,"lanes":['
        '{"id":0,"rank":0,"role":"main","group":"threads"},{"id":1,"rank":0,"role":"ubatch 0","group":"threads"},'
        '{"id":2,"rank":0,"role":"compute","group":"streams"},{"id":3,"rank":0,"role":"network","group":"network"}],'
        '"meta":{"base_ns":1735689600000000000,"created":"2025-01-01"},'
        '"notices":[{"kind":"modelled","count":1,"sentence":"The link is modelled."}]}}',
    ]


# Exact times


def by_decimal(text: str) -> int:
    ns = Decimal(text).scaleb(3, Context(prec=200))
    return int(ns.quantize(Decimal(1), ROUND_HALF_EVEN, Context(prec=200)))


@given(NUMBERS)
@example("0.0005")
@example("0.00001234")
@example("0.0015")
@example("-0.0015")
@example("0.00150000000000000000000000001")
@example("0.0014999999999999999999999999")
@example("0.00049")
@example("0.5e-3")
@example("5e-4")
@example("5E-9")
@example("1e0003")
@example("-0")
@example("9223372036854775.807")
@example("1735689600000000.123456")
@example("1.7356896e15")
@example("0.0000000000000000000001e22")
def test_text_is_read_as_decimals_are(text: str) -> None:
    expected = by_decimal(text)
    assume(abs(expected) < 10**39)
    assert ns_from_us(text.encode()) == expected
    assert ns_from_us(f'"{text}"'.encode()) == expected


@given(INT64)
@example(-(2**63) + 1)
@example(-1)
@example(1_000)
@example(10)
def test_nanoseconds_are_written_exactly_and_short(ns: int) -> None:
    text = us_text(ns)
    assert re.fullmatch(r"-?\d+(\.\d{0,2}[1-9])?", text)
    assert Decimal(text) * 1000 == ns
    assert ns_from_us(text.encode()) == ns


@pytest.mark.parametrize(
    "text", ["", ".", "1.", ".5", "1e", "+1", "0x1", "1_0", "null", "NaN", "Infinity", "1 2", "--1"]
)
def test_text_that_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"^not a number$"):
        ns_from_us(text.encode())


@pytest.mark.parametrize("text", ["1e999999999", "1" + "0" * 5000, "-1e" + "9" * 5000, "1e40"])
def test_numbers_beyond_all_times_cost_nothing(text: str) -> None:
    with pytest.raises(OverflowError, match=r"^out of range$"):
        ns_from_us(text.encode())


@pytest.mark.parametrize("text", ["0e999999999", "1e-999999999", "1e-" + "9" * 5000, "0." + "0" * 5000 + "1"])
def test_numbers_that_round_to_nothing(text: str) -> None:
    assert ns_from_us(text.encode()) == 0


# Perfetto's rules


def microseconds(value: Any) -> Decimal:
    return Decimal(str(value))


def nesting_violations(document: Document) -> list[str]:
    """One sentence for each span that Perfetto cannot put on its thread: in the order of the file, a span that
    begins before one written earlier, or that begins within another and ends after it."""
    found, open_spans, latest = [], {}, {}
    for entry in document["traceEvents"]:
        if entry["ph"] != "X":
            continue
        track = entry["pid"], entry["tid"]
        start = microseconds(entry["ts"])
        end = start + microseconds(entry["dur"])
        if start < latest.get(track, start):
            found.append(f"{entry['name']} on {track} begins at {start}, before what stands ahead of it")
        latest[track] = start
        stack = open_spans.setdefault(track, [])
        while stack and stack[-1] <= start:
            stack.pop()
        if stack and stack[-1] < end:
            found.append(f"{entry['name']} on {track} ends at {end}, after the span around it")
        stack.append(end)
    return found


@given(recorded())
def test_spans_are_nested_as_perfetto_wants_them(trace: Trace) -> None:
    assert nesting_violations(document(trace)) == []


def test_the_checker_of_nesting_finds_violations() -> None:
    span = {"ph": "X", "pid": 2, "tid": 3, "name": "b"}
    outer = {**span, "name": "a", "ts": 0, "dur": 10}

    def of(*entries: Document) -> list[str]:
        return nesting_violations({"traceEvents": [*entries]})

    crossing = ["b on (2, 3) ends at 11, after the span around it"]
    assert of(outer, {**span, "ts": 9, "dur": 2}) == crossing
    assert of({**span, "ts": 0, "dur": 5}, outer) == ["a on (2, 3) ends at 10, after the span around it"]
    assert of(outer, {**span, "ts": -1, "dur": 1}) == [
        "b on (2, 3) begins at -1, before what stands ahead of it"
    ]
    assert of(outer, {**span, "ts": 9, "dur": 2, "tid": 4}) == []
    assert of(outer, {**span, "ts": 10, "dur": 2}) == of(outer, {**span, "ts": 0, "dur": 10}) == []


@given(traces() | recorded())
def test_entries_are_in_order_of_time_behind_the_names(trace: Trace) -> None:
    entries = document(trace)["traceEvents"]
    names = [entry for entry in entries if entry["ph"] == "M"]
    assert entries[: len(names)] == names
    times = [by_decimal(str(entry["ts"])) for entry in json_exact(trace) if entry["ph"] != "M"]
    assert times == sorted(times)


def json_exact(trace: Trace) -> list[Document]:
    return json.loads(to_json(trace), parse_float=Decimal)["traceEvents"]


@given(traces() | recorded())
def test_every_lane_and_process_has_a_name_and_a_place(trace: Trace) -> None:
    named: dict[str, set[tuple[int, int]]] = {}
    for entry in document(trace)["traceEvents"]:
        track = entry["pid"], entry.get("tid", 0)
        if entry["ph"] == "M":
            assert track not in named.setdefault(entry["name"], set())
            named[entry["name"]].add(track)
        else:
            assert track in named["thread_name"]
            assert (entry["pid"], 0) in named["process_name"]
    assert len(named.get("thread_name", ())) == len(trace.lanes)
    assert named.get("thread_name") == named.get("thread_sort_index")
    assert named.get("process_name") == named.get("process_sort_index")


def test_names_hold_the_rank_and_the_role() -> None:
    lanes = [Lane(0, 1, "main", "threads"), Lane(1, 1, "comm", "streams"), Lane(2, 1, "network", "network")]
    empty = Trace(make_table(Event, []), make_table(Span, []), make_table(Flow, []), lanes, {})
    names = [
        (entry["pid"], entry.get("tid"), *entry["args"].values()) for entry in document(empty)["traceEvents"]
    ]
    assert names == [
        (3, None, "rank 1: CPU threads"), (3, None, 3), (4, None, "rank 1: Streams"), (4, None, 4),
        (3, 1, "main"), (3, 1, 1), (4, 2, "comm"), (4, 2, 2), (4, 3, "network"), (4, 3, 3),
    ]  # fmt: skip


@given(recorded())
def test_flows_have_ids_of_their_own_and_begin_before_they_end(trace: Trace) -> None:
    seen: dict[int, str] = {}
    for entry in document(trace)["traceEvents"]:
        if entry["ph"] == "s":
            assert entry["id"] not in seen
        elif entry["ph"] == "f":
            assert seen[entry["id"]] == "s"
            assert entry["bp"] == "e"
        seen[entry.get("id", 0)] = entry["ph"]
    assert len(seen.keys() - {0}) == len(trace.flows)


@given(recorded())
def test_an_arrow_begins_right_behind_its_row(trace: Trace) -> None:
    """Perfetto binds it to what it read last on that lane."""
    last: dict[tuple[int, int], Document] = {}
    for entry in document(trace)["traceEvents"]:
        if entry["ph"] == "s":
            end = entry["args"]["ubviz"]
            row = getattr(trace, end["from_table"])[end["from_row"]]
            start_ns = row.t_ns if end["from_table"] == "events" else row.start_ns
            bound = last[entry["pid"], entry["tid"]]
            assert bound["ph"] == {"events": "i", "spans": "X"}[end["from_table"]]
            assert by_decimal(str(bound["ts"])) == start_ns
            if end["from_table"] == "events":
                assert bound["args"]["ubviz"]["seq"] == row.seq
            else:
                assert by_decimal(str(bound["dur"])) == row.duration_ns
        elif entry["ph"] in ("i", "X"):
            last[entry["pid"], entry["tid"]] = entry


def test_an_arrow_without_length_begins_before_it_ends() -> None:
    """In virtual time a launch costs nothing: its kernel, which is written first, starts at the same time."""
    launch = EXAMPLE.events[2]
    kernel = EXAMPLE.spans[0]._replace(start_ns=launch.t_ns)
    flow = EXAMPLE.flows[0]._replace(to_ns=launch.t_ns)
    spans, flows = make_table(Span, [kernel]), make_table(Flow, [flow])
    trace = Trace(EXAMPLE.events, spans, flows, LANES, {})
    entries = [entry for entry in document(trace)["traceEvents"] if entry.get("ts") == 2]
    assert [entry["ph"] for entry in entries] == ["X", "i", "s", "f"]


# What cannot be saved


def broken(**parts: Any) -> Trace:
    parts = {
        "events": EXAMPLE.events,
        "spans": EXAMPLE.spans,
        "flows": EXAMPLE.flows,
        "lanes": LANES,
        "meta": {},
    } | parts
    return Trace(**parts)


def with_args(args: dict[Any, Any]) -> Trace:
    return broken(events=make_table(Event, [*EXAMPLE.events, EXAMPLE.events[0]._replace(args=args)]))


def with_row(table: str, **fields: Any) -> Trace:
    row = {"events": Event, "spans": Span, "flows": Flow}[table]
    first = getattr(EXAMPLE, table)[0]
    return broken(**{table: make_table(row, [first._replace(**fields), *getattr(EXAMPLE, table)[1:]])})


@pytest.mark.parametrize(
    "trace, problem",
    [
        (with_args({"reads": (1, 2)}), "row 3 of events: args.reads is a tuple, which JSON does not have"),
        (with_args({"a": [0, {"b": float("nan")}]}), "row 3 of events: args.a[1].b is nan, which JSON does not have"),
        (with_args({"a": {3: 1}}), "row 3 of events: args.a has the key 3, and keys in JSON are text"),
        (with_args({"a": b"1"}), "row 3 of events: args.a is a bytes, which JSON does not have"),
        (with_args({"a": 10**5000}), "row 3 of events: args.a has too many digits"),
        (with_args({"a": "\ud800"}), "row 3 of events: args.a holds half of a surrogate pair, which no file can hold"),
        (with_args({"\udfff": 1}),
         "row 3 of events: a key of args holds half of a surrogate pair, which no file can hold"),
        (with_row("events", kind="\ud800"), "a kind of events holds half of a surrogate pair, which no file can hold"),
        (with_row("events", seq=None), "row 0 of events has no seq"),
        (with_row("spans", name=None), "row 0 of spans has no name"),
        (with_row("events", lane=8), "row 0 of events is of rank 0 and on lane 8, which that rank does not have"),
        (with_row("spans", rank=1), "row 0 of spans is of rank 1 and on lane 2, which that rank does not have"),
        (with_row("spans", end_ns=2_499), "row 0 of spans ends before it starts"),
        (with_row("flows", to_row=2), "row 0 of flows joins row 2 of spans, which has 2 rows"),
        (with_row("flows", from_row=-1), "row 0 of flows joins row -1 of events, which has 3 rows"),
        (with_row("flows", to_table="lanes"),
         "row 0 of flows joins a row of 'lanes'; flows join \"events\" and \"spans\""),
        (with_row("flows", to_lane=8), "row 0 of flows is on lane 8, which the trace does not have"),
        (broken(lanes=[*LANES, LANES[0]]), "two lanes have the id 0"),
        (broken(lanes=[*LANES, Lane(9, 2**63, "main", "threads")]),
         "its lanes, meta or notices are malformed (Expected `int` <= 9223372036854775807 - at `$.lanes[4].rank`)"),
        (broken(meta={"sources": {"a", "b"}}), "meta.sources is a set, which JSON does not have"),
        (broken(notices=[Notice("a", None, "b")]),  # type: ignore[arg-type]
         "its lanes, meta or notices are malformed (Expected `int`, got `null` - at `$.notices[0].count`)"),
    ],
)  # fmt: skip
def test_a_trace_that_cannot_be_saved(tmp_path: Path, trace: Trace, problem: str) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(BadArgument) as caught:
        save(trace, path)
    assert str(caught.value) == f"{path}: this trace cannot be saved, since {problem}"
    assert list(tmp_path.iterdir()) == []


def test_args_that_are_nested_too_deeply(tmp_path: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(99):
        deep = {"a": deep}
    save(with_args(deep), tmp_path / "a.json")
    assert load(tmp_path / "a.json") == with_args(deep)
    with pytest.raises(BadArgument) as caught:
        save(with_args({"a": {"a": deep}}), tmp_path / "a.json")
    assert str(caught.value).endswith(" is nested more than 100 deep")


@pytest.mark.parametrize("name", ["a.txt", "a", "a.gz", "a.json.zip"])
def test_another_ending(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadArgument) as caught:
        EXAMPLE.save(tmp_path / name)
    assert str(caught.value) == (
        f"{tmp_path / name}: a recording is saved as .json or .json.gz; give the path one of these endings"
    )


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "none" / "a.json"
    with pytest.raises(MissingFile) as caught:
        EXAMPLE.save(path)
    assert str(caught.value) == f"{path}: the folder {path.parent} does not exist; make it first"
    assert isinstance(caught.value, FileNotFoundError)


def test_a_save_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")

    def no_space(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    with pytest.raises(OSError, match=f"^{re.escape(f'[Errno 28] No space left on device: {str(path)!r}')}$"):
        EXAMPLE.save(path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


# What cannot be loaded

AGAIN = "take an unchanged copy of the recording"
FOREIGN = 'it has no "ubviz" entry, and this version reads only recordings that ubviz saved'


@pytest.mark.parametrize(
    "data, problem",
    [
        (b"", f"it is empty; {AGAIN}"),
        (b" \n", f"it is empty; {AGAIN}"),
        (b"hello", f"line 1, column 1: not JSON (invalid character); {AGAIN}"),
        (b'{"traceEvents": [\n  {"ph": NaN}]}', f"line 2, column 10: not JSON (invalid character); {AGAIN}"),
        (b'{"a": 1}\n\n]', f"line 3, column 1: not JSON (trailing characters); {AGAIN}"),
        ('{"é": 1,}'.encode(), f"line 1, column 9: not JSON (trailing comma in object); {AGAIN}"),
        (b'{"traceEvents": [', "line 1, column 18: the JSON ends too early; take a complete copy"),
        (b'[{"ph": "X"}, {"ph', "line 1, column 19: the JSON ends too early; take a complete copy"),
        (b'"text"', f"it holds no JSON object; {AGAIN}"),
        (b"[]", FOREIGN),
        (b'[{"ph": "X", "ts": 1, "dur": 2}]', FOREIGN),
        (b'{"traceEvents": [], "schemaVersion": 1}', FOREIGN),
        (b"{}", FOREIGN),
        (b'{"ubviz": {"version": 1}}', f'it has no "traceEvents"; {AGAIN}'),
        (b'{"ubviz": 1, "traceEvents": []}', f"ubviz: expected object, got int; {AGAIN}"),
        (b'{"ubviz": {"version": 2, "lanes": "new"}, "traceEvents": {}}',
         "its file version is 2, this ubviz reads 1; use the ubviz that saved it"),
        (b"\x1f\x8b\x08garbage", "the gzip data ends too early; take a complete copy"),
        (b"\x1f\x8b\x07" + bytes(20), f"the gzip data is damaged; {AGAIN}"),
        (gzip.compress(to_json(EXAMPLE))[:-9], "the gzip data ends too early; take a complete copy"),
        (gzip.compress(to_json(EXAMPLE)) + b"tail", f"the gzip data is damaged; {AGAIN}"),
        (b"[" * 100_000, f"its content is nested too deeply; {AGAIN}"),
        (to_json(EXAMPLE).replace("é".encode(), b"\xe9"), f"line 15, column 93: not UTF-8; {AGAIN}"),
        (to_json(EXAMPLE).replace("é".encode(), b"\\ud800....."),
         f"line 15, column 99: not JSON (unexpected end of escaped utf-16 surrogate pair); {AGAIN}"),
    ],
)  # fmt: skip
def test_text_that_is_no_recording(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)
    assert refusal(path) == f"{path}: {problem}"
    assert refusal(data) == f"the given bytes: {problem}"


def first(document: Document, ph: str) -> tuple[int, Document]:
    return next((i, entry) for i, entry in enumerate(document["traceEvents"]) if entry["ph"] == ph)


def put(ph: str, *keys: str, to: Any) -> Edit:
    """Puts a value into the first entry of a kind."""

    def edit(document: Document) -> None:
        _, entry = first(document, ph)
        for key in keys[:-1]:
            entry = entry[key]
        entry[keys[-1]] = to

    return edit


def drop(ph: str, key: str) -> Edit:
    return lambda document: first(document, ph)[1].pop(key)


def again(ph: str, **fields: Any) -> Edit:
    return lambda document: document["traceEvents"].append({**first(document, ph)[1], **fields})


def header(**fields: Any) -> Edit:
    return lambda document: document["ubviz"].update(fields)


@pytest.mark.parametrize(
    "edit, problem",
    [
        (lambda d: d.update(traceEvents={}), "traceEvents: expected array, got object"),
        (lambda d: d["traceEvents"].append(1), "traceEvents[19]: expected object, got int"),
        (header(version="1"), "ubviz.version: expected int, got str"),
        (header(lanes={}), "ubviz.lanes: expected array, got object"),
        (header(lanes=[{"id": 0}]), "ubviz.lanes[0]: object missing required field rank"),
        (header(lanes=[lane._asdict() for lane in [LANES[0], LANES[0]]]), "ubviz.lanes: two lanes have the same id"),
        (header(meta=[]), "ubviz.meta: expected object, got array"),
        (header(notices=[{"kind": 1}]), "ubviz.notices[0].kind: expected str, got int"),
        (put("i", "ph", to="B"), "traceEvents[12].ph: invalid value 'B'"),
        (drop("i", "ts"), "traceEvents[12]: object missing required field ts"),
        (drop("X", "dur"), "traceEvents[16]: object missing required field dur"),
        (drop("X", "args"), "traceEvents[16]: object missing required field args"),
        (put("i", "ts", to=None), "traceEvents[12].ts: not a number of microseconds"),
        (put("i", "ts", to="soon"), "traceEvents[12].ts: not a number of microseconds"),
        (put("i", "ts", to=[1]), "traceEvents[12].ts: not a number of microseconds"),
        (put("i", "ts", to=2**63), "traceEvents[12].ts: not within 64 bits of nanoseconds"),
        (put("i", "ts", to=1e300), "traceEvents[12].ts: not within 64 bits of nanoseconds"),
        (put("i", "name", to=3), "traceEvents[12].name: expected str, got int"),
        (put("i", "cat", to="python"), "traceEvents[12].cat: invalid enum value 'python'"),
        (put("i", "pid", to="1"), "traceEvents[12].pid: expected int, got str"),
        (put("i", "tid", to=9), "traceEvents[12]: no lane has pid 1 and tid 9"),
        (put("X", "pid", to=1), "traceEvents[16]: no lane has pid 1 and tid 3"),
        (put("i", "args", to=[]), "traceEvents[12].args: expected object, got array"),
        (put("i", "args", to={"a": 1}), "traceEvents[12].args.ubviz: expected object, got null"),
        (put("i", "args", "ubviz", to={}), "traceEvents[12].args.ubviz: object missing required field seq"),
        (put("i", "args", "ubviz", "step", to=1.5), "traceEvents[12].args.ubviz.step: expected int | null, got float"),
        (put("i", "args", "ubviz", "seq", to=2**63),
         "traceEvents[12].args.ubviz.seq: expected int <= 9223372036854775807"),
        (put("i", "args", "ubviz", "stop", to=1),
         "traceEvents[12].args.ubviz: object contains unknown field stop"),
        (put("i", "args", "ubviz", "row", to=0),
         'traceEvents: entries of ph "i" are not numbered from row 0 to row 2'),
        (put("X", "dur", to=-0.001), "traceEvents[16].dur: the span ends before it starts"),
        (put("X", "dur", to=2**60), "traceEvents[16].dur: not within 64 bits of nanoseconds"),
        (put("s", "args", "ubviz", "to_row", to=2),
         "traceEvents[15].args.ubviz: row 2 of spans is joined, and there are 2"),
        (put("s", "args", "ubviz", "from_row", to=-1),
         "traceEvents[15].args.ubviz.from_row: expected int >= 0"),
        (put("s", "args", "ubviz", "to_table", to="rows"),
         "traceEvents[15].args.ubviz.to_table: invalid enum value 'rows'"),
        (put("s", "tid", to=9), "traceEvents[15]: no lane has pid 1 and tid 9"),
        (put("f", "ts", to=""), "traceEvents[17].ts: not a number of microseconds"),
        (put("f", "name", to="x"), "traceEvents[17].name: flow 1 begins as 'launch -> kernel'"),
        (put("f", "id", to=2), "traceEvents[15]: flow 1 lacks its other end"),
        (lambda d: d["traceEvents"].pop(15), "traceEvents[16]: flow 1 lacks its other end"),
        (again("s"), "traceEvents[19].id: flow 1 is there twice"),
        (again("f"), "traceEvents[19].id: flow 1 is there twice"),
        (lambda d: [entry.update(id=2) for entry in d["traceEvents"] if "id" in entry],
         "traceEvents: the flows are not numbered from 1 to 1"),
    ],
)  # fmt: skip
def test_content_that_contradicts_itself(edit: Edit, problem: str) -> None:
    edited = document()
    edit(edited)
    assert refusal(edited) == f"the given object: {problem}; {AGAIN}"
    assert refusal(json.dumps(edited).encode()) == f"the given bytes: {problem}; {AGAIN}"


def test_rows_that_are_numbered_twice() -> None:
    backwards = Trace(
        make_table(Event, list(EXAMPLE.events)[::-1]), EXAMPLE.spans, make_table(Flow, []), LANES, {}
    )
    edited = document(backwards)
    assert [entry["args"]["ubviz"]["row"] for entry in edited["traceEvents"] if entry["ph"] == "i"] == [
        2,
        1,
        0,
    ]
    put("i", "args", "ubviz", "row", to=1)(edited)
    message = f'traceEvents: entries of ph "i" are not numbered from row 0 to row 2; {AGAIN}'
    assert refusal(edited) == f"the given object: {message}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    assert refusal(path) == f"{path}: there is no such file; check the path"
    with pytest.raises(FileNotFoundError):
        load(path)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path) == f"{tmp_path}: cannot be read (Is a directory); give the path of a readable file"
    )
    assert refusal("a\0b.json") == r"'a\x00b.json': no path; a path holds no zero bytes"


def test_a_packed_name_without_packed_data(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(b"PK\x03\x04")
    assert refusal(path) == f"{path}: neither gzip data nor JSON; {AGAIN}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert refusal(io.StringIO("{}")) == 'the given file: opened as text; open it with mode "rb"'
    closed = io.BytesIO()
    closed.close()
    assert refusal(closed) == (
        "the given file: cannot be read (I/O operation on closed file.); give an open, readable binary file"
    )
    path = tmp_path / "a.json"
    path.write_bytes(b"x")
    with path.open("rb") as file:
        assert refusal(file) == f"{path}: line 1, column 1: not JSON (invalid character); {AGAIN}"


def test_sources_of_no_kind() -> None:
    assert refusal(3) == (
        "load takes a path, an open binary file, bytes, a parsed JSON object or a list of one of these, not int"
    )
    assert refusal([]) == "load was given an empty list; give it a recording"
    assert refusal(["a.json", "b.json"]) == (
        "load was given 2 recordings and reads one; joining ranks comes with `ubviz merge`, "
        "which this version does not have yet"
    )
    assert refusal("a.json", format="kineto") == (
        "load knows the format \"chrome\", not 'kineto'; leave format out to have it found"
    )
    assert refusal({"a": float("inf")}) == (
        "the given object: object.a is inf, which JSON does not have; give what json.load returns"
    )


# Damage


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("packed") / "a.json.gz"
    EXAMPLE.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("part", range(50))
def test_a_file_cut_anywhere_is_refused(part: int, packed: bytes) -> None:
    for data in (to_json(EXAMPLE), packed):
        message = refusal(data[: len(data) * part // 50])
        assert message.startswith("the given bytes: ")
        assert message.endswith(("take a complete copy", AGAIN))
        assert "\n" not in message


def load_or_none(data: bytes) -> Trace | None:
    """Any other exception than NotATrace comes out."""
    try:
        return load(data)
    except NotATrace:
        return None


@given(st.data())
def test_a_damaged_byte_is_refused_or_read(data: st.DataObject) -> None:
    text = bytearray(to_json(EXAMPLE))
    position = data.draw(st.integers(0, len(text) - 1))
    text[position] = data.draw(st.integers(0, 255) | st.sampled_from(list(b'"{}[],:0-e.\\')))
    trace = load_or_none(bytes(text))
    if trace is not None:
        assert exact(load(to_json(trace))) == exact(trace)


def test_a_damaged_byte_of_a_packed_file_never_changes_the_trace(packed: bytes) -> None:
    read = []
    for position in range(len(packed)):
        damaged = bytearray(packed)
        damaged[position] ^= 1 << position % 8
        trace = load_or_none(bytes(damaged))
        if trace is not None:
            assert trace == EXAMPLE
            read.append(position)
    assert set(read) <= set(range(3, 10))  # flags, time and system, which say nothing about the content


@pytest.mark.slow
def test_every_byte_damaged_in_every_way_is_refused_or_read() -> None:
    text = bytearray(to_json(EXAMPLE))
    refused = read = 0
    for position, byte in enumerate(to_json(EXAMPLE)):
        for other in range(256):
            text[position] = other
            if load_or_none(bytes(text)) is None:  # lets through whatever is not a refusal of ours
                refused += 1
            else:
                read += 1
        text[position] = byte
    assert refused + read == 256 * len(text)
    assert min(refused, read) > len(text)  # the whole text as it is was read, among others
