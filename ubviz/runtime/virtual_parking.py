"""Who waits for what in a virtual runtime, as its recorder and its watchdog ask it."""

from __future__ import annotations

from ..errors import Deadlock
from .virtual_baton import Baton, Runner


class Parking:
    """Who waits for what."""

    def __init__(self, baton: Baton) -> None:
        self._baton = baton

    @property
    def waiting(self) -> dict[int, Parked]:
        """By the identifiers of the threads."""
        return {
            r.ident or 0: Parked(r)
            for r in self._baton.runners
            if r.pending is not None and r.pending.ready_ns(r) is None
        }

    def interrupt(self, report: str) -> None:
        """End every wait that cannot end by itself with ``Deadlock(report)``."""
        waiting = [r for r in self._baton.runners if r.pending is not None]
        self._baton.stall(waiting, Deadlock(report))

    def resume(self) -> None:
        """Waits to come have not been interrupted."""


class Parked:
    """A thread that waits: for what kind of thing, which one, since when, and whether a time-out ends it."""

    def __init__(self, runner: Runner) -> None:
        assert runner.pending is not None
        kind = runner.pending.kind
        self.thread, self.obj, self.since_ns = runner.thread, runner.pending.obj, runner.since_ns
        self.kind = "barrier.arrive" if kind == "barrier.release" else kind
        self.timed = runner.deadline_ns is not None
