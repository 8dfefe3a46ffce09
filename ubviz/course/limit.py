"""No check of an answer hangs: what takes too long is ended, with the threads that it started.

The work is done by a thread that is waited for, never by the one that asks: an answer may catch whatever ends it, and
what waits for its threads may wait for ever. Threads that go on are ended by an exception of their own. One that
calls nothing but C code for ever, or catches that exception, is out of reach, and is left behind as a daemon.
"""

from __future__ import annotations

import codecs
import ctypes
import linecache
import sys
import threading
import time
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

UNWINDS_S = 1.0
"""How long threads that were ended may take to leave: what they hold is then free for the next check."""

MOST = 4
IDLE = 0.1
"""The part of a processor below which something waits, and does not work."""
HANDS_ON = (threading.__file__, str(Path(__file__).resolve().parents[1] / "runtime"))
"""Files in which threads start and wake one another."""
READS = (linecache.__file__, tokenize.__file__, codecs.IncrementalDecoder.decode.__code__.co_filename)
"""Files in which a source is read: who ends there leaves it open. That takes a moment."""


class TookTooLong(BaseException):
    """No ``Exception``: an answer that catches those must not catch this."""


class StillRuns(Exception):
    """Threads of an answer that was stopped before would not end, and may hold what the next one needs."""


_left_behind: list[threading.Thread] = []


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What ``work()`` returns; raises what it raises, and ``TookTooLong`` after ``seconds``.

    Where other programs take the processor, work that has not had so many seconds of it goes on, up to ``MOST`` times
    as long.

    >>> within(5, lambda: 6 * 7)
    42

    Raises ``StillRuns`` as long as threads go on that an earlier call could not end.
    """
    _left_behind[:] = [thread for thread in _left_behind if thread.is_alive()]
    if _left_behind:
        raise StillRuns
    before = set(threading.enumerate())
    result: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="check of an answer", daemon=True)
    thread.start()
    try:
        _join(thread, seconds)
    except KeyboardInterrupt:  # who asks has had enough
        _end(before)
        raise
    if thread.is_alive():
        _end(before)
        raise TookTooLong
    if raised:
        raise raised[0]
    return result[0]


def _join(thread: threading.Thread, seconds: float) -> None:
    began, used = time.monotonic(), time.process_time()
    thread.join(seconds)
    while thread.is_alive():
        passed, worked = time.monotonic() - began, time.process_time() - used
        if worked >= seconds or worked < IDLE * passed or passed >= MOST * seconds:
            return
        thread.join(0.05)


def _end(before: set[threading.Thread]) -> None:
    """End all threads but these, by what ends one without a word; those that can will be gone afterwards."""
    begun = time.monotonic()
    while (going := _since(before)) and (passed := time.monotonic() - begun) < UNWINDS_S:
        for thread in going:
            if passed > UNWINDS_S / 2 or _may_end(thread):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
                )  # again and again: what a callback of the collector is told is lost
        for thread in going:
            # not its own join: threads of a runtime are joined by those of that runtime alone
            threading.Thread.join(thread, 0.1 / len(going))
    _left_behind.extend(going)


def _since(before: set[threading.Thread]) -> list[threading.Thread]:
    """Who runs now and did not then; one that is just being started comes with a later look."""
    alive = threading.Thread.is_alive  # not its own, as above
    return [thread for thread in threading.enumerate() if thread not in before and alive(thread)]


def _may_end(thread: threading.Thread) -> bool:
    """Whether others can go on without it: who ends while it starts or wakes another leaves that one waiting for ever.

    A runtime lets all its threads go when the program of one has ended, so it is enough to end that one there.
    """
    frame = sys._current_frames().get(thread.ident or 0)
    return frame is not None and not frame.f_code.co_filename.startswith(HANDS_ON + READS)
