"""What one trace event costs while recording, and what the hooks cost while nobody listens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from statistics import median
from threading import get_ident
from time import perf_counter_ns
from typing import Any

from tests.bench import Row, in_turns, ratio, timed
from ubviz import get_runtime, record

EVENTS = 20_000


def rows() -> Iterator[Row]:
    """Each figure is a median of ratios, 20,000 events a sample, into a fresh list."""
    rt = get_runtime("host")
    plain, without, with_site = in_turns(
        lambda: timed(lambda: append(rt)),
        lambda: recorded(rt, device_facts),
        lambda: recorded(rt, host_facts),
    )
    yield Row("one list.append((now(), ident(), obj, kind))", median(plain) / EVENTS, "ns")
    yield Row("one trace event without site / that append", ratio(without, plain), "", 1.1)
    yield Row("one trace event with site / that append", ratio(with_site, plain), "", 1.8)
    original, silent, heard = in_turns(
        lambda: timed(toggle(threading.Event())),
        lambda: timed(toggle(rt.HostEvent())),
        lambda: recorded(rt, lambda rt: toggle(rt.HostEvent())),
    )
    yield Row("set + clear of a threading.Event", 2 * median(original) / EVENTS, "ns")
    yield Row("set + clear of a host event, recorded / plain", ratio(heard, original), "", 1.8)
    yield Row("set + clear of a host event, not recorded / plain", ratio(silent, original), "", 1.1)
    rt.close()


def recorded(rt: Any, make: Callable[[Any], Callable[[], None]]) -> float:
    """The time of a run under a fresh recording; its facts are dropped, not made into a trace."""
    with record(rt, watchdog_s=None) as recording:
        time = timed(make(rt))
        recording._facts.clear()
    return time


def append(obj: Any) -> None:
    facts: list[Any] = []
    kind = "mark"
    for _ in range(EVENTS):
        facts.append((perf_counter_ns(), get_ident(), obj, kind))


def device_facts(rt: Any) -> Callable[[], None]:
    hooks = rt.hooks

    def run() -> None:
        for _ in range(EVENTS):
            if (device := hooks.device) is not None:
                device("kernel", rt, None)

    return run


def host_facts(rt: Any) -> Callable[[], None]:
    hooks = rt.hooks

    def run() -> None:
        for _ in range(EVENTS):
            if (host := hooks.host) is not None:
                host("mark", rt, None)

    return run


def toggle(event: Any) -> Callable[[], None]:
    def run() -> None:
        for _ in range(EVENTS // 2):
            event.set()
            event.clear()

    return run
