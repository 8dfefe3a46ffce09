"""What things cost. Each module here has ``rows()``; ``make bench`` prints them against their bounds."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One measured figure; ``bound`` is the most it may be, or None where it is only shown."""

    what: str
    value: float
    unit: str
    bound: float | None = None

    @property
    def within(self) -> bool:
        return self.bound is None or self.value <= self.bound
