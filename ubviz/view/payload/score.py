"""Logical order: the columns of the still picture, for the whole recording, with nothing of where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...trace.model import Trace
from ..paint.columns import Column, ordered, stretches
from ..paint.frame import Frame, whole_frame


def score_of(trace: Trace, place: Mapping[int, int]) -> dict[str, Any]:
    """One column an event; stretches and arrows are counted in columns (2.5 is the middle of the third)."""
    frame = whole_frame(trace, tuple(place))
    found = ordered(frame)
    for at, column in enumerate(found):
        column.x0, column.x1 = float(at), float(at + 1)
    return {
        "row": [column.row for column in found],
        "lane": [place[column.lane] for column in found],
        "thread": [place[column.event.lane] for column in found],
        "sign": [column.sign for column in found],
        "text": [column.text for column in found],
        "cls": [column.cls for column in found],
        "ubatch": [column.event.ubatch for column in found],
        "t": [column.event.t_ns for column in found],
        "stretches": [[place[s.lane], s.v0, s.v1, int(s.awake)] for s in stretches(frame, found)],
        "arrows": _arrows(frame, found),
    }


def _arrows(frame: Frame, found: list[Column]) -> list[list[Any]]:
    """set -> wake and hook -> run between threads, record -> wait between streams."""
    at = {column.row: number for number, column in enumerate(found)}
    made: list[list[Any]] = []
    for flow in frame.flows:
        between = (
            flow.kind in ("set -> wake", "register -> run") and flow.from_table == flow.to_table == "events"
        )
        if between and flow.from_row in at and flow.to_row in at:
            made.append([at[flow.from_row], at[flow.to_row], flow.kind])
    recorded: dict[tuple[object, ...], int] = {}
    for number, column in enumerate(found):
        args = column.event.args
        key = (column.event.rank, column.event.step, args.get("event"), args.get("record"))
        if column.sign == "record":
            recorded[key] = number
        elif column.sign == "wait" and key in recorded and args.get("record") is not None:
            made.append([recorded[key], number, "record -> wait"])
    return made
