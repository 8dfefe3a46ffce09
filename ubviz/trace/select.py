"""Some steps of a trace, as a trace of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import BadArgument
from .model import MISSING, Event, Flow, Span, Trace, make_table


def only_steps(trace: Trace, steps: Iterable[int]) -> Trace:
    """The rows that belong to ``steps``; what lasts longer (a thread's life) is cut to each of them.

    Trace events keep their ``seq``, flows whose ends are both kept stay. Lanes, meta and notices are the whole
    trace's.
    """
    chosen = sorted(set(steps))
    unknown = [step for step in chosen if step not in trace.steps]
    if unknown or not chosen:
        raise BadArgument(f"this trace has the steps {list(trace.steps)}, not {unknown or 'an empty choice'}")
    events = np.flatnonzero(np.isin(trace.events["step"], chosen))
    spans = np.flatnonzero(np.isin(trace.spans["step"], chosen) & ~_long(trace))
    rows = [list(span) for span in trace.spans.rows(spans)]
    lives = [life for step in chosen for life in _lives(trace, step)]
    every = rows + lives
    order = sorted(range(len(every)), key=lambda i: _start(every[i]))
    place = {int(spans[i]): new for new, i in enumerate(order) if i < len(rows)}
    kept = {"events": {int(row): new for new, row in enumerate(events)}, "spans": place}
    return Trace(
        make_table(Event, trace.events.rows(events)),
        make_table(Span, [every[i] for i in order]),
        make_table(Flow, _flows(trace, kept)),
        trace.lanes,
        trace.meta,
        trace.notices,
    )


def _start(row: Sequence[Any]) -> tuple[int, int]:
    return row[0], -row[1]


def _long(trace: Trace) -> np.ndarray:
    """Lives of threads that do not begin and end within one step: they belong to no step."""
    return trace.spans.mask(cat="thread") & (trace.spans["step"] == MISSING)


def _lives(trace: Trace, step: int) -> list[list[Any]]:
    events, spans = trace.events, trace.spans
    inside = spans["step"] == step
    times = np.concatenate([events["t_ns"][events["step"] == step], spans["end_ns"][inside]])
    low, high = int(times.min()), int(times.max())
    found = []
    for span in spans.rows(_long(trace)):
        start, end = max(span.start_ns, low), min(span.end_ns, high)
        if start < end:
            found.append([*span._replace(start_ns=start, end_ns=end, step=step)])
    return found


def _flows(trace: Trace, kept: dict[str, dict[int, int]]) -> list[Sequence[Any]]:
    flows = []
    for flow in trace.flows:
        cause, effect = kept[flow.from_table].get(flow.from_row), kept[flow.to_table].get(flow.to_row)
        if cause is not None and effect is not None:
            flows.append(flow._replace(from_row=cause, to_row=effect))
    return flows
