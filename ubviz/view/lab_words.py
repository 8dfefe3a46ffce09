"""What a Lab shows, in words: a few, and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .lab_sources import Source
from .paint.numbers import percent
from .paint.ticks import duration


def words(source: Source, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> str:
    """A few, with what was chosen first: ``ubatches 2, ..., makespan 2.24 ms, unsplit 3.48 ms``."""
    controls = source.controls
    chosen = [
        f"{choice.name} {values[choice.name]}"
        for choice in controls.choices
        if values[choice.name] is not None
    ]
    moved = [f"{s.name} {values[s.name]} {s.unit}" for s in controls.sliders if values[s.name] != s.value]
    return ", ".join([*chosen, *moved, f"makespan {duration(numbers['makespan_ns'])}", *_beside(numbers)])


def sentence(source: Source, values: Mapping[str, Any], numbers: Mapping[str, Any]) -> str:
    """All that its numbers say."""
    controls = source.controls
    given = [f"{s.label} {values[s.name]} {s.unit}" for s in controls.sliders]
    chosen = [
        f"{choice.label} {choice.words[choice.values.index(values[choice.name])]}"
        for choice in controls.choices
        if values[choice.name] is not None
    ]
    found = [f"makespan {duration(numbers['makespan_ns'])}", *_beside(numbers)]
    found.append(f"best possible {duration(numbers['bound_ns'])}")
    if numbers["overlap_ratio"] is not None:
        found.append(f"{percent(numbers['overlap_ns'], numbers['comm_busy_ns'])} of the communication hidden")
    if numbers["transfer_ns"]:
        found.append(
            f"{percent(numbers['hidden_transfer_ns'], numbers['transfer_ns'])} of the time in flight hidden"
        )
    return f"What if: {'; '.join([*chosen, *given])}. Then: {', '.join(found)}."


def _beside(numbers: Mapping[str, Any]) -> list[str]:
    known = (("unsplit", numbers["unsplit_ns"]), ("measured", numbers["measured_ns"]))
    return [f"{name} {duration(ns)}" for name, ns in known if ns is not None]
