"""Make the recordings that ship with the package anew: ``python -m tests.record_examples``, on idle cores.

Each is one step of the demonstration. Of several runs the one with the median speed-up is kept, so that the
figures in the notebooks are neither lucky nor unlucky.
"""

from __future__ import annotations

import datetime
import os
from pathlib import Path

from ubviz.exploration import Demo, demo
from ubviz.trace.model import Trace

FOLDER = Path(__file__).resolve().parent.parent / "ubviz" / "recordings"
RUNS = 9


def main() -> None:
    """Record, choose, label, write."""
    runs = sorted((demo(steps=1) for _ in range(RUNS)), key=lambda run: run.numbers()["speedup"])
    chosen = runs[RUNS // 2]
    print(*(f"{run.numbers()['speedup']:.2f}" for run in runs), "kept:", chosen.numbers()["speedup"])
    for mode in ("unsplit", "overlapped"):
        trace = getattr(chosen, mode).trace
        _labelled(trace, chosen).save(FOLDER / f"whole_game_{mode}.json.gz")


def _labelled(trace: Trace, run: Demo) -> Trace:
    label = (
        f"recorded on {os.cpu_count()} CPU cores on {datetime.date.today():%Y-%m-%d}: emulated streams in real time, "
        f"link {run.link}"
    )
    return Trace(
        trace.events, trace.spans, trace.flows, trace.lanes, {**trace.meta, "label": label}, trace.notices
    )


if __name__ == "__main__":
    main()
