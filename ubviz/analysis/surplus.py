"""The finding ``surplus_wait``: waits that cover work which their reader does not need, and what they cost.

The cost is predicted by ``retime``: the waits of one direction are bound to the last operation that they need,
everything else stays as it was recorded.
"""

from __future__ import annotations

from ..trace.model import Event, Trace
from .findings import Finding
from .graph import Graph, graph
from .overlap import overlap
from .retime import change
from .waits import Wait, by_direction, waits


def surplus(trace: Trace, found: list[Wait] | None = None, drawn: Graph | None = None) -> list[Finding]:
    """One finding for each pair of streams whose waits cover too much; none on a correct recording.

    >>> surplus(trace)  # doctest: +SKIP
    []
    """
    groups = list(by_direction(waits(trace) if found is None else found))
    if not groups:
        return []
    drawn = graph(trace) if drawn is None else drawn
    return [_finding(trace, drawn, group) for group in groups]


def _finding(trace: Trace, drawn: Graph, group: list[Wait]) -> Finding:
    instead = {wait.row: wait.needed for wait in group if wait.row is not None}
    after = change(drawn, drop_waits=instead)
    gain_ns = after.before_ns - after.makespan_ns
    hidden_ns = overlap(after.trace()).overlap_ns - overlap(trace).overlap_ns
    worst = max(group, key=lambda wait: wait.stall_ns)
    recorded = _event(trace, worst.rank, worst.record_seq)
    times = "once" if len(group) == 1 else f"{len(group)} times"
    sentence = (
        f"{worst.stream} waits {times} for more of {worst.recorded_on} than it needs, for instance for "
        f"{worst.event}, recorded at {recorded.caller}: it covers {_covered(trace, worst)}, which no kernel that "
        f"relies on this wait touches. {_remedy(trace, worst)} would give back {_us(gain_ns)} of makespan and "
        f"{_us(hidden_ns)} of overlap (predicted)"
    )
    events = [seq for wait in group for seq in (wait.record_seq, wait.wait_seq)]
    return Finding("surplus_wait", "warning" if gain_ns > 0 else "info", sentence, tuple(events))


def _event(trace: Trace, rank: int, seq: int) -> Event:
    rows = trace.events.rows(trace.events.mask(rank=rank, seq=seq))
    event: Event = rows[0]
    return event


def _covered(trace: Trace, wait: Wait) -> str:
    """The surplus operations, by name and microbatch, each once."""
    seen = dict.fromkeys(operation(trace, row) for row in wait.surplus)
    names = list(seen)
    said = ", ".join(names[:4])
    return said if len(names) <= 4 else f"{said} and {len(names) - 4} more"


def operation(trace: Trace, row: int) -> str:
    """A kernel by its operation and microbatch: ``router (ubatch 1)``."""
    span = trace.spans[row]
    name = span.operation or span.name
    return name if span.ubatch is None else f"{name} (ubatch {span.ubatch})"


def _remedy(trace: Trace, wait: Wait) -> str:
    if wait.needed is None:
        return "Not to wait"
    return f"To record it right after {operation(trace, wait.needed)}"


def _us(ns: int) -> str:
    return f"{ns / 1000:,.1f} us"
