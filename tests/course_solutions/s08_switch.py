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


def switch_first(context: Any) -> None:
    context._signal_compute_done()
    context.update_stream(context.comm_stream)
    context._cpu_yield()
    context._wait_compute_done()


def wait_first(context: Any) -> None:
    context._wait_compute_done()
    context._signal_compute_done()
    context._cpu_yield()
    context.update_stream(context.comm_stream)


def twice(context: Any) -> None:
    answer(context)
    context._cpu_yield()


def waits_only(context: Any) -> None:
    context._signal_compute_done()
    context.cpu_wait_event.wait()


def by_name(context: Any) -> None:
    context._signal_compute_done()
    context.update_stream("comm")


def python_yields(context: Any) -> Any:
    context._signal_compute_done()
    yield


def no_switch(context: Any) -> None:
    context._signal_compute_done()
    context._cpu_yield()
    context._wait_compute_done()


wrong = {
    "record may come after the yield": (late, "yours:    set cpu_event[1]"),
    "a switch is enough": (no_yield, "yours:    switch to comm"),
    "the order is there already": (no_wait, "No happens-before path joins them"),
    "the wait switches too": (no_switch, "yours:    comm waits for compute_done[0]"),
    "sync is not needed, the switch may come early": (switch_first, "Here nothing goes wrong by it"),
    "a wait may come before its record": (wait_first, "No happens-before path joins them"),
    "more yields": (twice, "operation 9"),
    "waiting is yielding": (waits_only, "ubatch 0 waits for host event cpu_event[0]"),
    "a stream is its name": (
        by_name,
        "is no stream of this runtime; make it with its rt.Stream() (microbatch 0)",
    ),
    "yield is Python's": (python_yields, "The answer does none of the four things"),
    "calls without parentheses": (
        lambda context: [context._cpu_yield],
        "The answer does none of the four things",
    ),
    "takes nothing": (lambda: None, "The answer raised TypeError"),
    "no function": ("switch", "the answer is a function of a context"),
}
