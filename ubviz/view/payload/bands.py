"""How exactly the times of some lanes are known: where one clock was aligned with another, the error is a band.

``meta["clock"]`` holds it: of device times on the host's clock (``error_ns``), or of a rank's times on the common
clock (``anchors``, each with an ``error_ns``). What a recording does not say is not drawn. The clock of another
program's file, and what recording itself costs, are said by no recording yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...trace.model import Lane, Trace


def bands_of(trace: Trace, lanes: Sequence[Lane]) -> list[dict[str, Any]]:
    """``{"lanes": places, "error_ns", "words"}`` of each clock that was aligned.

    >>> bands_of(trace, trace.lanes)[0]["words"]  # doctest: +SKIP
    'device times on the clock of the host, by events on the device'
    """
    clock = trace.meta.get("clock")
    if not isinstance(clock, dict):
        return []
    found = []
    error = _error(clock.get("error_ns"))
    if error:
        streams = [place for place, lane in enumerate(lanes) if lane.group != "threads"]
        by = f", by {clock['source']}" if isinstance(clock.get("source"), str) else ""
        found.append(
            {"lanes": streams, "error_ns": error, "words": f"device times on the clock of the host{by}"}
        )
    anchors = clock.get("anchors")
    errors = (
        [_error(a.get("error_ns")) for a in anchors if isinstance(a, dict)]
        if isinstance(anchors, list)
        else []
    )
    if max(errors, default=0):
        words = f"times on the clock of {clock.get('common', 'another rank')}"
        found.append({"lanes": list(range(len(lanes))), "error_ns": max(errors), "words": words})
    return [band for band in found if band["lanes"]]


def _error(value: Any) -> int:
    """A whole number of nanoseconds, 0 where none is said."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
