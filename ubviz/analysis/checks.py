"""All findings of a trace, in one order."""

from __future__ import annotations

from ..trace.model import Trace
from .bindings import bindings
from .findings import SEVERITIES, Finding
from .graph_rules import graph_rules
from .handoff import handoff
from .lifetime import lifetime
from .lints import lints
from .order import Order
from .races import race_groups, races
from .submission import unordered_submission


def findings_of(trace: Trace, order: Order | None = None) -> list[Finding]:
    """What is wrong, or worth knowing: errors first, and within a severity by the first trace event that proves it.

    >>> findings_of(trace)  # doctest: +SKIP
    []

    ``order``: the happens-before order, where it has been made already.
    """
    order = order or Order(trace)
    trace = order.trace  # its sound part
    groups = race_groups(trace, order)
    found = [
        *races(trace, order, groups), *lifetime(trace, order), *unordered_submission(trace, order), *handoff(trace),
        *bindings(trace, order, groups), *graph_rules(trace, order), *lints(trace),
    ]  # fmt: skip
    return sorted(found, key=sort_key)


def sort_key(finding: Finding) -> tuple[int, tuple[int, ...]]:
    """Errors first, then in the order of what proves them."""
    return SEVERITIES.index(finding.severity), finding.events[:1] or (-1,)
