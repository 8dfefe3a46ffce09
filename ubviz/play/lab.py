"""``ubviz.Lab``: what a Lab plays with, handed to the view.

Three things can be played with: the package's own simulation (plans of it ship with the package), a recording, or a
simulator of the caller's. Not here: what is seen and worked out (``ubviz.view.lab``), and the simulation itself
(``ubviz.exploration.lab_programs``).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ..errors import BadArgument
from ..exploration.lab_programs import VARIANTS, simulate
from ..trace.model import Trace
from ..view.lab import LabView
from ..view.lab_controls import Choice, Controls, Note, Slider, Values, chosen
from ..view.lab_sources import Measured, Simulated, Source
from ..view.picture import must_be_trace
from ..view.widget import STATIC

PLANS = STATIC / "lab_plans.json.gz"
"""All plans of the package's own simulation; ``python -m tests.make_lab_plans`` makes the file."""

_LAYER = "µs a layer"
CONTROLS = Controls(
    (
        Slider("comm", "Communication", _LAYER, 0, 960, 12, 360, 360, "comm"),
        Slider("compute", "Computation", _LAYER, 0, 960, 12, 480, 480, "compute"),
        Slider("contention", "Slowdown while overlapped", "%", 0, 60, 1, 0, 1, "contention"),
        Slider("fixed", "Fixed cost of a kernel", "µs", 0, 40, 1, 5, 1, "kernel"),
        Slider("launch", "Launch cost", "µs", 0, 40, 1, 8, 8, "threads"),
    ),
    (
        Choice("ubatches", "Microbatches", (1, 2, 3, 4), ("1 (unsplit)", "2", "3", "4"), 2),
        Choice("layers", "Layers", (1, 2, 4, 8), ("1", "2", "4", "8"), 2),
        Choice("style", "All-to-all", ("ht", "ll"), ("high throughput", "low latency"), "ht"),
        Choice(
            "variant", "Protocol", tuple(VARIANTS), ("as it is", "record after yield", "one wait left out"),
            "none",
        ),
    ),
    ("ubatches", "layers", "style", "variant"),
    (
        Note({"ubatches": 1}, "One microbatch is the whole batch: there is nobody to hide behind."),
        Note({"style": "ht", "variant": "record_after_yield"}, "The event covers what the other microbatch launched "
             "meanwhile, and the comm stream waits for that, too."),
        Note({"style": "ht", "variant": "missing_wait"}, "Sooner done, and wrong: communication begins before what it "
             "sends has been computed. That is a race."),
        Note({"style": "ll", "variant": "record_after_yield"}, "No event is used in this style: nothing changes."),
        Note({"style": "ll", "variant": "missing_wait"}, "No event is used in this style: nothing changes."),
    ),
)  # fmt: skip
"""Of the package's own simulation. Its plans are made at these base values, without what kernels take besides."""


class Lab(LabView):
    """Drag what things take, and see the lanes slide: what would be hidden, and how far from the best it is.

    >>> lab = ubviz.Lab()  # doctest: +SKIP
    >>> lab  # doctest: +SKIP
    <Lab: ubatches 2, layers 2, style ht, variant none, makespan 1.24 ms, unsplit 1.74 ms>
    >>> lab.values = {"comm": 720, "ubatches": 3}  # doctest: +SKIP
    >>> lab.numbers["overlap_ratio"]  # doctest: +SKIP
    0.48333333333333334

    what: nothing, for the package's own simulation; a recording, for what-if on measured data; or a function that
    takes the controls by name and returns the recording of one step: ``Lab(simulate, {"ubatches": (2, 3, 4)})``.
    unsplit: beside a recording, one of the same work unsplit; beside a simulator, what makes it the unsplit one, as in
    ``{"ubatches": 1}``. step: of a recording; the last complete one unless given. values: to begin with; the others are
    as recorded. theme: "auto" (the notebook's), "light" or "dark". title: a heading.

    Traits: ``values``, a dict of all controls, both ways (setting some keeps the others); ``curve``, the slider whose
    curve is drawn; ``theme``. ``numbers``, ``numbers_at(comm=0)``, ``break_even("comm")`` and ``trace()`` are Python's.

    What is kept when durations change is the order of all operations (``ubviz.analysis.retime``). Raises BadArgument
    when an argument cannot be used.
    """

    def __init__(
        self, what: Trace | Callable[..., Trace] | None = None, controls: Mapping[str, Any] | None = None, *,
        unsplit: Any = None, step: int | None = None, values: Mapping[str, Any] | None = None, theme: str = "auto",
        title: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(_source(what, controls, unsplit, step), values=values, theme=theme, title=title)


def _source(what: Any, controls: Any, unsplit: Any, step: int | None) -> Source:
    simulator = callable(what) and not isinstance(what, Trace)
    if step is not None and not isinstance(what, Trace):
        raise BadArgument("step is for a recording: Lab(trace, step=3)")
    if controls is not None and not simulator:
        raise BadArgument("controls are a simulator's: Lab(simulate, {'ubatches': (2, 3, 4)})")
    if what is None:
        if unsplit is not None:
            raise BadArgument("unsplit goes with a recording or a simulator; this Lab has its own")
        return Simulated(_base, CONTROLS, unsplit={"ubatches": 1}, same=_same, known=shipped())
    if simulator:
        if unsplit is not None and not isinstance(unsplit, Mapping):
            raise BadArgument(
                f"unsplit says which controls make it unsplit, as in {{'ubatches': 1}}, not {unsplit!r}"
            )
        return Simulated(what, chosen(controls), unsplit=unsplit)
    must_be_trace(what, "a Lab takes a simulator or")
    if unsplit is not None:
        must_be_trace(unsplit, "unsplit is")
    return Measured(what, unsplit, step)


def _base(**choices: Any) -> Trace:
    return simulate(**choices, fixed_ns=0)


def _same(setting: Values) -> Values:
    """One microbatch is unsplit, whatever the protocol."""
    return {**setting, "variant": "none"} if setting["ubatches"] == 1 else dict(setting)


@cache
def shipped() -> dict[str, Any]:
    """The plans of the package's own simulation, by name."""
    plans: dict[str, Any] = json.loads(gzip.decompress(PLANS.read_bytes()))
    return plans


def made() -> dict[str, Any]:
    """The same plans, made anew."""
    source = Simulated(_base, CONTROLS, unsplit={"ubatches": 1}, same=_same)
    return {name: source.plan_data(name) for name in dict.fromkeys(name for name, _ in source.plans.values())}
