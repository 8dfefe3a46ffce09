"""Links of the host runtime, and what a launch does: it receives, runs its function, takes its time, and sends.

A transfer in flight is on no stream. It departs when its sending kernel ends, and goes when the link is free; the
receiving kernel spins until it has arrived.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import AsyncError
from .base import Launch

if TYPE_CHECKING:
    from .host import HostRuntime


class LostFlight(Exception):
    """A receiving kernel's flight never departed; ``error`` is what befell its sender."""

    def __init__(self, error: AsyncError) -> None:
        super().__init__(str(error))
        self.error = error


class Flight:
    """One transfer: departs when its sending kernel ends, arrives ``duration_ns`` after its turn on the link."""

    __slots__ = ("_departed", "arrival_ns", "duration_ns", "error", "link", "nbytes")

    def __init__(self, link: Link, duration_ns: int, nbytes: int) -> None:
        self.link, self.duration_ns, self.nbytes = link, duration_ns, nbytes
        self.arrival_ns = 0
        self.error: AsyncError | None = None
        self._departed = threading.Event()

    def again(self) -> Flight:
        """Another like it, for one replay of the graph that holds it."""
        return Flight(self.link, self.duration_ns, self.nbytes)

    def depart(self, launch: Launch | None) -> None:
        """Leave now, or when the link is free; ``launch`` is what sends."""
        start = max(time.perf_counter_ns(), self.link.free_ns)
        self.arrival_ns = self.link.free_ns = start + self.duration_ns
        if (device := self.link.runtime.hooks.device) is not None:
            device("transfer", self.link, (self, launch, start, self.arrival_ns))
        self._departed.set()

    def lose(self, error: AsyncError) -> None:
        """Never depart, since the sending kernel failed or was skipped."""
        self.error = error
        self._departed.set()

    def arrive(self) -> None:
        """Spin, as a receiving kernel does, until the data is there."""
        self._departed.wait()
        if self.error is not None:
            raise LostFlight(self.error)
        sleep_until(self.arrival_ns)


class Link:
    """A modelled wire: transfers go one after the other, each for its duration, on no stream."""

    def __init__(self, runtime: HostRuntime, name: str = "network") -> None:
        self.runtime, self.name = runtime, name
        self.free_ns = 0

    def flight(self, duration_ns: int, nbytes: int = 0) -> Flight:
        """A transfer to come; give it to a launch as ``sends`` and to a later one as ``receives``."""
        return Flight(self, duration_ns, nbytes)


def run_launch(
    fn: Callable[..., Any] | None,
    args: tuple[Any, ...],
    duration_ns: int | None,
    sends: Flight | None,
    receives: Flight | None,
    launch: Launch | None,
) -> None:
    """The kernel of ``HostRuntime.launch``."""
    start = time.perf_counter_ns()
    if receives is not None:
        receives.arrive()
    if fn is not None:
        fn(*args)
    if duration_ns is not None:
        sleep_until(start + duration_ns)
    if sends is not None:
        sends.depart(launch)


def sleep_until(t_ns: int) -> None:
    while (left := t_ns - time.perf_counter_ns()) > 0:
        time.sleep(left / 1e9)
