"""How exactly the times of some lanes are known: where one clock was aligned with another, the error is a band; and
what the recorder itself took of a thread is a band behind each of its facts.

``meta["clock"]`` holds the first: of device times on the host's clock (``error_ns``), or of a rank's times on the
common clock (``anchors``, each with an ``error_ns``). ``meta["recording"]`` holds the second: ``fact_ns``, measured
when the recording began. What a recording does not say is not drawn; the clock of another program's file is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...trace.model import Lane, Trace
from ..paint.threads import WAITS_FOR_THREADS

MOST_NAMED = 3
"""Lanes whose share is said; those with the largest."""


def bands_of(trace: Trace, lanes: Sequence[Lane]) -> list[dict[str, Any]]:
    """``{"lanes": places, "error_ns", "words", "after"}`` of each clock that was aligned, and of recording
    itself, whose band (``after``) lies behind each fact.

    >>> bands_of(trace, trace.lanes)[0]["words"]  # doctest: +SKIP
    'device times on the clock of the host, by events on the device'
    """
    found = [{**band, "after": False} for band in _clocks(trace, lanes)]
    return [band for band in (*found, *_recording(trace, lanes)) if band["lanes"]]


def _recording(trace: Trace, lanes: Sequence[Lane]) -> list[dict[str, Any]]:
    """What each thread was held for by the recorder: so long at every fact that it told."""
    recording = trace.meta.get("recording")
    cost = _error(recording.get("fact_ns")) if isinstance(recording, dict) else 0
    shares = {place: cost * _facts(trace, lane) / life for place, lane in enumerate(lanes)
              if lane.group == "threads" and (life := _life(trace, lane))}  # fmt: skip
    largest = sorted(shares, key=lambda place: -shares[place])[:MOST_NAMED]
    said = ", ".join(f"{shares[place]:.1%} of {lanes[place].role}" for place in largest)
    more = f" and less of {len(shares) - len(largest)} more" if len(shares) > len(largest) else ""
    words = f"the recorder itself, as measured when the recording began: {said}{more}"
    return [{"lanes": list(shares), "error_ns": cost, "words": words, "after": True}] if cost else []


def _facts(trace: Trace, lane: Lane) -> int:
    """Its trace events, the ends of calls that blocked it, and both edges of its operations."""
    spans = trace.spans
    calls = spans.mask(lane=lane.id, cat="blocked")
    waits = sum(int((calls & spans.mask(name=name)).sum()) for name in WAITS_FOR_THREADS)
    operations = int(spans.mask(lane=lane.id, cat="operation").sum())
    return int(trace.events.mask(lane=lane.id).sum()) + int(calls.sum()) - waits + 2 * operations


def _life(trace: Trace, lane: Lane) -> int:
    """How long its threads have lived; where that was not recorded, from the first that it did to the last."""
    lives = trace.spans.mask(lane=lane.id, cat="thread")
    if lives.any():
        return int((trace.spans["end_ns"][lives] - trace.spans["start_ns"][lives]).sum())
    times = trace.events["t_ns"][trace.events.mask(lane=lane.id)]
    return int(np.ptp(times)) if len(times) else 0


def _clocks(trace: Trace, lanes: Sequence[Lane]) -> list[dict[str, Any]]:
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
    return found


def _error(value: Any) -> int:
    """A whole number of nanoseconds, 0 where none is said."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
