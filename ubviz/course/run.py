"""Running a small program in virtual time and recording it: what most notebooks do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..recording import record
from ..runtime import get_runtime
from ..trace import Trace


def run(program: Callable[[Any], Any], **options: Any) -> Trace:
    """The recording of ``program(rt)`` on a virtual runtime, which takes the options: the same one every time.

    >>> def program(rt):
    ...     rt.launch("attention", cls="compute", duration_ns=300_000, stream=rt.Stream("compute"))
    >>> [span.name for span in run(program).spans if span.cat == "kernel"]
    ['attention']
    """
    rt = get_runtime("virtual", **options)
    try:
        with record(rt) as recording, rt.device_context():
            program(rt)
    finally:
        rt.close()
    return recording.trace
