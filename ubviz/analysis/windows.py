"""From when to when each step lasts: from its ``step.begin`` to the end of its last kernel or transfer."""

from __future__ import annotations

import numpy as np

from ..trace.model import MISSING, Trace

DEVICE = ("kernel", "transfer")
"""What a device does, as spans."""


def windows(
    trace: Trace,
    starts: np.ndarray | None = None,
    ends: np.ndarray | None = None,
    times: np.ndarray | None = None,
) -> dict[int | None, tuple[int, int]]:
    """Step -> from its beginning to its last device span; other times than the trace's may be given.

    >>> windows(trace)  # doctest: +SKIP
    {0: (749659, 36385012)}
    """
    spans, events = trace.spans, trace.events
    starts = spans["start_ns"] if starts is None else starts
    ends = spans["end_ns"] if ends is None else ends
    times = events["t_ns"] if times is None else times
    device = spans.mask(cat=DEVICE[0]) | spans.mask(cat=DEVICE[1])
    known = trace.steps
    begins = events.mask(kind="step.begin")
    if not known:
        if not device.any():
            return {}
        first = min([int(starts[device].min()), *times[begins].tolist()])
        return {None: (first, int(ends[device].max()))}
    steps = np.array(known, dtype=np.int64)
    of_span, of_begin = device & np.isin(spans["step"], steps), begins & (events["step"] != MISSING)
    at, begun = (np.searchsorted(steps, t["step"][m]) for t, m in ((spans, of_span), (events, of_begin)))
    low, high = np.full(len(steps), 2**63 - 1), np.full(len(steps), MISSING)
    np.minimum.at(low, at, starts[of_span])
    np.maximum.at(high, at, ends[of_span])
    np.minimum.at(low, begun, times[of_begin])
    ran = high != MISSING
    return {step: (int(low[i]), int(high[i])) for i, step in enumerate(known) if ran[i]}
