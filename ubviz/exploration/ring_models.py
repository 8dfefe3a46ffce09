"""The layers of small models, to explore: the operations of the two all-to-all styles, with modelled kernels.

No PyTorch: a kernel is a duration and the names of what it reads and writes. ``ht`` yields three times a layer and
moves data on the comm stream; in ``ll`` the transfer is in flight on no stream, and the next microbatch receives it
through the hook; two yields a layer. ``fault`` is what goes wrong in the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..analysis.findings import Finding
from ..ubatch import UBatchContext, forward_context

DURATIONS_NS = {"attention": 40_000, "dispatch": 30_000, "experts": 50_000, "combine": 30_000, "hop": 4_000}


class ModelFault(Exception):
    """What a model raises on purpose."""


def work(context: UBatchContext, name: str, cls: str, reads: str, writes: str, **more: Any) -> None:
    """One kernel of a microbatch on the current stream; it looks at the forward context, as a layer does."""
    rt, u = context.runtime, context.id
    if forward_context._forward_context is not context.forward_context:
        _note_wrong_context(rt, context)
    duration_ns = DURATIONS_NS[name.split()[0] if " " not in name else "hop"]
    rt.launch(
        name, cls=cls, duration_ns=duration_ns, reads=(f"{reads}{u}",), writes=(f"{writes}{u}",), **more
    )


def _raise_in_model(fault: str | None, context: UBatchContext) -> None:
    """The fault of a model, in the first microbatch's first layer."""
    if fault == "raise_in_model" and context.id == 0:
        raise ModelFault("in the model")


def _note_wrong_context(rt: Any, context: UBatchContext) -> None:
    found = forward_context._forward_context
    whose = "no forward context is set" if found is None else f"that of microbatch {found.ubatch} is in place"
    note = getattr(rt, "note", None)
    if note is not None:
        note(Finding("wrong_context", "error", f"microbatch {context.id} works, but {whose}"))


def _ht(fault: str | None, c: UBatchContext, layer: int) -> None:
    work(c, "attention", "compute", "x", "h")
    _raise_in_model(fault, c)
    c.yield_and_switch_from_compute_to_comm()
    work(c, "dispatch", "comm", "h", "d")
    if fault == "hook_twice" and c.id == 0 and layer == 0:
        _leave_two_hooks(c)
    c.switch_to_compute_sync()
    work(c, "experts", "compute", "d", "e")
    c.yield_and_switch_from_compute_to_comm()
    work(c, "combine", "comm", "e", "x")
    c.yield_and_switch_from_comm_to_compute()


def _leave_two_hooks(c: UBatchContext) -> None:
    for _ in range(2):
        c.register_recv_hook(lambda: None)


def _ll(fault: str | None, c: UBatchContext, layer: int) -> None:
    work(c, "attention", "compute", "x", "h")
    _raise_in_model(fault, c)
    c.maybe_run_recv_hook()
    _exchange(fault, c, "dispatch", "h", "d", layer)
    work(c, "experts", "compute", "d", "e")
    c.maybe_run_recv_hook()
    _exchange(fault, c, "combine", "e", "x", layer)


def _exchange(fault: str | None, c: UBatchContext, name: str, source: str, target: str, layer: int) -> None:
    """Send, leave the receiving with the next microbatch, yield."""
    flight = c.runtime.Link("network").flight(DURATIONS_NS[name])
    wire = f"{name} wire "
    work(c, f"{name} send", "comm", source, wire, sends=flight)

    def receive() -> None:
        _receive(c, f"{name} receive", wire, target, flight)

    c.register_recv_hook(receive)
    if fault == "hook_twice" and c.id == 0 and layer == 0 and name == "dispatch":
        c.register_recv_hook(receive)
    c.yield_()


def _receive(c: UBatchContext, name: str, wire: str, target: str, flight: Any) -> None:
    c.runtime.launch(
        name, cls="comm", duration_ns=DURATIONS_NS["hop"], reads=(f"{wire}{c.id}",), writes=(f"{target}{c.id}",),
        receives=flight, stream=c.compute_stream,
    )  # fmt: skip


LAYERS: dict[str, Callable[[str | None, UBatchContext, int], None]] = {"ht": _ht, "ll": _ll}
