"""Findings: what is wrong, or worth knowing, in a recording, as data."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "race", "lifetime", "deadlock", "stalled", "lost_wakeup", "two_batons", "wrong_context", "surplus_wait",
    "wait_before_record", "late_binding", "unequal_yields", "barrier_parties", "unjoined_stream",
    "capture_violation", "lost_hook", "unordered_submission", "missed_collective", "graph_owned_by_split",
    "no_interleaving", "raised",
)  # fmt: skip
"""What a finding may be called; ``raised``, that a thread ended by an error, comes from exploration alone."""

SEVERITIES = ("error", "warning", "info")
"""From the worst on."""


@dataclass(frozen=True)
class Finding:
    """One finding: its kind, "error", "warning" or "info", a sentence, and the trace events that prove it.

    ``events`` are numbers of trace events (``seq``).
    """

    kind: str
    severity: str
    sentence: str
    events: tuple[int, ...] = ()
