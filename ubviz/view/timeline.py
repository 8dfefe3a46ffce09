"""The interactive timeline of a recording: a widget for notebooks, and a file of its own.

Only small state is synced, both ways: ``view_range``, ``cursor``, ``selection``, ``hovered``, ``theme``, ``order``.
Data is asked for by the page, block by block (see ``ubviz.view.payload``). A notebook that is shown without a
kernel, or where no script runs, has the still picture.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import numpy as np
import traitlets as t

from ..errors import BadArgument, UbvizError, raised_at
from ..trace.model import Lane, Trace
from . import page
from .fallback import still
from .paint.frame import frame_of, last_complete_step
from .paint.numbers import in_words, numbers_of_step, numbers_of_window
from .palette import theme_of
from .payload import Payload
from .picture import ORDERS, must_be_trace, whole_text

if TYPE_CHECKING:
    import pandas as pd

STATIC = Path(__file__).resolve().parent.parent / "static"
MOST_NAMED = 12
"""Lanes that a sentence names."""
MESSAGE_BYTES = 4_000_000
"""A message to the page holds no more."""
TABLES = ("spans", "events")
Row = tuple[str, int]
"""Table and row number, as in ``Trace.flows``."""


class Checked(t.Any):
    """A trait whose values are all, None too, held against the rule of its name below."""

    allow_none = False


class Timeline(anywidget.AnyWidget):
    """Show a recording; zoom, pan, select, follow arrows, switch between clock and order.

    >>> timeline = ubviz.Timeline(trace)  # doctest: +SKIP
    >>> timeline  # doctest: +SKIP
    <Timeline: step 2, 5 lanes, makespan 422 µs>
    >>> timeline.selected()  # the rows that were clicked, as a DataFrame  # doctest: +SKIP

    trace: a recording. step: which step is shown first; the last complete one unless given. window:
    ``(start_ns, end_ns)`` instead. order: "wall" or "logical". theme: "auto" (the notebook's), "light" or "dark".
    lanes: which, by role ("compute") or number. title: a heading. Raises BadArgument when an argument cannot be used.

    Traits: ``view_range`` (start_ns, end_ns); ``cursor`` in nanoseconds or None; ``selection``, rows as
    ``("spans", 12)``; ``hovered``, one such row or None; ``theme``; ``order``. Times are those of the recording.
    """

    _esm = STATIC / "widget.js"
    _css = STATIC / "widget.css"

    view_range = Checked().tag(sync=True)
    cursor = Checked(None).tag(sync=True)
    selection = Checked(()).tag(sync=True)
    hovered = Checked(None).tag(sync=True)
    theme = Checked("auto").tag(sync=True)
    order = Checked("wall").tag(sync=True)
    _problem = t.Unicode("").tag(sync=True)
    _head = t.Bytes(b"").tag(sync=True)

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
        self._payload = Payload(trace, step=step, window=window, lanes=lanes, title=title)
        self._words, label = map(whole_text, self._say(step, window))
        self._payload.index["label"] = label
        home = self._payload.index["home"]
        super().__init__(view_range=home, order=order, theme=theme, _head=self._payload.head())
        self.on_msg(self._answer)

    def _say(self, step: int | None, window: tuple[int, int] | None) -> tuple[str, str]:
        """What it is in a few words, and in a sentence for whoever does not see it."""
        lanes = self._payload.lanes
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
        value = proposal["value"]
        try:
            return None if value is None else round(float(value))
        except (TypeError, ValueError, OverflowError):
            raise BadArgument(f"cursor must be a time in nanoseconds or None, not {value!r}") from None

    @t.validate("selection")
    def _valid_selection(self, proposal: Any) -> tuple[Row, ...]:
        value = proposal["value"]
        if not isinstance(value, (list, tuple)):
            raise BadArgument(f'selection is a list of rows like ("spans", 12), not {value!r}')
        return tuple(self._valid_row("selection", row) for row in value)

    @t.validate("hovered")
    def _valid_hovered(self, proposal: Any) -> Row | None:
        return None if proposal["value"] is None else self._valid_row("hovered", proposal["value"])

    @t.validate("theme")
    def _valid_theme(self, proposal: Any) -> str:
        if not isinstance(proposal["value"], str) or proposal["value"] not in ("auto", "light", "dark"):
            raise BadArgument(f'theme must be "auto", "light" or "dark", not {proposal["value"]!r}')
        return str(proposal["value"])

    @t.validate("order")
    def _valid_order(self, proposal: Any) -> str:
        if not isinstance(proposal["value"], str) or proposal["value"] not in ORDERS:
            raise BadArgument(f'order must be "wall" or "logical", not {proposal["value"]!r}')
        return str(proposal["value"])

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
        return str(self._payload.index["label"])

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

    # ---- the page's side

    def set_state(self, sync_data: Any) -> None:
        """What the page has changed. An observer that fails here has no cell to fail in: the page shows it."""
        try:
            super().set_state(sync_data)
        except Exception as error:
            self._problem = problem_of(error)
            raise
        if self._problem and "_problem" not in sync_data:
            self._problem = ""

    def _answer(self, _: Any, content: Any, buffers: Any) -> None:
        """Send the blocks that the page asks for; say why where one cannot be had."""
        keys = content.get("ask") if isinstance(content, dict) else None
        if not isinstance(keys, list):
            return
        batch: list[tuple[list[Any], bytes]] = []
        for key in keys:
            try:
                data = self._payload.block(str(key))
            except UbvizError as error:
                self.send({"refused": [[key, str(error)]]})
                continue
            for piece in pieces_of(str(key), data):
                if batch and sum(len(part) for _, part in batch) + len(piece[1]) > MESSAGE_BYTES:
                    self._send_blocks(batch)
                    batch = []
                batch.append(piece)
        if batch:
            self._send_blocks(batch)

    def _send_blocks(self, batch: list[tuple[list[Any], bytes]]) -> None:
        self.send({"blocks": [head for head, _ in batch]}, [data for _, data in batch])

    # ---- elsewhere than in a notebook

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one interactive file that needs no network.

        >>> timeline.to_html("overlapped.html")  # doctest: +SKIP
        """
        state = {name: getattr(self, name) for name in page.STATE}
        text = page.standalone(self._payload, state, self._page_still(), self.alt)
        Path(path).write_text(
            text, encoding="utf-8", errors="replace"
        )  # a half of a surrogate pair is no text

    def to_picture(self, path: str | os.PathLike[str]) -> None:
        """Write what is shown first as a still picture, ``.svg``, ``.png`` or ``.pdf``."""
        from .picture import picture

        theme = theme_of("light" if self.theme == "auto" else self.theme).name
        picture(self._trace, order=self.order, theme=theme, **self._shown).save(path)

    def _page_still(self) -> Any:
        return still(self._trace, self.order, self._shown, self.alt)

    def _ipython_display_(self, **_: Any) -> None:
        """The view; then what stands in for it, which the view hides: a picture, and its words.

        They are outputs of their own, since JupyterLab shows none of a bundle's other forms where the model of a
        view is gone; the words too, since it gives a picture in an output no alternative text.
        """
        from IPython.display import publish_display_data

        bundle = super()._repr_mimebundle_()
        data, metadata = bundle if bundle is not None else ({}, {})
        publish_display_data({**data, "text/plain": repr(self)}, metadata)
        for data, metadata in self._page_still().outputs():
            publish_display_data(data, metadata)

    def __repr__(self) -> str:
        return f"<Timeline: {self._words}>"


def named(lanes: Sequence[Lane]) -> str:
    """The lanes by name; of many, the first and how many more there are."""
    names = [lane.role for lane in lanes]
    if len(names) > MOST_NAMED:
        names[MOST_NAMED:] = [f"and {len(lanes) - MOST_NAMED:,} more"]
    return ", ".join(names)


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


def problem_of(error: BaseException) -> str:
    """An exception of a user's observer in one line, with where it was raised."""
    text = "".join(traceback.format_exception_only(error)).strip()
    where = raised_at(error)
    if where is None:
        return text
    file, line = where
    name = "a cell" if "ipykernel" in file else Path(file).name
    return f"{text} (in {name}, line {line})"


def pieces_of(key: str, data: bytes) -> Iterator[tuple[list[Any], bytes]]:
    """A block in pieces that fit into a message, each with its name, number and how many there are."""
    count = max(-(-len(data) // MESSAGE_BYTES), 1)
    for number in range(count):
        yield [key, number, count], data[number * MESSAGE_BYTES : (number + 1) * MESSAGE_BYTES]
