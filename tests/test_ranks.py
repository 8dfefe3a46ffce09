"""Real ranks: processes that exchange tokens, each with its recording; and a rank that goes wrong is named."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.ranks import play
from ubviz.cli import main
from ubviz.engine.logs import LEFT, Entry, Log, Told, died, missed, unlike
from ubviz.engine.ranks import Ranks, meet
from ubviz.engine.watch import silent
from ubviz.errors import BadArgument, MissedCollective, RankDied, RankError
from ubviz.exploration import demo
from ubviz.exploration.launch import environment, first_cause, launch
from ubviz.exploration.ranks import RankDemo
from ubviz.exploration.signs import Limits, Signs, Stops
from ubviz.recording import record
from ubviz.trace import Trace, load

DEMO = ("-m", "ubviz", "demo", "--layers", "1", "--tokens", "48", "--steps", "1", "--no-html")


# ---- two processes


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_two_ranks(style: str, tmp_path: Path) -> None:
    words = [sys.executable, *DEMO, "--json", "--ranks", "2", "--style", style, "--out", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=110)
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, "computing the reference in one process ...")
    numbers = json.loads(done.stdout)
    assert numbers["link"] == "gloo between 2 processes, measured"
    assert [n["rank"] for n in numbers["of_each_rank"]] == [0, 1]
    for n in numbers["of_each_rank"]:
        assert n["outputs_equal"] is True
        assert n["max_abs_diff_reference"] <= n["tolerance"]
        assert n["findings"] == []
    traces = [load(tmp_path / f"rank{rank}" / "overlapped.json.gz") for rank in range(2)]
    for rank, trace in enumerate(traces):
        check_rank(trace, rank)
    first, second = (collectives(trace) for trace in traces)
    assert first == second  # the same collectives, in the same order
    assert first[0] == "vote"
    each = {"ht": ["dispatch counts", "dispatch", "combine"], "ll": ["dispatch", "combine"]}[style]
    assert sorted(first[1:]) == sorted(
        f"{name} of layer 0, microbatch {u}" for name in each for u in range(2)
    )
    if style == "ll":
        flights = traces[0].spans.rows(traces[0].spans.mask(cat="transfer"))
        assert [flight.args["label"] for flight in flights] == ["measured"] * 4
        assert all(flight.end_ns > flight.start_ns for flight in flights)


def check_rank(trace: Trace, rank: int) -> None:
    """The rank in every row, its share in the meta, and anchors that are in order and close."""
    for table in (trace.events, trace.spans):
        assert set(table["rank"].tolist()) == {rank}
    assert {lane.rank for lane in trace.lanes} == {rank}
    assert (trace.meta["rank"], trace.meta["ranks"]) == (rank, 2)
    clock = trace.meta["clock"]
    first, last = clock["anchors"]
    assert clock["common"] == "rank 0"
    assert all(set(anchor) == {"own_ns", "common_ns", "error_ns"} for anchor in (first, last))
    # both clocks count the same nanoseconds, and the rounds were short
    apart = (last["own_ns"] - first["own_ns"]) - (last["common_ns"] - first["common_ns"])
    assert abs(apart) <= first["error_ns"] + last["error_ns"]
    assert (first["error_ns"] == 0) == (rank == 0)
    begins = trace.events["t_ns"][trace.events.mask(kind="step.begin")]
    assert first["own_ns"] < begins.min() < last["own_ns"]
    votes = trace.events.rows(trace.events.mask(kind="vote"))
    assert sorted(event.args["rank"] for event in votes) == [0, 1]


def collectives(trace: Trace) -> list[str]:
    return [event.args["name"] for event in trace.events.rows(trace.events.mask(kind="collective"))]


@pytest.mark.parametrize("story", ["compare", "compare ll"])
def test_unequal_ranks_give_what_one_process_gives(story: str) -> None:
    """25 and 18 tokens, so one is padded; and a step in which one rank has nothing to do."""
    assert play(story, limit_s=30) == 0


def test_ranks_capture_and_replay_the_same_graphs(capfd: pytest.CaptureFixture[str]) -> None:
    """Agreed in the vote; a replay exchanges tokens again, as collectives of the step that it is in."""
    assert play("graphs, ll", limit_s=30) == 0
    assert capfd.readouterr().out.splitlines() == [
        "first: capture, modes [2, 2], 8 exchanges in step 10",
        "again: replay, modes [2, 2], 8 exchanges in step 12",
        "one request less on rank 1: replay, modes [2, 2], 8 exchanges in step 14",
        "a prefill on rank 1: overlapped, modes [2, 0], 8 exchanges in step 16",
        "rank 1 idles: unsplit, modes [2, 2], 4 exchanges in step 18",
        "other tokens: capture, modes [2, 2], 4 exchanges in step 20",
        "other tokens again: replay, modes [2, 2], 4 exchanges in step 22",
    ]


@pytest.mark.parametrize(
    ("story", "sentence"),
    [
        (
            "skip a step",
            "rank 1 missed the vote of step 1 and went on to that of step 2; every rank takes part in every step, "
            "also with nothing to do: call execute_model([])",
        ),
        (
            "hang in a layer",
            "rank 1 missed dispatch counts of layer 1, microbatch 0 in step 1, where rank 0 waited for it: its last "
            "was combine of layer 0, microbatch 1 in step 1 (time limit 2 s)",
        ),
        (
            "skip a layer, ll",
            "rank 1 missed dispatch of layer 1, microbatch 0 in step 1, where rank 0 waited for it",
        ),
        (
            "swap",
            "rank 0 began dispatch counts of layer 0, microbatch 0 in step 1 where rank 1 began dispatch counts of "
            "layer 0, microbatch 1 in step 1; all ranks have to begin them in one order",
        ),
        (
            "swap, ll",
            "rank 0 began dispatch of layer 0, microbatch 0 in step 1 where rank 1 began dispatch of layer 0, "
            "microbatch 1 in step 1; all ranks have to begin them in one order",
        ),
        pytest.param(
            "hang",
            "rank 1 missed the vote in step 1, where rank 0 waited for it: its last was combine of layer 1, "
            "microbatch 1 in step 0 (time limit 2 s)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "skip a layer",
            "rank 1 missed dispatch counts of layer 1, microbatch 0 in step 1, where rank 0 waited for it",
            marks=pytest.mark.slow,
        ),
        pytest.param("fail", "rank 1: ValueError: no more memory", marks=pytest.mark.slow),
    ],
)
def test_a_rank_that_goes_wrong_is_named(story: str, sentence: str) -> None:
    with pytest.raises(RankError) as raised:
        play(story)
    # where both ranks wait, in two groups, either may be the first to speak, and one says less of the other
    said = str(raised.value)
    assert said.startswith(sentence) if sentence.endswith("waited for it") else said == sentence


def test_a_rank_that_dies_is_named() -> None:
    with pytest.raises(RankDied) as raised:
        play("die")
    assert str(raised.value).startswith("rank 1 has died: SIGKILL")


def test_an_interrupt_ends_all_ranks(tmp_path: Path) -> None:
    words = [sys.executable, *DEMO, "--ranks", "2", "--out", str(tmp_path)]
    words[words.index("--steps") + 1] = "1000"
    shell = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert shell.stderr is not None
    for line in shell.stderr:  # the ranks are at work
        if line.startswith("recording"):
            break
    ranks = children(shell.pid)
    assert len(ranks) == 2
    shell.send_signal(signal.SIGINT)
    assert shell.wait(30) == 130
    assert shell.stderr.read().splitlines() == ["ubviz: interrupted"]
    shell.stderr.close()
    assert not any(alive(pid) for pid in ranks)


def children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# ---- signs of life


#: A rank that gives signs of life from its first line, as the demonstration's do, and then does what is added.
LIVES = "import os, signal, sys, threading; from ubviz.cli.demo_ranks import live; live(); rank = os.environ['RANK']\n"


#: It stops itself, in its very first line or when it has begun to give signs of life.
STOPS = "import os, signal; os.environ['RANK'] == '1' and os.kill(os.getpid(), signal.SIGSTOP); "
WAITS = "import threading; threading.Event().wait(60)"


@pytest.mark.parametrize("story", [STOPS + LIVES + WAITS, LIVES + STOPS + WAITS], ids=["first line", "later"])
def test_a_rank_that_is_stopped_before_they_meet_is_named(story: str) -> None:
    with pytest.raises(RankDied, match=r"^rank 1 gives no sign of life: SIGSTOP has stopped it$"):
        launch([sys.executable, "-c", story], 2, Limits(stopped_s=1))


def test_a_rank_that_is_stopped_and_goes_on_in_time_is_not_named() -> None:
    """Rank 0 continues rank 1 when it is stopped."""
    story = LIVES + (
        "import subprocess\n"
        "if rank == '1':\n"
        "    os.kill(os.getpid(), signal.SIGSTOP)\n"
        "else:\n"
        "    peer = lambda: [line.split() for line in subprocess.run(['ps', '-o', 'pid=,stat=', '--ppid', "
        "str(os.getppid())], capture_output=True, text=True).stdout.splitlines()]\n"
        "    while not (stopped := [int(pid) for pid, state in peer() if state.startswith('T')]): pass\n"
        "    os.kill(stopped[0], signal.SIGCONT)\n"
    )
    assert launch([sys.executable, "-c", story], 2, Limits(stopped_s=30)) == 0


def test_a_rank_that_hangs_without_being_stopped_is_named() -> None:
    """It holds the interpreter's lock, so that no thread of it can give a sign of life."""
    story = LIVES + "import ctypes; rank == '1' and ctypes.PyDLL(None).sleep(60); " + WAITS
    with pytest.raises(RankDied, match=r"^rank 1 gives no sign of life$"):
        launch([sys.executable, "-c", story], 2, Limits(silent_s=1.5))


def test_a_rank_that_never_gives_a_sign_of_life_is_named() -> None:
    with pytest.raises(RankDied, match=r"^rank 0 gives no sign of life$"):
        launch([sys.executable, "-c", WAITS], 2, Limits(first_s=1))


def test_a_rank_that_has_left_may_take_its_time_to_end() -> None:
    beats: dict[int, str | None] = {0: Told(7, None, {}).to_json()}
    signs = Signs(1, lambda: beats, Limits(silent_s=0.0))
    with signs.pipe(0):
        signs.follow(0, os.getpid())
        signs.check({0})  # its first sign
        beats[0] = Told(LEFT, None, {}).to_json()
        until(lambda: signs.check({0}) or time.monotonic() > signs._since[0] + 1, 5)
        beats[0] = Told(8, None, {}).to_json()
        with pytest.raises(RankDied, match=r"^rank 0 gives no sign of life$"):
            until(lambda: signs.check({0}), 5)
    signs.close()


def test_where_the_system_cannot_be_asked_nobody_is_said_to_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("os.waitid")  # macOS before Python 3.13; there is silence, still
    assert Stops(1).by(now=100.0, limit_s=1.0) is None


def test_a_rank_that_does_not_come_to_meet_the_others_is_named() -> None:
    store = torch.distributed.HashStore()
    store.set("here/2", "")
    with pytest.raises(MissedCollective) as raised:
        meet(store, 0, 3, limit_s=0.1)
    assert str(raised.value) == "rank 1 did not come to meet the others within 0.1 s; rank 0 waited"
    assert store.get("failed/0").decode() == str(raised.value)  # so that who started them can say it
    store.set("here/1", "")
    meet(store, 0, 3, limit_s=0.1)


def test_signs_of_life_do_not_wait_for_pytorch() -> None:
    code = "import sys, ubviz.cli.demo_ranks; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_a_rank_that_gives_signs_of_life_may_take_its_time() -> None:
    story = LIVES + "threading.Event().wait(3)"  # twice the limit
    assert launch([sys.executable, "-c", story], 2, Limits(silent_s=1.5)) == 0


def test_ranks_end_with_who_started_them(tmp_path: Path) -> None:
    """Killed in their first lines, long before there is a store that they could miss."""
    said = tmp_path / "said"
    story = LIVES + f"open({str(said)!r} + rank, 'w').write(str(os.getpid())); threading.Event().wait(60)"
    starts = f"import sys; from ubviz.exploration.launch import launch; launch([sys.executable, '-c', {story!r}], 2)"
    starter = subprocess.Popen([sys.executable, "-c", starts])
    try:
        ranks = [int(until(lambda rank=rank: read(Path(f"{said}{rank}")))) for rank in range(2)]  # type: ignore[misc]
    finally:
        starter.kill()
        starter.wait()
    until(lambda: not any(alive(pid) for pid in ranks))


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(STOPS + LIVES + WAITS, id="first line"),
        pytest.param(LIVES + STOPS + WAITS, id="later", marks=pytest.mark.slow),
    ],
)
def test_a_stopped_rank_ends_with_who_started_it(story: str) -> None:
    """It can see nothing itself: the system ends it."""
    starts = f"import sys; from ubviz.exploration.launch import launch; launch([sys.executable, '-c', {story!r}], 2)"
    starter = subprocess.Popen([sys.executable, "-c", starts])
    try:
        until(lambda: any(stopped(pid) for pid in children(starter.pid)), 60)
        ranks = children(starter.pid)
        assert len(ranks) == 2
    finally:
        starter.kill()
        starter.wait()
    until(lambda: not any(alive(pid) for pid in ranks), 5)


def stopped(pid: int) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return found.stdout.startswith("T")


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def until(found: Callable[[], Any], limit_s: float = 30) -> Any:
    """What ``found`` gives once it gives something."""
    deadline = time.monotonic() + limit_s
    while not (value := found()):
        assert time.monotonic() < deadline
        threading.Event().wait(0.05)
    return value


def test_a_stopped_rank_is_not_called_dead() -> None:
    told = Told(9, Entry(3, "the vote"), {})
    assert silent(1, told) == (
        "rank 1 gives no sign of life; the last collective that it was seen in is the vote in step 3"
    )


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"RANK": "x"}, "RANK is a whole number from 0 on, not 'x'"),
        ({"RANK": "2"}, "MASTER_ADDR is not set; start ranks with torchrun, or with ubviz demo --ranks"),
        (
            {"RANK": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"},
            "RANK is 2, but of 2 ranks (WORLD_SIZE) the last is 1",
        ),
        (
            {"RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "http"},
            "MASTER_PORT is a whole number from 0 on, not 'http'",
        ),
    ],
)
def test_an_environment_that_is_no_ranks_is_one_line(
    environment: dict[str, str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**environment, "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    assert main(["demo", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"ubviz: {sentence}\n"


@pytest.mark.slow
def test_under_torchrun(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", *DEMO]
    done = subprocess.run([*run, "--out", str(tmp_path)], capture_output=True, text=True, timeout=110)
    assert done.returncode == 0
    assert done.stdout.startswith("2 ranks; the figures are those of rank 0\n  rank 0: overlapped ")
    assert (tmp_path / "rank1" / "overlapped.json.gz").stat().st_size > 0


# ---- the parts, without processes


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--ranks 0", "ranks is from 1 to 8, not 0"),
        ("--ranks 9", "ranks is from 1 to 8, not 9"),
        ("--ranks 2 --timeout 0", "timeout is a time in seconds above 0 and at most a day, not 0"),
        ("--ranks 2 --timeout nan", "timeout is a time in seconds above 0 and at most a day, not nan"),
        (
            "--ranks 2 --runtime cuda",
            "--runtime cuda runs one rank: several exchange tokens by gloo, between CPUs; leave --ranks out, or use "
            "--runtime host",
        ),
        (
            "--ranks 2 --runtime virtual",
            "--runtime virtual models one rank; leave --ranks out, or use --runtime host",
        ),
        ("--ranks 2 --style xx", 'style is "ht" or "ll", not \'xx\''),
    ],
)
def test_what_cannot_be_run_is_one_line(
    words: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", *words.split(), "--out", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err == f"ubviz: {sentence}\n"
    assert list(tmp_path.iterdir()) == []


def test_another_number_of_ranks_than_torchrun_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert main(["demo", "--ranks", "2", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        "ubviz: --ranks 2, but this process is one of 4 (WORLD_SIZE); leave --ranks out\n"
    )


def test_a_rank_is_told_what_torchrun_would_tell_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth7")
    env = environment(1, 3, 4567)
    assert [env[name] for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")] == [
        "1", "3", "127.0.0.1", "4567"
    ]  # fmt: skip
    assert env["GLOO_SOCKET_IFNAME"] == "eth7"  # what the user says counts


def test_experts_are_divided() -> None:
    ranks = [Ranks(rank, 2, None, {}) for rank in range(2)]  # type: ignore[arg-type]
    assert [list(each.own(4)) for each in ranks] == [[0, 1], [2, 3]]
    with pytest.raises(BadArgument, match="5 experts cannot be divided among 2 ranks; take a multiple"):
        ranks[0].own(5)


def test_a_torch_without_gloo_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torch.distributed.is_gloo_available", lambda: False)
    assert main(["demo", "--ranks", "2", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        "ubviz: several ranks need torch.distributed with gloo, which this PyTorch was built without; leave --ranks "
        "out\n"
    )


def test_a_rank_is_in_every_row(rt: Any) -> None:
    with record(rt, rank=3) as recording, rt.device_context():
        torch.ones(3) + 1
    trace = recording.trace
    assert {*trace.events["rank"].tolist(), *trace.spans["rank"].tolist()} == {3}
    assert {lane.rank for lane in trace.lanes} == {3}
    with pytest.raises(BadArgument, match="rank is a number from 0 on, not -1"):
        record(rt, rank=-1)


def test_a_difference_to_the_reference_is_seen() -> None:
    """A check that cannot fail is none: change the least bit of one number, or one token."""
    ran = demo(layers=1, tokens=48, steps=1)
    fields = {f.name: getattr(ran, f.name) for f in dataclasses.fields(ran)}
    good: Any = RankDemo(
        **fields, rank=0, ranks=1, reference=ran.unsplit.hidden, reference_sampled=ran.unsplit.sampled
    )
    assert good.outputs_equal
    far = good.reference.clone()
    far[3, 5] += 1
    assert not dataclasses.replace(good, reference=far).outputs_equal
    assert not dataclasses.replace(good, reference_sampled=(0, 0, 0)).outputs_equal
    hidden = ran.overlapped.hidden.clone()
    hidden[3, 5] = torch.nextafter(hidden[3, 5], torch.tensor(100.0))
    changed = dataclasses.replace(ran.overlapped, hidden=hidden)
    assert not dataclasses.replace(good, overlapped=changed).outputs_equal


# ---- reading the logs


def log(*entries: str, start: int = 0) -> Log:
    """``"1 vote"`` is the vote of step 1."""
    split = (entry.partition(" ") for entry in entries)
    return Log(start, tuple(Entry(int(step), name) for step, _, name in split))


@pytest.mark.parametrize(
    ("mine", "theirs", "sentence"),
    [
        (["0 v", "1 v", "2 v"], ["0 v", "2 v"], "rank 1 missed v in step 1 and went on to v in step 2"),
        (["0 vote", "2 vote"], ["0 vote", "1 vote"], "rank 0 missed vote in step 1 and went on to vote in step 2"),
        (["1 a", "1 b", "1 c"], ["1 a", "1 c"], "rank 1 missed b in step 1 and went on to c in step 1"),
        (["1 a", "1 c"], ["1 a", "1 b", "1 c"], "rank 0 missed b in step 1 and went on to c in step 1"),
        (["1 a"], [], "rank 1 missed a in step 1, where rank 0 waited for it: it was in none before"),
        (["1 a"], ["1 a"], None),
        (["1 a", "1 b"], ["1 b", "1 a"],
         "rank 0 began a in step 1 where rank 1 began b in step 1; all ranks have to begin them in one order"),
        (["1 b"], ["1 c"],
         "rank 0 began b in step 1 where rank 1 began c in step 1; all ranks have to begin them in one order"),
    ],
)  # fmt: skip
def test_the_first_difference_is_named(mine: list[str], theirs: list[str], sentence: str | None) -> None:
    assert missed(0, {"main": log(*mine)}, {1: {"main": log(*theirs)}}, "main") == sentence


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (["1 a", "1 a"], None),
        (["1 a", "2 a", "1 a"], "rank 1 missed a in step 1 and went on to a in step 2"),
        (["2 b", "1 a", "1 a"], "rank 0 missed a in step 1 and went on to b in step 2"),
        (["1 a", "1 a", "1 b"],
         "rank 0 began a in step 1 where rank 2 began b in step 1; all ranks have to begin them in one order"),
    ],
)  # fmt: skip
def test_ranks_that_are_about_to_begin_unlike_collectives(entries: list[str], sentence: str | None) -> None:
    assert unlike(dict(enumerate(log(*entries).entries))) == sentence


def test_the_earliest_step_of_all_groups_counts() -> None:
    """Rank 1 waits in the vote of step 2, and was missed in step 1: from either side it is rank 1."""
    one = {"main": log("1 vote"), "compute": log("1 a", "1 b")}
    two = {"main": log("1 vote", "2 vote"), "compute": log("1 a")}
    assert missed(1, two, {0: one}, "main") == "rank 1 missed b in step 1, where rank 0 waited for it"
    assert missed(0, one, {1: Told(9, Entry(2, "vote"), two)}, "compute") == (
        "rank 1 missed b in step 1, where rank 0 waited for it: its last was vote in step 2"
    )


def test_a_rank_that_only_lags_in_another_group_is_not_blamed() -> None:
    one = {"main": log("1 vote"), "comm": log("1 a", "1 b"), "compute": log("1 x")}
    two = {"main": log("1 vote"), "comm": log("1 a"), "compute": log("1 x", "1 y")}
    assert missed(0, one, {1: two}, "compute") is None


def test_of_several_ranks_the_first_difference_is_named() -> None:
    mine = {"main": log("1 a", "2 a", "3 a")}
    others: dict[int, Any] = {1: {"main": log("1 a", "2 a")}, 2: {"main": log("1 a", "3 a")}}
    assert missed(0, mine, others, "main") == "rank 2 missed a in step 2 and went on to a in step 3"


def test_logs_of_which_only_the_end_is_told() -> None:
    mine = {"main": log(*(f"{step} a" for step in range(9)))}
    assert missed(0, mine, {1: {"main": log("6 a", "7 a", "8 a", start=6)}}, "main") is None
    assert missed(0, mine, {1: {"main": log("6 a", "8 a", start=6)}}, "main") == (
        "rank 1 missed a in step 7 and went on to a in step 8"
    )


def test_a_beat_comes_back_as_it_was() -> None:
    told = Told(7, Entry(3, "the vote"), {"main": log("3 the vote", start=2)})
    assert Told.from_json(told.to_json()) == told
    assert Told.from_json(None) == Told(0, None, {})
    assert died(1, Told.from_json(None)) == "rank 1 has died: it gives no sign of life"


@pytest.mark.parametrize(
    ("codes", "failed", "sentence"),
    [
        ([0, 0], {}, None),
        ([1, 1], {}, None),  # unequal outputs: the table has said it
        ([1, -9], {0: "rank 1 failed in the meantime: x"}, "rank 1 has died: SIGKILL"),
        ([1, 1], {0: "rank 1 failed in the meantime: x", 1: "x"}, "x"),
        ([1, None], {0: "rank 1 missed it"}, "rank 1 missed it"),
        ([3, None], {}, "rank 0 has died: exit code 3"),
    ],
)
def test_the_first_cause_is_said(codes: Any, failed: dict[int, str | None], sentence: str | None) -> None:
    error = first_cause(codes, failed, {})
    assert (error and str(error)) == sentence
