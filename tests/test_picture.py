"""Pictures: that they can be drawn of anything, say what is so, and that no text lies on another."""

from __future__ import annotations

import base64
import itertools
import re
import struct
from collections.abc import Iterator
from typing import Any

import matplotlib
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from tests.drawn import alone, drawn, empty, with_error, with_wait, without_steps
from tests.small import recorded
from ubviz.course import microbatches, run
from ubviz.course.exercises.e10_hooks import repeated
from ubviz.errors import BadArgument
from ubviz.trace.model import Span, Trace, make_table
from ubviz.view import Picture, picture
from ubviz.view.paint import fonts
from ubviz.view.paint.blocks import blocks, minus, sub_lanes, total, union
from ubviz.view.paint.frame import frame_of
from ubviz.view.paint.logical import _Ways
from ubviz.view.paint.numbers import numbers_of
from ubviz.view.palette import LEAST_CONTRAST, THEMES, contrast

LONG = {"scale": 300, "kernels": 15, "host": 0.06}
SCENES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "two": ({}, {}),
    "three": ({"ubatches": 3}, {"theme": "dark"}),
    "low latency": ({"style": "ll", "layers": 3}, {"title": "Low latency"}),
    "four microseconds": ({"layers": 1, "scale": 0.01}, {}),
    "half a second": ({"layers": 4, **LONG}, {}),
    "three, long": ({"ubatches": 3, "layers": 4, **LONG}, {}),
    "thirty layers": ({"layers": 30, **LONG}, {}),
    "a window": ({"layers": 4, **LONG}, {"window": (40_000_000, 90_000_000)}),
    "narrow": ({}, {"width": 7}),
    "very narrow": ({"ubatches": 3}, {"width": 3.5}),
    "one step of three": ({"steps": 3}, {"step": 1}),
    "a step in a long window": ({"steps": 3}, {"step": 1, "window": (0, 3_000_000)}),
    "only streams": ({}, {"lanes": ["compute", "comm"]}),
    "logical": ({"layers": 1}, {"order": "logical"}),
    "logical, three": ({"ubatches": 3, "layers": 2, "kernels": 15}, {"order": "logical", "theme": "dark"}),
    "logical, low latency": ({"style": "ll"}, {"order": "logical"}),
    "logical, too many": ({"layers": 9}, {"order": "logical"}),
    "logical, narrow": ({"layers": 1}, {"order": "logical", "width": 7}),
}


@pytest.fixture(params=[name for name in ("Inter", "DejaVu Sans") if name in fonts._weights()])
def family(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Draw with Inter, and as where it is not installed."""
    monkeypatch.setattr(fonts, "STACK", (request.param, "DejaVu Sans"))
    caches = (fonts._weights, fonts._properties, fonts._letters, fonts.font, fonts.clean, fonts.width)
    for cache in caches:
        cache.cache_clear()
    yield request.param
    for cache in caches:
        cache.cache_clear()


def texts(shown: Picture) -> list[Text]:
    return [artist for artist in shown.axes.findobj(Text) if artist.get_text()]


def words(shown: Picture) -> list[str]:
    return [text.get_text() for text in texts(shown)]


def assert_texts_apart(shown: Picture) -> None:
    renderer = FigureCanvasAgg(shown.axes.figure).get_renderer()
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts(shown)]
    whole = shown.axes.get_window_extent()
    for text, box in boxes:
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1, f"{text!r} leaves the picture sideways"
        assert whole.y0 <= box.y0 <= box.y1 <= whole.y1, f"{text!r} leaves the picture"
    for (a, one), (b, other) in itertools.combinations(boxes, 2):
        assert not one.overlaps(other), f"{a!r} lies on {b!r}"


@pytest.mark.parametrize("scene", SCENES)
def test_no_text_lies_on_another_or_leaves_the_picture(scene: str, family: str) -> None:
    run, options = SCENES[scene]
    shown = picture(drawn(**run), **options)
    assert len(texts(shown)) > 5
    assert_texts_apart(shown)


@pytest.mark.parametrize("order", ["wall", "logical"])
@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_a_picture_is_saved_to_the_same_bytes_twice(tmp_path: Any, suffix: str, order: str) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        picture(drawn(layers=1), order=order).save(path)
    first, second = (path.read_bytes() for path in paths)
    assert len(first) > 5_000
    assert first == second


def test_a_saved_svg_says_in_words_what_it_shows(tmp_path: Any) -> None:
    shown = picture(drawn())
    shown.save(tmp_path / "run.svg")
    svg = (tmp_path / "run.svg").read_text()
    assert f"<title>{shown.alt}</title>" in svg
    assert "<text" not in svg


def test_the_alt_text_names_lanes_makespan_and_what_is_hidden() -> None:
    assert picture(drawn()).alt == (
        "Timeline of step 0 with the lanes main, ubatch 0, ubatch 1, compute and comm; makespan 500 µs. "
        "100 % of the communication (248 µs of 248 µs) is hidden behind computation."
    )


def test_in_low_latency_style_what_is_hidden_is_what_is_in_flight() -> None:
    shown = picture(drawn("ll"))
    assert shown.alt.endswith("88 % of the time in flight (238 µs of 272 µs) is hidden behind computation.")
    assert any("in flight 272 µs (modelled), 88 % hidden" in text for text in words(shown))


def test_the_repr_is_stable() -> None:
    assert repr(picture(drawn())) == "<Picture: step 0, 5 lanes, 28 operations, makespan 500 µs>"
    assert repr(picture(empty())) == "<Picture: nothing to draw>"
    assert (
        repr(picture(drawn(layers=1), order="logical"))
        == "<Picture: 77 events in the order recorded, 5 lanes>"
    )


def test_a_notebook_gets_a_picture_twice_as_fine_with_alt_text() -> None:
    shown = picture(drawn())
    data, metadata = shown._repr_mimebundle_()
    assert set(data) == {"text/plain", "image/png"}
    about = metadata["image/png"]
    assert about["alt"] == shown.alt
    wide, high = struct.unpack(">II", base64.b64decode(data["image/png"])[16:24])
    assert (about["width"], wide) == (1000, 2000)
    assert abs(high - 2 * about["height"]) <= 2


@pytest.mark.parametrize("ubatches", [2, 3])
@pytest.mark.parametrize("style", ["ht", "ll"])
@pytest.mark.parametrize("order", ["wall", "logical"])
def test_at_ten_inches_a_notebooks_cell_is_filled_and_nothing_overlaps(
    style: str, ubatches: int, order: str, family: str
) -> None:
    shown = picture(drawn(style, ubatches, layers=4, kernels=15), order=order)
    assert shown.axes.figure.get_size_inches()[0] == 10
    assert_texts_apart(shown)


def test_a_wider_picture_is_had_by_asking() -> None:
    assert picture(drawn(), width=14).axes.figure.get_size_inches()[0] == 14


def test_the_last_complete_step_is_drawn_unless_another_is_asked_for() -> None:
    trace = drawn(layers=1, steps=3)
    assert "step 2," in repr(picture(trace))
    assert "step 0," in repr(picture(trace, step=0))
    assert frame_of(trace, 1).start_ns == int(trace.events["t_ns"][trace.events["step"] == 1].min())


def test_a_window_is_cut_out_and_its_ruler_begins_at_zero() -> None:
    shown = picture(drawn(**LONG), window=(10_000_000, 30_000_000))
    assert "0 ms" in words(shown)
    assert "20 ms" in words(shown)
    assert "window 20 ms" in words(shown)


def test_a_window_that_is_longer_than_its_step_shows_nothing_of_later_steps() -> None:
    """Moments in nanoseconds: step 1 of three in a window over all of them."""
    trace = drawn(layers=1, steps=3)
    frame, plain = frame_of(trace, 1, (0, 10 * trace.duration_ns)), frame_of(trace, 1)
    assert (frame.begins_ns, frame.ends_ns) == (plain.start_ns, plain.end_ns)
    assert frame.spans == plain.spans
    assert frame.events == plain.events
    assert frame.flows == plain.flows
    assert {trace.events[flow.from_row].step for flow in frame.flows if flow.from_table == "events"} == {1}


def test_arrows_that_have_an_end_on_a_lane_not_chosen_are_not_shown() -> None:
    flows = frame_of(drawn(layers=1), lanes=["compute", "comm"]).flows
    assert {flow.kind for flow in flows} == {"record -> wait"}


def test_lanes_end_with_the_step() -> None:
    """Nothing but the ruler is right of the end, on main's lane neither, whose thread lives on."""
    trace = drawn(layers=1, steps=2)
    lives = [s._replace(step=None, end_ns=trace.duration_ns) if s.cat == "thread" else s for s in trace.spans]
    trace = Trace(trace.events, make_table(Span, lives), trace.flows, trace.lanes, {})
    end = frame_of(trace, 0).end_ns
    shown = picture(trace, step=0, window=(0, 3 * end), legend=False, numbers=False)
    low, high = shown.axes.get_xlim()
    ns_per_point = (high - low) / (10 * 72)
    rights = [low + x * ns_per_point for patch in shown.axes.patches for x in rights_of(patch.get_path())]
    assert len(rights) > 50
    assert max(rights) == pytest.approx(end, abs=ns_per_point)


def rights_of(shape: Any) -> list[float]:
    """In points, the right end of every stretch of an outline that is not upright."""
    return [
        max(a[0], b[0])
        for polygon in shape.to_polygons(closed_only=False)
        for a, b in itertools.pairwise(polygon)
        if abs(a[0] - b[0]) > 0.01
    ]


def test_a_window_over_a_whole_step_has_the_steps_numbers_and_one_beside_it_is_refused() -> None:
    trace = drawn(layers=1, steps=2)
    frame = frame_of(trace, 0)
    assert numbers_of(frame_of(trace, 0, (0, 10 * frame.end_ns))) == numbers_of(frame)
    with pytest.raises(BadArgument) as caught:
        picture(trace, step=0, window=(frame.end_ns + 5, frame.end_ns + 9))
    assert str(caught.value) == (
        f"step 0 runs from 0 to {frame.end_ns} ns; nothing of it lies between {frame.end_ns + 5} and "
        f"{frame.end_ns + 9}"
    )


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_split_but_not_overlapped_the_layers_are_marked_in_every_pass(passes: int) -> None:
    shown = picture(alone(passes, layers=2))
    assert [text for text in words(shown) if text.startswith("layer ")] == ["layer 0", "layer 1"] * passes


def test_main_says_what_blocks_it_and_says_it_by_an_initial_where_it_is_narrow() -> None:
    assert "blocked in dispatch" in words(picture(alone(layers=1)))
    short = words(picture(alone(3, layers=3), width=6))
    assert "blocked in dispatch" not in short
    assert short.count("D") > 5
    assert short.count("dispatch") == 1, "in the legend"


def test_from_three_microbatches_on_blocks_are_numbered() -> None:
    """In print orange and green are nearly the same grey."""
    two, three = (words(picture(drawn(ubatches=n, layers=1))) for n in (2, 3))
    assert "experts 2" in three
    assert [text for text in two if text in ("attention 0", "experts 1", "A0", "E1")] == []


def test_in_print_the_first_two_microbatches_are_two_greys() -> None:
    for theme in THEMES.values():
        assert contrast(theme.ubatches[0], theme.ubatches[1]) > 1.3


def test_an_svg_of_four_layers_is_small_and_its_outlines_are_rounded(tmp_path: Any) -> None:
    picture(drawn(layers=4, kernels=15)).save(tmp_path / "run.svg")
    svg = (tmp_path / "run.svg").read_text()
    assert len(svg) < 300_000
    outlines = " ".join(re.findall(r' d="([^"]*)"', svg))
    assert re.findall(r"\d\.\d{3,}|-0 ", outlines) == []


def test_axes_that_are_given_are_drawn_into_and_no_others_are_touched() -> None:
    figure = Figure(figsize=(14, 8))
    above, below = figure.subplots(2)
    below.plot([1, 2, 3])
    before = (below.get_xlim(), below.get_ylim(), len(below.get_children()), figure.get_facecolor())
    shown = picture(drawn(), above)
    assert shown.axes is above
    assert shown.figure is figure
    assert (below.get_xlim(), below.get_ylim(), len(below.get_children()), figure.get_facecolor()) == before
    assert tuple(figure.get_size_inches()) == (14, 8)
    assert_texts_apart(shown)


@pytest.mark.parametrize("size", [(14, 5), (7, 4.6), (10, 12)])
@pytest.mark.parametrize("order", ["wall", "logical"])
def test_axes_of_any_size_hold_a_picture(size: tuple[float, float], order: str) -> None:
    assert_texts_apart(picture(drawn(layers=1), Figure(figsize=size).add_subplot(), order=order))


@pytest.mark.parametrize(
    "order, needed", [("wall", "5 lanes, which need 2.5"), ("logical", "logical order, which needs 3.3")]
)
def test_axes_that_are_too_low_are_refused(order: str, needed: str) -> None:
    with pytest.raises(BadArgument) as caught:
        picture(drawn(layers=1), Figure(figsize=(5, 2)).add_subplot(), order=order)
    assert str(caught.value) == (
        f"these axes are 1.5 inches high, too low for {needed}; make them higher or choose some lanes"
    )


def test_x_is_nanoseconds_from_the_left_edge() -> None:
    low, high = picture(drawn()).axes.get_xlim()
    assert low < 0 < 500_000 < high


def test_matplotlibs_global_state_is_left_alone() -> None:
    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"text.usetex": False, "svg.fonttype": "none", "lines.linewidth": 9}):
        picture(drawn(layers=1))._bytes("svg")
    assert dict(matplotlib.rcParams) == before


def test_a_users_style_does_not_change_the_picture() -> None:
    plain = picture(drawn(layers=1))._bytes("svg")
    with matplotlib.rc_context(
        {"font.size": 30, "axes.grid": True, "axes.facecolor": "red", "path.sketch": (1, 2, 3)}
    ):
        assert picture(drawn(layers=1))._bytes("svg") == plain


def test_nothing_to_draw_is_said_in_a_sentence() -> None:
    shown = picture(empty())
    assert words(shown) == ["This recording holds nothing that could be drawn."]
    assert shown.alt == "This recording holds nothing that could be drawn."


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"order": "time"}, 'order must be "wall" or "logical", not \'time\''),
        ({"theme": "blue"}, 'theme must be "light" or "dark", not \'blue\''),
        ({"step": 7}, "this trace has no step 7; it has 0"),
        ({"window": (5, 5)}, "window must end after it starts, not run from 5 to 5"),
        ({"window": 5}, "window must be (start_ns, end_ns), not 5"),
        (
            {"lanes": ["comms"]},
            "this trace has no lane 'comms'; it has main, ubatch 0, ubatch 1, compute, comm",
        ),
        ({"width": 1}, "width is in inches, from 3 to 100, not 1"),
    ],
)
def test_an_argument_that_cannot_be_used_is_refused_in_a_sentence(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadArgument) as caught:
        picture(drawn(layers=1), **options)
    assert str(caught.value) == sentence


def test_what_is_no_trace_is_refused() -> None:
    with pytest.raises(BadArgument) as caught:
        picture([])  # type: ignore[arg-type]
    assert str(caught.value) == "picture draws a Trace, not list; ubviz.load reads one from a file"


def test_a_suffix_that_is_no_picture_is_refused() -> None:
    with pytest.raises(BadArgument) as caught:
        picture(drawn(layers=1)).save("run.gif")
    assert str(caught.value) == "a picture is saved as .svg, .png or .pdf, not as 'run.gif'"


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_text_can_be_read_on_all_it_stands_on(theme: Any) -> None:
    pairs = [(theme.ink, theme.background), (theme.soft, theme.background)]
    for colour in (theme.main, *theme.ubatches):
        pairs.append((theme.on(colour), colour))
        pairs += [
            (theme.on(theme.tint(colour, share)), theme.tint(colour, share)) for share in (0.08, 0.14, 0.16)
        ]
        pairs.append((theme.ink, theme.tint(colour, 0.14)))
    pairs.append((theme.fails, theme.background))
    assert [pair for pair in pairs if contrast(*pair) < LEAST_CONTRAST] == []


def test_the_numbers_are_unions_of_intervals() -> None:
    """compute [0, 10) and [20, 30); communication [5, 25): 10 of its 20 are hidden."""
    numbers = numbers_of(frame_of(streams(compute=[(0, 10), (20, 30)], comm=[(5, 25)])))
    assert (numbers.makespan_ns, numbers.compute_ns, numbers.comm_ns, numbers.hidden_ns) == (30, 20, 20, 10)


def streams(**kernels: list[tuple[int, int]]) -> Trace:
    """Kernels of no microbatch on streams, each of the class that its stream is called by."""
    base = drawn(layers=1)
    ids = {name: base.lane("comm" if name == "comm" else "compute").id for name in kernels}
    spans = [
        Span(a, b, 0, 0, None, ids[name], "kernel", f"k{i}", name, None, None, None, None, {})
        for name, intervals in kernels.items()
        for i, (a, b) in enumerate(intervals)
    ]
    nothing = empty()
    return Trace(nothing.events, make_table(Span, spans), nothing.flows, base.lanes, {})


def failing(kind: str = "ValueError", at_ns: int = 200_000, **options: Any) -> Picture:
    """Microbatch 1 fails, as its thread tells it."""
    return picture(with_error(drawn(), "ubatch 1", at_ns, kind), **options)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("at_ns", [100_000, 200_000, 350_000, 499_999])
def test_what_fails_is_marked_on_its_lane_with_the_type(theme: str, at_ns: int) -> None:
    shown = failing(at_ns=at_ns, theme=theme)
    assert "fails" in words(shown), "in the legend"
    assert_texts_apart(shown)
    label = next(text for text in texts(shown) if text.get_text() == "ValueError")
    lane = next(text for text in texts(shown) if text.get_text() == "ubatch 1")
    renderer = FigureCanvasAgg(shown.axes.figure).get_renderer()
    middles = [(box.y0 + box.y1) / 2 for box in (t.get_window_extent(renderer) for t in (label, lane))]
    assert middles[0] == pytest.approx(middles[1], abs=2)
    assert label.get_color() == THEMES[theme].fails


@pytest.mark.parametrize("at_ns", [0, 1, 20_000, 26_000])
def test_a_failure_beside_a_barrier_is_marked_though_there_is_no_room_for_its_type(at_ns: int) -> None:
    shown = failing(at_ns=at_ns)
    assert "fails" in words(shown)
    assert_texts_apart(shown)


def test_the_alt_text_says_what_fails_once_each() -> None:
    end = "of 248 µs) is hidden behind computation."
    assert failing().alt.endswith(f"{end} ubatch 1 fails with ValueError.")
    twice = with_error(with_error(drawn(), "ubatch 1", 5_000, "KeyError"), "ubatch 1", 9_000, "KeyError")
    both = with_error(twice, "main", 480_000, "KeyError")
    assert picture(both).alt.endswith(f"{end} ubatch 1 fails with KeyError. main fails with KeyError.")
    assert picture(both, order="logical").alt.endswith(" main fails with KeyError.")


def test_where_nothing_fails_nothing_says_so() -> None:
    assert "fails" not in [*words(picture(drawn())), *picture(drawn()).alt.split()]


@pytest.mark.parametrize("lanes", [None, ["main", "ubatch 0"]])
def test_an_error_on_a_lane_not_chosen_is_not_shown(lanes: list[str] | None) -> None:
    shown = failing(lanes=lanes)
    assert ("fails" in words(shown), "ValueError" in shown.alt) == (lanes is None, lanes is None)


@pytest.mark.parametrize(
    "lane, name, args, text",
    [
        ("ubatch 0", "host_event.wait", {"host_event": "cpu_event[0]"}, "waits for its turn"),
        ("ubatch 0", "host_event.wait", {"host_event": "cpu_event[1]"}, "waits for cpu_event[1]"),
        ("ubatch 0", "host_event.wait", {"host_event": "step_event"}, "waits for step_event"),
        ("main", "host_event.wait", {"host_event": "cpu_event[0]"}, "waits for cpu_event[0]"),
        ("main", "host_event.wait", {}, "waits"),
        ("main", "barrier.arrive", {"barrier": "ready_barrier"}, "waits at ready_barrier"),
        ("main", "barrier.arrive", {"barrier": "a_" * 99 + "barrier"}, "waits at the barrier"),
        ("main", "thread.join", {}, "joins"),
    ],
)
def test_a_thread_says_what_it_waits_for(lane: str, name: str, args: dict[str, str], text: str) -> None:
    shown = words(picture(with_wait(lane, name, args)))
    assert [said for said in shown if said.startswith(("waits", "joins"))] == [text]


def test_kernels_of_no_known_class_are_called_unclassified() -> None:
    both, other = (words(picture(streams(**kernels))) for kernels in (
        {"compute": [(0, 100)], "comm": [(0, 50)]}, {"other": [(0, 100), (150, 200)]}))  # fmt: skip
    assert ("computation" in both, "unclassified" in both) == (True, False)
    assert ("computation" in other, "unclassified" in other) == (False, True)


def test_without_steps_the_first_number_is_not_called_a_makespan() -> None:
    """Nothing says when the work began; the axis is that of the whole recording."""
    trace = without_steps(drawn())
    first = max(span.end_ns for span in trace.spans if span.cat == "kernel") - min(
        span.start_ns for span in trace.spans if span.cat == "kernel"
    )
    assert f"first kernel to last {first // 1000} µs" in words(picture(trace))
    hosts = Trace(trace.events, make_table(Span, []), empty().flows, trace.lanes, {})
    assert any(text.startswith("recorded ") for text in words(picture(hosts)))


def test_one_lane_is_not_called_lanes() -> None:
    assert repr(picture(drawn(layers=1), order="logical", lanes=["main"])).endswith(", 1 lane>")
    assert picture(drawn(), lanes=["comm"]).alt.startswith("Timeline of step 0 with the lane comm; ")
    assert " on the lane main: " in picture(drawn(layers=1), order="logical", lanes=["main"]).alt
    with pytest.raises(BadArgument) as caught:
        picture(drawn(), Figure(figsize=(5, 1)).add_subplot(), lanes=["comm"])
    assert "too low for 1 lane, which needs " in str(caught.value)


def test_kernels_of_one_operation_are_one_block_and_keep_their_gaps() -> None:
    trace = drawn(layers=1, kernels=12)
    lane = trace.lane("compute")
    kernels = [span for span in trace.spans if span.lane == lane.id and span.cat == "kernel"]
    found = blocks(kernels)
    assert [block.label for block in found[:4]] == ["attention", "router", "attention", "router"]
    assert [len(block.kernels) for block in found] == [12] * len(found)
    assert sum(total(block.kernels) for block in found) == sum(span.duration_ns for span in kernels)


def test_a_flight_after_a_pause_is_another_flight() -> None:
    def receives_its_own(k: Any) -> None:
        k.send("dispatch")()
        k.experts()

    trace = run(microbatches(repeated(receives_its_own)))
    flights = [span for span in trace.spans if span.cat == "transfer"]
    assert [block.kernels for block in blocks(flights)] == [[(f.start_ns, f.end_ns)] for f in flights]


def test_spans_that_overlap_get_rows_of_their_own() -> None:
    shown = picture(streams(compute=[(0, 100), (50, 150), (120, 200)]))
    assert sub_lanes(
        blocks(list(frame_of(streams(compute=[(0, 100), (50, 150), (120, 200)])).spans.values()))
    ) == [0, 1, 0]
    assert_texts_apart(shown)


def test_intervals() -> None:
    a, b = union([(0, 4), (6, 9), (3, 5)]), union([(4, 7)])
    assert a == [(0, 5), (6, 9)]
    assert minus(a, b) == [(0, 4), (7, 9)]


def test_names_that_are_hostile_or_chinese_are_drawn_as_they_are() -> None:
    base = drawn(layers=1)
    strange = ["$x^2$", "专家", "<script>", "a\nb", "👾" * 3]
    rows = [
        span._replace(operation=strange[i % 5]) if span.cat == "kernel" else span
        for i, span in enumerate(base.spans)
    ]
    trace = Trace(base.events, make_table(Span, rows), base.flows, base.lanes, base.meta)
    shown = picture(trace, title="$\\alpha$ 微批")
    shown._bytes("png")
    assert any("$" in text for text in words(shown))
    assert_texts_apart(shown)


def test_logical_order_says_which_part_it_shows() -> None:
    shown = picture(drawn(layers=9), order="logical")
    assert any(text.startswith("120 events") for text in words(shown))
    assert any("the first 120 of" in text for text in words(shown))


def test_arrows_over_the_end_of_a_row_do_not_lie_on_one_another() -> None:
    ways = _Ways()
    assert [ways.find(50.0, (0, 10, 90), (1, 0, 40)) for _ in range(4)] == [50, 47, 53, 44]
    assert ways.find(50.0, (1, 41, 90), (2, 0, 40)) == 50
    assert ways.find(50.0, (1, 30, 90), (2, 50, 60)) == 56


def test_logical_order_tells_the_story_in_order() -> None:
    verbs = words(picture(drawn(layers=1), order="logical"))
    story = (
        "1 of 3, 2 of 3, 3 of 3, barrier opens, set 0, wakes, attention, router, record, set 1, to comm, wait"
    )
    assert set(story.split(", ")) <= set(verbs)
    assert verbs.count("wakes") == 8
    assert verbs.count("attention") == 2


def test_a_flag_put_down_is_marked_and_has_a_column() -> None:
    trace = recorded("ht", 2, 1)
    assert "clears its flag" in words(picture(trace))
    shown = words(picture(trace, order="logical"))
    clears = int(trace.events.mask(kind="host_event.clear").sum())
    assert sum(text.startswith("clear ") for text in shown) == clears
