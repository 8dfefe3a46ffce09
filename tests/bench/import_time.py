"""``import ubviz`` in a fresh process, against ``import numpy`` in another."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from tests.bench import Row, in_turns, ratio


def rows() -> Iterator[Row]:
    """Each process times its own import."""
    ours, numpys = in_turns(lambda: imported("ubviz"), lambda: imported("numpy"))
    yield Row("import ubviz", median(ours) * 1e3, "ms")
    yield Row("import numpy", median(numpys) * 1e3, "ms")
    yield Row("import ubviz / import numpy", ratio(ours, numpys), "", 1.5)


def imported(module: str) -> float:
    """Seconds that a process takes to import ``module``."""
    code = f"from time import perf_counter as now; a = now(); import {module}; print(now() - a)"
    return float(subprocess.check_output([sys.executable, "-c", code], text=True))
