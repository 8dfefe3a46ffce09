"""All numbers at once: the keys of the design, the intervals behind each, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import ubviz
from tests import strategies
from tests.small import recorded
from tests.test_retime import Program, programs, takes, told
from tests.traces import Traces
from ubviz import cli
from ubviz.analysis import Analysis, analyze, critical_path, overlap, steps
from ubviz.analysis.intervals import length
from ubviz.errors import BadArgument
from ubviz.trace import Trace, example

KEYS = [
    "makespan_ns", "kernels", "operations", "unclassified", "compute_busy_ns", "comm_busy_ns", "overlap_ns",
    "overlap_ratio", "exposed_comm_ns", "transfer_ns", "hidden_transfer_ns", "recv_spin_ns", "contention",
    "net_gain_ns", "steps", "streams", "ubatches", "gaps", "gaps_total", "gaps_ns", "critical_path", "findings",
    "notices",
]  # fmt: skip
"""Of one object of ``ubviz analyze --json``, as the design has them."""

Ended = tuple[int, str, str]


def two_streams() -> Trace:
    """Compute 0-10 us and 20-40; comm 5-25: alone 10 us, beside comm 20."""
    t = Traces()
    main, u0, u1 = t.thread("main"), t.thread("ubatch 0"), t.thread("ubatch 1")
    main.step_begin(0, why="the votes agree")
    main.set("cpu_event[0]")
    u0.take("cpu_event[0]")
    u1.wait("cpu_event[1]")
    t.now = 9_999
    u0.launch("experts", "compute", [], ["a"], takes=10_000)
    u0.set("cpu_event[1]")
    u1.wake("cpu_event[1]")
    t.now = 14_999
    u1.launch("dispatch", "comm", [], ["b"], takes=20_000, cls="comm")
    t.now = 29_999
    u1.launch("experts", "compute", [], ["c"], takes=20_000)
    t.now = 60_000
    main.step_end()
    return t.finish()


def number(found: Analysis, path: str) -> Any:
    """The number that a name stands for."""
    head, *rest = path.split(".")
    value: Any = getattr(found, head)
    if head == "steps":
        (value,) = [each for each in value if str(each.step) == rest[0]]
        return getattr(value, rest[1])
    if rest:
        value = value[int(rest[0]) if head == "ubatches" else ".".join(rest[:-1])][rest[-1]]
    return value


def leaves(value: Any, path: str = "") -> Iterator[str]:
    """Names of all numbers in what ``--json`` prints, but for lists of rows, which have their own times."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("gaps", "critical_path", "findings", "notices", "unclassified", "steps"):
                yield from leaves(inner, f"{path}.{name}" if path else name)
        for step in value.get("steps", ()):
            yield from (
                f"steps.{step['step']}.{name}" for name in ("makespan_ns", "overlap_ratio", "ubatches")
            )
    else:
        yield path


def adds_up(found: Analysis) -> None:
    """Every number lists what it is made of; the critical path sums to the makespan."""
    assert set(leaves(found.as_json())) == set(found.names) - {"unclassified"}
    for path in found.names:
        intervals, value = found.intervals(path), number(found, path)
        if path.endswith("_ns"):
            assert value is None or path == "net_gain_ns" or length(intervals) == value, path
        elif path.endswith("overlap_ratio"):
            busy = found.comm_busy_ns if path == "overlap_ratio" else None
            assert value is None or busy is None or length(intervals) / busy == value
        elif path not in ("unclassified",) and not path.endswith(".ratio"):
            assert len(intervals) == value, path
    assert len(found.rows("kernels")) == found.kernels
    assert sum(entry.ns for entry in found.critical_path) == found.makespan_ns


def test_known_answers() -> None:
    found = analyze(two_streams())
    assert (found.makespan_ns, found.kernels, found.operations) == (49_999, 3, 3)
    assert (found.overlap_ns, found.exposed_comm_ns, found.overlap_ratio) == (10_000, 10_000, 0.5)
    assert found.streams == {
        "compute": {"busy_ns": 30_000, "kernels": 2}, "comm": {"busy_ns": 20_000, "kernels": 1},
    }  # fmt: skip
    assert found.ubatches == {
        0: {"kernels": 1, "busy_ns": 10_000, "yields": 0, "waiting_ns": 1},
        1: {"kernels": 2, "busy_ns": 35_000, "yields": 0, "waiting_ns": 9_996},
    }
    (step,) = found.steps
    assert (step.step, step.ubatches, step.mode, step.why_not) == (0, 2, "eager", None)
    assert (found.gaps_total, found.gaps_ns) == (4, 9_999 + 10_000 + 14_999 + 15_000)
    assert found.net_gain_ns is None
    assert found.unclassified == ()


def test_contention_compares_what_runs_beside_with_what_runs_alone() -> None:
    t = Traces()
    main = t.thread("main")
    main.launch("experts", "compute", takes=1_000)
    t.now = 2_000
    main.launch("combine", "comm", takes=10_000, cls="comm")
    main.launch("experts", "compute", takes=1_500)
    t.now = 11_001
    main.launch("experts", "compute", takes=9_000)  # for the smaller part of its time
    found = analyze(t.finish()).contention
    assert found["experts"] == {"ratio": 1.5, "overlapped": 1, "alone": 1, "partly": 1}
    assert found["combine"] == {"ratio": None, "overlapped": 0, "alone": 0, "partly": 1}


def test_the_net_gain_is_against_an_unsplit_run() -> None:
    whole, split = example("whole_game_unsplit"), example("whole_game_overlapped")
    assert analyze(split, unsplit=whole).net_gain_ns == 504_663_176 - 329_953_418


@pytest.mark.parametrize(
    "branch, why_not",
    [("overlapped", None), ("unsplit", "rank 1 has no work"), ("split", "rank 1 has no work"),
     ("capture", "rank 1 has no work")],
)  # fmt: skip
def test_why_a_step_was_not_overlapped(branch: str, why_not: str | None) -> None:
    t = Traces()
    main = t.thread("main")
    main.step_begin(0, branch, why="rank 1 has no work")
    main.launch("k", "compute")
    (step,) = steps(t.finish())
    assert (step.ubatches, step.why_not) == (0, why_not)


@pytest.mark.parametrize(
    "kinds, mode",
    [
        ([], "unknown"),
        (["launch"], "eager"),
        (["replay", "launch"], "replay"),
        (["capture", "replay"], "capture"),
    ],
)
def test_how_a_step_ran(kinds: list[str], mode: str) -> None:
    t = Traces()
    main = t.thread("main")
    main.step_begin(0)
    for kind in kinds:
        if kind == "launch":
            main.launch("k", "compute")
        elif kind == "replay":
            main.replay("g")
        else:
            main.capture_begin("g")
    assert [step.mode for step in steps(t.finish())] == [mode]


def test_what_is_communication_is_a_rule_or_a_pattern() -> None:
    trace = two_streams()
    for rule in ("^exp", lambda span: span.name == "experts"):
        found = analyze(trace, comm=rule)
        assert (found.comm_busy_ns, found.compute_busy_ns) == (30_000, 20_000)


def test_delays_that_nothing_explains_are_a_notice() -> None:
    found = analyze(recorded("ht", 2))
    (notice,) = [n for n in found.notices if n.kind == "unexplained_delay"]
    slack_ns = sum(entry.ns for entry in found.critical_path if entry.edge == "slack")
    assert notice.sentence.startswith(
        f"{slack_ns / 1e3:,.1f} us of the critical path have no recorded cause, and are called slack; all threads and "
    )
    assert analyze(two_streams()).notices == ()


def test_what_is_absent_is_a_notice() -> None:
    t = Traces()
    assert [n.sentence for n in analyze(t.finish()).notices] == [
        "no kernel is in this recording: there is nothing to measure"
    ]
    main = t.thread("main")
    main.launch("k", "compute", cls="other")
    main.tell("kernel.launch")  # says not even which stream
    found = analyze(t.finish())
    assert [(n.kind, n.count, n.sentence) for n in found.notices] == [
        ("unclassified_kernels", 1, "none of 1 kernels says whether it computes or communicates: busy times and "
         "overlap are unknown; say with comm which kernels communicate"),
        ("unjudged_events", 1, "1 trace event lacks what the checkers go by; it is not judged"),
        ("unknown_accesses", 1, "1 of 1 launches and replays do not say what they read or write; races with them are "
         "not found"),
    ]  # fmt: skip
    assert (found.compute_busy_ns, found.overlap_ns, found.unclassified) == (None, None, ("k",))
    assert analyze(t.finish(), comm="k").comm_busy_ns == 1


def test_one_ranks_communication_is_not_hidden_behind_anothers_work() -> None:
    t = Traces()
    t.thread("main").launch("k", "compute", takes=100)
    t.builder.span(2, 52, "kernel", "nccl", lane=t.lane("comm", "streams"), cls="comm", rank=1)
    found = analyze(t.finish())
    assert (found.compute_busy_ns, found.comm_busy_ns, found.overlap_ns) == (100, 50, 0)


def test_a_bad_pattern_is_refused() -> None:
    with pytest.raises(BadArgument, match=r"comm: '\(' is no regular expression: missing \)"):
        analyze(two_streams(), comm="(")


@given(programs, takes)
def test_every_number_lists_its_intervals(program: Program, lasts: list[int]) -> None:
    adds_up(analyze(told(program, lasts)))


@given(strategies.recorded())
def test_every_number_of_any_trace_lists_its_intervals(trace: Trace) -> None:
    adds_up(analyze(trace))


@pytest.mark.parametrize("style, n, count", [("ht", 2, 3), ("ht", 3, 1), ("ll", 2, 1)])
def test_of_a_recording(style: str, n: int, count: int) -> None:
    trace = recorded(style, n, steps=count)
    found = analyze(trace)
    adds_up(found)
    measured = overlap(trace)
    assert found.makespan_ns == measured.makespan_ns == sum(step.makespan_ns for step in found.steps)
    assert [step.overlap_ratio for step in found.steps] == [
        overlap(trace, step=s).overlap_ratio for s in trace.steps
    ]
    assert list(found.critical_path) == critical_path(trace)
    assert {finding.kind for finding in found.findings if finding.severity == "error"} == set()
    assert json.loads(json.dumps(found.as_json())).keys() == set(KEYS)


def test_several_ranks_have_streams_of_their_own() -> None:
    t = Traces()
    t.thread("main").launch("k", "compute", takes=5)
    trace = t.finish()
    other = [lane._replace(id=lane.id + 10, rank=1) for lane in trace.lanes]
    both = Trace(trace.events, trace.spans, trace.flows, [*trace.lanes, *other], trace.meta)
    assert list(analyze(both).streams) == ["rank 0 compute", "rank 1 compute"]


# ---- the command


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    def called(*words: str) -> Ended:
        code = cli.main(["analyze", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return called


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "two.json"
    two_streams().save(path)
    return str(path)


def test_json_is_one_object_with_the_keys_of_the_design(call: Callable[..., Ended], file: str) -> None:
    code, out, err = call(file, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found) == KEYS
    assert found == json.loads(json.dumps(ubviz.analyze(ubviz.load(file)).as_json()))
    assert set(found["steps"][0]) == {
        "step", "ubatches", "mode", "why_not", "makespan_ns", "overlap_ratio",
    }  # fmt: skip
    assert set(found["gaps"][0]) >= {"stream", "start_ns", "end_ns", "cause", "sentence", "events"}


def test_the_table(call: Callable[..., Ended], file: str) -> None:
    code, out, err = call(file)
    assert (code, err) == (0, "")
    assert out == (
        "makespan                50.0 us\n"
        "kernels         3 in 3 operations\n"
        "compute busy            30.0 us\n"
        "comm busy               20.0 us\n"
        "overlap                 10.0 us   50.0% of comm\n"
        "exposed comm            10.0 us\n"
        "\n"
        "step   ubatches  mode        makespan         overlap\n"
        "0             2  eager             50.0 us    50.0%\n"
        "\n"
        "stream            busy             kernels\n"
        "compute                 30.0 us        2\n"
        "comm                    20.0 us        1\n"
        "\n"
        "idle  50.0 us in 4 gaps:\n"
        "        20.0 us  launched late\n"
        "        15.0 us  nothing is left to do\n"
        "        15.0 us  a peer holds the turn\n"
        "  - comm idle 15.0 us: nothing is left for it in this step after dispatch of microbatch 1\n"
        "  - comm idle 15.0 us: microbatch 1, which launches dispatch next, waited 10.0 us for the turn, which "
        "microbatch 0 had\n"
        "  - compute idle 10.0 us: microbatch 1 launched experts 10.0 us after the stream had run dry, at "
        "program.py:11\n"
        "  - compute idle 10.0 us: microbatch 0 launched experts 10.0 us after the stream had run dry, at "
        "program.py:7\n"
        "\n"
        "critical path  10 pieces, most of it spent on:\n"
        "        20.0 us  run: experts\n"
        "        20.0 us  program: ubatch 1\n"
        "        10.0 us  program: ubatch 0\n"
        "\n"
        "findings  none\n"
    )


def test_of_many_steps_the_table_has_the_longest(call: Callable[..., Ended], tmp_path: Path) -> None:
    t = Traces()
    main = t.thread("main")
    for step in range(20):
        main.step_begin(step)
        main.launch("k", "compute", takes=1_000 * (step % 7 + 1))
        main.synchronize("compute")
    t.finish().save(tmp_path / "many.json")
    code, out, _ = call(str(tmp_path / "many.json"))
    rows = out.split("overlap\n")[1].split("\n\n")[0].splitlines()
    assert (code, len(rows), rows[-1]) == (0, 11, "10 more, each of at most 4.0 us")
    assert [int(row.split()[0]) for row in rows[:-1]] == [3, 4, 5, 6, 10, 11, 12, 13, 18, 19]


def test_check_is_for_errors(call: Callable[..., Ended], tmp_path: Path, file: str) -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.wait("cpu_event[0]")  # and never comes back
    stuck = tmp_path / "stuck.json"
    t.finish().save(stuck)
    assert call(str(stuck))[0] == 0
    code, out, err = call(str(stuck), "--check")
    assert (code, err) == (1, "")
    assert "error    deadlock: " in out
    assert call(file, "--check")[0] == 0


def test_a_pattern_from_the_command_line(call: Callable[..., Ended], file: str) -> None:
    code, out, err = call(file, "--comm", "experts", "--json")
    assert (code, err, json.loads(out)["comm_busy_ns"]) == (0, "", 30_000)


@pytest.mark.parametrize(
    "words, line",
    [
        (
            ["no.json", "--comm", "("],
            "ubviz analyze: argument --comm: '(' is no regular expression: missing ), unterminated subpattern at "
            "position 0 (see ubviz analyze --help)\n",
        ),
        (["no.json"], None),
        ([], "ubviz analyze: the following arguments are required: FILE (see ubviz analyze --help)\n"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    call: Callable[..., Ended], words: list[str], line: str | None
) -> None:
    code, out, err = call(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no.json" in err if line is None else err == line
