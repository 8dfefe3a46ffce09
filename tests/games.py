"""Programs to play with in the tests of the scheduler: small ones, each with its own way to go wrong."""

from __future__ import annotations

from typing import Any

from ubviz.exploration.bare_ring import Switches
from ubviz.exploration.execution import Program
from ubviz.exploration.ring_programs import RingProgram
from ubviz.exploration.variants import program_of


def bare(yields: tuple[int, ...], **switches: Any) -> RingProgram:
    """Bare yields on the ring where nobody checks anything."""
    return RingProgram(ubatches=len(yields), switches=Switches(asserts=False, **switches), yields=yields)


def ping(rt: Any) -> None:
    """Two threads, one of which waits for the other's flag; main takes the flag down."""
    flag = rt.HostEvent("flag")
    threads = [rt.Thread(flag.set, name="ping"), rt.Thread(flag.wait, name="pong")]
    for thread in threads:
        thread.start()
    flag.clear()
    for thread in threads:
        thread.join()


PROGRAMS: dict[str, Program] = {
    "as it is": program_of(),
    "three": program_of(ubatches=3),
    "equal yields": bare((1, 1)),
    "unequal yields": bare((2, 3)),
    "clear before wait": bare((1, 1), clear="before"),
    "parties n": bare((1, 1), parties=0),
    "no barrier": program_of("no_barrier"),
    "looks": ping,
}
