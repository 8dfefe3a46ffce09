"""``StartLine``: barrier, kick and ring, with sliders for microbatches and parties; notebook 06 plays with it.

Every setting was run in virtual time, and the page shows its recording step by step: so it works without a kernel, and
a run that hangs says so at once. Not here: the ring itself (``exercises.e06_wiring``), the page (``start_line.ts``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import traitlets as t

from ..analysis.states import States
from ..errors import BadArgument
from ..exploration.replay import play
from ..view.fallback import Still
from ..view.paint.state import State, Thread, paint_state
from ..view.palette import theme_of
from ..view.payload.blocks import head_of
from ..view.picture import Picture, points_of
from ..view.widget import STATIC, Checked, View
from .exercises.e06_wiring import ring
from .told import listed

SIZES = range(2, 7)
PARTIES = range(1, 9)
STANDS = {
    "away": ("waits", "not there yet"),
    "barrier": ("waits", "at the barrier"),
    "waits": ("waits", "waits for its flag"),
    "turn": ("able", "has the turn"),
    "runs": ("able", "runs"),
    "joins": ("waits", "waits for all to end"),
    "ended": ("ended", "has ended"),
}
"""How a thread stands, as the still picture shows it and says it."""
STEPS = ("barrier.arrive", "host_event.set", "host_event.clear", "thread.end")
"""The trace events that are steps: who comes, whose flag goes up or down, who ends."""


class StartLine(View):
    """Who comes to the barrier, when it opens, and how the turn goes round; or who waits for ever.

    >>> line = StartLine(n=3)  # doctest: +SKIP
    >>> line  # doctest: +SKIP
    <StartLine: 3 microbatches, 4 parties, step 0 of 23; all come to an end>
    >>> line.parties = 3  # doctest: +SKIP
    >>> print(line.report)  # doctest: +SKIP
    It hangs:
      main joins thread ubatch 0 ...

    n: microbatches, 2 to 6. parties: of the barrier, 1 to 8; n + 1 unless given. at: the step that is shown, 0 for
    before all. theme: "auto" (the notebook's), "light" or "dark".

    Traits: ``n``, ``parties``, ``at``, ``theme``, both ways. Raises BadArgument for a value that there is not.
    """

    SCRIPT = "start_line"
    STATE = ("n", "parties", "at", "theme")
    _esm = STATIC / "start_line.js"
    _css = STATIC / "start_line.css"

    n = Checked(3).tag(sync=True)
    parties = Checked(4).tag(sync=True)
    at = Checked(0).tag(sync=True)

    def __init__(self, n: int = 3, parties: int | None = None, *, at: int = 0, theme: str = "auto") -> None:
        n = _within("n", n, SIZES)
        self._store = _Runs()
        super().__init__(n=n, parties=n + 1 if parties is None else parties, theme=theme)
        self.at = at  # after the others, which begin anew

    @t.validate("n")
    def _valid_n(self, proposal: Any) -> int:
        return _within("n", proposal["value"], SIZES)

    @t.validate("parties")
    def _valid_parties(self, proposal: Any) -> int:
        return _within("parties", proposal["value"], PARTIES)

    @t.validate("at")
    def _valid_at(self, proposal: Any) -> int:
        """A step of the longest run; one beyond the end of the present run shows its end."""
        return _within("at", proposal["value"], range(max(len(each["steps"]) for each in runs().values())))

    @t.observe("n", "parties")
    def _again(self, _: Any) -> None:
        """Another run is seen from its start."""
        self.at = 0

    @property
    def _run(self) -> dict[str, Any]:
        return runs()[f"{self.n}/{self.parties}"]

    @property
    def step(self) -> dict[str, Any]:
        """What the shown step says, and how everything stands: ``says``, ``here``, ``flags``, ``stands``."""
        steps: Sequence[dict[str, Any]] = self._run["steps"]
        return steps[min(self.at, len(steps) - 1)]

    @property
    def report(self) -> str:
        """How the run ends: who waits for what, where it hangs."""
        return str(self._run["report"])

    @property
    def _words(self) -> str:  # type: ignore[override]
        last = len(self._run["steps"]) - 1
        ends = "it hangs" if self._run["hangs"] else "all come to an end"
        return f"{self.n} microbatches, {self.parties} parties, step {min(self.at, last)} of {last}; {ends}"

    @property
    def alt(self) -> str:
        """What it shows, in a few sentences."""
        report = self.report.replace("\n  ", " ", 1).replace("\n  ", "; ")
        return f"Start line with {self._words}. {self.step['says']}. {report}"

    def _still(self) -> Still:
        names = ["main", *(f"ubatch {i}" for i in range(self.n))]
        step = self.step
        state = State(
            title=step["says"], wrong=bool(self._run["hangs"]), report=self.report.splitlines(),
            lights={f"cpu_event[{i}]": bool(flag) for i, flag in enumerate(step["flags"])},
            notes=[f"ready_barrier: {len(step['here'])} of {self.parties} there"],
            threads=[Thread(name, *STANDS[stands]) for name, stands in zip(names, step["stands"], strict=True)],
            way=(), schedule="",
        )  # fmt: skip
        theme = theme_of("light" if self.theme == "auto" else self.theme)
        return Still(Picture(*paint_state(state, theme, points_of(None)), self.alt, self._words), self.alt)


class _Runs:
    """All runs, in the head: they are small."""

    def __init__(self) -> None:
        self.index: dict[str, Any] = {"runs": runs(), "sizes": list(SIZES), "parties": list(PARTIES)}

    def head(self) -> bytes:
        return head_of(self.index, {})

    def block(self, key: str) -> bytes:
        raise BadArgument(f"a start line has no block {key!r}")

    def keys_outside(self) -> Iterator[str]:
        return iter(())


@cache
def runs() -> dict[str, dict[str, Any]]:
    """By "n/parties": the steps of a run, whether it hangs, and its report."""
    return {f"{n}/{parties}": _run(n, parties) for n in SIZES for parties in PARTIES}


def _run(n: int, parties: int) -> dict[str, Any]:
    signals = tuple((i + 1) % n for i in range(n))
    ended = play(ring(n, parties, 0, signals, yields=1, looks=False), "", recorded=True)
    assert ended.trace is not None
    stuck = {name for name, _, _ in ended.stuck}
    states = States(ended.trace)
    names = ["main", *(f"ubatch {i}" for i in range(n))]
    here: list[str] = []
    flags = [0] * n
    stands = dict.fromkeys(names, "away")
    steps: list[dict[str, Any]] = []

    def step(says: str) -> None:
        steps.append({
            "says": says, "here": here[:], "opened": len(here) == parties or bool(steps and steps[-1]["opened"]),
            "flags": flags[:], "stands": [stands[name] for name in names],
        })  # fmt: skip

    step("Nobody has come to the barrier")
    for row, event in enumerate(ended.trace.events):
        who = states.threads[row]
        if event.kind not in STEPS or (event.kind == "thread.end" and who in stuck):
            continue  # a thread that hangs is ended with the run
        if event.kind == "barrier.arrive":
            here.append(who)
            stands[who] = "barrier"
        elif event.kind == "host_event.set":
            flags[_number(event)] = 1
            stands[who] = "joins" if who == "main" else "waits"
        elif event.kind == "host_event.clear":
            flags[_number(event)] = 0
            stands[who] = "turn"
        else:
            stands[who] = "ended"
        step(f"{states.says[row]}: it has the turn" if event.kind == "host_event.clear" else states.says[row])
        if len(here) == parties:  # it opens
            for name in here:
                stands[name] = "runs" if name == "main" else "waits"
            steps[-1]["stands"] = [stands[name] for name in names]
            here.clear()
    return {"steps": steps, "hangs": bool(stuck), "report": _report(ended.deadlock, steps)}


def _number(event: Any) -> int:
    """Of the microbatch whose host event it is."""
    return int(event.args["host_event"].removeprefix("cpu_event[").removesuffix("]"))


def _report(deadlock: Any, steps: Sequence[dict[str, Any]]) -> str:
    if deadlock is not None:
        waits = "; ".join(line.strip() for line in str(deadlock).splitlines()[1:])
        return f"It hangs:{listed(waits)}"
    first = next(each["stands"] for each in steps if "turn" in each["stands"])
    if "away" in first:
        late = first.index("away") - 1
        return f"All come to an end, but ubatch {first.index('turn') - 1} ran before ubatch {late} had come."
    return "All come to an end, and nobody ran before all had come."


def _within(name: str, value: Any, values: range) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in values:
        raise BadArgument(f"{name} is a whole number from {values[0]} to {values[-1]}, not {value!r}")
    return value
