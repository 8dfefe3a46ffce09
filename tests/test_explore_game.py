"""The graph of a program's states, to play in: it says what the scheduler says, everywhere, and the same each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import groupby
from typing import Any

import pytest

from tests.test_scheduler import ping
from ubviz import Scheduler
from ubviz.errors import BadArgument
from ubviz.exploration.execution import Program
from ubviz.exploration.game import game
from ubviz.exploration.ring_programs import RingProgram
from ubviz.exploration.variants import program_of
from ubviz.runtime.schedule import read_schedule, written

BARE = program_of(ring="bare").switches
PROGRAMS: dict[str, Program] = {
    "ping": ping, "own": program_of(), "yields": RingProgram(yields=(2, 3), switches=BARE),
    "lost": program_of("clear_before_wait", ring="bare"), "raises": program_of("raise_in_model"),
}  # fmt: skip


def said(graph: dict[str, Any], node: dict[str, Any]) -> dict[str, str]:
    """Who can go on there, and what each would do, as the scheduler says it."""
    acts = (graph["acts"][node["acts"][thread]] for thread in node["able"])
    return {
        graph["threads"][t]: f"{act['kind']} {act['object']}"
        for t, act in zip(node["able"], acts, strict=True)
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_says_what_the_scheduler_says_on_every_walk_to_an_end(name: str) -> None:
    graph = game(PROGRAMS[name])
    for end in graph["ends"]:
        scheduler, node = Scheduler(PROGRAMS[name], graph["prefix"]), graph["nodes"][graph["start"]]
        for thread in read_schedule(end["replay"]):
            assert said(graph, node) == scheduler.enabled
            node = graph["nodes"][node["next"][node["able"].index(thread)]]
            scheduler.choose(thread)
        assert (node["able"], scheduler.over) == ([], True)
        assert graph["ends"][node["end"]] == end
        lines = str(scheduler.deadlock).splitlines()[1:] if scheduler.deadlock else []
        assert [line for line in end["lines"] if " raised " not in line] == [line.strip() for line in lines]


def walks(graph: dict[str, Any]) -> list[int]:
    """From each node, how many walks there are to an end."""
    count: dict[int, int] = {}

    def of(at: int) -> int:
        if at not in count:
            count[at] = sum(map(of, graph["nodes"][at]["next"])) or 1
        return count[at]

    return [of(at) for at in range(len(graph["nodes"]))]


@pytest.mark.parametrize("name, interleavings", [("own", 1_890), ("ping", 12), ("lost", 157_860)])
def test_its_walks_are_the_schedules(name: str, interleavings: int) -> None:
    graph = game(PROGRAMS[name])
    assert walks(graph)[graph["start"]] == graph["interleavings"] == interleavings


def test_what_is_to_be_seen_of_a_first_turn() -> None:
    """Main and two microbatches: the barrier opens, main sets the first one going."""
    graph = game(RingProgram(yields=(1, 1), switches=BARE))
    assert graph["threads"] == ["main", "ubatch 0", "ubatch 1"]
    assert graph["host_events"] == ["cpu_event[0]", "cpu_event[1]"]
    assert graph["barriers"] == [{"name": "ready_barrier", "parties": 3}]
    node, seen = graph["nodes"][graph["start"]], []
    for thread in read_schedule("0.1.2.0x2.1x2"):
        seen.append((node["barriers"][0][:2], node["flags"], node["turn"]))
        node = graph["nodes"][node["next"][node["able"].index(thread)]]
    assert [same for same, _ in groupby(seen)] == [
        ([0, 0], [0, 0], []), ([1, 0], [0, 0], []), ([2, 0], [0, 0], []), ([0, 1], [0, 0], []), ([0, 1], [1, 0], []),
    ]  # fmt: skip
    assert (node["flags"], node["turn"]) == ([1, 0], [1])
    act = graph["acts"][node["acts"][1]]
    assert act["words"] == "clear cpu_event[0]"
    at, caller = (graph["places"][act[which]] for which in ("at", "caller"))
    assert (at["file"], at["function"]) == ("ubviz/exploration/bare_ring.py", "PlainContext._take_turn")
    assert caller["function"] == "RingProgram._microbatch"
    text = {(source["file"], source["function"]): source for source in graph["sources"]}
    source = text[at["file"], at["function"]]
    line = source["text"].splitlines()[at["line"] - source["line"]]
    assert line.strip() == "self.cpu_wait_event.clear()"


def test_two_that_are_awake_at_once_have_the_turn_both() -> None:
    graph = game(program_of("no_clear", ring="bare"))
    assert [1, 2] in [node["turn"] for node in graph["nodes"]]
    assert [1, 2] not in [node["turn"] for node in game(program_of(ring="bare"))["nodes"]]


def test_it_knows_where_all_is_lost() -> None:
    graph = game(PROGRAMS["lost"])
    start = graph["nodes"][graph["start"]]
    assert (start["good"], start["bad"]) == (True, True)
    lost = [node for node in graph["nodes"] if not node["good"] and node["able"]]
    assert lost
    assert all(not graph["nodes"][to]["good"] for node in lost for to in node["next"])
    verdicts = {end["verdict"]: {f["kind"] for f in end["findings"]} for end in graph["ends"]}
    assert verdicts["done"] == set()
    assert {"deadlock", "lost_wakeup"} <= verdicts["deadlock"]
    assert all(not node["good"] for node in game(PROGRAMS["yields"])["nodes"])
    assert all(not node["bad"] for node in game(PROGRAMS["own"])["nodes"])


def test_a_walk_by_hand_is_the_string_of_the_scheduler() -> None:
    graph = game(ping)
    node, walk = graph["nodes"][graph["start"]], []
    while node["able"]:
        walk.append(node["able"][-1])
        node = graph["nodes"][node["next"][-1]]
    replay = graph["prefix"] + written(walk)
    assert Scheduler(ping, replay).over


def test_a_program_that_is_too_large_is_refused() -> None:
    with pytest.raises(
        BadArgument, match=r"^this program has more than 50 states, too many to play with: take "
    ):
        game(program_of(), limit=50)


def test_a_program_without_any_choice() -> None:
    graph = game(lambda rt: None)
    assert (len(graph["nodes"]), graph["nodes"][0]["end"], graph["ends"][0]["verdict"]) == (1, 0, "done")


def test_the_same_bytes_in_fresh_processes() -> None:
    command = (
        "import json; from ubviz.exploration.game import game; "
        "from ubviz.exploration.variants import program_of; print(json.dumps(game(program_of(layers=2))))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", command],
            capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (0, 1)
    }  # fmt: skip
    assert printed == {json.dumps(game(program_of(layers=2))) + "\n"}
