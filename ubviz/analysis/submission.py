"""Unordered submission: two threads give work to one stream, and nothing says which of them comes first.

A stream runs what it is given in the order in which it is given it; where two threads may give in either order,
another run has another order. Neighbours in a stream are compared, since the order of all follows from theirs.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from ..trace.model import Event, Trace
from .findings import Finding
from .nodes import Lane
from .order import Order
from .words import at, lane_name, stream_name, times


def unordered_submission(trace: Trace, order: Order | None = None) -> list[Finding]:
    """One finding for each two threads and stream; an error where the two touch one buffer, else a warning.

    >>> [finding.severity for finding in unordered_submission(trace)]  # doctest: +SKIP
    ['warning']
    """
    order = order or Order(trace)
    found: dict[tuple[Lane, frozenset[Lane]], list[tuple[Event, Event]]] = defaultdict(list)
    last: dict[Lane, int] = {}
    host, lanes = order.causes.host, order.causes.lanes
    rows = np.flatnonzero(order.causes.device >= 0)
    for row, node in zip(rows.tolist(), order.causes.device[rows].tolist(), strict=True):
        before = last.get(lanes[node])
        last[lanes[node]] = row
        if before is None or lanes[host[before]] == lanes[host[row]]:
            continue
        if not order.node_before(host[before], host[row]):
            threads = frozenset((lanes[host[before]], lanes[host[row]]))
            found[lanes[node], threads].append((trace.events[before], trace.events[row]))
    return [_finding(trace, stream[2], pairs) for (stream, _), pairs in found.items()]


def _finding(trace: Trace, stream: str, pairs: list[tuple[Event, Event]]) -> Finding:
    worst = next((pair for pair in pairs if _conflict(*pair)), None)
    a, b = worst or pairs[0]
    return Finding(
        "unordered_submission", "error" if worst else "warning",
        f"{_gives(trace, a)} and {_gives(trace, b)} to the {stream_name(stream)}, and nothing orders the two: "
        f"another run may submit them the other way round{times(len(pairs))}",
        tuple(dict.fromkeys(event.seq for pair in ((a, b), *pairs) for event in pair)),
    )  # fmt: skip


def _gives(trace: Trace, event: Event) -> str:
    args = event.args
    what = args.get("operation") or args.get("name") or args.get("event") or args.get("graph")
    return f"{lane_name(trace, event)} gives {event.kind} of {what} at {at(event)}"


def _conflict(a: Event, b: Event) -> bool:
    """Whether one writes what the other touches, as far as both say."""
    mine, theirs = ({*(e.args.get("reads") or ()), *(e.args.get("writes") or ())} for e in (a, b))
    return bool(set(a.args.get("writes") or ()) & theirs or set(b.args.get("writes") or ()) & mine)
