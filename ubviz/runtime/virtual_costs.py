"""What everything takes in virtual time: operations, launches, hand-overs between threads.

An operation's duration is, in this order: what it was given (``duration_ns``); what ``operations`` says of its name
and layer, or of its name; the model. The model is a start-up time and a time for each byte that the operation
makes, by class: it grows with the tokens of a batch, and does not depend on how PyTorch cuts an operation up.

Not modelled: kernels that share a device slow one another down; caches; the interpreter lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import BadArgument

Key = str | tuple[str, int | None]
"""An operation's name, or its name and layer."""

START_NS = {"compute": 20_000, "comm": 10_000, "copy": 5_000, "other": 2_000}
BYTES_PER_NS = {"compute": 2, "comm": 16, "copy": 16, "other": 16}


def model(name: str, cls: str, layer: int | None, nbytes: int) -> int:
    """Nanoseconds of an operation that nothing else is known of.

    >>> model("experts", "compute", 0, nbytes=1_000_000)
    520000
    """
    return START_NS.get(cls, 2_000) + nbytes // BYTES_PER_NS.get(cls, 16)


@dataclass(frozen=True)
class Costs:
    """Durations in nanoseconds; pass one, or a plain ``{"attention": 300_000}``, as ``costs=``.

    >>> costs = Costs({"attention": 300_000, ("experts", 1): 500_000}, wake_ns=10_000)
    >>> costs.duration_ns("experts", "compute", 1), costs.duration_ns("attention", "compute", 1)
    (500000, 300000)
    """

    operations: Mapping[Key, int] = field(default_factory=dict)
    launch_ns: int = 8_000  # the thread's time for one launch
    launches: Mapping[str, int] = field(default_factory=dict)  # the same, by operation
    leads: Mapping[str, int] = field(
        default_factory=dict
    )  # of that, what comes before the device hears of it
    before: Mapping[str, int] = field(
        default_factory=dict
    )  # the thread's time for what it does before an operation
    event_ns: int = 1_000  # set, clear, record, wait
    wake_ns: int = 20_000  # from a set to the thread that slept
    barrier_ns: int = 2_000
    spawn_ns: int = 50_000
    model: Callable[[str, str, int | None, int], int] = model

    def __post_init__(self) -> None:
        named = (self.operations, self.launches, self.leads, self.before)
        times: list[tuple[object, object]] = [pair for each in named for pair in each.items()]
        for name, ns in (*times, *((name, getattr(self, name)) for name in TIMES)):
            if not isinstance(ns, int) or isinstance(ns, bool) or ns < 0:
                raise BadArgument(
                    f"the cost of {name} is a whole number of nanoseconds from 0 on, not {ns!r}"
                )

    def duration_ns(self, name: str, cls: str, layer: int | None, nbytes: int = 0) -> int:
        """What an operation takes that was not given a duration."""
        known = self.operations.get((name, layer))
        if known is None:
            known = self.operations.get(name)
        return self.model(name, cls, layer, nbytes) if known is None else known

    def with_operations(self, changed: Mapping[Key, int]) -> Costs:
        """The same with some operations changed."""
        return replace(self, operations={**self.operations, **changed})


TIMES = ("launch_ns", "event_ns", "wake_ns", "barrier_ns", "spawn_ns")


def costs_of(given: Any, times: Mapping[str, Any]) -> Costs:
    """``Costs`` of what ``get_runtime("virtual", costs=..., wake_ns=...)`` was given."""
    unknown = [name for name in times if name not in TIMES]
    if unknown:
        raise BadArgument(
            f"runtime 'virtual' takes no option {unknown[0]!r}; it has costs, seed, schedule, {', '.join(TIMES)}"
        )
    if given is None:
        given = {}
    if callable(given):
        return replace(Costs(model=given), **times)
    if not isinstance(given, Costs):
        if not isinstance(given, Mapping):
            raise BadArgument(
                f"costs is a mapping of operation names to nanoseconds, a Costs or a function, not {given!r}"
            )
        given = Costs(given)
    return replace(given, **times)
