"""How long each stream and each microbatch was busy, with what each number is made of."""

from __future__ import annotations

import numpy as np

from ..trace.model import MISSING, Trace
from .evidence import Evidence, Shown, times_of
from .intervals import length, union
from .steps import ubatches_of


def streams(trace: Trace) -> tuple[dict[str, dict[str, int]], Evidence]:
    """How long each stream was busy; with several ranks, a stream is called ``rank 1 comm``.

    >>> streams(ubviz.example("whole_game_overlapped"))[0]["comm"]["kernels"]  # doctest: +SKIP
    24
    """
    spans, kernel = trace.spans, trace.spans.mask(cat="kernel")
    several = len({lane.rank for lane in trace.lanes}) > 1
    numbers: dict[str, dict[str, int]] = {}
    shown: Evidence = {}
    for lane in trace.lanes:
        if lane.group == "streams":
            rows = np.flatnonzero(kernel & (spans["lane"] == lane.id))
            name = f"rank {lane.rank} {lane.role}" if several else lane.role
            times = times_of(trace, rows)
            busy = Shown(union(times), rows)
            shown |= {f"streams.{name}.busy_ns": busy, f"streams.{name}.kernels": Shown(times, rows)}
            numbers[name] = {"busy_ns": length(busy.intervals), "kernels": len(rows)}
    return numbers, shown


def ubatches(trace: Trace) -> tuple[dict[int, dict[str, int]], Evidence]:
    """Per microbatch: its kernels, when any of them ran, its yields, and how long its thread waited for the turn.

    >>> ubatches(ubviz.example("whole_game_overlapped"))[0][0]["yields"]  # doctest: +SKIP
    12
    """
    spans, events = trace.spans, trace.events
    kernel, blocked = spans.mask(cat="kernel"), spans.mask(cat="blocked", name="host_event.wait")
    yielded = events.mask(kind="ctx.yield")
    waited = events.mask(kind="host_event.wait") & (events["until_ns"] != MISSING)
    numbers: dict[int, dict[str, int]] = {}
    shown: Evidence = {}
    for ubatch in ubatches_of(trace):
        here = spans["ubatch"] == ubatch
        rows, mine = np.flatnonzero(kernel & here), events["ubatch"] == ubatch
        times, told = times_of(trace, rows), np.flatnonzero(waited & mine)
        waits = union(np.stack([events["t_ns"][told], events["until_ns"][told]], axis=1))
        gave = np.flatnonzero(yielded & mine)
        at = events["t_ns"][gave]
        found = {
            "kernels": Shown(times, rows), "busy_ns": Shown(union(times), rows),
            "yields": Shown(np.stack([at, at], axis=1), events=gave),
            "waiting_ns": Shown(waits, np.flatnonzero(blocked & here), told),
        }  # fmt: skip
        shown |= {f"ubatches.{ubatch}.{name}": of for name, of in found.items()}
        numbers[ubatch] = {
            "kernels": len(rows), "busy_ns": length(found["busy_ns"].intervals), "yields": len(gave),
            "waiting_ns": length(waits),
        }  # fmt: skip
    return numbers, shown
