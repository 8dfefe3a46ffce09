"""Microseconds as decimal text, nanoseconds as integers; no float in between.

A float of microseconds is exact to the nanosecond only below 2**43; Unix times are beyond that.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(rb"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_MOST_DIGITS = 40


def us_text(ns: int) -> str:
    """Nanoseconds as microseconds with at most three decimals.

    >>> us_text(1_500), us_text(-7), us_text(2_000)
    ('1.5', '-0.007', '2')
    """
    whole, rest = divmod(abs(ns), 1000)
    text = f"{whole}.{rest:03d}".rstrip("0") if rest else str(whole)
    return f"-{text}" if ns < 0 else text


def ns_from_us(text: bytes) -> int:
    """A JSON number of microseconds, also as a JSON string, in nanoseconds; below 1 ns half goes to even.

    >>> ns_from_us(b"1.5"), ns_from_us(b'"-7e-3"'), ns_from_us(b"0.0025")
    (1500, -7, 2)

    Raises ValueError when the text is no number, OverflowError beyond 40 digits of nanoseconds.
    """
    match = _NUMBER.fullmatch(text.strip(b'" '))
    if match is None:
        raise ValueError("not a number")
    sign, whole, fraction, exponent = match.groups(default=b"")
    if len(fraction) <= 3 and not exponent and len(whole) <= _MOST_DIGITS:
        value = int(whole) * 1000 + int(fraction.ljust(3, b"0"))
    else:
        value = _rounded((whole + fraction).lstrip(b"0"), _clamped(exponent) - len(fraction) + 3)
    return -value if sign else value


def _clamped(exponent: bytes) -> int:
    """The exponent, held within what cannot change the outcome (``1e999999999`` costs nothing)."""
    digits = exponent.lstrip(b"+-").lstrip(b"0")
    size = int(digits or b"0") if len(digits) < 10 else 10**10
    return -size if exponent.startswith(b"-") else size


def _rounded(digits: bytes, exponent: int) -> int:
    """``digits * 10**exponent``, half to even."""
    whole = len(digits) + exponent
    if not digits or whole < 0:
        return 0
    if whole > _MOST_DIGITS:
        raise OverflowError("out of range")
    if exponent >= 0:
        return int(digits) * 10**exponent
    value, rest = int(digits[:whole] or b"0"), digits[whole:].rstrip(b"0")
    half = b"5"
    return value + (rest > half or (rest == half and value % 2 == 1))
