"""The scheduler as a widget, without a browser: both sides at one place, its graph, its words, its page."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.games import PROGRAMS, bare, ping
from ubviz import Scheduler
from ubviz.errors import BadArgument
from ubviz.exploration.game import game
from ubviz.exploration.replay import replay
from ubviz.exploration.variants import program_of
from ubviz.play import scheduler as module
from ubviz.view.graph_walk import walked
from ubviz.view.paint import fonts
from ubviz.view.paint.state import wrapped
from ubviz.view.palette import DARK
from ubviz.view.scheduler import SchedulerView

LOSES = bare((1, 1), clear="before")
DEADLOCK = "0.1.2.0x2.1x4.2x4.1.2"
"""Of ``LOSES``."""


class Sent(Scheduler):
    """A scheduler that keeps what it sends to the page."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.sent: list[tuple[Any, list[bytes]]] = []

    def send(self, content: Any, buffers: Any = None) -> None:
        self.sent.append((content, list(buffers or ())))

    def ask(self, key: str) -> list[tuple[Any, list[bytes]]]:
        self.sent.clear()
        self._handle_custom_msg({"ask": [key]}, [])
        return self.sent


# ---- one place


def test_what_is_chosen_in_python_is_told_to_the_page() -> None:
    s = Scheduler(LOSES).choose("main").choose(1)
    assert (s.schedule, s.replay) == ("0.1", "0.1")
    assert s.undo().schedule == "0"


def test_a_schedule_from_the_page_moves_python() -> None:
    s = Scheduler(LOSES)
    s.set_state({"schedule": DEADLOCK})
    assert s.over
    assert "ubatch 0 waits for host event cpu_event[0]: clear" in str(s.deadlock)
    s.set_state({"schedule": "0.1"})
    assert s.enabled == {"ubatch 1": "barrier.arrive ready_barrier"}


def test_what_two_schedules_share_is_not_run_again() -> None:
    s = Scheduler(LOSES, "0.1.2.0")
    shared = s.here
    s.schedule = "0.1.2.0.1"
    assert s._way[-2] is shared


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        (
            "0.0",
            "choice 2 of the schedule lets thread 0 go on, but 1 and 2 can: it is a schedule of another program",
        ),
        ("look:0", "a schedule of this program does not begin with 'look:', not so 'look:0'"),
        ("main", "part 1 of the schedule, 'main', is no thread number like 2 or 2x14"),
        (7, 'schedule is a replay string like "0x3.1", not 7'),
    ],
)
def test_a_schedule_of_another_program_is_refused_and_nothing_moves(schedule: Any, says: str) -> None:
    s = Scheduler(LOSES, "0.1")
    with pytest.raises(BadArgument) as caught:
        s.schedule = schedule
    assert str(caught.value) == says
    assert (s.schedule, s.replay) == ("0.1", "0.1")


def test_other_traits_take_what_they_can_use() -> None:
    s = Scheduler(LOSES, hints=True, theme="dark")
    for name, value, says in (
        ("hints", "yes", "hints is True or False, not 'yes'"),
        ("theme", "blue", 'theme must be "auto", "light" or "dark", not \'blue\''),
    ):
        with pytest.raises(BadArgument) as caught:
            setattr(s, name, value)
        assert str(caught.value) == says


# ---- the graph


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_walk_in_the_graph_is_a_walk_of_the_program(name: str) -> None:
    program, random = PROGRAMS[name], Random(name)
    graph = game(program)
    for _ in range(4):
        s, node = Scheduler(program), graph["nodes"][graph["start"]]
        while node["able"]:
            assert [c.thread for c in s.here.choices] == node["able"]
            assert {c.thread: c.kind for c in s.here.choices} == {
                thread: graph["acts"][node["acts"][thread]]["kind"] for thread in node["able"]
            }
            thread = random.choice(node["able"])
            node = graph["nodes"][node["next"][node["able"].index(thread)]]
            s.choose(thread)
        end = graph["ends"][node["end"]]
        assert s.over
        assert (end["verdict"] == "deadlock") == (s.deadlock is not None)
        if s.deadlock is not None:
            assert end["lines"] == [line.strip() for line in str(s.deadlock).splitlines()[1:]]
        assert graph["nodes"][walked(graph, s.schedule).node] is node
        replay(program, s.schedule)  # raises where it is no schedule of this program


def test_the_page_is_told_the_graph_when_it_asks() -> None:
    s = Sent(LOSES)
    [(content, [block])] = s.ask("game")
    assert content == {"blocks": [["game", 0, 1]]}
    assert json.loads(zlib.decompress(block)) == game(LOSES)
    assert s.ask("other") == [({"refused": [["other", "a scheduler has no block 'other'"]]}, [])]


def test_more_schedules_than_a_number_of_json_holds_are_told_by_their_size() -> None:
    graph = {**game(LOSES), "interleavings": 10**400}
    told = json.loads(zlib.decompress(SchedulerView(graph)._store.block("game")))
    assert told["interleavings"] == 1e300


def test_the_graph_is_not_made_for_who_only_uses_python(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(module, "game", lambda *args, **options: made.append(args))
    s = Scheduler(LOSES).choose("main")
    assert (repr(s), made) == ("<Scheduler: 1 choice made, next: ubatch 0 or ubatch 1>", [])


def test_a_program_with_too_many_states_is_played_in_python_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STATES", 5)
    says = (
        "a page cannot play this program, since it has more than 5 states; "
        "in Python choose, undo and trace work all the same"
    )
    s = Sent(LOSES).choose("main")
    assert s.ask("game") == [({"refused": [["game", says]]}, [])]
    assert s.alt == f"Scheduler, 1 choice made, next: ubatch 0 or ubatch 1. {says}."
    assert s.choose("ubatch 0").replay == "0.1"


def test_that_there_are_too_many_states_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture, the words and the page each ask for them."""
    runs: list[Any] = []

    def counted(program: Any, **options: Any) -> Any:
        runs.append(program)
        return game(program, **options)

    monkeypatch.setattr(module, "game", counted)
    monkeypatch.setattr(module, "MOST_STATES", 5)
    s = Sent(LOSES)
    assert s._still().picture is None
    assert s.ask("game")[0][0].keys() == {"refused"}
    assert len(runs) == 1


@pytest.mark.parametrize(("ubatches", "layers"), [(2, 8), (4, 4)])
def test_a_page_plays_what_a_class_plays(ubatches: int, layers: int) -> None:
    graph = Scheduler(program_of(ubatches=ubatches, layers=layers)).graph
    assert {end["verdict"] for end in graph["ends"]} == {"done"}
    assert len(graph["threads"]) == ubatches + 1


def test_its_bytes_are_the_same_in_every_process() -> None:
    code = (
        "import hashlib; from tests.games import PROGRAMS; from ubviz import Scheduler\n"
        "print(hashlib.sha256(Scheduler(PROGRAMS['three'])._store.block('game')).hexdigest())"
    )
    sums = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, cwd=Path(__file__).parents[1],
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(sums) == 1


# ---- words, and where no script runs


def test_its_words_say_how_each_thread_stands() -> None:
    s = Scheduler(LOSES, "0.1.2.0x2.1x3")
    assert repr(s) == "<Scheduler: 8 choices made, next: ubatch 0 or ubatch 1>"
    assert s.alt == (
        "Scheduler, 8 choices made, next: ubatch 0 or ubatch 1. main cannot go on: wait for the end of ubatch 0. "
        "ubatch 0 can go on: set cpu_event[1]. ubatch 1 can go on: pass ready_barrier. Host events that are up: none."
    )


def test_at_a_deadlock_they_are_the_report() -> None:
    s = Scheduler(LOSES, DEADLOCK)
    assert repr(s) == "<Scheduler: 15 choices made, deadlock>"
    for line in str(s.deadlock).splitlines()[1:]:
        assert line.strip() in s.alt


def test_a_page_holds_them_for_who_runs_no_script(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.html"
    s = Scheduler(LOSES, DEADLOCK)
    s.to_html(path)
    text = path.read_text(encoding="utf-8")
    assert f'<noscript><img alt="{s.alt}" src="data:image/png;base64,' in text
    assert "<title>Scheduler, 15 choices made, deadlock</title>" in text
    assert f'"schedule": "{DEADLOCK}"' in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


@pytest.mark.parametrize("schedule", ["", DEADLOCK])
def test_its_picture_is_the_same_twice_and_says_what_it_shows(tmp_path: Path, schedule: str) -> None:
    s = Scheduler(LOSES, schedule, theme="dark")
    for name in ("one.svg", "two.svg"):
        s.to_picture(tmp_path / name)
    one, two = ((tmp_path / name).read_text(encoding="utf-8") for name in ("one.svg", "two.svg"))
    assert one == two
    assert s.alt in one
    for colour in DARK.ubatches[:2]:
        assert colour in one


@pytest.mark.parametrize(
    "text", ["main joins ubatch 0, at ubviz/exploration/bare_ring.py:182", "x" * 90, "a b", ""]
)
@pytest.mark.parametrize("room", [4.0, 60.0, 300.0])
def test_text_is_broken_where_it_would_not_fit_and_nothing_is_lost(text: str, room: float) -> None:
    lines = list(wrapped(text, 10.5, 400, room))
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(len(line) == 1 or fonts.width(line, 10.5, 400) <= room for line in lines)


def test_an_end_that_is_reached_by_raising_says_who_raised() -> None:
    graph = game(PROGRAMS["no barrier"])
    schedule = next(end["replay"] for end in graph["ends"] if end["verdict"] == "raised")
    assert "ubatch 0 raised AttributeError" in SchedulerView(graph, schedule=schedule).alt


# ---- the view alone


def test_a_view_of_a_graph_alone_goes_by_the_graph() -> None:
    graph = game(ping)
    view = SchedulerView(graph, schedule="look:2")
    assert repr(view) == "<SchedulerView: 1 choice made, next: main or ping>"
    view.schedule = "look:2.0.1"
    assert view.schedule == "look:2.0.1"
    for schedule, says in (
        ("2", "a replay string of this program begins with 'look:', not '2'"),
        (
            "look:2.2",
            "choice 2 of the schedule lets thread 2 go on, but 0 and 1 can: it is a schedule of another program",
        ),
        ("look:0x", "part 1 of the schedule, '0x', is no thread number like 2 or 2x14"),
        ("look:0x999999999", "a schedule makes at most 100,000 choices"),
    ):
        with pytest.raises(BadArgument) as caught:
            view.schedule = schedule
        assert str(caught.value) == says


# ---- without the extras


def test_without_anywidget_and_pytorch_the_python_side_works() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['anywidget', 'ipywidgets', 'torch', 'matplotlib']))\n"
        "from tests.games import PROGRAMS; import ubviz\n"
        "s = ubviz.Scheduler(PROGRAMS['clear before wait'], '0.1.2').choose('main')\n"
        "print(repr(s), s.replay, s.undo().replay, len(s.trace().events) > 0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "<Scheduler: 4 choices made, next: main, ubatch 0 or ubatch 1> 0.1.2.0 0.1.2 True\n"
