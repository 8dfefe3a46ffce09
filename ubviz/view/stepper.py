"""Step through a recording: forward, backward, along a thread or an object, with all that is so at that moment.

What a trace event changes, ``ubviz.analysis.states`` says; the page only goes along. ``cursor`` means what the
Timeline's means, so that linking both makes them one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import traitlets as t

from ..analysis.states import State, States
from ..errors import BadArgument
from ..trace.events import KINDS
from ..trace.model import Trace
from .fallback import Still
from .palette import theme_of
from .picture import must_be_trace, whole_text
from .steps import PANELS, StepStore
from .steps.still import moment, picture_at
from .steps.store import SECTION, shown
from .timeline import TABLES, Row, as_cursor
from .widget import STATIC, Checked, View


class Stepper(View):
    """Step through a recording and see what is so after each trace event.

    >>> stepper = ubviz.Stepper(trace, panels=["ring", "flags", "streams"])  # doctest: +SKIP
    >>> stepper.at = 12  # doctest: +SKIP
    >>> stepper  # doctest: +SKIP
    <Stepper: trace event 12 of 96, ubatch 0 sets cpu_event[1]: ubatch 1 may run>
    >>> stepper.forward(); stepper.back(3); stepper.next(thread="ubatch 1")  # doctest: +SKIP
    >>> stepper.state["flags"]["cpu_event[1]"]["set"]  # doctest: +SKIP
    True

    trace: a recording. panels: which of code, ring, flags, barrier, hooks, context, streams, events, calls, votes;
    those that the recording has something for unless given. skip: kinds of trace events that steps forward and back
    pass over, as ["buffer"] or ["kernel.launch"]; jumps go there. at: the trace event that is shown first. theme:
    "auto" (the notebook's), "light" or "dark". title: a heading. Raises BadArgument when an argument cannot be used.

    Traits: ``at``, the number of a trace event, as in ``trace.events[at]``; ``cursor``, its time in nanoseconds, which
    may be set to any time; ``selection``, rows as ``("events", 12)``, as a Timeline has them; ``theme``. To make a
    Timeline and a Stepper one: ``ipywidgets.jslink((timeline, "cursor"), (stepper, "cursor"))``.
    """

    SCRIPT = "stepper"
    STATE = ("at", "cursor", "selection", "theme")
    _esm = STATIC / "stepper.js"
    _css = STATIC / "stepper.css"

    at = Checked(0).tag(sync=True)
    cursor = Checked(None).tag(sync=True)
    selection = Checked(()).tag(sync=True)
    _store: StepStore

    def __init__(
        self,
        trace: Trace,
        panels: Sequence[str] | None = None,
        *,
        skip: Sequence[str] = (),
        at: int = 0,
        theme: str = "auto",
        title: str | None = None,
    ) -> None:
        must_be_trace(trace, "a Stepper shows")
        if title is not None and not isinstance(title, str):
            raise BadArgument(f"title is a string, not {title!r}")
        if not len(trace.events):
            raise BadArgument(
                f"this recording has no trace events to step through, only {len(trace.spans):,} spans; "
                "ubviz.Timeline shows them"
            )
        self._trace = trace
        self._states = States(trace)
        self.panels = shown(self._states) if panels is None else chosen(panels)
        self._passed = passed(trace, skip)
        at = self._valid_number("at", at)
        names = ", ".join(lane["name"] for lane in self._lanes())
        label = f"Stepper through {len(self._states):,} trace events of {names}"
        self._store = StepStore(self._states, self.panels, whole_text(label), title, self._passed)
        row: Row = ("events", at)
        super().__init__(at=at, cursor=self._time(at), selection=(row,), theme=theme)
        self.observe(self._follow, names=["at", "cursor", "selection"])

    def _lanes(self) -> list[dict[str, Any]]:
        return [{"name": name} for name in dict.fromkeys(self._states.threads)]

    # ---- traits

    @t.validate("at")
    def _valid_at(self, proposal: Any) -> int:
        return self._valid_number("at", proposal["value"])

    def _valid_number(self, who: str, value: Any) -> int:
        count = len(self._states)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != round_or_none(value):
            raise BadArgument(f"{who} is the number of a trace event, not {value!r}")
        if not 0 <= value < count:
            raise BadArgument(
                f"{who}: this recording has no trace event {int(value)}; it has 0 to {count - 1}"
            )
        return int(value)

    @t.validate("cursor")
    def _valid_cursor(self, proposal: Any) -> int | None:
        return as_cursor(proposal["value"])

    @t.validate("selection")
    def _valid_selection(self, proposal: Any) -> tuple[Row, ...]:
        value = proposal["value"]
        if not isinstance(value, (list, tuple)):
            raise BadArgument(f'selection is a list of rows like ("events", 12), not {value!r}')
        return tuple(self._valid_row(row) for row in value)

    def _valid_row(self, row: Any) -> Row:
        try:
            table, number = row
            number = int(number)
        except (TypeError, ValueError, OverflowError):
            raise BadArgument(f'selection takes rows like ("events", 12), not {row!r}') from None
        if table not in TABLES or not 0 <= number < len(getattr(self._trace, table)):
            raise BadArgument(f"selection: this recording has no row {number} in {table!r}")
        return table, number

    def _follow(self, change: Any) -> None:
        """One of the three has changed: the others follow, where they do not say the same already."""
        with self.hold_sync():
            if change["name"] == "cursor" and self.cursor is not None and self.cursor != self._time(self.at):
                self.at = self._states.row_at(self.cursor)
            elif change["name"] == "selection" and self.selection:
                row = self._event_of(self.selection[-1])
                if row is not None:
                    self.at = row
            elif change["name"] == "at":
                if self.cursor is None or self._states.row_at(self.cursor) != self.at:
                    self.cursor = self._time(self.at)
                if not self.selection or self._event_of(self.selection[-1]) != self.at:
                    self.selection = (("events", self.at),)

    def _event_of(self, row: Row) -> int | None:
        """The trace event of a selected row; of a span, the one that caused it."""
        table, number = row
        if table == "events":
            return number
        cause = int(self._states.causes[number])
        return None if cause < 0 else cause

    def _time(self, at: int) -> int:
        return int(self._trace.events["t_ns"][at])

    # ---- Python's side

    @property
    def trace(self) -> Trace:
        """The recording that is shown."""
        return self._trace

    @property
    def state(self) -> State:
        """What everything is now, as plain data; see ``ubviz.analysis.states``."""
        return self._states.at(self.at)

    @property
    def says(self) -> str:
        """What has just happened, in a sentence."""
        return self._states.says[self.at]

    @property
    def text(self) -> str:
        """The state in plain words, of the panels that are shown: stable, so that it can be compared."""
        return self._states.text(self.at, [SECTION[name] for name in self.panels])

    def forward(self, n: int = 1) -> None:
        """Go ``n`` trace events on, at most to the last; those to be skipped are not counted."""
        self._steps("forward", n, 1)

    def back(self, n: int = 1) -> None:
        """Go ``n`` trace events back, at most to the first; those to be skipped are not counted."""
        self._steps("back", n, -1)

    def _steps(self, who: str, n: Any, by: int) -> None:
        if isinstance(n, bool) or not isinstance(n, int):
            raise BadArgument(f"{who} takes a whole number of trace events, not {n!r}")
        by = by if n >= 0 else -by
        rows = np.flatnonzero(~self._passed)
        ahead = rows[rows > self.at] if by > 0 else rows[rows < self.at][::-1]
        if n and len(ahead):
            self.at = int(ahead[min(abs(n), len(ahead)) - 1])

    def next(self, *, thread: str | None = None, object: str | None = None) -> bool:
        """Go to the next trace event of a thread or an object; False where there is none, and nothing moves.

        >>> stepper.next(object="cpu_event[1]")  # doctest: +SKIP
        True
        """
        return self._along("next", 1, thread, object)

    def previous(self, *, thread: str | None = None, object: str | None = None) -> bool:
        """Go to the trace event before of a thread or an object; False where there is none, and nothing moves."""
        return self._along("previous", -1, thread, object)

    def _along(self, who: str, by: int, thread: str | None, object: str | None) -> bool:
        if (thread is None) == (object is None):
            raise BadArgument(f'{who} takes a thread or an object: {who}(thread="ubatch 0")')
        known = dict.fromkeys(self._states.threads if object is None else sum_of(self._states.objects))
        wanted = thread if object is None else object
        if wanted not in known:
            what = "thread" if object is None else "object"
            raise BadArgument(f"this recording has no {what} {wanted!r}; it has {', '.join(known)}")
        found = self._states.along(self.at, by, thread=thread, object=object)
        if found is not None:
            self.at = found
        return found is not None

    # ---- elsewhere than in a notebook

    @property
    def _words(self) -> str:  # type: ignore[override]
        return whole_text(f"trace event {self.at} of {len(self._states)}, {self.says}")

    @property
    def alt(self) -> str:
        """What it shows, in a sentence."""
        return f"{self._store.index['label']}. At trace event {self.at}: {whole_text(self.says)}."

    @property
    def title(self) -> str:
        """The heading, else the sentence."""
        return str(self._store.index["title"] or self.alt)

    def to_picture(self, path: Any) -> None:
        """Write the moment as a still picture: the timeline round it. ``.svg``, ``.png`` or ``.pdf``."""
        theme = theme_of("light" if self.theme == "auto" else self.theme).name
        picture_at(self._states, self.at, theme).save(path)

    def _still(self) -> Still:
        return moment(self._states, self.at, whole_text(self.text))


def chosen(panels: Any) -> list[str]:
    """The panels that were asked for, or a sentence that says which there are."""
    if isinstance(panels, str) or not isinstance(panels, Sequence):
        raise BadArgument(f'panels is a list of names like ["ring", "flags"], not {panels!r}')
    for name in panels:
        if name not in PANELS:
            raise BadArgument(f"there is no panel {name!r}; there are {', '.join(PANELS)}")
    return list(dict.fromkeys(panels))


def round_or_none(value: float) -> int | None:
    """The whole number that a number is; None for what is none."""
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def passed(trace: Trace, skip: Any) -> np.ndarray:
    """Which trace events are of a kind that is to be skipped."""
    if isinstance(skip, str) or not isinstance(skip, Sequence):
        raise BadArgument(f'skip is a list of kinds like ["buffer"], not {skip!r}')
    found = np.zeros(len(trace.events), bool)
    for name in skip:
        kinds = [kind for kind in KINDS if kind == name or kind.startswith(f"{name}.")]
        if not kinds:
            raise BadArgument(
                f"skip: there is no kind {name!r} of trace events; there are {', '.join(KINDS)}"
            )
        for kind in kinds:
            found |= trace.events.mask(kind=kind)
    return found


def sum_of(names: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """All of some groups of names, one after the other."""
    return (name for group in names for name in group)
