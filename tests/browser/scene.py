"""What the timelines of these tests show: one hand-drawn step, and where its spans are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.drawn import drawn
from ubviz.trace import Trace
from ubviz.view.palette import DARK, LIGHT
from ubviz.view.payload import Payload

UBATCH = {"light": LIGHT.ubatches[:2], "dark": DARK.ubatches[:2]}
"""The colours of the two microbatches."""


def small() -> Trace:
    """Two microbatches, two layers: five lanes, about a millisecond."""
    return drawn("ht")


def place(trace: Trace, role: str) -> int:
    """The number by which a page knows a lane."""
    roles = [lane.role for lane in Payload(trace).lanes]
    return roles.index(role)


def rows(trace: Trace, role: str, **equal: Any) -> list[int]:
    """Rows of spans on a lane, in order of time."""
    spans = trace.spans
    found = np.flatnonzero(spans.mask(lane=trace.lane(role).id, **equal))
    return [int(row) for row in found[np.argsort(spans["start_ns"][found], kind="stable")]]


def middle(trace: Trace, row: int) -> float:
    span = trace.spans[row]
    return (span.start_ns + span.end_ns) / 2
