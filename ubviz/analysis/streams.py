"""Which object and which stream a trace event is about, where its arguments alone do not say."""

from __future__ import annotations

from collections.abc import Hashable

from ..trace.model import Event, Trace
from .kept import of_kinds, told_rows

_ON_CURRENT = ("graph.replay", "graph.capture_begin")


def scoped(event: Event, field: str) -> Hashable:
    """The object of an event. A role such as ``cpu_event[0]`` is another object in every step.

    >>> scoped(event, "host_event")  # doctest: +SKIP
    (0, 3, 'cpu_event[0]')
    """
    name = event.args.get(field)
    return event.rank, event.step if "[" in str(name) else None, name


def current_streams(trace: Trace) -> dict[int, str]:
    """Row -> the stream that was current in its thread, for what is done on the current stream.

    It is known from the thread's switches: the last one before, else where the first one after comes from. Rows of
    threads that never switch are not in it.
    """
    if not len(of_kinds(trace, *_ON_CURRENT)):
        return {}
    now: dict[Hashable, str] = {}
    found: dict[int, str] = {}
    unknown: dict[Hashable, list[int]] = {}
    for row, event in told_rows(trace, "stream.switch", *_ON_CURRENT):
        thread = (event.rank, event.thread, event.lane)
        if event.kind == "stream.switch":
            found.update(dict.fromkeys(unknown.pop(thread, ()), event.args["from"]))
            now[thread] = event.args["to"]
        elif thread in now:
            found[row] = now[thread]
        else:
            unknown.setdefault(thread, []).append(row)
    return found
