"""What a Compare compares: one step of each recording, aligned; or a sentence that says why that cannot be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis.classes import CommRule, classified
from ..analysis.compare import BY, Comparison, compare
from ..analysis.windows import windows
from ..errors import BadArgument
from ..trace.model import MISSING, Trace
from .paint.frame import last_complete_step
from .picture import must_be_trace, whole_text

ALIGNS = BY
"""What operations may be aligned by."""


@dataclass(frozen=True)
class Side:
    """One of the two: its name, the recording that was given, and the step of it that is compared."""

    name: str
    whole: Trace
    step: int | None
    trace: Trace
    begin_ns: int

    @property
    def ubatches(self) -> set[int]:
        """The microbatches that it ran."""
        found = self.trace.spans["ubatch"][self.trace.spans.mask(cat="kernel")]
        return set(np.unique(found[found != MISSING]).tolist())


def sides_of(a: Any, b: Any, steps: Any, names: Any, comm: CommRule | None) -> tuple[Side, Side]:
    """Both sides, or what is wrong with what was given."""
    first, second = _pair("names", names, ("a", "b"), "strings", str)
    chosen = _pair("steps", steps, (None, None), "step numbers (or None for the last complete one)", int)
    if first == second:
        raise BadArgument(f"names must tell the recordings apart; both are {first!r}")
    return _side(a, first, chosen[0], comm), _side(b, second, chosen[1], comm)


def _pair(who: str, value: Any, default: tuple[Any, Any], what: str, kind: type) -> tuple[Any, Any]:
    if value is None:
        return default
    ok = isinstance(value, (list, tuple)) and len(value) == 2
    for part in value if ok else ():
        ok = (
            ok
            and not isinstance(part, bool)
            and isinstance(part, kind if kind is str else (kind, type(None)))
        )
    if not ok or (kind is str and not all(part.strip() for part in value)):
        raise BadArgument(f"{who} are two {what}, as in {_EXAMPLE[who]}, not {value!r}")
    return value[0], value[1]


_EXAMPLE = {"names": '("before", "after")', "steps": "(3, 5)"}


def _side(trace: Any, name: str, step: int | None, comm: CommRule | None) -> Side:
    must_be_trace(trace, "Compare takes")
    name = " ".join(whole_text(name).split())
    if step is None:
        step = last_complete_step(trace)
    elif step not in trace.steps:
        known = ", ".join(map(str, trace.steps)) or "none"
        raise BadArgument(f"{name}: this recording has no step {step}; it has {known}")
    chosen = trace if step is None else trace.only(step)
    if not chosen.spans.mask(cat="kernel").any():
        where = "this recording" if step is None else f"step {step} of this recording"
        raise BadArgument(f"{name}: {where} has no kernels to compare; ubviz.Timeline shows what it has")
    chosen = classified(chosen, comm)
    begin = min(start for start, _ in windows(chosen).values())
    return Side(name, trace, step, chosen, begin)


def aligned(a: Side, b: Side, align: Any) -> tuple[str, Comparison]:
    """What they are aligned by, and the comparison.

    Unless ``align`` is given: by microbatch where both ran the same ones, else by name alone.
    """
    if align is not None and align not in ALIGNS:
        raise BadArgument(f'align is "ubatch" or "name", not {align!r}')
    how = align or ("ubatch" if a.ubatches == b.ubatches else "name")
    found = compare(a.trace, b.trace, by=how)
    if not found.pairs:
        raise BadArgument(f"nothing could be aligned: {_why(a, b, how)}")
    return how, found


def _why(a: Side, b: Side, how: str) -> str:
    if how == "ubatch" and compare(a.trace, b.trace, by="name").pairs:
        return (
            f"no operation of {a.name!r} has the microbatch of one in {b.name!r} ({_split(a)}; {_split(b)}); "
            'align="name" leaves the microbatch out'
        )
    return f"{a.name!r} and {b.name!r} have no operation of the same name and layer; {_has(a)}, {_has(b)}"


def _split(side: Side) -> str:
    known = ", ".join(map(str, sorted(side.ubatches)))
    return f"{side.name!r} ran {'microbatches ' + known if known else 'no microbatches'}"


def _has(side: Side) -> str:
    spans = side.trace.spans
    rows = np.flatnonzero(spans.mask(cat="kernel"))
    names = list(dict.fromkeys(span.operation or span.name for span in spans.rows(rows[:2000])))
    shown = ", ".join(whole_text(name)[:40] for name in names[:3])
    return f"{side.name!r} begins with {shown}"
