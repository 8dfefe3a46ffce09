"""Analysis: pure functions from a Trace to numbers and findings; one question a file."""

from .findings import Finding
from .handoff import handoff, turns, yields
from .overlap import Overlap, overlap

__all__ = ["Finding", "Overlap", "handoff", "overlap", "turns", "yields"]
