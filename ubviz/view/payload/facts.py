"""The few things of a recording that are drawn over all lanes: where barriers open, where layers and steps begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...trace.model import MISSING, Trace
from ..paint.frame import extent
from ..paint.marks import openings


def gates_of(trace: Trace, place: Mapping[int, int]) -> list[dict[str, Any]]:
    """When each barrier opens, the lanes that it frees, and how many had to come."""
    rows = np.flatnonzero(
        trace.events.mask(kind="barrier.arrive") | trace.events.mask(kind="barrier.release")
    )
    found = []
    for t, event, lanes in openings(trace.events.rows(rows)):
        parties = event.args.get("parties", len(lanes))
        drawn = [place[lane] for lane in lanes if lane in place]
        found.append({"t": t, "lanes": drawn, "text": f"barrier {parties} of {parties}"})
    return sorted(found, key=lambda gate: gate["t"])


def layers_of(trace: Trace) -> list[tuple[int, int]]:
    """When the first kernel of each layer of a step starts, and the layer.

    Where all kernels are on one stream and of no microbatch (split, one after the other), the layers are come to
    once for each part of the batch.
    """
    spans = trace.spans
    rows = np.flatnonzero(spans.mask(cat="kernel") & (spans["layer"] != MISSING))
    rows = rows[np.argsort(spans["start_ns"][rows], kind="stable")]
    if not len(rows):
        return []
    start, step, layer = (spans[name][rows] for name in ("start_ns", "step", "layer"))
    lanes, ubatch = spans["lane"][rows], spans["ubatch"][rows]
    if (lanes == lanes[0]).all() and (ubatch == MISSING).all():
        first = np.flatnonzero(np.concatenate([[True], (layer[1:] != layer[:-1]) | (step[1:] != step[:-1])]))
    else:
        _, first = np.unique(np.stack([step, layer], axis=1), axis=0, return_index=True)
        first.sort()
    return list(zip(start[first].tolist(), layer[first].tolist()))


def steps_of(trace: Trace) -> list[tuple[int, int, int]]:
    """Each step, from its first to its last."""
    return [(step, *extent(trace, step)) for step in trace.steps]
