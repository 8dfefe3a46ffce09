"""Whatever an answer does and whenever its check is stopped: the one who asks goes on, and the next check begins."""

from __future__ import annotations

import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ubviz import course
from ubviz.course.limit import StillRuns, TookTooLong, within


@pytest.fixture(autouse=True)
def no_progress_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UBVIZ_PROGRESS", str(tmp_path / "progress.json"))


def take(flag: Any) -> None:
    flag.wait()
    flag.clear()


def endless(flag: Any) -> None:
    while True:
        pass


@pytest.mark.timeout(120)
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <function WeakSet"
)  # lost in a callback, and told again
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnhandledThreadExceptionWarning"
)  # Python is silent: SystemExit
@pytest.mark.parametrize("answer", [take, endless])
def test_a_check_may_be_stopped_at_any_moment(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = random.Random(7)
    threads = threading.active_count()
    for _ in range(15):
        monkeypatch.setattr(sys.modules["ubviz.course.check"], "LIMIT_S", moments.uniform(0.005, 0.3))
        verdict = str(course.check("04.take", answer))
        assert "could not be stopped" not in verdict
        assert threading.active_count() == threads


def test_what_cannot_be_ended_is_said_at_the_next_check_until_it_has_ended() -> None:
    go_on = threading.Lock()
    go_on.acquire()
    with pytest.raises(TookTooLong):
        within(0.05, go_on.acquire)  # in C, where no exception reaches it
    with pytest.raises(StillRuns):
        within(5, lambda: 1)
    go_on.release()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            assert within(5, lambda: 6 * 7) == 42
            return
        except StillRuns:
            threading.Event().wait(0.01)
    raise AssertionError("what has ended is still held against the next")
