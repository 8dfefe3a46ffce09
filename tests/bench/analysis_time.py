"""``analyze`` on twice as many spans: time grows with their number, not faster; and a click's cone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

from tests.bench import Row, in_turns, ratio
from tests.traces import Traces
from ubviz.analysis import Cones, analyze
from ubviz.trace import Trace

STEP_SPANS = 500
"""Spans of one step: about four layers of two microbatches, with their kernels apart."""


def rows() -> Iterator[Row]:
    """Seconds for each size, and how they compare; once, since it takes a while."""
    small, large = recording(100_000), recording(200_000)
    before, after = in_turns(partial(seconds, small), partial(seconds, large), rounds=1)
    yield Row("analyze 100,000 spans", min(before), "s")
    yield Row("analyze 200,000 spans", min(after), "s")
    yield Row("200,000 spans / 100,000 spans", ratio(after, before), "", 2.5)
    cones, last = Cones(small), len(small.events) - 1
    asked = [clicked(ask, row) for ask in (cones.past, cones.future) for row in (0, last // 2, last)]
    yield Row(f"a cone of {len(small.events):,} trace events, at most", max(asked), "s", 0.5)


def seconds(trace: Trace) -> float:
    """How long the whole analysis takes, of one core: others on the machine do not count."""
    start = process_time()
    analyze(trace)
    return process_time() - start


def clicked(ask: Callable[[int], object], row: int) -> float:
    """How long one cone takes, of one core."""
    start = process_time()
    ask(row)
    return process_time() - start


def recording(spans: int) -> Trace:
    """Steps of two microbatches that take turns: kernels on two streams, records, waits, host events."""
    t = Traces()
    main, ubatches = t.thread("main"), [t.thread("ubatch 0"), t.thread("ubatch 1")]
    main.set("cpu_event[0]")
    for step in range(spans // STEP_SPANS):
        main.step_begin(step)
        done = len(t.builder._spans)
        while len(t.builder._spans) - done < STEP_SPANS:
            for i, u in enumerate(ubatches):
                u.take(f"cpu_event[{i}]")
                for k in range(8):
                    u.launch(f"k{k}", "compute", [f"x{i}.{k}"], [f"x{i}.{k + 1}"], takes=20, layer=0)
                u.record(f"compute_done[{i}]", "compute")
                u.wait_event("comm", f"compute_done[{i}]")
                u.launch("dispatch", "comm", [f"x{i}.8"], [f"y{i}"], takes=100, cls="comm")
                u.record(f"comm_done[{i}]", "comm")
                u.wait_event("compute", f"comm_done[{i}]")
                u.launch("experts", "compute", [f"y{i}"], [f"x{i}.0"], takes=60)
                u.set(f"cpu_event[{1 - i}]")
        main.read("compute")
        main.step_end()
    return t.finish()
