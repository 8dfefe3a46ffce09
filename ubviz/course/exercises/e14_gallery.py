"""14: five broken runs, to be told apart by their recordings."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...errors import BadArgument
from ...exploration import explore
from ...exploration.variants import VARIANTS, program_of
from ...trace import Trace
from ..exercise import Exercise, Verdict, right, wrong
from ..run import run
from .e07_first_wrong import forgetful

GALLERY = {"A": "unequal_yields", "B": "missing_wait", "C": "no_restore", "D": "hook_twice", "E": "no_clear"}
NAMES = (
    "clear_before_wait", "hook_twice", "missing_wait", "no_clear", "no_exit_signal", "no_kick", "no_restore",
    "parties_n", "record_after_yield", "signal_self", "unequal_yields",
)  # fmt: skip
"""What one may choose from."""


@cache
def gallery() -> dict[str, Trace]:
    """Five recordings by letter: each the shortest run that shows what is broken, on the ring without checks."""
    return {letter: _shown(variant) for letter, variant in GALLERY.items()}


def _shown(variant: str) -> Trace:
    if (
        variant == "no_restore"
    ):  # with a first context in place, which stays: so it is wrong, and not only absent
        return run(forgetful())
    return explore(program_of(variant, ring="bare", layers=2)).trace()


def judge(guesses: Any) -> Verdict:
    """An answer is a dict: letter to name of a variant."""
    if not isinstance(guesses, dict) or set(guesses) != set(GALLERY):
        raise BadArgument(f"the answer is a dict of {', '.join(GALLERY)}, not {guesses!r}")
    for letter, guess in guesses.items():
        if guess is None or guess is Ellipsis:
            return wrong(f"Run {letter} has no name yet.", yours=repr(guess))
        if guess not in NAMES:
            return wrong(
                f"Run {letter}: there is no such name; the names are {', '.join(NAMES)}.", yours=repr(guess)
            )
    named = [letter for letter, guess in guesses.items() if guess == GALLERY[letter]]
    if len(named) == len(GALLERY):
        return right("All five, told from their recordings.")
    letter = next(letter for letter in GALLERY if letter not in named)
    guess = guesses[letter]
    return wrong(
        f"{len(named)} of {len(GALLERY)} are right. Run {letter} is not {guess} ({VARIANTS[guess].sentence}). "
        f"Look: {_evidence(letter)}.",
        yours=guess,
    )


def _evidence(letter: str) -> str:
    """What the recording shows, without the name."""
    from ...analysis import analyze

    return next(f for f in analyze(gallery()[letter]).findings if f.severity == "error").sentence.rstrip(".")


EXERCISE = Exercise(
    "14.gallery",
    "Name what is broken in the five recordings.",
    (
        "Ask ubviz.analyze(trace).findings first: it names threads, objects and lines. Then look at the timeline.",
        "Two hang or lose something for ever; two end, with a wrong order on the device or in who is awake; one ends "
        "with the metadata of the wrong microbatch.",
        "A hangs after its peer has left; B has a race; C works in the wrong forward context; D loses what a hook "
        "should have received; E has two threads awake.",
    ),
    judge,
    gallery,
)
