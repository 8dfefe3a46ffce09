"""Two recordings on one axis of time, their operations aligned; a widget, and a file of its own.

Which operations are the same, ``ubviz.analysis.compare`` says. The still picture is that of ``before_after``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import traitlets as t

from ..analysis.classes import CommRule
from ..analysis.compare import Comparison
from ..analysis.operations import Operation
from ..errors import BadArgument, MissingExtra
from ..trace.model import Trace
from .compare_data import Key, key_of, rows_of, store_of
from .compare_sides import aligned, sides_of
from .compare_words import sentence_of, text_of, words_of
from .fallback import MOST_SPANS, Still
from .pair import before_after
from .palette import theme_of
from .payload.blocks import Blocks
from .picture import Picture, whole_text
from .widget import STATIC, Checked, View

if TYPE_CHECKING:
    import pandas as pd


class Compare(View):
    """Two recordings, one above the other; point at an operation and its partner lights up.

    >>> compare = ubviz.Compare(before, after, names=("before", "after"))  # doctest: +SKIP
    >>> compare  # doctest: +SKIP
    <Compare: 505 ms and 330 ms, after is 1.53 times as fast>
    >>> compare.differences().head()  # doctest: +SKIP
    >>> compare.selection = (0, 1, "experts", 0)  # microbatch, layer, name, occurrence  # doctest: +SKIP

    a, b: recordings. align: "ubatch" (microbatch, layer and operation) or "name" (the microbatch is left out); by
    microbatch where both ran the same ones, else by name, unless given. Where either has several ranks, by rank too.
    steps: which step of each; the last complete
    one unless given. names: what each is called. comm: which kernels are communication, as in ``analyze``. theme:
    "auto" (the notebook's), "light" or "dark". title: a heading. Raises BadArgument when an argument cannot be used,
    and where no operation is in both.

    Traits: ``view_range``, (start_ns, end_ns) from the beginning of both steps, or None for all; ``selection``, the key
    of an operation (with its rank as a fifth where there are several) or None; ``theme``.
    """

    SCRIPT = "compare"
    STATE = ("view_range", "selection", "theme")
    _esm = STATIC / "compare.js"
    _css = STATIC / "compare.css"

    view_range = Checked(None).tag(sync=True)
    selection = Checked(None).tag(sync=True)
    _store: Blocks

    def __init__(
        self,
        a: Trace,
        b: Trace,
        align: str | None = None,
        *,
        steps: Sequence[int | None] | None = None,
        names: Sequence[str] | None = None,
        comm: CommRule | None = None,
        theme: str = "auto",
        title: str | None = None,
    ) -> None:
        if title is not None and not isinstance(title, str):
            raise BadArgument(f"title is a string, not {title!r}")
        self._sides = sides_of(a, b, steps, names, comm)
        self.align, self._found = aligned(*self._sides, align)
        self._rows = rows_of(self._found)
        self._keys = {key_of(operation) for operation, _, _ in self._rows}
        heading = None if title is None else whole_text(title)
        self._store = store_of(self._sides, self._found, self.align, heading, self.alt)
        super().__init__(theme=theme)

    # ---- traits

    @t.validate("view_range")
    def _valid_view_range(self, proposal: Any) -> tuple[int, int] | None:
        value = proposal["value"]
        if value is None:
            return None
        try:
            start, end = (round(float(part)) for part in value)
        except (TypeError, ValueError, OverflowError):
            raise BadArgument(f"view_range must be (start_ns, end_ns) or None, not {value!r}") from None
        if end <= start:
            raise BadArgument(f"view_range must end after it starts, not run from {start} to {end}")
        return start, end

    @t.validate("selection")
    def _valid_selection(self, proposal: Any) -> Key | None:
        value = proposal["value"]
        if value is None:
            return None
        if isinstance(value, Operation):
            value = key_of(value)
        try:
            ubatch, layer, name, occurrence, *rank = value
            key: Any = (ubatch, layer, name, occurrence, *rank)
            known = key in self._keys
        except (TypeError, ValueError):
            raise BadArgument(
                'selection is (microbatch, layer, name, occurrence), as in (0, 1, "experts", 0), or None, '
                f"not {value!r}"
            ) from None
        if not known:
            raise BadArgument(
                f"selection: neither recording has an operation {key!r}; differences() lists all of them"
            )
        found: Key = key
        return found

    # ---- Python's side

    @property
    def comparison(self) -> Comparison:
        """The comparison itself: pairs, what is only in one, totals."""
        return self._found

    @property
    def text(self) -> str:
        """The numbers of both and the operations that differ most, as plain text: stable, to be compared."""
        return text_of(self._sides, self._found)

    def differences(self) -> pd.DataFrame:
        """Every operation, one a row: both durations and starts in nanoseconds, b less a, and which one alone has it.

        Its rank too, where either recording has several.

        >>> compare.differences().nlargest(3, "diff_ns")  # doctest: +SKIP
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra(
                "differences() needs pandas: install ubviz with its extra view; `ubviz doctor` says how"
            ) from None
        columns: dict[str, list[Any]] = {
            "operation": [operation.name for operation, _, _ in self._rows],
            "ubatch": [operation.ubatch for operation, _, _ in self._rows],
            "layer": [operation.layer for operation, _, _ in self._rows],
            "occurrence": [operation.occurrence for operation, _, _ in self._rows],
        }
        if any(operation.rank is not None for operation, _, _ in self._rows):
            columns["rank"] = [operation.rank for operation, _, _ in self._rows]
        for at, which in enumerate("ab"):
            parts = [both[at] for _, *both in self._rows]
            columns[f"{which}_ns"] = [None if part is None else part.duration_ns for part in parts]
            columns[f"{which}_start_ns"] = [None if part is None else part.offset_ns for part in parts]
        frame = pd.DataFrame({
            name: values if name == "operation" else pd.array(values, dtype="Int64")
            for name, values in columns.items()
        })  # fmt: skip
        frame["diff_ns"] = frame["b_ns"] - frame["a_ns"]
        frame["start_diff_ns"] = frame["b_start_ns"] - frame["a_start_ns"]
        frame["only"] = ["a" if b is None else "b" if a is None else None for _, a, b in self._rows]
        return frame

    def selected(self) -> pd.DataFrame:
        """The row of ``differences()`` that is selected; no row where nothing is."""
        chosen = [i for i, row in enumerate(self._rows) if key_of(row[0]) == self.selection]
        return self.differences().loc[chosen]

    # ---- elsewhere than in a notebook

    @property
    def _words(self) -> str:  # type: ignore[override]
        return whole_text(words_of(self._sides, self._found))

    @property
    def alt(self) -> str:
        """What it shows, in a sentence."""
        return sentence_of(self._sides, self._found, self.align)

    @property
    def title(self) -> str:
        """The heading, else the sentence."""
        return str(self._store.index["title"] or self.alt)

    def _picture(self, theme: str) -> Picture:
        a, b = self._sides
        return before_after(
            a.whole, b.whole, step_before=a.step, step_after=b.step, names=(a.name, b.name), theme=theme
        )

    def to_picture(self, path: str | os.PathLike[str]) -> None:
        """Write both recordings on one axis as a still picture, ``.svg``, ``.png`` or ``.pdf``."""
        self._picture(theme_of("light" if self.theme == "auto" else self.theme).name).save(path)

    def _still(self) -> Still:
        if sum(len(side.trace.spans) for side in self._sides) > MOST_SPANS:
            return Still(None, f"{self.alt} There are too many spans for a still picture.")
        try:
            return Still(self._picture("light"), self.alt)
        except BadArgument:  # names that are too long for a picture
            return Still(None, self.alt)
