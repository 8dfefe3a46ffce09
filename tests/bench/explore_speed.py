"""What one execution costs in exploration, beside the sketch it was measured on first, where that is at hand.

Two microbatches on four layers; synchronization operations are choices, kernels are modelled. In a process of its
own, since PyTorch, once loaded, is entered by each thread of a runtime.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.bench import Row, in_turns, ratio, timed

SKETCH = Path(__file__).resolve().parents[3] / "shared" / "prototypes" / "virtual"
ROUNDS, RUNS = 15, 10


def rows() -> Iterator[Row]:
    """Times against the sketch's: 0.6 and 0.3 of its executions a second are 1.67 and 3.33 of its time."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bench.explore_speed"], capture_output=True, text=True, check=True
    )
    for what, value, unit, bound in json.loads(ran.stdout):
        yield Row(what, value, unit, bound)


def measured() -> Iterator[Row]:
    runs = [ours(recorded=False), ours(recorded=True)]
    if SKETCH.exists():
        runs += [sketch(log=False), sketch(log=True)]
    times = in_turns(*(lambda run=run: timed(run) / RUNS for run in runs), rounds=ROUNDS)  # type: ignore[misc]
    yield Row("executions a second, not recorded", 1e9 / min(times[0]), "/s")
    yield Row("executions a second, recorded", 1e9 / min(times[1]), "/s")
    if SKETCH.exists():
        yield Row("the sketch's executions a second", 1e9 / min(times[2]), "/s")
        yield Row("an execution, of the sketch's time", ratio(times[0], times[2]), "x", 1 / 0.6)
        yield Row("a recorded one, of the sketch's logged", ratio(times[1], times[3]), "x", 1 / 0.3)


def ours(recorded: bool) -> Callable[[], None]:
    from ubviz.exploration.execution import execute
    from ubviz.exploration.replay import Following
    from ubviz.exploration.variants import program_of

    program = program_of(layers=4)

    def run() -> None:
        for _ in range(RUNS):
            execute(program, Following(program, ()), recorded=recorded)

    return run


def sketch(log: bool) -> Callable[[], None]:
    sys.path.insert(0, str(SKETCH))
    searched, model, runtime = (import_module(name) for name in ("explore", "model", "vruntime"))
    explorer: Any = searched.Explorer(model.program(2, 4, "ht"), "dfs", runtime.SYNC, backend="thread")

    def run() -> None:
        for _ in range(RUNS):
            explorer.execution(log=log)
            explorer.stack.clear()

    return run


if __name__ == "__main__":
    print(json.dumps([tuple(row) for row in measured()]))
