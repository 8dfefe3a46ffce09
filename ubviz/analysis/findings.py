"""Findings: what is wrong, or worth knowing, in a recording, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One finding: its kind, "error", "warning" or "info", a sentence, and the trace events that prove it."""

    kind: str
    severity: str
    sentence: str
    events: tuple[int, ...] = ()
