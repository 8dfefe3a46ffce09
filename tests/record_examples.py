"""Make the recordings that ship with the package, and the README's picture of them, anew.

``python -m tests.record_examples``, on idle cores; then run the notebooks again and store their outputs.

Each is one step of the demonstration. Of several runs the one with the median speed-up is kept, so that the
figures in the notebooks are neither lucky nor unlucky.
"""

from __future__ import annotations

import datetime
import os
from pathlib import Path

from ubviz.exploration import Demo, demo
from ubviz.trace.model import Trace
from ubviz.view import before_after

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS, IMAGES = ROOT / "ubviz" / "recordings", ROOT / "notebooks" / "images"
RUNS = 9


def main() -> None:
    """Record, choose, label, write."""
    runs = sorted(
        (demo(steps=1, comm_share=0.7) for _ in range(RUNS)), key=lambda run: run.numbers()["speedup"]
    )
    chosen = runs[RUNS // 2]
    print(*(f"{run.numbers()['speedup']:.2f}" for run in runs), "kept:", chosen.numbers()["speedup"])
    before, after = (_labelled(getattr(chosen, mode).trace, chosen) for mode in ("unsplit", "overlapped"))
    before.save(RECORDINGS / "whole_game_unsplit.json.gz")
    after.save(RECORDINGS / "whole_game_overlapped.json.gz")
    for theme in ("light", "dark"):
        before_after(before, after, theme=theme).save(IMAGES / f"before_after_{theme}.svg")


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
