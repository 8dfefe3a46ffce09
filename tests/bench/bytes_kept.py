"""Bytes that a trace event takes: in the recorder's buffer while recording, and in the finished Trace."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

from tests.bench import Row
from tests.bench.recording_cost import EVENTS, toggle
from ubviz import get_runtime, record


def rows() -> Iterator[Row]:
    """A host event set and cleared, 20,000 trace events."""
    rt = get_runtime("host")
    event = rt.HostEvent("turn")
    run = toggle(event)
    with record(rt, watchdog_s=None):
        run()  # everything that is made once is made
    with record(rt, watchdog_s=None) as recording:
        yield Row("bytes an event, while recording", kept(run) / EVENTS, "B", 150)
        recording._facts.clear()
    yield Row("bytes an event, in the Trace", kept(lambda: trace_of(rt, run)) / EVENTS, "B", 150)
    rt.close()


def trace_of(rt: Any, run: Callable[[], None]) -> Any:
    with record(rt, watchdog_s=None) as recording:
        run()
    return recording.trace


def kept(run: Callable[[], Any]) -> int:
    """Bytes that are allocated by ``run()`` and still held while its result is."""
    gc.collect()
    tracemalloc.start()
    result = run()
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return size
