"""Compare: what is aligned, in literal tables of virtual runs; what it says, refuses and stores."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

import ubviz
from tests.traces import Traces
from ubviz.analysis import Operation, overlap
from ubviz.errors import BadArgument
from ubviz.exploration.lab_programs import simulate
from ubviz.trace import Trace
from ubviz.trace.model import Event, Flow, Lane, Notice, Span, make_table
from ubviz.view import Compare
from ubviz.view.compare_words import text_of

BOTH = [
    (ubatch, layer, name, 0)
    for layer in (0, 1) for ubatch in (0, 1) for name in ("attention", "dispatch", "experts", "combine")
]  # fmt: skip
"""The operations of two layers of two microbatches."""


@pytest.fixture(scope="module")
def correct() -> Trace:
    return simulate(ubatches=2, layers=2)


@pytest.fixture(scope="module")
def late(correct: Trace) -> Compare:
    """The correct program, and the event taken after the yield."""
    return Compare(correct, simulate(ubatches=2, layers=2, variant="record_after_yield"))


@pytest.fixture(scope="module")
def measured() -> Compare:
    """The whole game, measured on a host: one batch whole, and split in two."""
    return Compare(
        ubviz.example("whole_game_unsplit"), ubviz.example("whole_game_overlapped"), names=("before", "after")
    )


# ---- what is aligned


def test_an_event_taken_after_the_yield_makes_the_same_operations_later(late: Compare) -> None:
    """Every operation lasts as long as before; only when they begin differs, and the makespan with it."""
    frame = late.differences()
    keys = list(zip(frame["ubatch"], frame["layer"], frame["operation"], frame["occurrence"]))
    assert sorted(keys) == sorted(BOTH)
    assert late.align == "ubatch"
    assert frame["only"].isna().all()
    assert frame["diff_ns"].eq(0).all()
    moved = dict(zip(keys, frame["start_diff_ns"] // 1000))
    assert {key: moved[key] for key in BOTH[:8]} == {
        (0, 0, "attention", 0): 0, (0, 0, "dispatch", 0): 101, (0, 0, "experts", 0): 101, (0, 0, "combine", 0): 333,
        (1, 0, "attention", 0): 0, (1, 0, "dispatch", 0): 217, (1, 0, "experts", 0): 206, (1, 0, "combine", 0): 301,
    }  # fmt: skip
    makespan = late.comparison.totals["makespan_ns"]
    assert makespan.a is not None
    assert makespan.b is not None
    assert makespan.b > makespan.a
    assert repr(late) == "<Compare: 1.24 ms and 1.84 ms, b is 1.49 times as long>"


def test_numbers_are_those_of_overlap(late: Compare, correct: Trace) -> None:
    found = overlap(correct)
    for name in ("makespan_ns", "overlap_ns", "exposed_comm_ns", "hidden_transfer_ns"):
        assert late.comparison.totals[name].a == getattr(found, name)


def test_what_only_one_has_is_in_the_table(correct: Trace) -> None:
    frame = Compare(correct, simulate(ubatches=2, layers=1)).differences()
    only = frame[frame["only"] == "a"]
    assert sorted(zip(only["ubatch"], only["layer"], only["operation"], only["occurrence"])) == sorted(
        BOTH[8:]
    )
    assert only[["b_ns", "diff_ns"]].isna().all(axis=None)
    assert only["a_ns"].gt(0).all()


def test_split_and_unsplit_are_aligned_by_name(correct: Trace) -> None:
    whole = simulate(ubatches=1, layers=2)
    found = Compare(whole, correct)
    assert found.align == "name"
    assert found.differences()["ubatch"].isna().all()
    assert len(found.comparison.pairs) == len(BOTH) // 2
    with pytest.raises(
        BadArgument, match=r'nothing could be aligned: .*align="name" leaves the microbatch out'
    ):
        Compare(whole, correct, "ubatch")


def test_host_recordings_of_the_package(measured: Compare) -> None:
    assert repr(measured) == "<Compare: 505 ms and 330 ms, after is 1.53 times as fast>"
    assert measured.align == "name"
    frame = measured.differences()
    experts = frame[frame["operation"] == "experts"]
    assert experts["layer"].tolist() == [0, 1, 2, 3]
    assert experts["diff_ns"].gt(0).all()  # split, each half's kernels are less efficient
    assert frame[frame["only"] == "b"]["operation"].tolist() == ["inputs", "merge"]
    assert measured.alt == (
        "before (step 6) above after (step 8) on one axis of time, aligned by layer and operation: makespan 505 ms and "
        "330 ms, after is 1.53 times as fast. 36 operations in both, 2 only in after."
    )


def test_host_against_virtual_time(correct: Trace) -> None:
    found = Compare(correct, ubviz.example("whole_game_overlapped"))
    frame = found.differences()
    assert frame["only"].isna().sum() == len(BOTH)  # all of the simulated ones; the model has four layers
    assert (frame["only"] == "b").sum() == len(frame) - len(BOTH)


def test_steps_are_chosen_and_others_do_not_count() -> None:
    def two(lasts: tuple[int, int]) -> Trace:
        t = Traces()
        main = t.thread("main")
        for step, length in enumerate(lasts):
            main.step_begin(step)
            main.launch("experts", "compute", takes=length, layer=0)
            t.now += 1000
            main.step_end()
        return t.finish()

    a, b = two((50, 70)), two((90, 40))
    assert Compare(a, b).differences()["diff_ns"].tolist() == [-30]
    assert Compare(a, b, steps=(0, None)).differences()["diff_ns"].tolist() == [-10]
    assert Compare(a, b, steps=[0, 0]).differences()["diff_ns"].tolist() == [40]
    assert Compare(a, a, steps=(0, 1)).differences()["diff_ns"].tolist() == [20]
    with pytest.raises(BadArgument, match=r"^b: this recording has no step 2; it has 0, 1$"):
        Compare(a, b, steps=(0, 2))


# ---- traits


def test_the_selection_is_the_key_of_an_operation(late: Compare) -> None:
    late.selection = [0, 1, "experts", 0]
    assert late.selection == (0, 1, "experts", 0)
    assert late.selected()["operation"].tolist() == ["experts"]
    late.selection = Operation(0, 1, 0, "combine", 0)
    assert late.selection == (1, 0, "combine", 0)
    late.selection = None
    assert len(late.selected()) == 0
    for wrong in ((0, 9, "experts", 0), "experts", 3, (0, 1), (0, 1, [], 0), {"a": 1}):
        with pytest.raises(BadArgument, match=r"^selection"):
            late.selection = wrong
    assert late.selection is None


def test_the_range_is_two_times_in_order(late: Compare) -> None:
    late.view_range = [0.4, 9.6]
    assert late.view_range == (0, 10)
    for wrong in ((5, 5), (9, 2), "ab", 7, (float("nan"), 3), (0, float("inf")), (1, 2, 3)):
        with pytest.raises(BadArgument, match=r"^view_range"):
            late.view_range = wrong
    late.view_range = None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"names": "ab"}, "names are two strings"),
        ({"names": ("a", " ")}, "names are two strings"),
        ({"names": ("x", "x")}, "names must tell the recordings apart"),
        ({"steps": (1,)}, "steps are two step numbers"),
        ({"steps": (True, 0)}, "steps are two step numbers"),
        ({"steps": 3}, "steps are two step numbers"),
        ({"align": "layer"}, 'align is "ubatch" or "name"'),
        ({"theme": "blue"}, "theme must be"),
        ({"title": 3}, "title is a string"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    correct: Trace, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadArgument, match=f"^{sentence}") as caught:
        Compare(correct, correct, **arguments)
    assert "\n" not in str(caught.value)


def test_what_is_no_recording_is_refused(correct: Trace) -> None:
    with pytest.raises(BadArgument, match="Compare takes a Trace, not str"):
        Compare(correct, "run.json")  # type: ignore[arg-type]


def test_recordings_of_other_work_say_what_each_has(correct: Trace) -> None:
    t = Traces()
    t.thread("main").launch("gemm", "compute", takes=5)
    with pytest.raises(BadArgument) as caught:
        Compare(correct, t.finish())
    assert str(caught.value) == (
        "nothing could be aligned: 'a' and 'b' have no operation of the same name and layer; 'a' begins with "
        "attention, dispatch, experts, 'b' begins with gemm"
    )


def test_a_recording_without_kernels_is_refused(correct: Trace) -> None:
    t = Traces()
    t.thread("main").step_begin(4)
    with pytest.raises(BadArgument, match=r"^b: step 4 of this recording has no kernels to compare"):
        Compare(correct, t.finish())


def of_ranks(*lasts: tuple[int, int]) -> Trace:
    """A kernel of each rank, in this order, and how long it lasts."""
    lanes = tuple(Lane(rank, rank, "compute", "streams") for rank, _ in sorted(lasts))
    rows = [
        Span(
            at,
            at + length,
            rank,
            None,
            None,
            rank,
            "kernel",
            "experts",
            "compute",
            "experts",
            0,
            None,
            None,
            {},
        )
        for at, (rank, length) in enumerate(lasts)
    ]
    return Trace(make_table(Event, []), make_table(Span, rows), make_table(Flow, []), lanes, {}, ())


# ---- what is stored, and written


def blocks(view: Compare) -> dict[str, Any]:
    return {
        key: json.loads(zlib.decompress(view._store.block(key))) for key in ("operations", "side:0", "side:1")
    }


def test_every_kernel_is_on_a_lane_once_and_says_its_operation(measured: Compare) -> None:
    stored = blocks(measured)
    for at, side in enumerate(measured._sides):
        parts = [part for _, *both in measured._rows if (part := both[at]) is not None]
        bars = [
            (number, t)
            for lane in stored[f"side:{at}"]["lanes"] for track in lane["tracks"]
            for number, t in zip(track["op"], track["t"]) if number >= 0
        ]  # fmt: skip
        assert len(bars) == sum(len(part.rows) for part in parts)
        starts = {number: min(t for other, t in bars if other == number) for number in {n for n, _ in bars}}
        column = stored["operations"]["ab"[at]]
        assert {number: column[number][0] for number in starts} == starts
        assert side.begin_ns + min(starts.values()) == min(part.start_ns for part in parts)


def test_a_page_needs_no_one_and_holds_no_address_of_another(late: Compare, tmp_path: Path) -> None:
    late.to_html(tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert late.alt in text
    assert text.count("<img alt=") == 1


def test_the_still_picture_is_that_of_before_after(late: Compare, tmp_path: Path) -> None:
    a, b = (side.whole for side in late._sides)
    late.to_picture(tmp_path / "x.svg")
    ubviz.before_after(a, b, names=("a", "b")).save(tmp_path / "y.svg")
    assert (tmp_path / "x.svg").read_bytes() == (tmp_path / "y.svg").read_bytes()


def test_what_was_lost_is_told() -> None:
    t = Traces()
    main = t.thread("main")
    main.launch("experts", "compute", takes=5)
    whole = t.finish()
    lost = (Notice("dropped", 3, "3 kernels were lost"),)
    told = Trace(whole.events, whole.spans, whole.flows, whole.lanes, whole.meta, lost)
    view = Compare(whole, told, names=("x", "y"))
    assert view._store.index["notices"] == ["y: 3 kernels were lost"]
    assert view.text.endswith("note: y: 3 kernels were lost")


def test_each_rank_stands_beside_itself() -> None:
    """Whichever rank begins first, in whichever recording."""
    view = Compare(of_ranks((0, 10), (1, 90)), of_ranks((1, 95), (0, 13)))
    frame = view.differences()
    assert frame[["rank", "diff_ns"]].to_numpy().tolist() == [[0, 3], [1, 5]]
    assert view._store.index["notices"] == []
    assert view.alt.startswith(
        "a above b on one axis of time, aligned by rank, microbatch, layer and operation: "
    )
    assert "experts, rank 1, layer 0  90 ns  95 ns       +5 ns" in view.text
    view.selection = [None, 0, "experts", 0, 1]
    assert view.selected()["diff_ns"].tolist() == [5]
    with pytest.raises(BadArgument, match=r"^selection: neither recording has"):
        view.selection = (None, 0, "experts", 0)


def test_one_rank_is_compared_with_another() -> None:
    view = Compare(of_ranks((0, 10)), of_ranks((3, 14)))
    assert view.differences()["diff_ns"].tolist() == [4]
    assert "rank" not in view.differences()
    assert view.comparison.pairs[0].operation == Operation(None, None, 0, "experts", 0)


def test_hostile_names_are_text(tmp_path: Path) -> None:
    t = Traces()
    t.thread("main").launch("<script>alert(1)</script>\ud800\n", "compute", takes=5)
    view = Compare(t.finish(), t.finish(), names=("</script>", "half \ud800"), title="\ud800<b>")
    view.to_html(tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "alert(1)" not in text.replace("&lt;script&gt;alert(1)", "")
    assert "\n" not in text_of(view._sides, view.comparison).splitlines()[0]
    assert view.text.isprintable() or set(filter(lambda sign: not sign.isprintable(), view.text)) == {"\n"}


def test_the_same_recording_twice_is_as_long(correct: Trace) -> None:
    view = Compare(correct, correct)
    assert repr(view) == "<Compare: 1.24 ms and 1.24 ms, b is as long>"
    assert "experts" not in view.text


def test_it_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; import ubviz; "
        "a = ubviz.example('whole_game_unsplit'); print(ubviz.Compare(a, a))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "<Compare: 505 ms and 505 ms, b is as long>\n"), done.stderr
