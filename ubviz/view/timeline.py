"""The interactive timeline of a recording: a widget for notebooks, and a file of its own.

Only small state is synced, both ways: ``view_range``, ``cursor``, ``selection``, ``hovered``, ``theme``, ``order``,
the ``tool`` that stands open, and what tools mark: ``query``, ``area``, ``measure``, ``pinned``, ``hidden``,
``arranged``, ``notes``.
Data is asked for by the page, block by block (see ``ubviz.view.payload``). A notebook that is shown without a
kernel, or where no script runs, has the still picture.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets as t

from ..errors import BadArgument
from ..trace.model import Lane, Trace
from .fallback import Still, still
from .marked import Area, Note, as_area, as_lanes, as_measure, as_notes, as_tool, measured, noted
from .paint.frame import frame_of, last_complete_step
from .paint.numbers import in_words, numbers_of_step, numbers_of_window
from .palette import theme_of
from .payload import Payload
from .picture import ORDERS, must_be_trace, whole_text
from .widget import STATIC, Checked, View

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED = 12
"""Lanes that a sentence names."""
TABLES = ("spans", "events")
Row = tuple[str, int]
"""Table and row number, as in ``Trace.flows``."""


class Timeline(View):
    """Show a recording; zoom, pan, select, follow arrows, switch between clock and order.

    >>> timeline = ubviz.Timeline(trace)  # doctest: +SKIP
    >>> timeline  # doctest: +SKIP
    <Timeline: step 2, 5 lanes, makespan 422 µs>
    >>> timeline.selected()  # the rows that were clicked, as a DataFrame  # doctest: +SKIP

    trace: a recording. step: which step is shown first; the last complete one unless given. window:
    ``(start_ns, end_ns)`` instead. order: "wall" or "logical". theme: "auto" (the notebook's), "light" or "dark".
    lanes: which, by role ("compute") or number. title: a heading. tool: which stands open: "search", "list", "area",
    "ruler", "past", "future", "path" (the critical path), "lanes", "notes", "edges" (those that a capture saw) or
    "bands" (errors). Raises BadArgument when an argument cannot be used: "edges" and "bands" too, of a recording that
    has none.

    Traits: ``view_range`` (start_ns, end_ns); ``cursor`` in nanoseconds or None; ``selection``, rows as
    ``("spans", 12)``; ``hovered``, one such row or None; ``theme``; ``order``; ``query``, what is searched for;
    ``area``, ``(start_ns, end_ns, lanes)`` whose spans ``measured()`` gives; ``measure``, the two ends of the ruler;
    ``pinned``, ``hidden`` and ``arranged``, lanes by role or number: those above all others, those that are not
    shown, those that come first among their kind, in this order; ``notes``, as ``(t_ns, text)``: ``annotated()`` is
    the recording with them; ``tool``, the one opened last of those that stand open, or "": another name closes the one
    before, "" all that were opened. Times are those of the recording.
    """

    SCRIPT = "widget"
    CODE = ("tools",)
    STATE = (
        "view_range",
        "cursor",
        "selection",
        "theme",
        "order",
        "query",
        "area",
        "measure",
        "pinned",
        "hidden",
        "arranged",
        "notes",
        "tool",
    )
    _esm = STATIC / "widget.js"
    _css = STATIC / "widget.css"

    view_range = Checked().tag(sync=True)
    cursor = Checked(None).tag(sync=True)
    selection = Checked(()).tag(sync=True)
    hovered = Checked(None).tag(sync=True)
    order = Checked("wall").tag(sync=True)
    query = Checked("").tag(sync=True)
    area = Checked(None).tag(sync=True)
    measure = Checked(None).tag(sync=True)
    pinned = Checked(()).tag(sync=True)
    hidden = Checked(()).tag(sync=True)
    arranged = Checked(()).tag(sync=True)
    notes = Checked(()).tag(sync=True)
    tool = Checked("").tag(sync=True)
    _store: Payload

    def __init__(
        self,
        trace: Trace,
        *,
        step: int | None = None,
        window: tuple[int, int] | None = None,
        order: str = "wall",
        theme: str = "auto",
        lanes: Sequence[str | int] | None = None,
        title: str | None = None,
        tool: str = "",
    ) -> None:
        must_be_trace(trace, "a Timeline shows")
        if step is not None and step not in trace.steps:
            frame_of(trace, step)  # says which steps there are
        if window is not None:
            window = as_range("window", window)
        if title is not None and not isinstance(title, str):
            raise BadArgument(f"title is a string, not {title!r}")
        if step is None and window is None:
            step = last_complete_step(trace)
        self._trace = trace
        self._shown: dict[str, Any] = {"step": step, "window": window, "lanes": lanes}
        self._store = Payload(trace, step=step, window=window, lanes=lanes, title=title)
        self._words, label = map(whole_text, self._say(step, window))
        self._store.index["label"] = label
        home = self._store.index["home"]
        super().__init__(view_range=home, order=order, theme=theme, notes=noted(trace), tool=tool)

    def _say(self, step: int | None, window: tuple[int, int] | None) -> tuple[str, str]:
        """What it is in a few words, and in a sentence for whoever does not see it."""
        lanes = self._store.lanes
        ranks = sorted({lane.rank for lane in lanes})
        of_ranks = (
            "" if ranks in ([], [0]) else f" of rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}"
        )
        count = f"{len(lanes)} lane{'' if len(lanes) == 1 else 's'}"
        if not lanes:
            return "nothing to draw", "This recording holds nothing that could be drawn."
        numbers = (
            numbers_of_window(self._trace, step, window) if window else numbers_of_step(self._trace, step)
        )
        first, rest = in_words(numbers)
        what = ("a window" if window else "a recording" if step is None else f"step {step}") + of_ranks
        words = ", ".join([*([] if step is None or window else [f"step {step}"]), count, first])
        return (
            words,
            f"Timeline of {what} on the lanes {named(lanes)}: {first}, "
            + (f"{', '.join(rest)}." if rest else "nothing ran on a stream."),
        )

    # ---- traits

    @t.validate("view_range")
    def _valid_range(self, proposal: Any) -> tuple[int, int]:
        return as_range("view_range", proposal["value"])

    @t.validate("cursor")
    def _valid_cursor(self, proposal: Any) -> int | None:
        return as_cursor(proposal["value"])

    @t.validate("selection")
    def _valid_selection(self, proposal: Any) -> tuple[Row, ...]:
        value = proposal["value"]
        if not isinstance(value, (list, tuple)):
            raise BadArgument(f'selection is a list of rows like ("spans", 12), not {value!r}')
        return tuple(self._valid_row("selection", row) for row in value)

    @t.validate("hovered")
    def _valid_hovered(self, proposal: Any) -> Row | None:
        return None if proposal["value"] is None else self._valid_row("hovered", proposal["value"])

    @t.validate("order")
    def _valid_order(self, proposal: Any) -> str:
        if not isinstance(proposal["value"], str) or proposal["value"] not in ORDERS:
            raise BadArgument(f'order must be "wall" or "logical", not {proposal["value"]!r}')
        return str(proposal["value"])

    @t.validate("query")
    def _valid_query(self, proposal: Any) -> str:
        if not isinstance(proposal["value"], str):
            raise BadArgument(f"query is the text that is searched for, not {proposal['value']!r}")
        return proposal["value"]

    @t.validate("area")
    def _valid_area(self, proposal: Any) -> Area | None:
        return as_area(self._trace, proposal["value"])

    @t.validate("measure")
    def _valid_measure(self, proposal: Any) -> tuple[int, int] | None:
        return as_measure(proposal["value"])

    @t.validate("pinned", "hidden", "arranged")
    def _valid_lanes(self, proposal: Any) -> tuple[int, ...]:
        return as_lanes(self._trace, proposal["trait"].name, proposal["value"])

    @t.validate("notes")
    def _valid_notes(self, proposal: Any) -> tuple[Note, ...]:
        return as_notes(proposal["value"])

    @t.validate("tool")
    def _valid_tool(self, proposal: Any) -> str:
        return as_tool(self._store.index, proposal["value"])

    def _valid_row(self, who: str, row: Any) -> Row:
        try:
            table, number = row
            number = int(number)
        except (TypeError, ValueError, OverflowError):
            raise BadArgument(f'{who} takes rows like ("spans", 12), not {row!r}') from None
        if table not in TABLES or not 0 <= number < len(getattr(self._trace, table)):
            raise BadArgument(f"{who}: this recording has no row {number} in {table!r}")
        return table, number

    # ---- Python's side

    @property
    def trace(self) -> Trace:
        """The recording that is shown."""
        return self._trace

    @property
    def alt(self) -> str:
        """What it shows, in a sentence."""
        return str(self._store.index["label"])

    @property
    def title(self) -> str:
        """The heading, else the sentence."""
        return str(self._store.index["title"] or self.alt)

    def selected(self) -> pd.DataFrame:
        """The selected rows as a DataFrame, by their row number; ``table`` says of which table each is.

        >>> timeline.selected()[["table", "name", "start_ns"]]  # doctest: +SKIP
        """
        import pandas as pd

        found = []
        for table in TABLES:
            rows = sorted({number for name, number in self.selection if name == table})
            if rows:
                frame = self._trace.to_pandas(table, rows=rows)
                frame.insert(0, "table", table)
                found.append(frame)
        if not found:
            empty = self._trace.to_pandas("spans", rows=[])
            empty.insert(0, "table", "")
            return empty
        return found[0] if len(found) == 1 else pd.concat(found)

    def measured(self) -> pd.DataFrame:
        """The spans that touch ``area``, as a DataFrame; of ``duration_ns``, ``inside_ns`` lies within it.

        >>> timeline.measured().groupby("name").duration_ns.agg(["count", "sum", "mean"])  # doctest: +SKIP
        """
        return measured(self._trace, self.area)

    def annotated(self) -> Trace:
        """The recording with ``notes`` in its meta: saved, it brings them along.

        >>> timeline.annotated().save("noted.json.gz")  # doctest: +SKIP
        """
        trace = self._trace
        meta = {**trace.meta, "notes": [list(note) for note in self.notes]}
        return Trace(trace.events, trace.spans, trace.flows, trace.lanes, meta, trace.notices)

    def select(self, frame: pd.DataFrame) -> None:
        """Select the rows of a DataFrame (from ``trace.to_pandas`` or ``selected()``), and bring them into view.

        >>> spans = trace.to_pandas("spans")  # doctest: +SKIP
        >>> timeline.select(spans[spans.operation == "experts"])  # doctest: +SKIP
        """
        rows = [self._valid_row("select", row) for row in rows_of(frame)]
        self._must_be_rows(frame, rows)
        with self.hold_sync():
            self.selection = tuple(rows)
            if rows:
                self.view_range = self._round(rows)

    def _must_be_rows(self, frame: pd.DataFrame, rows: Sequence[Row]) -> None:
        """The index counts rows of this recording: their times must be those of the DataFrame."""
        import pandas as pd

        for number, (table, row) in enumerate(rows):
            field = "start_ns" if table == "spans" else "t_ns"
            said = frame[field].iloc[number] if field in frame.columns else None
            if said is None or pd.isna(said) or int(said) != int(getattr(self._trace, table)[field][row]):
                raise BadArgument(
                    f"select: row {row} of the DataFrame is not row {row} of this recording's {table}; keep the index "
                    "that trace.to_pandas gives, and one table at a time (or the column table of selected())"
                )

    def _round(self, rows: Sequence[Row]) -> tuple[int, int]:
        """The range that holds some rows, with room on either side; the present one where it holds them."""
        spans, events = self._trace.spans, self._trace.events
        by = {table: np.array([n for name, n in rows if name == table], np.int64) for table in TABLES}
        starts = np.concatenate([spans["start_ns"][by["spans"]], events["t_ns"][by["events"]]])
        ends = np.concatenate([spans["end_ns"][by["spans"]], events["t_ns"][by["events"]]])
        start, end = int(starts.min()), int(ends.max())
        if self.view_range[0] <= start and end <= self.view_range[1]:
            return self.view_range
        room = max((end - start) // 5, 1000)
        return start - room, end + room

    # ---- elsewhere than in a notebook

    def to_picture(self, path: str | os.PathLike[str]) -> None:
        """Write what is shown first as a still picture, ``.svg``, ``.png`` or ``.pdf``."""
        from .picture import picture

        theme = theme_of("light" if self.theme == "auto" else self.theme).name
        picture(self._trace, order=self.order, theme=theme, **self._shown).save(path)

    def _still(self) -> Still:
        return still(self._trace, self.order, self._shown, self.alt)


def named(lanes: Sequence[Lane]) -> str:
    """The lanes by name; of many, the first and how many more there are."""
    names = [lane.role for lane in lanes]
    if len(names) > MOST_NAMED:
        names[MOST_NAMED:] = [f"and {len(lanes) - MOST_NAMED:,} more"]
    return ", ".join(names)


def as_cursor(value: Any) -> int | None:
    """A time in nanoseconds, or none.

    >>> as_cursor(1e6)
    1000000
    """
    try:
        return None if value is None else round(float(value))
    except (TypeError, ValueError, OverflowError):
        raise BadArgument(f"cursor must be a time in nanoseconds or None, not {value!r}") from None


def as_range(who: str, value: Any) -> tuple[int, int]:
    """Two times in nanoseconds, the first before the second.

    >>> as_range("view_range", [0.0, 1e6])
    (0, 1000000)
    """
    try:
        start, end = (round(float(part)) for part in value)
    except (TypeError, ValueError, OverflowError):
        raise BadArgument(f"{who} must be (start_ns, end_ns), not {value!r}") from None
    if end <= start:
        raise BadArgument(f"{who} must end after it starts, not run from {start} to {end}")
    return start, end


def rows_of(frame: Any) -> list[Row]:
    """The rows that a DataFrame holds: its index counts them, its columns say of which table they are."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise BadArgument(f"select takes a DataFrame, not {type(frame).__name__}")
    columns = set(frame.columns)
    if "table" in columns:
        return list(zip(frame["table"].tolist(), frame.index.tolist()))
    table = "spans" if "start_ns" in columns else "events" if "t_ns" in columns else None
    if table is None:
        raise BadArgument(
            "select takes rows of trace.to_pandas; this DataFrame has no start_ns, t_ns or table"
        )
    return [(table, number) for number in frame.index.tolist()]
