"""What a picture shows of a trace: a step or a window, the lanes, and the rows that belong there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BadArgument
from ...trace.model import MISSING, Event, Flow, Lane, Span, Trace

GROUPS = ("threads", "streams", "network")


@dataclass(frozen=True)
class Frame:
    """One stretch ``[start_ns, end_ns)`` of a trace; spans, events and flows by their row in it.

    ``begins_ns`` and ``ends_ns`` are where what is shown begins and ends: a window may reach beyond its step.
    ``is_part`` where the window cuts something off.
    """

    trace: Trace
    step: int | None
    start_ns: int
    end_ns: int
    begins_ns: int
    ends_ns: int
    lanes: tuple[Lane, ...]
    spans: dict[int, Span]
    events: dict[int, Event]
    flows: tuple[Flow, ...]
    is_part: bool = False

    @property
    def length_ns(self) -> int:
        return max(self.end_ns - self.start_ns, 1)

    @property
    def several_ranks(self) -> bool:
        return len({lane.rank for lane in self.lanes}) > 1

    def on(self, lane: Lane, *cats: str) -> list[Span]:
        """The spans of some kinds on a lane, by their start."""
        found = [span for span in self.spans.values() if span.lane == lane.id and span.cat in cats]
        return sorted(found, key=lambda span: (span.start_ns, span.end_ns))


def frame_of(
    trace: Trace,
    step: int | None = None,
    window: tuple[int, int] | None = None,
    lanes: Sequence[str | int] | None = None,
) -> Frame:
    """Choose: a step (by default the last complete one), or a window in the time of the recording."""
    if step is None and window is None:
        step = last_complete_step(trace)
    elif step is not None and step not in trace.steps:
        known = ", ".join(map(str, trace.steps)) or "none"
        raise BadArgument(f"this trace has no step {step!r}; it has {known}")
    whole = extent(trace, step)
    start, end = whole if window is None else _window(window)
    begins, ends = (start, end) if step is None else _of_step(step, whole, start, end)
    spans = _chosen(trace.spans, trace.spans["start_ns"], trace.spans["end_ns"], step, begins, ends)
    until = np.maximum(trace.events["t_ns"], trace.events["until_ns"])
    events = _chosen(trace.events, trace.events["t_ns"], until, step, begins, ends)
    busy = {span.lane for span in spans.values()} | {event.lane for event in events.values()}
    shown = chosen_lanes(trace, lanes, busy)
    ids = {lane.id for lane in shown}
    spans = {row: span for row, span in spans.items() if span.lane in ids}
    events = {row: event for row, event in events.items() if event.lane in ids}
    flows = _flows(trace, begins, ends, {"spans": spans, "events": events})
    is_part = window is not None and (begins, ends) != whole
    return Frame(trace, step, start, end, begins, ends, shown, spans, events, flows, is_part)


def whole_frame(trace: Trace, lanes: Sequence[int]) -> Frame:
    """The events and arrows of a whole trace on some lanes, and no spans: what logical order is made of."""
    begin, end = extent(trace, None)
    by_id = {lane.id: lane for lane in trace.lanes}
    rows = np.flatnonzero(np.isin(trace.events["lane"], list(lanes)))
    events = dict(zip(rows.tolist(), trace.events.rows(rows)))
    flows = trace.flows
    between = trace.flows.rows(flows.mask(from_table="events", to_table="events"))
    kept = tuple(flow for flow in between if flow.from_row in events and flow.to_row in events)
    shown = tuple(by_id[lane] for lane in lanes)
    return Frame(trace, None, begin, end, begin, end, shown, {}, events, kept)


def last_complete_step(trace: Trace) -> int | None:
    """The last step that has ended; else the last one; None where the trace has no steps."""
    ended = trace.events["step"][trace.events.mask(kind="step.end")]
    ended = ended[ended != MISSING]
    if len(ended):
        return int(ended.max())
    return trace.steps[-1] if trace.steps else None


def _window(window: tuple[int, int]) -> tuple[int, int]:
    try:
        start, end = (int(value) for value in window)
    except (TypeError, ValueError):
        raise BadArgument(f"window must be (start_ns, end_ns), not {window!r}") from None
    if end <= start:
        raise BadArgument(f"window must end after it starts, not run from {start} to {end}")
    return start, end


def extent(trace: Trace, step: int | None) -> tuple[int, int]:
    """From the first to the last of a step (of everything, where there are no steps)."""
    spans, events = trace.spans, trace.events
    mine = np.ones(len(spans), bool) if step is None else spans["step"] == step
    mine_too = np.ones(len(events), bool) if step is None else events["step"] == step
    starts = np.concatenate([spans["start_ns"][mine], events["t_ns"][mine_too]])
    ends = np.concatenate([spans["end_ns"][mine], events["t_ns"][mine_too]])
    return (int(starts.min()), int(ends.max())) if len(starts) else (0, 0)


def _of_step(step: int, whole: tuple[int, int], start: int, end: int) -> tuple[int, int]:
    """The part of a step that lies in a stretch."""
    first, last = whole
    if first > end or last < start:
        raise BadArgument(
            f"step {step} runs from {first} to {last} ns; nothing of it lies between {start} and {end}"
        )
    return max(first, start), min(last, end)


def _chosen(
    table: Any, starts: np.ndarray, ends: np.ndarray, step: int | None, start: int, end: int
) -> dict[int, Any]:
    """The rows that touch the stretch and belong to the step, or to none."""
    keep = (starts <= end) & (ends >= start)
    if step is not None:
        keep &= (table["step"] == step) | (table["step"] == MISSING)
    rows = np.flatnonzero(keep)
    return dict(zip(rows.tolist(), table.rows(rows)))


def _flows(trace: Trace, start: int, end: int, shown: dict[str, dict[int, Any]]) -> tuple[Flow, ...]:
    """The arrows within a stretch, both of whose ends are shown."""
    flows = trace.flows
    inside = (flows["from_ns"] >= start) & (flows["to_ns"] <= end)
    return tuple(
        flow
        for flow in flows.rows(inside)
        if flow.from_row in shown[flow.from_table] and flow.to_row in shown[flow.to_table]
    )


def chosen_lanes(
    trace: Trace, wanted: Sequence[str | int] | None, busy: set[int] | None = None
) -> tuple[Lane, ...]:
    """Threads above streams above the network, in the order of the trace; only lanes on which something is."""
    if wanted is None:
        if busy is None:
            busy = {*np.unique(trace.spans["lane"]).tolist(), *np.unique(trace.events["lane"]).tolist()}
        chosen = [lane for lane in trace.lanes if lane.id in busy]
    else:
        if isinstance(wanted, str) or not isinstance(wanted, Iterable):
            raise BadArgument(f'lanes is a list of lanes, as in ["compute"], not {wanted!r}')
        chosen = list(dict.fromkeys(lane for name in wanted for lane in _named(trace, name)))
        if not chosen:
            raise BadArgument("lanes names no lane; leave it out to show all on which something is")
    return tuple(sorted(chosen, key=lambda lane: (lane.rank, GROUPS.index(lane.group))))


def _named(trace: Trace, name: str | int) -> list[Lane]:
    found = [lane for lane in trace.lanes if name in (lane.role, lane.id)]
    if not found:
        known = ", ".join(dict.fromkeys(lane.role for lane in trace.lanes))
        raise BadArgument(f"this trace has no lane {name!r}; it has {known or 'none'}")
    return found
