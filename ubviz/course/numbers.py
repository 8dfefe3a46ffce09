"""What counts as a number in an answer: Python's and NumPy's, but neither a truth value nor "not a number"."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any


def is_number(value: Any) -> bool:
    """Whether a value can be compared with a measured one.

    >>> is_number(1.5), is_number(True), is_number(float("nan")), is_number("1")
    (True, False, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)
