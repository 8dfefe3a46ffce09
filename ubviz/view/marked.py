"""What tools mark in a timeline, as plain values that both sides set: an area, a measure, lanes that are
pinned, hidden or given an order, notes; and which tool stands open."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadArgument
from ..trace.model import Trace
from .paint.frame import chosen_lanes

if TYPE_CHECKING:
    import pandas as pd

Note = tuple[int, str]
"""A time in nanoseconds, and what is said of it."""
Area = tuple[int, int, tuple[int, ...]]
"""From, to, and the numbers of lanes; no lanes are all."""
TOOLS = ("search", "list", "area", "ruler", "past", "future", "path", "lanes", "notes", "edges", "bands")
"""The tools of a timeline that the trait ``tool`` can name."""
RARE = {
    "edges": ("graphs", "no graph was captured in it"),
    "bands": ("bands", "neither were clocks aligned in it, nor was it measured what recording took"),
}
"""Tools that few recordings have something for: what of the index they show, and why there is none."""


def as_area(trace: Trace, value: Any) -> Area | None:
    """An area: ``(start_ns, end_ns)``, or with lanes by role or number as the third.

    >>> as_area(trace, (0, 1e6, ["compute"]))  # doctest: +SKIP
    (0, 1000000, (3,))
    """
    if value is None:
        return None
    try:
        start, end, *lanes = value
        start, end = round(float(start)), round(float(end))
        (chosen,) = lanes or ((),)
    except (TypeError, ValueError, OverflowError):
        raise BadArgument(
            f"area must be (start_ns, end_ns), (start_ns, end_ns, lanes) or None, not {value!r}"
        ) from None
    if end <= start:
        raise BadArgument(f"area must end after it starts, not run from {start} to {end}")
    return start, end, as_lanes(trace, "area", chosen)


def as_lanes(trace: Trace, who: str, value: Any) -> tuple[int, ...]:
    """Lanes by number, in the order in which they were named.

    >>> as_lanes(trace, "pinned", ["comm", 0])  # doctest: +SKIP
    (4, 0)
    """
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise BadArgument(f'{who} is a list of lanes, as in ["compute"], not {value!r}')
    return tuple(dict.fromkeys(lane.id for name in value for lane in chosen_lanes(trace, [name])))


def as_notes(value: Any) -> tuple[Note, ...]:
    """Notes as ``(t_ns, text)``, in order of time.

    >>> as_notes([(9.0, "then"), [5, "here"]])
    ((5, 'here'), (9, 'then'))
    """
    try:
        notes = [(round(float(at)), text) for at, text in value]
        if not all(isinstance(text, str) and text.strip() for _, text in notes):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise BadArgument(
            f'notes are pairs of a time and a text, as in [(1200, "look here")], not {value!r}'
        ) from None
    return tuple(sorted(notes, key=lambda note: note[0]))


def noted(trace: Trace) -> tuple[Note, ...]:
    """The notes that a recording was saved with; what a file holds in their place and is none is left out."""
    kept = trace.meta.get("notes")
    found: list[Note] = []
    for note in kept if isinstance(kept, (list, tuple)) else ():
        with suppress(BadArgument):
            found += as_notes([note])
    return as_notes(found)


def as_measure(value: Any) -> tuple[int, int] | None:
    """Two moments, the first not after the second.

    >>> as_measure([5.0, 9])
    (5, 9)
    """
    if value is None:
        return None
    try:
        start, end = (round(float(part)) for part in value)
    except (TypeError, ValueError, OverflowError):
        raise BadArgument(f"measure must be (start_ns, end_ns) or None, not {value!r}") from None
    if end < start:
        raise BadArgument(f"measure must not end before it starts, as {start} to {end} does")
    return start, end


def as_tool(index: Mapping[str, Any], value: Any) -> str:
    """A tool of the timeline with this index, or "" for none.

    >>> as_tool({"graphs": True}, "edges")
    'edges'
    """
    if not isinstance(value, str) or value not in ("", *TOOLS):
        raise BadArgument(f'tool must be one of {", ".join(TOOLS)}, or "" for none, not {value!r}')
    shows, why = RARE.get(value, ("", ""))
    if shows and not index[shows]:
        raise BadArgument(f"tool: this recording has nothing for {value!r}: {why}")
    return value


def measured(trace: Trace, area: Area | None) -> pd.DataFrame:
    """The spans that touch an area, by row, with how long each lasts, and how much of that lies within."""
    spans = trace.spans
    start, end, lanes = area or (0, 0, ())
    begins, ends = spans["start_ns"], spans["end_ns"]
    touch = (begins < end) & (ends > start) | (begins == ends) & (begins >= start) & (begins < end)
    if lanes:
        touch &= np.isin(spans["lane"], lanes)
    rows = np.flatnonzero(touch) if area else np.empty(0, np.int64)
    frame = trace.to_pandas("spans", rows=rows.tolist())
    frame["duration_ns"] = ends[rows] - begins[rows]
    frame["inside_ns"] = np.minimum(ends[rows], end) - np.maximum(begins[rows], start)
    return frame
