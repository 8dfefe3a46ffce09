"""The timeline without a browser: its traits, its messages, what stands in for it, its page."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.small import recorded
from tests.test_payload import long_lane
from ubviz import Timeline
from ubviz.errors import BadArgument
from ubviz.trace import Lane, Trace
from ubviz.trace.build import Builder
from ubviz.view import widget as module
from ubviz.view.paint.numbers import numbers_of_step, numbers_of_window
from ubviz.view.paint.ticks import duration


@pytest.fixture(scope="module")
def trace() -> Trace:
    return recorded("ht", 2, steps=2)


class Sent(Timeline):
    """A timeline that keeps what it sends to the page."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.sent: list[tuple[Any, list[bytes]]] = []

    def send(self, content: Any, buffers: Any = None) -> None:
        self.sent.append((content, list(buffers or ())))

    def ask(self, *keys: Any) -> list[tuple[Any, list[bytes]]]:
        self.sent.clear()
        self._handle_custom_msg({"ask": list(keys)}, [])
        return self.sent


def test_it_says_what_it_shows_and_never_an_address(trace: Trace) -> None:
    timeline = Timeline(trace)
    assert re.fullmatch(r"<Timeline: step \d+, 5 lanes, makespan [0-9.]+ m?µ?s>", repr(timeline))
    assert timeline.alt.startswith(
        f"Timeline of step {trace.steps[-1]} on the lanes main, ubatch 0, ubatch 1, compute, comm: "
    )


def test_the_last_complete_step_is_shown_first_or_what_is_asked_for(trace: Trace) -> None:
    first, last = trace.steps
    of = lambda step: (min(trace.only(step).events["t_ns"]), max(trace.only(step).spans["end_ns"]))  # noqa: E731
    assert Timeline(trace).view_range == of(last)
    assert Timeline(trace, step=first).view_range == of(first)
    assert Timeline(trace, window=(10.4, 2e6)).view_range == (10, 2_000_000)
    with pytest.raises(BadArgument, match=rf"^this trace has no step 77; it has {first}, {last}$"):
        Timeline(trace, step=77)
    with pytest.raises(
        BadArgument, match=r"^a Timeline shows a Trace, not dict; ubviz\.load reads one from a file$"
    ):
        Timeline({})  # type: ignore[arg-type]


WRONG = [
    ("view_range", (5, 1), "view_range must end after it starts, not run from 5 to 1"),
    ("view_range", "ab", "view_range must be (start_ns, end_ns), not 'ab'"),
    ("view_range", None, "view_range must be (start_ns, end_ns), not None"),
    ("cursor", "x", "cursor must be a time in nanoseconds or None, not 'x'"),
    ("selection", 5, 'selection is a list of rows like ("spans", 12), not 5'),
    ("selection", [7], 'selection takes rows like ("spans", 12), not 7'),
    ("selection", [("lanes", 0)], "selection: this recording has no row 0 in 'lanes'"),
    ("selection", [("spans", 10**9)], "selection: this recording has no row 1000000000 in 'spans'"),
    ("hovered", ("events", -1), "hovered: this recording has no row -1 in 'events'"),
    ("theme", "blue", 'theme must be "auto", "light" or "dark", not \'blue\''),
    ("order", 3, 'order must be "wall" or "logical", not 3'),
]  # fmt: skip


@pytest.mark.parametrize("name, value, sentence", WRONG, ids=[f"{name} {value}" for name, value, _ in WRONG])
def test_a_wrong_value_is_refused_and_changes_nothing(
    trace: Trace, name: str, value: Any, sentence: str
) -> None:
    timeline = Timeline(trace)
    before = getattr(timeline, name)
    with pytest.raises(BadArgument) as caught:
        setattr(timeline, name, value)
    assert str(caught.value) == sentence
    assert getattr(timeline, name) == before


def test_what_comes_from_the_page_has_the_same_form(trace: Trace) -> None:
    timeline = Timeline(trace)
    timeline.set_state(
        {"view_range": [5, 900.0], "selection": [["spans", 3], ["events", 4]], "hovered": ["spans", 0]}
    )
    assert timeline.view_range == (5, 900)
    assert timeline.selection == (("spans", 3), ("events", 4))
    assert timeline.hovered == ("spans", 0)


def test_a_selection_is_a_dataframe_both_ways(trace: Trace) -> None:
    timeline = Timeline(trace)
    spans = trace.to_pandas("spans")
    experts = spans[spans.operation == "experts"]
    timeline.select(experts)
    found = timeline.selected()
    assert found.index.tolist() == experts.index.tolist()
    assert found["table"].tolist() == ["spans"] * len(experts)
    pd.testing.assert_frame_equal(found.drop(columns="table"), experts)
    timeline.select(trace.to_pandas("events").head(2))
    assert timeline.selection == (("events", 0), ("events", 1))
    timeline.selection = [("events", 1), ("spans", 2)]
    both = timeline.selected()
    assert list(zip(both["table"], both.index)) == [("spans", 2), ("events", 1)]
    timeline.select(both)
    assert timeline.selection == (("spans", 2), ("events", 1))
    timeline.selection = ()
    assert timeline.selected().empty
    assert "start_ns" in timeline.selected().columns


def test_select_brings_what_lies_elsewhere_into_view(trace: Trace) -> None:
    timeline = Timeline(trace)
    home = timeline.view_range
    early = trace.to_pandas("spans", rows=[3])
    timeline.select(early)
    start, end = timeline.view_range
    assert start <= early["start_ns"].item() <= early["end_ns"].item() <= end != home[1]
    moved = timeline.view_range
    timeline.select(early)
    assert timeline.view_range == moved, "what is in view stays where it is"


@pytest.mark.parametrize("value, sentence", [
    ([1], "select takes a DataFrame, not list"),
    (pd.DataFrame({"a": [1]}), "select takes rows of trace.to_pandas; this DataFrame has no start_ns, t_ns or table"),
    (pd.DataFrame({"t_ns": [1]}, index=[10**7]), "select: this recording has no row 10000000 in 'events'"),
])  # fmt: skip
def test_select_says_what_it_takes(trace: Trace, value: Any, sentence: str) -> None:
    with pytest.raises(BadArgument) as caught:
        Timeline(trace).select(value)
    assert str(caught.value) == sentence


# ---- messages


def test_blocks_are_sent_as_they_are_asked_for(trace: Trace) -> None:
    timeline = Sent(trace)
    ((content, buffers),) = timeline.ask("sources", "rows:spans:0", "logical")
    assert content == {"blocks": [["sources", 0, 1], ["rows:spans:0", 0, 1], ["logical", 0, 1]]}
    assert buffers == [timeline._store.block(key) for key in ("sources", "rows:spans:0", "logical")]


def test_what_is_not_there_is_refused_and_the_rest_is_sent(trace: Trace) -> None:
    sent = Sent(trace).ask("nothing", 7, "sources")
    assert [content for content, _ in sent] == [
        {"refused": [["nothing", "this recording has no block 'nothing'"]]},
        {"refused": [[7, "this recording has no block '7'"]]},
        {"blocks": [["sources", 0, 1]]},
    ]


@pytest.mark.parametrize("content", [None, [], {}, {"ask": "sources"}, {"other": 1}])
def test_a_message_that_is_none_is_no_error(trace: Trace, content: Any) -> None:
    timeline = Sent(trace)
    timeline._handle_custom_msg(content, [])
    assert timeline.sent == []


def test_no_message_is_larger_than_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = Sent(long_lane(70_000))
    monkeypatch.setattr(module, "MESSAGE_BYTES", 1000)
    wanted = ["facts", "bars:0:0", "bars:0:1"]
    pieces: dict[str, list[bytes]] = {}
    for content, buffers in timeline.ask(*wanted):
        assert sum(map(len, buffers)) <= 1000
        for (key, number, count), data in zip(content["blocks"], buffers, strict=True):
            pieces.setdefault(key, []).append(data)
            assert len(pieces[key]) == number + 1 <= count
    assert {key: zlib.decompress(b"".join(parts)) for key, parts in pieces.items()} == {
        key: zlib.decompress(timeline._store.block(key)) for key in wanted
    }


# ---- an observer that fails


def test_an_observer_that_fails_on_the_pages_change_is_shown_there(trace: Trace) -> None:
    timeline = Timeline(trace)
    timeline.observe(lambda change: 1 // 0, "selection")
    with pytest.raises(ZeroDivisionError):
        timeline.set_state({"selection": [["spans", 1]]})
    assert re.fullmatch(
        r"ZeroDivisionError: (integer )?division( or modulo)? by zero \(in test_timeline.py, line \d+\)",
        timeline._problem,
    )
    timeline.set_state({"cursor": 5})
    assert timeline._problem == ""


def test_an_observer_that_fails_on_pythons_change_fails_in_its_cell(trace: Trace) -> None:
    timeline = Timeline(trace)
    timeline.observe(lambda change: 1 // 0, "selection")
    with pytest.raises(ZeroDivisionError):
        timeline.selection = [("spans", 1)]
    assert timeline._problem == ""


# ---- where there is no kernel


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What a notebook would be given: data and metadata of every output."""
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []
    monkeypatch.setattr(
        "IPython.display.publish_display_data", lambda data, metadata: found.append((data, metadata))
    )
    return found


def test_a_notebook_gets_the_view_a_picture_and_its_words(trace: Trace, outputs: list[Any]) -> None:
    Timeline(trace)._ipython_display_()
    (view, _), (still, metadata), (words, _) = outputs
    assert set(view) == {"application/vnd.jupyter.widget-view+json", "text/plain"}
    assert view["text/plain"].startswith("<Timeline: step ")
    assert set(still) == {"image/png", "text/plain"}
    alt = metadata["image/png"]["alt"]
    assert alt == still["text/plain"] == words["text/plain"]
    assert words["text/html"] == f'<p class="ubviz-still">{alt}</p>'


def test_too_much_for_a_picture_is_said(outputs: list[Any]) -> None:
    Timeline(long_lane(30_000))._ipython_display_()
    _, (words, _) = outputs
    assert words["text/plain"].endswith("There are too many spans for a still picture.")


def test_an_empty_recording_is_shown_as_empty(tmp_path: Path) -> None:
    timeline = Timeline(Builder([]).finish({}))
    assert repr(timeline) == "<Timeline: nothing to draw>"
    timeline.to_html(tmp_path / "empty.html")
    assert "nothing that could be drawn" in (tmp_path / "empty.html").read_text(encoding="utf-8")


def test_a_picture_of_it_can_be_saved(trace: Trace, tmp_path: Path) -> None:
    for name in ("a.svg", "a.png", "a.pdf"):
        Timeline(trace, order="logical", theme="dark").to_picture(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_a_page_holds_every_block_and_asks_nobody(trace: Trace, tmp_path: Path) -> None:
    timeline = Timeline(trace, title="Two <steps>")
    timeline.to_html(tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert set(re.findall(r'<script type="text/plain" data-view="0" data-block="([^"]+)"', text)) == set(
        timeline._store.keys_outside()
    )
    assert "<title>Two &lt;steps&gt;</title>" in text
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    timeline.to_html(tmp_path / "b.html")
    assert (tmp_path / "b.html").read_bytes() == (tmp_path / "a.html").read_bytes()


def test_a_window_has_its_own_numbers(trace: Trace) -> None:
    start, end = Timeline(trace).view_range
    part = Timeline(trace, window=(start, start + (end - start) // 4))
    whole = numbers_of_step(trace, trace.steps[-1])
    assert f"window {duration((end - start) // 4)}" in part.alt
    within = numbers_of_window(trace, None, part.view_range)
    assert within.compute_ns < whole.compute_ns
    assert part._store.index["origin_ns"] == start, "the ruler counts from where the step begins"


def test_rows_whose_index_was_lost_are_refused(trace: Trace) -> None:
    timeline = Timeline(trace)
    spans, events = trace.to_pandas("spans"), trace.to_pandas("events")
    experts = spans[spans.operation == "experts"]
    for wrong in (experts.reset_index(drop=True), pd.concat([experts, events.iloc[100:103]])):
        with pytest.raises(
            BadArgument, match=r"^select: row \d+ of the DataFrame is not row \d+ of this recording's spans"
        ):
            timeline.select(wrong)
        assert timeline.selection == ()


@pytest.mark.parametrize("options, sentence", [
    ({"lanes": "compute"}, """lanes is a list of lanes, as in ["compute"], not 'compute'"""),
    ({"lanes": 5}, """lanes is a list of lanes, as in ["compute"], not 5"""),
    ({"lanes": []}, "lanes names no lane; leave it out to show all on which something is"),
    ({"title": 5}, "title is a string, not 5"),
])  # fmt: skip
def test_wrong_options_are_one_sentence(trace: Trace, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadArgument) as caught:
        Timeline(trace, **options)
    assert str(caught.value) == sentence


def test_a_lane_named_twice_is_one_lane(trace: Trace) -> None:
    assert len(Timeline(trace, lanes=["compute", "compute"])._store.lanes) == 1


def test_many_lanes_are_not_all_named() -> None:
    builder = Builder([Lane(n, 1, f"stream {n}", "streams") for n in range(500)])
    for n in range(500):
        builder.span(n, n + 5, "kernel", "k", lane=n, rank=1, cls="compute")
    timeline = Timeline(builder.finish({}))
    assert timeline.alt.startswith("Timeline of a recording of rank 1 on the lanes stream 0, ")
    assert "stream 11, and 488 more: " in timeline.alt
    assert timeline._still().words.endswith("There are too many lanes for a still picture.")


def test_times_that_a_page_cannot_hold_are_refused() -> None:
    builder = Builder([Lane(0, 0, "compute", "streams")])
    builder.span(2**60, 2**60 + 900, "kernel", "k", lane=0, cls="compute")
    with pytest.raises(BadArgument, match=r"count them from its beginning$"):
        Timeline(builder.finish({}))
