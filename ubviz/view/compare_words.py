"""How a comparison is said: in a few words, and in a sentence for those who do not see it."""

from __future__ import annotations

from ..analysis.compare import Comparison, Lone, Pair
from ..analysis.operations import Operation
from .compare_data import notices_of
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
    """How long the second is, or how fast, of the first.

    >>> ratio_words("b", 330, 505), ratio_words("after", 505, 330), ratio_words("b", 5, 5)
    ('b is 1.53 times as long', 'after is 1.53 times as fast', 'b is as long')
    """
    if a == b:
        return f"{name} is as long"
    how = "long" if b > a else "fast"
    if not min(a, b):
        return f"{name} is {how}er"
    ratio = max(a, b) / min(a, b)
    shown = plain(round_3(ratio))
    return f"{name} is {f'{shown} times' if shown != '1' else 'all but'} as {how}"


def sentence_of(sides: tuple[Side, Side], found: Comparison, align: str) -> str:
    """What it shows, in a sentence or two."""
    named = [side.name if side.step is None else f"{side.name} (step {side.step})" for side in sides]
    by = "microbatch, layer and operation" if align == "ubatch" else "layer and operation"
    everything: tuple[Pair | Lone, ...] = (*found.pairs, *found.only_a, *found.only_b)
    if any(one.operation.rank is not None for one in everything):
        by = f"rank, {by}"
    alone = [
        f"{len(lone)} only in {side.name}" for side, lone in zip(sides, (found.only_a, found.only_b)) if lone
    ]
    counts = ", ".join([f"{len(found.pairs)} operations in both", *alone])
    text = (
        f"{named[0]} above {named[1]} on one axis of time, aligned by {by}: makespan {words_of(sides, found)}. "
        f"{counts}."
    )
    return whole_text(text)


TOTALS = {
    "makespan_ns": "makespan", "compute_busy_ns": "compute busy", "comm_busy_ns": "communication busy",
    "overlap_ns": "overlap", "exposed_comm_ns": "exposed communication", "transfer_ns": "in flight",
    "hidden_transfer_ns": "hidden in flight",
}  # fmt: skip
"""The numbers that a text shows, and what they are called there."""
MOST_ROWS = 10
"""Operations that a text lists."""


def text_of(sides: tuple[Side, Side], found: Comparison) -> str:
    """Both numbers and the difference, as a table in plain text; then the operations that differ most.

    The same every time for the same recordings.
    """
    names = [whole_text(side.name) for side in sides]
    rows = [["", *names, "difference"]]
    for name, words in TOTALS.items():
        total = found.totals[name]
        if total.a or total.b:
            rows.append([words, _shown(total.a), _shown(total.b), signed(total.diff)])
    lines = _table(rows)
    pairs = sorted(found.pairs, key=lambda pair: (-abs(pair.duration_diff_ns), pair.a.offset_ns))
    most = [
        [
            _name(operation),
            duration(a.duration_ns),
            duration(b.duration_ns),
            signed(b.duration_ns - a.duration_ns),
        ]
        for operation, a, b in pairs[:MOST_ROWS]
        if a.duration_ns != b.duration_ns
    ]
    if most:
        lines += ["", *_table([["operation", *names, "difference"], *most])]
    for side, lone in zip(names, (found.only_a, found.only_b)):
        if lone:
            more = f" and {len(lone) - MOST_ROWS} more" if len(lone) > MOST_ROWS else ""
            listed = "; ".join(_name(one.operation) for one in lone[:MOST_ROWS])
            lines += ["", f"only in {side}: {listed}{more}"]
    notices = notices_of(sides, found)
    if notices:
        lines += ["", *(f"note: {whole_text(notice)}" for notice in notices)]
    return "\n".join(lines)


def _shown(value: float | None) -> str:
    return "unknown" if value is None else duration(value)


def signed(ns: float | None) -> str:
    """A difference with its sign.

    >>> signed(3_860_000), signed(-95_000), signed(0), signed(None)
    ('+3.86 ms', '-95 µs', '0', 'unknown')
    """
    if ns is None:
        return "unknown"
    return "0" if ns == 0 else f"{'+' if ns > 0 else ''}{duration(ns)}"


def _name(operation: Operation) -> str:
    parts = [visible(operation.name)]
    parts += [] if operation.rank is None else [f"rank {operation.rank}"]
    parts += [] if operation.ubatch is None else [f"microbatch {operation.ubatch}"]
    parts += [] if operation.layer is None else [f"layer {operation.layer}"]
    parts += [_again(operation.occurrence)] if operation.occurrence else []
    return ", ".join(parts)


def _again(occurrence: int) -> str:
    n = occurrence + 1
    ending = "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending} time"


def _table(rows: list[list[str]]) -> list[str]:
    """The first column to the left, the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for first, *rest in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:]))]
        lines.append("  ".join(cells).rstrip())
    return lines


def visible(text: str) -> str:
    """A name on one line, with what cannot be printed as an escape, and no longer than a line bears.

    >>> visible("a\\nb"), len(visible("x" * 99))
    ('a\\\\nb', 60)
    """
    shown = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[:60])
    return shown[:60]
