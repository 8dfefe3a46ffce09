"""Analysis: pure functions from a Trace to numbers and findings; one question a file."""

from .analyze import Analysis, analyze
from .checks import findings_of
from .compare import Comparison, Lone, Pair, Total, compare
from .cone import Cone, Cones
from .contention import contention
from .critical_path import critical_path
from .evidence import Shown
from .findings import Finding
from .gaps import gaps
from .handoff import handoff, turns, yields
from .operations import Operation, Part, operations
from .order import Order
from .overlap import Overlap, overlap
from .retime import Retimed, retime
from .steps import steps
from .surplus import surplus
from .waits import waits

__all__ = [
    "Analysis", "Comparison", "Cone", "Cones", "Finding", "Lone", "Operation", "Order", "Overlap", "Pair", "Part",
    "Retimed", "Shown", "Total", "analyze", "compare", "contention", "critical_path", "findings_of", "gaps", "handoff",
    "operations", "overlap", "retime", "steps", "surplus", "turns", "waits", "yields",
]  # fmt: skip
