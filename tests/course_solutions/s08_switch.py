"""Record, yield, switch, wait."""

from typing import Any


def answer(context: Any) -> None:
    context._signal_compute_done()
    context._cpu_yield()
    context.update_stream(context.comm_stream)
    context._wait_compute_done()


def late(context: Any) -> None:
    context._cpu_yield()
    context._signal_compute_done()
    context.update_stream(context.comm_stream)
    context._wait_compute_done()


def no_yield(context: Any) -> None:
    context._signal_compute_done()
    context.update_stream(context.comm_stream)
    context._wait_compute_done()


def no_wait(context: Any) -> None:
    context._signal_compute_done()
    context._cpu_yield()
    context.update_stream(context.comm_stream)


def no_switch(context: Any) -> None:
    context._signal_compute_done()
    context._cpu_yield()
    context._wait_compute_done()


wrong = {
    "record may come after the yield": (late, "yours:    set cpu_event[1]"),
    "a switch is enough": (no_yield, "yours:    switch to comm"),
    "the order is there already": (no_wait, "No happens-before path joins them"),
    "the wait switches too": (no_switch, "yours:    comm waits for compute_done[0]"),
    "no function": ("switch", "the answer is a function of a context"),
}
