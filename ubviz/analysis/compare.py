"""Two recordings side by side: the same operations of both, with both times and the difference.

Operations are the same where step, rank, microbatch, layer, name and occurrence are; of a run that was split
otherwise, or not at all, ``by="name"`` leaves the microbatch out. Ranks count where either recording has several;
two recordings of one rank each are compared whichever these are. What is only in one of them is listed, not left
out. Nothing is said of why: ``gaps`` and ``critical_path`` of each are for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import BadArgument
from ..trace.model import Notice, Trace
from .classes import CommRule, classified
from .operations import Operation, Part, operations, ranks_of, steps_of
from .overlap import Overlap, overlap

BY = ("ubatch", "name")
TOTALS = (
    "makespan_ns", "kernels", "operations", "compute_busy_ns", "comm_busy_ns", "overlap_ns", "overlap_ratio",
    "exposed_comm_ns", "transfer_ns", "hidden_transfer_ns",
)  # fmt: skip
"""Numbers of ``overlap`` that are compared."""
_OF_CLASSES = ("compute_busy_ns", "comm_busy_ns", "overlap_ns", "exposed_comm_ns", "hidden_transfer_ns")


class Pair(NamedTuple):
    """One operation of both."""

    operation: Operation
    a: Part
    b: Part

    @property
    def duration_diff_ns(self) -> int:
        """How much longer it runs in b."""
        return self.b.duration_ns - self.a.duration_ns

    @property
    def start_diff_ns(self) -> int:
        """How much later in its step it begins in b."""
        return self.b.offset_ns - self.a.offset_ns


class Lone(NamedTuple):
    """One operation that only one of them has."""

    operation: Operation
    part: Part


class Total(NamedTuple):
    """A number of both; None where it is not known."""

    a: float | int | None
    b: float | int | None

    @property
    def diff(self) -> float | int | None:
        """b less a."""
        return None if self.a is None or self.b is None else self.b - self.a


@dataclass(frozen=True)
class Comparison:
    """``pairs`` in order of their start in a. ``steps``: which step of b each step of a is compared with.

    ``totals`` are of all that was compared: of the steps in ``steps``.
    """

    pairs: tuple[Pair, ...]
    only_a: tuple[Lone, ...]
    only_b: tuple[Lone, ...]
    totals: dict[str, Total]
    steps: dict[int | None, int | None]
    notices: tuple[Notice, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "totals": {name: {"a": t.a, "b": t.b, "diff": t.diff} for name, t in self.totals.items()},
            "pairs": [
                {
                    **pair.operation._asdict(), "a": pair.a._asdict(), "b": pair.b._asdict(),
                    "duration_diff_ns": pair.duration_diff_ns, "start_diff_ns": pair.start_diff_ns,
                }
                for pair in self.pairs
            ],
            "only_a": [{**lone.operation._asdict(), **lone.part._asdict()} for lone in self.only_a],
            "only_b": [{**lone.operation._asdict(), **lone.part._asdict()} for lone in self.only_b],
            "steps": [{"a": a, "b": b} for a, b in self.steps.items()],
            "notices": [notice._asdict() for notice in self.notices],
        }  # fmt: skip


def compare(a: Trace, b: Trace, by: str = "ubatch", comm: CommRule | None = None) -> Comparison:
    """Align two recordings by step, rank, microbatch (unless ``by="name"``), layer, operation and occurrence.

    >>> compare(
    ...     ubviz.example("whole_game_unsplit"), ubviz.example("whole_game_overlapped"), by="name"
    ... ).totals["makespan_ns"].diff  # doctest: +SKIP
    -174709758

    Steps are the same by their number. If each recording has one step, these are compared, whatever their numbers;
    if they share no number, they are compared in order. What was left out is a notice. ``comm`` as in ``analyze``.
    Raises ``BadArgument`` where ``by`` is neither "ubatch" nor "name".
    """
    if by not in BY:
        raise BadArgument(f'compare aligns by "ubatch" or "name", not {by!r}')
    a, b = classified(a, comm), classified(b, comm)
    in_a, in_b = steps_of(a), steps_of(b)
    whole = not in_a or not in_b
    steps, notices = ({None: None}, []) if whole else _steps(in_a, in_b)
    if any(trace.spans.mask(cat="kernel", step=None).any() for trace in (a, b)):
        steps[None] = None  # what belongs to no step
    back = {theirs: mine for mine, theirs in steps.items()}
    ranks = max(len(ranks_of(a)), len(ranks_of(b))) > 1
    of_a = {key: part for key, part in operations(a, by, whole, ranks).items() if key.step in steps}
    of_b = {
        key._replace(step=back[key.step]): part
        for key, part in operations(b, by, whole, ranks).items()
        if key.step in back
    }
    return Comparison(
        tuple(Pair(key, part, of_b[key]) for key, part in of_a.items() if key in of_b),
        tuple(Lone(key, part) for key, part in of_a.items() if key not in of_b),
        tuple(Lone(key, part) for key, part in of_b.items() if key not in of_a),
        _totals(_of_steps(a, in_a, [*steps]), _of_steps(b, in_b, [*back])),
        dict(steps),
        tuple(notices),
    )


def _steps(a: list[int], b: list[int]) -> tuple[dict[Any, Any], list[Notice]]:
    """Which step of b stands beside each of a."""
    same = sorted(set(a) & set(b))
    notices = []
    if len(a) == len(b) == 1:
        return {a[0]: b[0]}, []
    pairs = {step: step for step in same} if same else dict(zip(a, b, strict=False))
    if not same:
        said = "the two recordings have no step's number in common; they are compared in order"
        notices.append(Notice("steps_in_order", len(pairs), said))
    left = len(a) + len(b) - 2 * len(pairs)
    if left:
        said = "1 step is" if left == 1 else f"{left:,} steps are"
        notices.append(
            Notice("steps_left_out", left, f"{said} in one of the two recordings only, and not compared")
        )
    return pairs, notices


def _of_steps(trace: Trace, there: list[int], chosen: list[int | None]) -> Trace:
    """The trace, or the chosen ones of its steps."""
    steps = [step for step in chosen if step is not None]
    return trace.only(*steps) if steps and len(steps) < len(there) else trace


def _totals(a: Trace, b: Trace) -> dict[str, Total]:
    measured = overlap(a), overlap(b)
    return {name: Total(*(_number(found, name) for found in measured)) for name in TOTALS}


def _number(found: Overlap, name: str) -> float | int | None:
    """None where it would only say that no kernel has a class."""
    if name in _OF_CLASSES and found.kernels and not found.classified:
        return None
    number: float | int | None = getattr(found, name)
    return number
