"""All hypothesis strategies: traces of any shape, and traces shaped as recordings are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from ubviz.trace import FLOW_KINDS, KINDS, SPAN_CATS, Event, Flow, Lane, Notice, Span, Trace, make_table

Draw = Callable[[st.SearchStrategy[Any]], Any]

INT64 = st.integers(-(2**63) + 1, 2**63 - 1)
SMALL = st.integers(0, 5)
OPTIONAL = st.none() | SMALL | INT64
TIMES = st.integers(-3000, 3000) | st.integers(0, 10**10) | INT64
TEXTS = st.sampled_from(["", "a.b", "ubviz", "row", "é🙂\u2028", 'quote " \\ \x00']) | st.text(max_size=6)
OPTIONAL_TEXTS = st.none() | TEXTS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
ARGS = st.dictionaries(TEXTS, JSON, max_size=3)
GROUPS = st.sampled_from(["threads", "streams", "network"])


@st.composite
def lanes(draw: Draw) -> list[Lane]:
    ids = draw(st.lists(SMALL | INT64, max_size=5, unique=True))
    return [Lane(id, draw(SMALL), draw(TEXTS), draw(GROUPS)) for id in ids]


@st.composite
def events(draw: Draw, lanes: list[Lane]) -> Event:
    lane = draw(st.sampled_from(lanes))
    kind = draw(st.sampled_from(sorted(KINDS)) | TEXTS)
    numbers = [draw(OPTIONAL) for _ in range(4)]
    until_ns, step, thread, ubatch = numbers
    site, caller = draw(OPTIONAL_TEXTS), draw(OPTIONAL_TEXTS)
    return Event(
        draw(INT64),
        draw(TIMES),
        until_ns,
        lane.rank,
        step,
        thread,
        ubatch,
        lane.id,
        kind,
        site,
        caller,
        draw(ARGS),
    )


@st.composite
def spans(draw: Draw, lanes: list[Lane]) -> Span:
    lane = draw(st.sampled_from(lanes))
    start_ns, end_ns = sorted([draw(TIMES), draw(TIMES)])
    step, ubatch, layer, correlation, seq = (draw(OPTIONAL) for _ in range(5))
    cat, name = draw(st.sampled_from(SPAN_CATS) | TEXTS), draw(TEXTS)
    cls, operation = draw(OPTIONAL_TEXTS), draw(OPTIONAL_TEXTS)
    return Span(
        start_ns, end_ns, lane.rank, step, ubatch, lane.id, cat, name, cls, operation, layer, correlation, seq,
        draw(ARGS),
    )  # fmt: skip


@st.composite
def flows(draw: Draw, lanes: list[Lane], lengths: dict[str, int]) -> Flow:
    ends: list[Any] = []
    for _ in range(2):
        table = draw(st.sampled_from([name for name in sorted(lengths) if lengths[name]]))
        row = draw(st.integers(0, lengths[table] - 1))
        ends += table, row, draw(TIMES), draw(st.sampled_from(lanes)).id
    return Flow(draw(st.sampled_from(FLOW_KINDS) | TEXTS), *ends)


@st.composite
def traces(draw: Draw) -> Trace:
    """Any trace that can be saved: nothing about it need make sense."""
    some_lanes = draw(lanes())
    some_events = draw(st.lists(events(some_lanes), max_size=5)) if some_lanes else []
    some_spans = draw(st.lists(spans(some_lanes), max_size=5)) if some_lanes else []
    lengths = {"events": len(some_events), "spans": len(some_spans)}
    some_flows = draw(st.lists(flows(some_lanes, lengths), max_size=4)) if sum(lengths.values()) else []
    meta = draw(st.dictionaries(TEXTS | st.sampled_from(["base_ns", "sources", "created"]), JSON, max_size=3))
    notices = draw(st.lists(st.builds(Notice, TEXTS, st.integers(), TEXTS), max_size=2))
    return Trace(
        make_table(Event, some_events), make_table(Span, some_spans), make_table(Flow, some_flows), some_lanes,
        meta, notices,
    )  # fmt: skip


@st.composite
def nested_intervals(draw: Draw) -> list[tuple[int, int]]:
    """Intervals as a thread makes them, in any order: each inside another, or beside it; some without length."""
    now, open_since, closed = draw(st.integers(-5, 5)), [], []
    for move in draw(st.lists(st.sampled_from(["open", "open", "close"]) | st.integers(0, 3), max_size=14)):
        if move == "open":
            open_since.append(now)
        elif move == "close" and open_since:
            closed.append((open_since.pop(), now))
        elif move != "close":
            now += move
    closed += [(since, now) for since in reversed(open_since)]
    return draw(st.permutations(closed))


@st.composite
def recorded(draw: Draw) -> Trace:
    """A trace as a recorder makes it: spans nested on each lane, arrows from a row to a row that is not earlier."""
    names = [("main", "threads"), ("ubatch 0", "threads"), ("compute", "streams"), ("network", "network")]
    lanes = [Lane(i, i // 4, *names[i % 4]) for i in range(draw(st.integers(1, 8)))]
    spans = [
        Span(start, end, lane.rank, 0, None, lane.id, "kernel", "k", None, None, None, None, None, {})
        for lane in lanes
        for start, end in draw(nested_intervals())
    ]
    times = sorted(draw(st.lists(st.integers(-5, 20), min_size=2, max_size=8)))
    events = [
        Event(seq, t_ns, None, lane.rank, 0, lane.id, None, lane.id, "mark", None, None, {})
        for seq, t_ns in enumerate(times)
        for lane in [draw(st.sampled_from(lanes))]
    ]
    rows = sorted(
        [("events", row, event.t_ns, event.lane) for row, event in enumerate(events)]
        + [("spans", row, span.start_ns, span.lane) for row, span in enumerate(spans)],
        key=lambda row: row[2],
    )
    picks = draw(st.lists(st.tuples(*[st.integers(0, len(rows) - 1)] * 2), max_size=4))
    flows = [Flow("set -> wake", *rows[min(pick)], *rows[max(pick)]) for pick in picks if pick[0] != pick[1]]
    return Trace(make_table(Event, events), make_table(Span, spans), make_table(Flow, flows), lanes, {})


#: Numbers of microseconds as JSON may hold them: any, near a half of a nanosecond, and far below one.
NUMBERS = st.one_of(
    st.from_regex(pattern, fullmatch=True)
    for pattern in (
        r"-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,2})?",
        r"-?[0-9]{1,4}\.[0-9]{3}(5|50|500|49|51)?",
        r"-?0\.0{1,9}[0-9]{1,9}",
    )
)
