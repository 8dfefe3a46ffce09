"""The numbers under a picture: how long, how busy, how much of the communication is hidden."""

from __future__ import annotations

from dataclasses import dataclass

from .blocks import Interval, common, total, union
from .frame import Frame
from .ticks import duration


@dataclass(frozen=True)
class Numbers:
    """Lengths in nanoseconds. Communication is what its own stream does, or what is in flight (``flies``)."""

    makespan_ns: int
    compute_ns: int
    comm_ns: int
    hidden_ns: int
    flies: bool
    label: str | None

    @property
    def share(self) -> float | None:
        return self.hidden_ns / self.comm_ns if self.comm_ns else None


def numbers_of(frame: Frame) -> Numbers:
    """Count within the frame."""
    comm, compute = _busy(frame, comm=True), _busy(frame, comm=False)
    air = [span for span in frame.spans.values() if span.cat == "transfer"]
    flying = union((span.start_ns, span.end_ns) for span in air)
    flies = bool(air)
    hidden = total(common(flying if flies else comm, compute))
    label = next((str(span.args["label"]) for span in air if "label" in span.args), None)
    return Numbers(
        frame.end_ns - frame.start_ns, total(compute), total(flying if flies else comm), hidden, flies, label
    )


def _busy(frame: Frame, comm: bool) -> list[Interval]:
    spans = (
        span
        for span in frame.spans.values()
        if span.cat == "kernel" and (span.cls in ("comm", "copy")) == comm
    )
    return union((max(s.start_ns, frame.start_ns), min(s.end_ns, frame.end_ns)) for s in spans)


def in_words(numbers: Numbers) -> tuple[str, list[str]]:
    """The first number and the others.

    >>> in_words(Numbers(422_000, 360_000, 240_000, 210_000, False, None))
    ('makespan 422 µs', ['compute busy 360 µs', 'communication busy 240 µs, 88 % hidden'])
    """
    rest = []
    if numbers.compute_ns:
        rest.append(f"compute busy {duration(numbers.compute_ns)}")
    if numbers.comm_ns:
        name = "in flight" if numbers.flies else "communication busy"
        label = f" ({numbers.label})" if numbers.label else ""
        rest.append(f"{name} {duration(numbers.comm_ns)}{label}, {percent(numbers.share or 0)} hidden")
    return f"makespan {duration(numbers.makespan_ns)}", rest


def percent(share: float) -> str:
    """A share in whole percent; 100 and 0 only where it is all and nothing.

    >>> percent(0.999), percent(0.875), percent(1)
    ('99 %', '88 %', '100 %')
    """
    whole = round(share * 100)
    if 0 < share < 1:
        whole = min(max(whole, 1), 99)
    return f"{whole} %"
