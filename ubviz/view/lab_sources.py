"""Where a Lab's plans come from: a recording, a simulator, or a file of plans that were simulated before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Protocol

import numpy as np

from ..analysis.retime import _returns
from ..analysis.retimed import moved, on_threads
from ..errors import BadArgument, UbvizError
from ..trace.model import Trace
from .lab_controls import Controls, Note, Values, measured
from .lab_flow import times
from .lab_made import plan_and_graph, plan_of
from .lab_plan import Plan
from .paint.frame import last_complete_step
from .paint.ticks import duration
from .picture import must_be_trace

MOST_PLANS = 400
"""More combinations of choices than these make no page."""


class Source(Protocol):
    """What a Lab plays with. Plans have names; ``plans`` says which one belongs to which choices."""

    @property
    def controls(self) -> Controls:
        """What can be changed."""

    @property
    def kind(self) -> str:
        """ "measured" or "simulated"."""

    @property
    def names(self) -> tuple[str, str]:
        """Of what is drawn above, and below."""

    @property
    def plans(self) -> Mapping[str, tuple[str, str | None]]:
        """By ``controls.key``: the name of the plan, and of that of the same work unsplit where there is one."""

    def ready(self) -> list[str]:
        """The names of the plans that are there already."""

    def plan(self, name: str) -> Plan:
        """The plan of a name; ``BadArgument`` for one that there is not."""

    def plan_data(self, name: str) -> dict[str, Any]:
        """The plan as it is sent."""

    def trace(self, values: Values) -> Trace:
        """The recording at these values."""

    def reference(self, values: Values) -> Trace:
        """What it is compared with."""


class Measured:
    """A recording, and one of the same work unsplit, if there is one."""

    kind, names = "measured", ("measured", "predicted")

    def __init__(self, trace: Trace, unsplit: Trace | None, step: int | None) -> None:
        self._trace, self._step = trace, step
        plan, drawn, _ = plan_and_graph(trace, step)
        self._plans = {"measured": plan}
        if unsplit is not None:
            self._plans["unsplit"] = plan_of(unsplit)
        self.plans: dict[str, tuple[str, str | None]] = {
            "": ("measured", None if unsplit is None else "unsplit")
        }
        self.controls = measured(plan, _slack(drawn.unexplained_ns()))

    def ready(self) -> list[str]:
        return list(self._plans)

    def plan(self, name: str) -> Plan:
        if name not in self._plans:
            raise BadArgument(f"this Lab has no plan {name!r}")
        return self._plans[name]

    def plan_data(self, name: str) -> dict[str, Any]:
        return self.plan(name).data()

    def trace(self, values: Values) -> Trace:
        return self._only(changed(self._trace, self._step, None, self.controls, values))

    def reference(self, values: Values) -> Trace:
        return self._only(self._trace)

    def _only(self, trace: Trace) -> Trace:
        step = last_complete_step(trace) if self._step is None else self._step
        return trace if step is None else trace.only(step)


class Simulated:
    """A simulator: ``simulate(**choices)`` gives the recording of one step, with the durations that are the sliders'.

    ``unsplit`` are choices that make it the unsplit one; ``same`` gives, for some choices, the ones that mean the same
    and stand for them; ``known`` are plans that were made before, by name.
    """

    kind = "simulated"

    def __init__(
        self, simulate: Callable[..., Trace], controls: Controls, *, unsplit: Mapping[str, Any] | None = None,
        same: Callable[[Values], Values] = dict, known: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._simulate, self.controls = simulate, controls
        self._unsplit, self._same = dict(unsplit or {}), same
        self._made: dict[str, Plan] = {}
        self._known = dict(known or {})
        lists = {choice.name: choice.values for choice in controls.choices}
        settings = [
            dict(zip(lists, values, strict=True)) for values in product(*lists.values())
        ]  # fmt: skip
        if len(settings) > MOST_PLANS:
            raise BadArgument(
                f"these controls have {len(settings):,} combinations; at most {MOST_PLANS} are possible"
            )
        self._settings = {controls.key(same(setting)): same(setting) for setting in settings}
        self.plans = {controls.key(setting): self._pair(setting) for setting in settings}
        self.names = ("unsplit", "split") if unsplit else ("as simulated", "changed")

    def _pair(self, setting: Values) -> tuple[str, str | None]:
        name = self.controls.key(self._same(setting))
        if not self._unsplit:
            return name, None
        return name, self.controls.key(self._same({**setting, **self._unsplit}))

    def ready(self) -> list[str]:
        return [name for name in self._settings if name in self._known]

    def plan(self, name: str) -> Plan:
        if name not in self._settings:
            raise BadArgument(f"this Lab has no plan {name!r}")
        if name not in self._made:
            known = self._known.get(name)
            if known is None:
                trace = self._run(self._settings[name])
                self._made[name] = plan_of(trace, None, _launch_ns(trace))
            else:
                self._made[name] = Plan.of(known)
        return self._made[name]

    def plan_data(self, name: str) -> dict[str, Any]:
        known: dict[str, Any] | None = self._known.get(name)
        return known or self.plan(name).data()

    def _run(self, setting: Values) -> Trace:
        asked = self._same({name: setting[name] for name in self.controls.structure})
        try:
            trace = self._simulate(**asked)
        except UbvizError:
            raise
        except Exception as error:
            said = ", ".join(f"{name}={value!r}" for name, value in asked.items())
            raise BadArgument(f"simulate({said}) raised {type(error).__name__}: {error}") from error
        must_be_trace(trace, "simulate has to return")
        return trace

    def trace(self, values: Values) -> Trace:
        trace = self._run(values)
        return changed(trace, None, _launch_ns(trace), self.controls, values)

    def reference(self, values: Values) -> Trace:
        return self.trace({**values, **self._unsplit}) if self._unsplit else self._run(values)


def _launch_ns(trace: Trace) -> int | None:
    """What a launch takes, where the recording says it: that of a simulation."""
    times = trace.meta.get("times")
    return times.get("launch_ns") if isinstance(times, dict) else None


def _slack(ns: int) -> tuple[Note, ...]:
    """How far a prediction can be trusted."""
    if ns <= 0:
        return ()
    return (
        Note(
            {}, f"{duration(ns)} of delays are explained by nothing in the recording: they stay as they were."
        ),
    )


def changed(
    trace: Trace, step: int | None, launch_ns: int | None, controls: Controls, values: Values
) -> Trace:
    """The recording as it would be with these values: its rows, moved."""
    plan, drawn, zero = plan_and_graph(trace, step, launch_ns, whole=True)
    spans, events = trace.spans, trace.events
    new = np.array(times(plan, controls.factors(values, plan)), dtype=np.int64) + zero

    def at(points: np.ndarray, seen: np.ndarray) -> np.ndarray:
        return np.where(points >= 0, new[np.maximum(points, 0)], seen)

    starts, ends = at(drawn.start_point, spans["start_ns"]), at(drawn.end_point, spans["end_ns"])
    when, until = at(drawn.event_point, events["t_ns"]), at(_returns(drawn), events["until_ns"])
    starts, ends = on_threads(trace, starts, ends, when, until)
    return moved(trace, starts, ends, when, until)
