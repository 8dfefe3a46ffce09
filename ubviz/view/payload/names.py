"""One list of all strings, and how the columns of a trace point into it."""

from __future__ import annotations

import numpy as np

from ...trace.model import Table


class Names:
    """Strings by number, each once.

    >>> names = Names()
    >>> names.number("attention"), names.number("experts"), names.number("attention")
    (0, 1, 0)
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a string, a new one where it is not known yet."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return found

    def column(self, table: Table, field: str, absent: int = -1) -> np.ndarray:
        """A column of text as numbers; ``absent`` where there is none."""
        codes, pool = table.codes(field)
        numbers = np.array([*map(self.number, pool), absent], dtype=np.int64)
        return numbers[codes]
