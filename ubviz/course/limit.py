"""No check of an answer hangs: what takes too long is ended, with the threads that it started.

A signal ends what runs in the main thread; elsewhere (or where there are no such signals) the work is done by a thread
that is waited for. Threads that go on are ended by an exception of their own: a loop that calls nothing but C code
for ever is out of reach, and is left behind as a daemon.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable
from typing import Any


class TookTooLong(BaseException):
    """No ``Exception``: an answer that catches those must not catch this."""


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What ``work()`` returns; raises ``TookTooLong`` after ``seconds``.

    >>> within(5, lambda: 6 * 7)
    42
    """
    before = set(threading.enumerate())
    try:
        if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
            return _by_signal(seconds, work)
        return _by_thread(seconds, work)
    except TookTooLong:
        for thread in set(threading.enumerate()) - before:
            _end(thread)
        raise


def _by_signal(seconds: float, work: Callable[[], Any]) -> Any:
    def ring(*_: Any) -> None:
        raise TookTooLong

    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def _by_thread(seconds: float, work: Callable[[], Any]) -> Any:
    result: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="check of an answer", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TookTooLong
    if raised:
        raise raised[0]
    return result[0]


def _end(thread: threading.Thread) -> None:
    """By what ends a thread without a word."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
