"""What the small views of the course share: a dict of values, synced both ways, and a drawing that is made of them.

The page works out what it draws by itself, so a saved page answers as a notebook does. Python is handed the same rule
by who makes the view: it is the package's own code, and a test holds the two against each other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import traitlets as t
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..errors import BadArgument
from .fallback import Still
from .palette import Theme, theme_of
from .payload.blocks import Blocks
from .picture import Picture
from .widget import Checked, View

Values = dict[str, Any]


class FigureView(View):
    """A view whose state is ``values``; setting some of them keeps the others.

    A subclass says what values may be (``_checked``), what they show in words (``_words``, ``alt``), and paints them.
    """

    STATE = ("theme", "values")

    values = Checked().tag(sync=True)

    def __init__(self, begin: Values, *, theme: str = "auto", title: str | None = None) -> None:
        if title is not None and not isinstance(title, str):
            raise BadArgument(f"title is a string, not {title!r}")
        self._store = Blocks({"title": title})
        self._begin = begin
        super().__init__(values=begin, theme=theme)

    @t.validate("values")
    def _valid_values(self, proposal: Any) -> Values:
        given = proposal["value"]
        if not isinstance(given, Mapping):
            raise BadArgument(f"values is a dict, not {given!r}")
        known = set(self._begin)
        if set(given) - known:
            raise BadArgument(
                f"values has {', '.join(sorted(known))}, and no {min(set(given) - known, key=str)!r}"
            )
        return self._checked({**(self._trait_values.get("values") or self._begin), **given}, given)

    def _checked(self, values: Values, given: Mapping[str, Any]) -> Values:
        """The values as they are kept; ``BadArgument`` where they are none."""
        raise NotImplementedError

    def _painted(self, theme: Theme) -> tuple[Figure, Axes]:
        raise NotImplementedError

    @property
    def title(self) -> str:
        """The heading, else what it shows."""
        return str(self._store.index["title"] or self._words)

    def to_picture(self, path: str | os.PathLike[str]) -> None:
        """Write what it shows as a still picture, ``.svg``, ``.png`` or ``.pdf``."""
        self._picture().save(path)

    def _picture(self) -> Picture:
        theme = theme_of("light" if self.theme == "auto" else self.theme)
        return Picture(*self._painted(theme), self.alt, self._words)

    def _still(self) -> Still:
        return Still(self._picture(), self.alt)


def whole(what: str, value: Any, low: int, high: int) -> int:
    """A whole number within bounds, or a sentence about it.

    >>> whole("threshold", 512, 2, 1_000_000)
    512
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadArgument(f"{what} is a whole number from {low:,} to {high:,}, not {value!r}")
    return value


def listed(what: str, value: Any, least: int, most: int) -> list[Any]:
    """A list of some length, or a sentence about it."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise BadArgument(f"{what} is a list, not {value!r}")
    found = list(value)
    if not least <= len(found) <= most:
        raise BadArgument(f"{what} has {least} to {most} numbers, not {len(found)}")
    return found
