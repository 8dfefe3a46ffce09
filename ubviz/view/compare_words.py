"""How a comparison is said: in a few words, and in a sentence for those who do not see it."""

from __future__ import annotations

from ..analysis.compare import Comparison
from .compare_sides import Side
from .paint.ticks import duration, plain, round_3
from .picture import whole_text


def words_of(sides: tuple[Side, Side], found: Comparison) -> str:
    """Both makespans, and how they compare.

    >>> words_of(sides, found)  # doctest: +SKIP
    '330 ms and 505 ms, b is 1.53 times as long'
    """
    makespan = found.totals["makespan_ns"]
    if makespan.a is None or makespan.b is None:
        return "no makespan is known"
    return f"{duration(makespan.a)} and {duration(makespan.b)}, {ratio_words(sides[1].name, makespan.a, makespan.b)}"


def ratio_words(name: str, a: float, b: float) -> str:
    """How long the second is, of the first.

    >>> ratio_words("b", 330, 505), ratio_words("after", 505, 330), ratio_words("b", 5, 5)
    ('b is 1.53 times as long', 'after is 0.653 times as long', 'b is as long')
    """
    if a == b:
        return f"{name} is as long"
    if not a:
        return f"{name} is longer"
    ratio = b / a
    shown = plain(round_3(ratio))
    return f"{name} is {shown if shown != '1' else plain(round(ratio, 4))} times as long"


def sentence_of(sides: tuple[Side, Side], found: Comparison, align: str) -> str:
    """What it shows, in a sentence or two."""
    named = [side.name if side.step is None else f"{side.name} (step {side.step})" for side in sides]
    by = "microbatch, layer and operation" if align == "ubatch" else "layer and operation"
    alone = [f"{len(lone)} only in {side.name}" for side, lone in zip(sides, (found.only_a, found.only_b)) if lone]
    counts = ", ".join([f"{len(found.pairs)} operations in both", *alone])
    text = (
        f"{named[0]} above {named[1]} on one axis of time, aligned by {by}: makespan {words_of(sides, found)}. "
        f"{counts}."
    )
    return whole_text(text)
