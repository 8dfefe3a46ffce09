"""What if: sliders over a recording or a simulation, redrawn as they are dragged; a widget, and a file of its own.

The page works everything out by itself, from plans (``lab_plan``) that come with the view or are asked for: so a saved
page answers as a notebook does. Python works out the same numbers by the same rules (``lab_flow``). Only the values are
synced, both ways.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import traitlets as t

from ..errors import BadArgument
from ..trace.model import Trace
from .fallback import MOST_SPANS, Still
from .lab_controls import Values
from .lab_numbers import makespan_ns, numbers_of
from .lab_sources import Source
from .lab_words import sentence, words
from .palette import theme_of
from .payload.blocks import encode, head_of
from .payload.pack import deflated
from .picture import Picture
from .widget import STATIC, Checked, View

_PLAN = "plan:"


class LabStore:
    """The plans as blocks; the present ones come with the index, and all that cost nothing to make."""

    def __init__(self, source: Source, values: Values, index: dict[str, Any]) -> None:
        self._source, self.index = source, index
        now = source.plans[source.controls.key(values)]
        self._first = list(dict.fromkeys([*filter(None, now), *source.ready()]))

    def block(self, key: str) -> bytes:
        if not key.startswith(_PLAN):
            raise BadArgument(f"this view has no block {key!r}")
        return deflated(self._whole(key.removeprefix(_PLAN)))

    def _whole(self, plan: str) -> bytes:
        return encode(self._source.plan_data(plan))

    def keys_outside(self) -> Iterator[str]:
        names = dict.fromkeys(
            name for pair in self._source.plans.values() for name in pair if name is not None
        )
        return (_PLAN + name for name in names if name not in self._first)

    def head(self) -> bytes:
        return head_of(self.index, {_PLAN + name: self._whole(name) for name in self._first})


class LabView(View):
    """Drag durations and see the lanes slide; ``ubviz.Lab`` makes one.

    ``values`` is a dict, both ways: setting some keeps the others. ``curve`` is the slider whose curve is drawn.
    ``numbers`` are those of the present values, ``trace()`` is their recording, for every other view.
    """

    SCRIPT = "lab"
    STATE = ("theme", "values", "curve")
    _esm = STATIC / "lab.js"
    _css = STATIC / "lab.css"

    values = Checked().tag(sync=True)
    curve = Checked("comm").tag(sync=True)
    _store: LabStore

    def __init__(
        self, source: Source, *, values: Mapping[str, Any] | None = None, theme: str = "auto", title: str | None = None
    ) -> None:  # fmt: skip
        if title is not None and not isinstance(title, str):
            raise BadArgument(f"title is a string, not {title!r}")
        self._source, controls = source, source.controls
        begin = controls.checked({} if values is None else values, controls.defaults())
        index = {
            "title": title, "names": list(source.names), "kind": source.kind, "plans": dict(source.plans),
            **controls.index(),
        }  # fmt: skip
        self._store = LabStore(source, begin, index)
        self._begin = begin
        super().__init__(values=begin, theme=theme)

    # ---- traits

    @t.validate("values")
    def _valid_values(self, proposal: Any) -> Values:
        controls = self._source.controls
        return controls.checked(proposal["value"], self._trait_values.get("values") or controls.defaults())

    @t.validate("curve")
    def _valid_curve(self, proposal: Any) -> str:
        return self._source.controls.slider(proposal["value"]).name

    # ---- Python's side

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers of the present values, in nanoseconds; as ``ubviz analyze`` names them, and some more.

        ``bound_ns``: no order of the same work is done sooner. ``unsplit_ns`` and ``speedup`` (unsplit / makespan) are
        None where no unsplit run is known; ``measured_ns`` is None in a simulation.

        >>> ubviz.Lab().numbers["makespan_ns"]  # doctest: +SKIP
        1235000
        """
        return self.numbers_at()

    def numbers_at(self, **values: Any) -> dict[str, Any]:
        """The numbers with some values changed, without changing them.

        >>> ubviz.Lab().numbers_at(comm=0)["makespan_ns"]  # doctest: +SKIP
        1137000
        """
        source = self._source
        at = source.controls.checked(values, self.values)
        name, other = source.plans[source.controls.key(at)]
        plan = source.plan(name)
        found = numbers_of(plan, source.controls.factors(at, plan))
        unsplit = None if other is None else self._makespan_ns(other, at)
        measured = None
        if source.kind == "measured":
            measured = self._makespan_ns(name, source.controls.defaults())
        return {
            **asdict(found), "unsplit_ns": unsplit, "measured_ns": measured,
            "speedup": None if unsplit is None or not found.makespan_ns else unsplit / found.makespan_ns,
        }  # fmt: skip

    def _makespan_ns(self, name: str, values: Values) -> int:
        plan = self._source.plan(name)
        return makespan_ns(plan, self._source.controls.factors(values, plan))

    def break_even(self, name: str = "comm") -> int | None:
        """The least value of a slider, of those on its curve, from which on splitting is never the slower one.

        None where it is slower at the end of the slider; where no unsplit run is known that cannot be said.

        >>> ubviz.Lab().break_even("comm")  # doctest: +SKIP
        72
        """
        slider = self._source.controls.slider(name)
        found = None
        for value in reversed(slider.grid()):
            at = self.numbers_at(**{name: value})
            if at["unsplit_ns"] is None:
                raise BadArgument("this Lab knows no unsplit run to break even with: Lab(trace, unsplit=...)")
            if at["makespan_ns"] > at["unsplit_ns"]:
                return found
            found = value
        return found

    def reset(self) -> None:
        """Back to the values that it began with."""
        self.values = self._begin

    def trace(self) -> Trace:
        """The recording at the present values, for a Timeline and every analysis.

        >>> ubviz.Timeline(lab.trace())  # doctest: +SKIP
        """
        return self._source.trace(self.values)

    def reference(self) -> Trace:
        """What is drawn above: the same work unsplit in a simulation; the recording itself, if it was measured."""
        return self._source.reference(self.values)

    # ---- elsewhere than in a notebook

    @property
    def _words(self) -> str:  # type: ignore[override]
        return words(self._source, self.values, self.numbers)

    @property
    def alt(self) -> str:
        """What it shows, in a sentence."""
        return sentence(self._source, self.values, self.numbers)

    @property
    def title(self) -> str:
        """The heading, else the sentence."""
        return str(self._store.index["title"] or self.alt)

    def _picture(self, theme: str) -> Picture:
        from .pair import before_after

        above, below = self._source.names
        return before_after(self.reference(), self.trace(), names=(above, below), theme=theme)

    def to_picture(self, path: str | os.PathLike[str]) -> None:
        """Write both recordings on one axis as a still picture, ``.svg``, ``.png`` or ``.pdf``."""
        self._picture(theme_of("light" if self.theme == "auto" else self.theme).name).save(path)

    def _still(self) -> Still:
        traces = self.reference(), self.trace()
        if sum(len(trace.spans) for trace in traces) > MOST_SPANS:
            return Still(None, f"{self.alt} There are too many spans for a still picture.")
        try:
            return Still(self._picture("light"), self.alt)
        except BadArgument:  # nothing takes any time
            return Still(None, self.alt)
