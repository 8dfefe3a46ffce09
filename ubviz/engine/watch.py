"""Who is where: each rank tells the others, through the store, that it is alive and which collectives it began.

A collective that not every rank calls hangs, or pairs with a later one, far from the mistake. Therefore:

1. A rank logs each collective when it begins it: the group, the step, the name. This is a list append.
2. A thread of its own puts the log's end, and a number that grows, into the store, every ``BEAT_S``.
3. When a collective fails (its time is up, or a connection broke), ``diagnose`` reads the others' logs, finds the
   first place where two logs differ, and names the rank that was not there (``logs``). A number that no longer grows
   is a rank that gives no sign of life: it died, or was stopped.
4. When the store is gone, who started the ranks is gone: the process ends.

Not here: what happens inside of a collective; a rank that is slower than the time limit counts as missing.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from ..errors import MissedCollective, RankDied, RankError
from .logs import LEFT, Entry, Log, Logs, Told, missed

BEAT_S = 0.2
DEAD_S = 6.0  # so long without a beat, on however busy a machine, is no sign of life
KEPT = 256  # entries of each group's log that are told
IN_THE_MEANTIME = "failed in the meantime: "


class Watch:
    """One rank's log, its beat, and what it knows of the others."""

    def __init__(self, store: Any, rank: int, size: int, limit_s: float) -> None:
        self.rank, self.size, self.limit_s = rank, size, limit_s
        self._store, self._lock = store, threading.Lock()
        self._logs: dict[str, list[Entry]] = {}
        self._last: Entry | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="ubviz rank watch", daemon=True)
        self._thread.start()

    def begin(self, group: str, step: int, name: str) -> int:
        """Log a collective; its place in the group's log comes back."""
        log = self._logs.setdefault(group, [])
        self._last = Entry(step, name)
        log.append(self._last)
        return len(log) - 1

    @property
    def last_step(self) -> int:
        """The step of the last collective that began here; 0 before any."""
        return self._last.step if self._last is not None else 0

    def fail(self, sentence: str) -> None:
        """Tell the others, and who started the ranks, why this one ends."""
        with self._lock:
            self._store.set(f"failed/{self.rank}", sentence)

    def close(self) -> None:
        """Leave; the last beat says so, since what is left to do until the process has ended may take its time."""
        self._over.set()
        self._thread.join()
        try:
            self._store.set(f"beat/{self.rank}", Told(LEFT, self._last, self._ends()).to_json())
        except Exception:  # who holds the store has left before
            pass

    # ---- the beat

    def _beat(self) -> None:
        number = 0
        while not self._over.is_set():
            number += 1
            try:
                told = Told(number, self._last, self._ends()).to_json()
                with self._lock:
                    self._store.set(f"beat/{self.rank}", told)
            except Exception:  # the store went with the process that started the ranks
                if not self._over.wait(BEAT_S):
                    os._exit(1)
            self._over.wait(BEAT_S)

    def _ends(self) -> Logs:
        return {
            group: Log(max(0, len(log) - KEPT), tuple(log[-KEPT:])) for group, log in list(self._logs.items())
        }

    def _read(self, key: str) -> str | None:
        with self._lock:
            return self._store.get(key).decode() if self._store.check([key]) else None

    # ---- after a failure

    def diagnose(self, group: str, place: int, cause: BaseException) -> RankError:
        """What went wrong with the collective at ``place`` of this rank's log, in one sentence."""
        mine = {**self._ends(), group: Log(0, tuple(self._logs[group][: place + 1]))}
        peers = {peer: Pulse(peer) for peer in range(self.size) if peer != self.rank}
        deadline = time.monotonic() + DEAD_S + 10 * BEAT_S
        while time.monotonic() < deadline:
            for peer, pulse in peers.items():
                if (sentence := self._read(f"failed/{peer}")) is not None:
                    return RankError(f"rank {peer} {IN_THE_MEANTIME}{sentence}")
                pulse.feel(Told.from_json(self._read(f"beat/{peer}")))
                if pulse.gone():
                    return RankDied(silent(peer, pulse.told))
            if all(pulse.beats >= 2 for pulse in peers.values()):  # so the logs are of after the failure
                told: dict[int, Logs | Told] = {peer: pulse.told for peer, pulse in peers.items()}
                if (found := missed(self.rank, mine, told, group)) is not None:
                    return MissedCollective(f"{found} (time limit {self.limit_s:g} s)")
            self._over.wait(BEAT_S / 2)
        return RankError(f"{mine[group].at(place)} failed on rank {self.rank}: {cause}")


def silent(rank: int, told: Told, stopped: str | None = None) -> str:
    """That a rank gives no sign of life, which does not say that it is dead, and where it was seen last.

    >>> silent(1, Told(9, Entry(3, "the vote"), {}))
    'rank 1 gives no sign of life; the last collective that it was seen in is the vote in step 3'
    >>> silent(1, Told(0, None, {}), stopped="SIGSTOP")
    'rank 1 gives no sign of life: SIGSTOP has stopped it'
    """
    how = f": {stopped} has stopped it" if stopped else ""
    seen = f"; the last collective that it was seen in is {told.last}" if told.last else ""
    return f"rank {rank} gives no sign of life{how}{seen}"


class Pulse:
    """What one other rank has told since this one began to look."""

    def __init__(self, rank: int) -> None:
        self.rank, self.beats = rank, -1
        self.told = Told(-1, None, {})
        self.since = time.monotonic()

    def feel(self, told: Told) -> None:
        if told.number != self.told.number:
            self.beats, self.since = self.beats + 1, time.monotonic()
        if told.number == LEFT:
            self.beats = 2  # there is no later one to wait for
        self.told = told

    def gone(self) -> bool:
        return time.monotonic() - self.since > DEAD_S
