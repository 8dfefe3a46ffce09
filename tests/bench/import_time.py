"""``import ubviz`` in a fresh process, against ``import numpy`` in another."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from tests.bench import Row

PAIRS = 30


def rows() -> Iterator[Row]:
    """Medians of interleaved pairs; each process times its own import."""
    pairs = [(imported("ubviz"), imported("numpy")) for _ in range(PAIRS)]
    ours, numpys = (median(times) for times in zip(*pairs, strict=True))
    yield Row("import ubviz", ours * 1e3, "ms")
    yield Row("import numpy", numpys * 1e3, "ms")
    yield Row("import ubviz / import numpy", ours / numpys, "", 1.5)


def imported(module: str) -> float:
    code = f"from time import perf_counter as now; a = now(); import {module}; print(now() - a)"
    return float(subprocess.check_output([sys.executable, "-c", code], text=True))
