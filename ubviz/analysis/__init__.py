"""Analysis: pure functions from a Trace to numbers and findings; one question a file."""

from .analyze import Analysis, analyze
from .checks import findings_of
from .contention import contention
from .critical_path import critical_path
from .findings import Finding
from .gaps import gaps
from .handoff import handoff, turns, yields
from .order import Order
from .overlap import Overlap, overlap
from .retime import Retimed, retime
from .steps import steps
from .surplus import surplus
from .waits import waits

__all__ = [
    "Analysis", "Finding", "Order", "Overlap", "Retimed", "analyze", "contention", "critical_path", "findings_of",
    "gaps", "handoff", "overlap", "retime", "steps", "surplus", "turns", "waits", "yields",
]  # fmt: skip
