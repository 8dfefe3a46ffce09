"""You choose who runs next."""

from __future__ import annotations

from typing import Any

import pytest

from ubviz import Scheduler
from ubviz.errors import BadArgument
from ubviz.exploration.variants import program_of


def ping(rt: Any) -> None:
    """Two threads, one of which waits for the other's flag; main takes the flag down."""
    flag = rt.HostEvent("flag")
    threads = [rt.Thread(flag.set, name="ping"), rt.Thread(flag.wait, name="pong")]
    for thread in threads:
        thread.start()
    flag.clear()
    for thread in threads:
        thread.join()


def test_a_run_that_ends_well() -> None:
    s = Scheduler(ping)
    assert s.enabled == {
        "main": "host_event.clear flag", "ping": "host_event.set flag", "pong": "host_event.look flag",
    }  # fmt: skip
    s.choose("main").choose("ping").choose("pong")
    while s.enabled:
        s.choose(next(iter(s.enabled)))
    assert (s.over, s.deadlock, s.findings) == (True, None, [])
    assert repr(s) == "<Scheduler: 5 choices made, all have ended>"


def test_who_sleeps_is_woken_even_if_the_flag_is_down_again() -> None:
    """As ``threading.Event`` has it; who has not looked by then finds it down."""
    s = Scheduler(ping).choose("pong")
    assert "pong" not in s.enabled
    s.choose("ping").choose("main")
    assert s.enabled == {"main": "thread.join ping", "pong": "host_event.wait flag"}
    late = Scheduler(ping).choose("ping").choose("main").choose("pong").choose("main")
    assert late.deadlock is not None


def test_a_deadlock_is_told_at_once() -> None:
    s = Scheduler(ping).choose("ping")
    assert s.deadlock is None
    s.choose("main")
    while s.enabled:
        s.choose(next(iter(s.enabled)))
    assert s.over
    assert "pong waits for host event flag: clear (last set by ping)" in str(s.deadlock)
    assert len(s.findings) == 1


def test_undo_goes_to_where_it_was() -> None:
    s = Scheduler(ping)
    before = s.enabled
    s.choose("ping").choose("pong")
    assert s.undo(2).enabled == before
    assert s.replay == "look:"
    with pytest.raises(BadArgument, match=r"^0 choices were made, 1 cannot be taken back$"):
        s.undo()


def test_a_string_leads_to_the_same_place() -> None:
    s = Scheduler(ping).choose(1).choose("pong").choose("main")
    again = Scheduler(ping, s.replay)
    assert (again.replay, again.enabled, repr(again)) == ("look:1.2.0", s.enabled, repr(s))


def test_who_cannot_go_on_is_not_chosen() -> None:
    with pytest.raises(BadArgument) as caught:
        Scheduler(ping).choose("pong").choose("pong")
    assert str(caught.value) == "'pong' cannot go on now; able to go on: main, ping"


def test_the_trace_is_what_has_happened_so_far() -> None:
    s, lengths = Scheduler(program_of()), []
    for _ in range(6):
        s.choose(next(iter(s.enabled)))
        lengths.append(len(s.trace().events))
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]
    assert "error" not in set(s.trace().events["kind"])
