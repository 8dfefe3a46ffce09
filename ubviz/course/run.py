"""Running a small program in virtual time and recording it: what most notebooks do. It never hangs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import BadArgument
from ..recording import record
from ..runtime import get_runtime
from ..trace import Trace
from .limit import StillRuns, TookTooLong, within

LIMIT_S = 5.0
"""Seconds that a program may take: a learner's may have no end."""


def run(program: Callable[[Any], Any], **options: Any) -> Trace:
    """The recording of ``program(rt)`` on a virtual runtime, which takes the options: the same one every time.

    >>> def program(rt):
    ...     rt.launch("attention", cls="compute", duration_ns=300_000, stream=rt.Stream("compute"))
    >>> [span.name for span in run(program).spans if span.cat == "kernel"]
    ['attention']

    Raises what the program raises, and ``BadArgument`` where it comes to no end within five seconds.
    """
    try:
        trace: Trace = within(LIMIT_S, lambda: _recorded(program, options))
    except TookTooLong:
        raise BadArgument(
            f"the program ran for {LIMIT_S:.0f} seconds without coming to an end, and was stopped"
        ) from None
    except StillRuns:
        raise BadArgument(
            "a program before this one could not be stopped, and still runs: restart the kernel, and run the cells "
            "again"
        ) from None
    return trace


def _recorded(program: Callable[[Any], Any], options: dict[str, Any]) -> Trace:
    rt = get_runtime("virtual", **options)
    try:
        with record(rt) as recording, rt.device_context():
            program(rt)
    finally:
        rt.close()
    return recording.trace
