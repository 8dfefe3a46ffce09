"""A recording as long as one likes, made of columns: lanes of kernels, and threads whose operations lie within others.

What this models: the shape of a long recording (who runs, for how long, under which name, how deep). What it
leaves out: trace events and flows; nothing here waits for anything.

>>> trace = many(3_200)
>>> len(trace.spans), len(trace.lanes), sorted(set(trace.spans["cat"]))
(3200, 32, ['blocked', 'kernel', 'operation'])
"""

from __future__ import annotations

import numpy as np

from ubviz.trace.model import MISSING, Event, Flow, Lane, Span, Trace, make_table
from ubviz.trace.table import Table

CATS = ("kernel", "operation", "blocked")
OPERATIONS = ("attention", "router", "dispatch", "experts", "combine", "shared experts")
CLASSES = ("compute", "comm", "copy")
CLASS_OF = np.array([0, 0, 1, 0, 1, 0])
KERNELS = tuple(f"{operation}: kernel {i}" for operation in OPERATIONS for i in range(8))
NAMES = (*KERNELS, *OPERATIONS, "stream.synchronize")
BLOCK = 8  # kernels of one operation of one microbatch
LAYERS = 24


def many(spans: int, lanes: int = 32, ubatches: int = 2, seed: int = 0) -> Trace:
    """About ``spans`` spans: half of the lanes are streams, half are threads. The same numbers, the same trace."""
    rng = np.random.default_rng(seed)
    each = spans // lanes
    made = [_stream(rng, each, ubatches) if i % 2 else _thread(rng, each, ubatches) for i in range(lanes)]
    columns = {name: np.concatenate([lane[name] for lane in made]) for name in made[0]}
    columns["lane"] = np.repeat(np.arange(lanes), [len(lane["start_ns"]) for lane in made])
    order = np.lexsort((columns["end_ns"], columns["start_ns"]))
    columns = {name: values[order] for name, values in columns.items()}
    nothing = np.full(len(order), MISSING)
    columns |= {name: nothing.copy() for name in ("step", "correlation", "seq")}
    columns |= {"rank": np.zeros(len(order), np.int64), "args": np.zeros(len(order), np.int32)}
    pools = {"cat": CATS, "name": NAMES, "cls": CLASSES, "operation": OPERATIONS, "args": ({},)}
    for name in ("cat", "name", "cls", "operation"):
        columns[name] = columns[name].astype(np.int32)
    kinds = [
        ("streams", f"stream {i // 2}") if i % 2 else ("threads", f"thread {i // 2}") for i in range(lanes)
    ]
    drawn = [Lane(i, 0, role, group) for i, (group, role) in enumerate(kinds)]
    table = Table(Span, {name: columns[name] for name in Span._fields}, pools)
    return Trace(make_table(Event, []), table, make_table(Flow, []), drawn, {"runtime": "many"})


def _stream(rng: np.random.Generator, n: int, ubatches: int) -> dict[str, np.ndarray]:
    """Kernels one after the other, in blocks of one operation."""
    duration = rng.lognormal(8.5, 0.7, n).astype(np.int64) + 500
    gap = rng.exponential(1_500, n).astype(np.int64)
    end = np.cumsum(duration + gap)
    block = np.arange(n) // BLOCK
    operation = (block // ubatches) % len(OPERATIONS)
    return {
        "start_ns": end - duration, "end_ns": end, "ubatch": block % ubatches, "cat": np.zeros(n, np.int64),
        "name": operation * 8 + rng.integers(0, 8, n), "cls": CLASS_OF[operation], "operation": operation,
        "layer": (block // ubatches // len(OPERATIONS)) % LAYERS,
    }  # fmt: skip


def _thread(rng: np.random.Generator, n: int, ubatches: int) -> dict[str, np.ndarray]:
    """Operations by fours: one holds a second, that holds a third, and then the thread is blocked."""
    n -= n % 4
    quarter = rng.integers(2_000, 12_000, n // 4)
    begin = np.cumsum(4 * quarter + rng.integers(200, 3_000, n // 4)) - 4 * quarter
    start = np.stack([begin, begin + quarter // 4, begin + quarter // 2, begin + 2 * quarter], axis=1)
    end = np.stack([begin + 4 * quarter, begin + 2 * quarter, begin + quarter, begin + 3 * quarter], axis=1)
    operation = rng.integers(0, len(OPERATIONS), (n // 4, 4))
    blocked = np.tile([False, False, False, True], n // 4)
    unit = np.repeat(np.arange(n // 4), 4)
    named = len(KERNELS) + operation.ravel()
    return {
        "start_ns": start.ravel(), "end_ns": end.ravel(), "ubatch": unit % ubatches,
        "cat": np.where(blocked, 2, 1), "name": np.where(blocked, len(NAMES) - 1, named),
        "cls": np.full(n, -1), "operation": np.where(blocked, -1, operation.ravel()),
        "layer": unit % LAYERS,
    }  # fmt: skip
