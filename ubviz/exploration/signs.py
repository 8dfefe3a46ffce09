"""Signs of life of ranks, as the process that started them sees them.

1. A rank that is stopped (SIGSTOP, SIGTSTP, a debugger) is known at once: the system tells its parent. It has
   ``stopped_s`` to be continued.
2. A rank that is not, and hangs all the same, no longer writes into its pipe, nor into the store. That may also be a
   long import on a busy machine, so it has longer: ``silent_s``, and ``first_s`` until its first sign.

Where the system cannot be asked without taking its answer away from others (``os.waitid``: macOS before Python 3.13),
a stopped rank is known by its silence alone.

Not here: a rank that lives and misses a collective; the ranks themselves tell that (``engine.watch``).

Source: POSIX ``waitid``, ``WSTOPPED`` and ``WCONTINUED``.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ..engine.logs import LEFT, Told
from ..engine.watch import BEAT_S, silent
from ..errors import RankDied


class Limits(NamedTuple):
    """Seconds that a rank may give no sign of life."""

    silent_s: float = 15.0  # from its first one on: loading PyTorch can hold one back
    first_s: float = 60.0  # until the first one, which may come when the ranks have met
    ending_s: float = 60.0  # after its last one, when it has left: taking PyTorch down can take long
    stopped_s: float = 15.0  # from when it was stopped


class Signs:
    """What each rank gives as signs of life: bytes through a pipe of its own, and a beat in the store.

    >>> with signs.pipe(0) as end_of_rank:  # doctest: +SKIP
    ...     signs.follow(0, subprocess.Popen(command, pass_fds=(end_of_rank,)).pid)
    >>> signs.check({0})  # raises RankDied when rank 0 has been silent for too long  # doctest: +SKIP
    """

    def __init__(self, ranks: int, beats: Callable[[], dict[int, str | None]], limits: Limits) -> None:
        self.limits, self._beats = limits, beats
        self._pipes: dict[int, int] = {}
        self._stops: dict[int, Stops] = {}
        self._since = dict.fromkeys(range(ranks), time.monotonic())
        self._last: dict[int, str | None] = dict.fromkeys(range(ranks))
        self._heard: set[int] = set()
        self._next = 0.0

    @contextmanager
    def pipe(self, rank: int) -> Iterator[int]:
        """The end of a pipe to start ``rank`` with; this process does not keep it."""
        self._pipes[rank], end_of_rank = os.pipe()
        os.set_blocking(self._pipes[rank], False)
        os.set_blocking(end_of_rank, False)  # so that a rank never waits for who does not read
        self._since[rank] = time.monotonic()
        try:
            yield end_of_rank
        finally:
            os.close(end_of_rank)

    def follow(self, rank: int, pid: int) -> None:
        """``rank`` is the child ``pid`` of this process."""
        self._stops[rank] = Stops(pid)

    def check(self, running: Collection[int]) -> None:
        """Raise ``RankDied`` if one of ``running`` has given no sign of life for too long."""
        now = time.monotonic()  # before reading: this process may have been stopped itself
        if now < self._next:
            return
        self._next = now + BEAT_S
        beats = self._beats()
        for rank in running:
            if self._wrote(rank) or beats[rank] != self._last[rank]:
                self._heard.add(rank)
                self._since[rank], self._last[rank] = now, beats[rank]
            told = Told.from_json(beats[rank])
            stopped = self._stops[rank].by(now, self.limits.stopped_s)
            if stopped is not None or now - self._since[rank] > self._limit(rank, told):
                raise RankDied(silent(rank, told, stopped))

    def _limit(self, rank: int, told: Told) -> float:
        if rank not in self._heard:
            return self.limits.first_s
        return self.limits.ending_s if told.number == LEFT else self.limits.silent_s

    def _wrote(self, rank: int) -> bool:
        try:
            return bool(os.read(self._pipes[rank], 65_536))
        except BlockingIOError:
            return False

    def close(self) -> None:
        for pipe in self._pipes.values():
            os.close(pipe)


class Stops:
    """Whether a child of this process is stopped, and since when."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._stop: tuple[float, str] | None = None  # when it was seen first, and the signal

    def by(self, now: float, limit_s: float) -> str | None:
        """The signal that stopped it, when that was more than ``limit_s`` before ``now``; else None."""
        if hasattr(os, "waitid"):
            self._ask(now)
        return self._stop[1] if self._stop is not None and now - self._stop[0] > limit_s else None

    def _ask(self, now: float) -> None:
        """Take all that the system has to tell; how a child ended is left for who waits for it."""
        while True:
            try:
                told = os.waitid(os.P_PID, self._pid, os.WSTOPPED | os.WCONTINUED | os.WNOHANG)
            except ChildProcessError:  # it has ended, and was waited for
                return
            if told is None:
                return
            stopped = told.si_code == os.CLD_STOPPED
            self._stop = (now, signal.Signals(told.si_status).name) if stopped else None
