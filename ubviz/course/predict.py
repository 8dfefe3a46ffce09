"""Predictions: a guess, the measured value, and what each wrong guess has in mind."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import BadArgument
from .told import filled


def verdict(
    guess: float, measured: float, models: Mapping[str, float], *, unit: str, within: float = 0.1
) -> str:
    """One or two sentences: guess beside measurement, and the wrong model that the guess agrees with.

    ``models`` maps a sentence about a wrong model to the value that the model predicts; ``within`` is how near,
    as a share, counts as the same.

    >>> print(verdict(60, 100, {"half the time: as if overlap made the work smaller": 62}, unit="ms"))
    You guessed 60 ms, measured were 100 ms.
    That is half the time: as if overlap made the work smaller.
    """
    if isinstance(guess, bool) or not isinstance(guess, (int, float)) or not guess >= 0:
        raise BadArgument(f"a prediction is a number of {unit}, 0 or more, not {guess!r}")
    said = f"You guessed {_shown(guess)} {unit}, measured were {_shown(measured)} {unit}."
    if _near(guess, measured, within):
        return f"{said}\nThat is what happened, within {within:.0%}."
    for sentence, value in sorted(models.items(), key=lambda item: abs(item[1] - guess)):
        if _near(guess, value, within):
            return filled(f"{said}\nThat is {sentence}.")
    return f"{said}\nThat is {'more' if guess > measured else 'less'} than measured, by a model of your own."


def _near(a: float, b: float, within: float) -> bool:
    return abs(a - b) <= within * b


def _shown(value: float) -> str:
    """Three digits, or all of a larger number: 0.125, 12.5, 4,050."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
