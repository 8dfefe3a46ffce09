"""What can be changed in a Lab: sliders and choices, their names, ranges and units, and what they mean for a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import BadArgument
from .lab_flow import Factors
from .lab_plan import Plan

Values = dict[str, Any]


@dataclass(frozen=True)
class Slider:
    """Whole numbers from ``low`` to ``high``; ``base`` is the value at which the recording's durations are its own.

    ``scales``: "compute", "comm" (with data in flight), "threads", "operation" (the one of the choice of that name),
    "kernel" (added to each, in microseconds), or "contention" (percent).
    """

    name: str
    label: str
    unit: str
    low: int
    high: int
    step: int
    value: int
    base: int
    scales: str

    def check(self, value: Any) -> int:
        """The value, if it is one."""
        if type(value) is not int or not self.low <= value <= self.high:
            raise BadArgument(f"{self.name} is a whole number from {self.low} to {self.high}, not {value!r}")
        return value

    def grid(self, most: int = 41) -> list[int]:
        """The values at which its curve is drawn: those of the slider, or each second, third ... of them."""
        count = (self.high - self.low) // self.step
        each = -(-count // (most - 1)) * self.step
        return list(range(self.low, self.high + 1, each))


@dataclass(frozen=True)
class Choice:
    """One of several: ``values``, and the ``words`` for them."""

    name: str
    label: str
    values: tuple[Any, ...]
    words: tuple[str, ...]
    value: Any

    def check(self, value: Any) -> Any:
        """The value, if it is one."""
        for known in self.values:
            if type(value) is type(known) and value == known:
                return known
        raise BadArgument(f"{self.name} is one of {', '.join(map(repr, self.values))}, not {value!r}")


@dataclass(frozen=True)
class Note:
    """A sentence that is shown while these values are so; without any, always."""

    values: Mapping[str, Any]
    sentence: str


@dataclass(frozen=True)
class Controls:
    """The sliders, the choices, and the choices that say which plan it is (``structure``, by name)."""

    sliders: tuple[Slider, ...]
    choices: tuple[Choice, ...]
    structure: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def defaults(self) -> Values:
        """Every control at its own value."""
        return {name: control.value for name, control in self.by_name().items()}

    def by_name(self) -> dict[str, Slider | Choice]:
        """All of them: first the choices."""
        out: dict[str, Slider | Choice] = {choice.name: choice for choice in self.choices}
        return out | {slider.name: slider for slider in self.sliders}

    def checked(self, given: Any, before: Mapping[str, Any]) -> Values:
        """``before`` with what is given in its place; ``BadArgument`` for a name or a value that there is not."""
        if not isinstance(given, Mapping):
            raise BadArgument(f"values is a dict like {{'comm': 200}}, not {given!r}")
        controls = self.by_name()
        for name in given:
            if name not in controls:
                raise BadArgument(f"this Lab has no control {name!r}; it has {', '.join(controls)}")
        return {
            name: control.check(given[name]) if name in given else before[name]
            for name, control in controls.items()
        }

    def slider(self, name: str) -> Slider:
        """The slider of a name."""
        for slider in self.sliders:
            if slider.name == name:
                return slider
        raise BadArgument(
            f"this Lab has no slider {name!r}; it has {', '.join(s.name for s in self.sliders)}"
        )

    def factors(self, values: Mapping[str, Any], plan: Plan) -> Factors:
        """What the values mean for a plan."""
        by: dict[str, float] = {"threads": 1, "compute": 1, "comm": 1, "operation": 1}
        whole = {"kernel": 0, "contention": 0}
        for slider in self.sliders:
            value = values[slider.name]
            if slider.scales in whole:
                whole[slider.scales] = value
            else:
                by[slider.scales] = value / slider.base
        chosen = values.get("operation")
        works = []
        for cls, operation, category in plan.works:
            factor = by["comm"] if category == "transfer" or cls == "comm" else by.get(cls, 1)
            works.append(factor * by["operation"] if operation == chosen else factor)
        return Factors(by["threads"], works, 1000 * whole["kernel"], whole["contention"])

    def key(self, values: Mapping[str, Any]) -> str:
        """The name of the plan that these values ask for."""
        return "/".join(str(values[name]) for name in self.structure)

    def index(self) -> dict[str, Any]:
        """As the page is told."""
        return {
            "sliders": [asdict(slider) for slider in self.sliders],
            "choices": [asdict(choice) for choice in self.choices],
            "structure": list(self.structure),
            "notes": [asdict(note) for note in self.notes],
        }


def percents(threads: str) -> tuple[Slider, ...]:
    """Sliders of a recording whose durations mean nothing by themselves."""
    return (
        Slider("comm", "Communication", "%", 0, 300, 5, 100, 100, "comm"),
        Slider("compute", "Computation", "%", 0, 300, 5, 100, 100, "compute"),
        Slider("contention", "More slowdown while overlapped", "%", 0, 60, 1, 0, 1, "contention"),
        Slider("threads", threads, "%", 0, 300, 5, 100, 100, "threads"),
    )


def measured(plan: Plan, notes: tuple[Note, ...] = ()) -> Controls:
    """The controls of a recording."""
    names = plan.operations
    factor = Slider("factor", "Chosen operation", "%", 0, 300, 5, 100, 100, "operation")
    sliders = percents("Threads, while awake")
    choice = Choice("operation", "One operation", (None, *names), ("none", *names), None)
    return Controls((*sliders[:2], factor, *sliders[2:]), (choice,), notes=notes)


def chosen(controls: Any) -> Controls:
    """The controls of a simulator: from ``{"ubatches": (2, 3, 4)}``, what it takes and which values; or None."""
    if not isinstance(controls, Mapping | None):
        raise BadArgument(f"controls is a dict like {{'ubatches': (2, 3, 4)}}, not {controls!r}")
    choices = []
    for name, values in (controls or {}).items():
        if not isinstance(values, list | tuple | range) or not len(values):
            raise BadArgument(f"controls[{name!r}] is a tuple of values, not {values!r}")
        if not all(isinstance(value, int | str | bool) for value in values):
            raise BadArgument(f"controls[{name!r}] holds whole numbers or strings, not {values!r}")
        choices.append(Choice(str(name), str(name), tuple(values), tuple(map(str, values)), values[0]))
    sliders = percents("Launching, or threads while awake")
    taken = {choice.name for choice in choices} & {slider.name for slider in sliders}
    if taken:
        raise BadArgument(f"{sorted(taken)[0]!r} is a slider of every Lab: call this control something else")
    return Controls(sliders, tuple(choices), tuple(choice.name for choice in choices))
