"""The numbers under a picture: how long, how busy, how much of the communication is hidden.

Of a step or a whole trace they are those of ``ubviz.analysis.overlap``; of a window, the same counted within it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...analysis.intervals import intersection, length, union
from ...analysis.overlap import Overlap, overlap
from ...trace.model import Trace
from .frame import Frame, extent
from .ticks import duration


@dataclass(frozen=True)
class Numbers:
    """Lengths in nanoseconds. ``comm`` is what runs on a stream, ``flight`` what is on its way on none.

    ``called`` is the word for the first: a step has a makespan; without steps nothing says when work began.
    """

    makespan_ns: int
    compute_ns: int
    comm_ns: int
    hidden_ns: int
    own_stream: bool = True
    flight_ns: int = 0
    hidden_flight_ns: int = 0
    label: str | None = None
    called: str = "makespan"

    @property
    def hidden(self) -> tuple[str, int, int] | None:
        """What is hidden behind computation, how much of it, and of how much; None where nothing can be said."""
        if self.comm_ns and self.own_stream:
            return "the communication", self.hidden_ns, self.comm_ns
        if self.flight_ns:
            return "the time in flight", self.hidden_flight_ns, self.flight_ns
        return None


def numbers_of(frame: Frame) -> Numbers:
    """Count the step, or the window."""
    if not frame.is_part:
        return numbers_of_step(frame.trace, frame.step)
    return numbers_of_window(frame.trace, frame.step, (frame.start_ns, frame.end_ns))


def numbers_of_window(trace: Trace, step: int | None, window: tuple[int, int]) -> Numbers:
    """Count what lies within a window, of one step or of all."""
    found = overlap(trace, step=step)
    label, own = _label(trace, step), _own_stream(found)
    sets = found.intervals
    compute, comm, flight = (
        union(np.clip(sets[name], *window)) for name in ("compute_busy_ns", "comm_busy_ns", "transfer_ns")
    )
    long = max(window[1] - window[0], 1)
    return Numbers(long, length(compute), length(comm), length(intersection(comm, compute)), own, length(flight),
                   length(intersection(flight, compute)), label, "window")  # fmt: skip


def numbers_of_step(trace: Trace, step: int | None) -> Numbers:
    """Count a step; without one, the whole trace."""
    found = overlap(trace, step=step)
    begin, end = extent(trace, step)
    return Numbers(found.makespan_ns or end - begin, found.compute_busy_ns, found.comm_busy_ns, found.overlap_ns,
                   _own_stream(found), found.transfer_ns, found.hidden_transfer_ns, _label(trace, step),
                   _called(trace, step, found.makespan_ns))  # fmt: skip


def _own_stream(found: Overlap) -> bool:
    return found.overlap_ratio is not None or not found.comm_busy_ns


def _label(trace: Trace, step: int | None) -> str | None:
    """What the transfers are said to be (modelled, measured), where they all say the same."""
    spans = trace.spans
    flying = spans.mask(cat="transfer") if step is None else spans.mask(cat="transfer", step=step)
    codes, pool = spans.codes("args")
    labels = {str(pool[code]["label"]) for code in np.unique(codes[flying]).tolist() if "label" in pool[code]}
    return labels.pop() if len(labels) == 1 else None


def _called(trace: Trace, step: int | None, device_ns: int) -> str:
    if step is not None or trace.steps:
        return "makespan"
    return "first kernel to last" if device_ns else "recorded"


def in_words(numbers: Numbers) -> tuple[str, list[str]]:
    """The first number and the others.

    >>> in_words(Numbers(422_000, 360_000, 240_000, 210_000))
    ('makespan 422 µs', ['compute busy 360 µs', 'communication busy 240 µs, 88 % hidden'])
    """
    rest = []
    if numbers.compute_ns:
        rest.append(f"compute busy {duration(numbers.compute_ns)}")
    if numbers.comm_ns:
        share = f", {percent(numbers.hidden_ns, numbers.comm_ns)} hidden" if numbers.own_stream else ""
        rest.append(f"communication busy {duration(numbers.comm_ns)}{share}")
    if numbers.flight_ns:
        label = f" ({numbers.label})" if numbers.label else ""
        share = percent(numbers.hidden_flight_ns, numbers.flight_ns)
        rest.append(f"in flight {duration(numbers.flight_ns)}{label}, {share} hidden")
    return f"{numbers.called} {duration(numbers.makespan_ns)}", rest


def percent(part: int, whole: int) -> str:
    """A share in whole percent; 100 and 0 only where it is all and nothing.

    >>> percent(999, 1000), percent(7, 8), percent(1, 1)
    ('99 %', '88 %', '100 %')
    """
    share = round(100 * part / whole)
    if 0 < part < whole:
        share = min(max(share, 1), 99)
    return f"{share} %"
