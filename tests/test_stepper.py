"""The stepper without a browser: its traits, its moves, its words, its blocks, its page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

import ubviz
from tests.drawn import drawn, empty
from tests.many import many
from tests.traces import Traces
from tests.virtually import recorded
from ubviz.analysis.states import KEYFRAME
from ubviz.errors import BadArgument
from ubviz.trace import Trace
from ubviz.view import Stepper
from ubviz.view.steps import PANELS


@pytest.fixture(scope="module")
def trace() -> Trace:
    return recorded("ht", 2, layers=1)


@pytest.fixture
def stepper(trace: Trace) -> Stepper:
    return Stepper(trace)


def block(stepper: Stepper, key: str) -> Any:
    return json.loads(zlib.decompress(stepper._store.block(key)))


def row_of(stepper: Stepper, says: str) -> int:
    return stepper._states.says.index(says)


SETS = "ubatch 0 sets cpu_event[1]: ubatch 1 may run"


def test_it_says_where_it_is_and_never_an_address(stepper: Stepper) -> None:
    stepper.at = row = row_of(stepper, SETS)
    count = len(stepper.trace.events)
    assert repr(stepper) == f"<Stepper: trace event {row} of {count}, {SETS}>"
    assert stepper.alt == (
        f"Stepper through {count} trace events of main, ubatch 0, ubatch 1. At trace event {row}: {SETS}."
    )
    assert stepper.says == SETS
    assert stepper.state["flags"]["cpu_event[1]"]["set"] is True
    assert stepper.text.splitlines()[:2] == [f"trace event {row} of {count}", SETS]


def test_at_cursor_and_selection_say_the_same(stepper: Stepper) -> None:
    times = stepper.trace.events["t_ns"]
    assert (stepper.at, stepper.cursor, stepper.selection) == (0, times[0], (("events", 0),))
    stepper.at = 46
    assert (stepper.cursor, stepper.selection) == (times[46], (("events", 46),))
    stepper.cursor = int(times.max()) + 1000
    assert stepper.at == len(times) - 1
    assert (
        stepper.cursor == int(times.max()) + 1000
    )  # as it was set: a Timeline that is linked keeps its cursor
    stepper.selection = [["events", 7]]
    assert (stepper.at, stepper.cursor) == (7, times[7])
    stepper.selection = ()
    stepper.cursor = None
    assert stepper.at == 7
    stepper.forward()
    assert (stepper.at, stepper.cursor, stepper.selection) == (8, times[8], (("events", 8),))


def test_every_trace_event_can_be_gone_to_by_its_number_whatever_the_others_times(stepper: Stepper) -> None:
    for row in range(len(stepper.trace.events)):
        stepper.at = row
        assert (stepper.at, stepper.cursor) == (row, stepper.trace.events["t_ns"][row])


def test_a_selected_span_leads_to_the_trace_event_that_caused_it(stepper: Stepper) -> None:
    spans, events = stepper.trace.spans, stepper.trace.events
    row = next(i for i, span in enumerate(spans) if span.cat == "kernel" and span.operation == "experts")
    stepper.selection = (("spans", row),)
    assert events["seq"][stepper.at] == spans["seq"][row]
    assert stepper.selection == (("spans", row),)


def test_moves_stay_within_the_recording(stepper: Stepper) -> None:
    stepper.back()
    assert stepper.at == 0
    stepper.forward(3)
    stepper.back(1)
    assert stepper.at == 2
    stepper.forward(10_000)
    assert stepper.at == len(stepper.trace.events) - 1


def test_steps_pass_over_what_is_to_be_skipped_and_jumps_do_not(trace: Trace) -> None:
    stepper = Stepper(trace, skip=["buffer", "kernel.launch"])
    kinds = trace.events["kind"]
    rest = [i for i, kind in enumerate(kinds) if kind != "kernel.launch" and not kind.startswith("buffer.")]
    gone = [stepper.at]
    while stepper.at != rest[-1]:
        stepper.forward()
        gone.append(stepper.at)
    assert gone == rest
    stepper.back(3)
    assert stepper.at == rest[-4]
    stepper.at = launch = int((kinds == "kernel.launch").argmax())
    assert stepper.at == launch
    assert block(stepper, "nav")["passed"] == sorted(set(range(len(kinds))) - set(rest))


def test_along_a_thread_and_an_object(stepper: Stepper) -> None:
    events = list(stepper.trace.events)
    assert stepper.next(thread="ubatch 1")
    assert stepper.at == next(i for i, event in enumerate(events) if event.ubatch == 1)
    touching = [i for i, event in enumerate(events) if event.args.get("host_event") == "cpu_event[1]"]
    stepper.at = 0
    found = []
    while stepper.next(object="cpu_event[1]"):
        found.append(stepper.at)
    assert found == touching
    assert not stepper.next(object="cpu_event[1]")
    assert stepper.previous(object="cpu_event[1]")
    assert stepper.at == touching[-2]


WRONG = [
    ("at", 5000, r"at: this recording has no trace event 5000; it has 0 to \d+"),
    ("at", -1, r"at: this recording has no trace event -1; it has 0 to \d+"),
    ("at", 1.5, "at is the number of a trace event, not 1.5"),
    ("at", "x", "at is the number of a trace event, not 'x'"),
    ("at", None, "at is the number of a trace event, not None"),
    ("at", float("nan"), "at is the number of a trace event, not nan"),
    ("at", True, "at is the number of a trace event, not True"),
    ("cursor", "x", "cursor must be a time in nanoseconds or None, not 'x'"),
    ("selection", 7, re.escape('selection is a list of rows like ("events", 12), not 7')),
    ("selection", [7], re.escape('selection takes rows like ("events", 12), not 7')),
    ("selection", [("events", 9999)], "selection: this recording has no row 9999 in 'events'"),
    ("theme", "blue", 'theme must be "auto", "light" or "dark", not \'blue\''),
]


@pytest.mark.parametrize("name, value, says", WRONG)
def test_a_wrong_value_is_refused_and_changes_nothing(
    stepper: Stepper, name: str, value: Any, says: str
) -> None:
    stepper.at = 3
    before = getattr(stepper, name)
    with pytest.raises(BadArgument, match=f"^{says}$"):
        setattr(stepper, name, value)
    assert (getattr(stepper, name), stepper.at) == (before, 3)


def test_wrong_arguments_are_refused_in_a_sentence(trace: Trace, stepper: Stepper) -> None:
    def refused(says: str, make: Any) -> None:
        with pytest.raises(BadArgument, match=f"^{says}$"):
            make()

    refused(r"a Stepper shows a Trace, not dict; ubviz\.load reads one from a file", lambda: Stepper({}))  # type: ignore[arg-type]
    refused(f"there is no panel 'rings'; there are {', '.join(PANELS)}", lambda: Stepper(trace, ["rings"]))
    refused(
        re.escape('panels is a list of names like ["ring", "flags"], not \'ring\''),
        lambda: Stepper(trace, "ring"),
    )
    refused("title is a string, not 3", lambda: Stepper(trace, title=3))  # type: ignore[arg-type]
    refused(r"at: this recording has no trace event 900; it has 0 to \d+", lambda: Stepper(trace, at=900))
    refused(
        re.escape("skip is a list of kinds like [\"buffer\"], not 'buffer'"),
        lambda: Stepper(trace, skip="buffer"),
    )
    refused(r"skip: there is no kind 'buffers' of trace events; there are thread\.create, .*",
            lambda: Stepper(trace, skip=["buffers"]))  # fmt: skip
    refused("forward takes a whole number of trace events, not 'x'", lambda: stepper.forward("x"))  # type: ignore[arg-type]
    refused("this recording has no thread 'ubatch 7'; it has main, ubatch 0, ubatch 1",
            lambda: stepper.next(thread="ubatch 7"))  # fmt: skip
    refused(re.escape('next takes a thread or an object: next(thread="ubatch 0")'), stepper.next)
    refused("this recording has no trace events to step through, only 0 spans; ubviz.Timeline shows them",
            lambda: Stepper(empty()))  # fmt: skip
    refused(r"this recording has no trace events to step through, only 3,200 spans; ubviz\.Timeline shows them",
            lambda: Stepper(many(3_200)))  # fmt: skip


def test_shown_are_the_panels_that_the_recording_has_something_for(trace: Trace) -> None:
    assert Stepper(trace).panels == [
        "code", "ring", "flags", "barrier", "context", "streams", "events", "calls", "votes",
    ]  # fmt: skip
    assert "hooks" in Stepper(recorded("ll", 2, layers=1)).panels
    assert Stepper(ubviz.example("whole_game_unsplit")).panels == ["code", "streams", "calls"]
    assert Stepper(trace, ["flags", "ring", "flags"]).panels == ["flags", "ring"]
    t = Traces()
    t.thread("main").tell("mark", text="alone", at="x.py:1")
    assert Stepper(t.finish()).panels == ["code"]


def test_what_the_page_is_told_leads_to_the_same_states(trace: Trace) -> None:
    stepper = Stepper(trace)
    part, nav = block(stepper, "part:0"), block(stepper, "nav")
    now = {}
    pairs = lambda numbers: zip(numbers[::2], numbers[1::2])  # noqa: E731
    for path, value in pairs(part["frame"]):
        now[tuple(part["paths"][path])] = part["values"][value]
    for row, changes in enumerate(part["changes"]):
        for path, value in pairs(changes):
            now[tuple(part["paths"][path])] = part["values"][value]
        here = {path: value for path, value in now.items() if value is not None}
        assert here == stepper._states.flat(row)
        for stream, fields in stepper._states.at(row)["streams"].items():
            first, items = part["queues"][stream]
            pending = items[fields["done"] - first : fields["queued"] - first]
            assert [item[0] for item in pending] == [item["label"] for item in fields["pending"]]
    assert part["says"] == stepper._states.says
    threads = [lane["name"] for lane in stepper._store.index["threads"]]
    assert [threads[number] for number in nav["thread"]] == stepper._states.threads


def test_a_long_recording_comes_in_parts_that_stand_alone() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    for _ in range(KEYFRAME):
        u0.set("cpu_event[0]")
        u0.clear("cpu_event[0]")
    stepper = Stepper(t.finish())
    first, second = block(stepper, "part:0"), block(stepper, "part:1")
    assert len(first["changes"]) == len(second["changes"]) == KEYFRAME
    frame = dict(zip(second["frame"][::2], second["frame"][1::2]))
    path = second["paths"].index(["flags", "cpu_event[0]", "set"])
    assert (
        second["values"][frame[path]] is stepper._states.flat(KEYFRAME - 1)[("flags", "cpu_event[0]", "set")]
    )
    with pytest.raises(BadArgument, match=r"^this recording has no block 'part:2'$"):
        stepper._store.block("part:2")


def test_where_no_script_runs_its_words_stand(stepper: Stepper, tmp_path: Path) -> None:
    stepper.at = row_of(stepper, SETS)
    picture, words = [data for data, _ in stepper._still().outputs()]
    assert picture["text/plain"] == words["text/plain"] == stepper.text
    assert picture["image/png"]
    assert words["text/html"].startswith('<pre class="ubviz-still"')
    stepper.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert f'<noscript><img alt="trace event {stepper.at} of {len(stepper.trace.events)}: {SETS}. ' in page
    assert "cpu_event[1] set, ubatch 1 waits" in page


def test_it_needs_no_torch() -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import ubviz\n"
        "stepper = ubviz.Stepper(ubviz.example('whole_game_overlapped'), at=23)\n"
        "print(stepper)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == (
        "<Stepper: trace event 23 of 716, main sets cpu_event[0]: nobody waits for it, it stays set>\n"
    ), done.stderr


def test_ranks_are_told_apart() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.set("cpu_event[0]")
    one = t.finish()
    events = [event._replace(rank=rank, lane=rank) for rank in (0, 1) for event in one.events]
    lanes = [lane._replace(id=rank, rank=rank) for rank in (0, 1) for lane in one.lanes]
    from ubviz.trace import Event
    from ubviz.trace.model import make_table

    both = Trace(make_table(Event, events), one.spans, one.flows, lanes, {})
    stepper = Stepper(both)
    assert stepper.says == "ubatch 0 of rank 0 sets cpu_event[0] of rank 0: nobody waits for it, it stays set"
    assert [flag["set"] for flag in stepper.state["flags"].values()] == [True, False]


def test_a_drawn_recording_without_sources_can_be_stepped_through() -> None:
    stepper = Stepper(drawn("ll", steps=2))
    stepper.forward(100)
    assert stepper.text
    assert block(stepper, "sources") == []


def test_the_still_picture_has_a_line_at_the_moment(stepper: Stepper, tmp_path: Path) -> None:
    stepper.at = 60
    stepper.to_picture(tmp_path / "moment.svg")
    stepper.to_picture(tmp_path / "again.svg")
    assert (tmp_path / "moment.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
    stepper.forward()
    stepper.to_picture(tmp_path / "again.svg")
    assert (tmp_path / "moment.svg").read_bytes() != (tmp_path / "again.svg").read_bytes()
    with pytest.raises(BadArgument, match=r"^a picture is saved as \.svg, \.png or \.pdf, not as "):
        stepper.to_picture(tmp_path / "moment.gif")
