"""Trace events and traces: what was recorded, as immutable columns, and its file format."""

from .chrome import load, save
from .events import FLOW_KINDS, KINDS, SPAN_CATS, Kind
from .model import MISSING, Event, Flow, Lane, Notice, Span, Table, Trace, make_table
from .shipped import example, examples

__all__ = [
    "FLOW_KINDS", "KINDS", "MISSING", "SPAN_CATS", "Event", "Flow", "Kind", "Lane", "Notice", "Span", "Table",
    "Trace", "example", "examples", "load", "make_table", "save",
]  # fmt: skip
