"""Faults at a chosen operation: a small model in both styles, and what a failed call must leave behind.

The operations of a microbatch are the facts that its thread announces: barrier, host events, records, waits,
stream switches, hooks, enter, exit, yields, operations and launches. ``Raiser`` listens like a recorder and
raises at the k-th of them. A clean run says how many there are.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from tests.stories import microbatch_threads
from ubviz.recording.watchdog import Watchdog
from ubviz.runtime import get_runtime
from ubviz.ubatch import (
    UBatchWrapper,
    dbo_enabled,
    dbo_maybe_run_recv_hook,
    dbo_register_recv_hook,
    dbo_switch_to_comm,
    dbo_switch_to_compute,
    dbo_switch_to_compute_sync,
    dbo_yield,
    dbo_yield_and_switch_from_comm_to_compute,
    dbo_yield_and_switch_from_compute_to_comm,
    get_forward_context,
    maybe_create_ubatch_slices,
    set_forward_context,
)
from ubviz.ubatch.forward_context import is_forward_context_available

Where = tuple[str, int]
"""A thread ("ubatch 1", "main") and which of its facts, from 1."""


class Broken(Exception):
    """What is raised on purpose."""


class Raiser:
    """A listener that raises at given facts, once each, and watches what the others do then."""

    def __init__(self, faults: dict[Where, BaseException]) -> None:
        self.faults = faults
        self.told: dict[str, list[str]] = defaultdict(list)
        self.raised: list[Where] = []
        self.wrong: list[str] = []
        self._holder: str | None = None  # who has the turn
        self._failed = False  # the ring is marked
        self._woke_late: set[str] = set()  # who got the turn since

    def host(self, kind: str, obj: Any, arg: Any) -> None:
        thread = threading.current_thread()
        name = "main" if thread is threading.main_thread() else thread.name
        if arg == "interrupted":
            self.wrong.append(f"{name} stalled in {obj!r}")
        if kind == "thread.end" or kind.startswith("buffer."):
            return  # no operation: the microbatch has left, and nobody is there to be told; a buffer goes when it goes
        self.told[name].append(kind)
        at = (name, len(self.told[name]))
        if name != "main":
            self._check_turn(name, kind)
        if at in self.faults:
            self.raised.append(at)
            raise self.faults[at]

    def _check_turn(self, name: str, kind: str) -> None:
        if kind == "host_event.wake":
            if self._holder not in (None, name):
                self.wrong.append(f"{name} wakes while {self._holder} has the turn")
            self._holder = name
            if self._failed:
                self._woke_late.add(name)
        elif kind == "host_event.set" and self._holder == name:
            self._holder = None
        elif kind == "error":
            self._failed = True
        elif not kind.startswith(_NEEDS_NO_TURN) and self._holder != name:
            self.wrong.append(f"{name} does {kind} while {self._holder} has the turn")
        if kind == "kernel.launch" and name in self._woke_late:
            self.wrong.append(f"{name} launches in a ring that has failed")

    def device(self, kind: str, obj: Any, arg: Any) -> None:
        pass


_NEEDS_NO_TURN = ("thread.", "host_event.", "barrier.", "ctx.", "returned")


# ---- two models, one a style: what vLLM's all-to-all under DeepEP asks of the mechanism, with tiny kernels


def ht_layer(rt: Any, x: torch.Tensor) -> torch.Tensor:
    with rt.op("attention"):
        x = x + 1
    there, back, out = (torch.empty_like(x) for _ in range(3))
    dbo_yield_and_switch_from_compute_to_comm()
    with rt.op("dispatch", cls="comm"):
        rt.launch("dispatch", there.copy_, x, cls="comm", reads=(x,), writes=(there,), host_wait=True)
    dbo_switch_to_compute_sync()
    with rt.op("experts"):
        y = there * 2
    dbo_yield_and_switch_from_compute_to_comm()
    with rt.op("combine", cls="comm"):
        rt.launch("combine", back.copy_, y, cls="comm", reads=(y,), writes=(back,))
    dbo_switch_to_compute()
    with rt.op("shared experts"):
        alongside = x * 3
    dbo_switch_to_comm()
    with rt.op("copy", cls="copy"):
        out.copy_(back)
    dbo_yield_and_switch_from_comm_to_compute()
    return out + alongside


def ll_layer(rt: Any, x: torch.Tensor) -> torch.Tensor:
    with rt.op("attention"):
        x = x + 1
    dbo_maybe_run_recv_hook()
    there = _exchange(rt, "dispatch", x)
    with rt.op("experts"):
        y = there * 2
    dbo_maybe_run_recv_hook()
    back = _exchange(rt, "combine", y)
    with rt.op("shared experts"):
        return back + x * 3


def _exchange(rt: Any, name: str, x: torch.Tensor) -> torch.Tensor:
    buffer, arrived = torch.empty_like(x), torch.empty_like(x)
    flight = rt.Link("network").flight(10_000, x.nbytes)
    rt.launch(f"{name} send", buffer.copy_, x, cls="comm", reads=(x,), writes=(buffer,), sends=flight)

    def receive() -> None:
        rt.launch(
            f"{name} receive", arrived.copy_, buffer, cls="comm", reads=(buffer,), writes=(arrived,),
            receives=flight,
        )  # fmt: skip

    if dbo_enabled():
        dbo_register_recv_hook(receive)
        dbo_yield()
    else:
        receive()
    return arrived


LAYERS: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {"ht": ht_layer, "ll": ll_layer}


class Walk:
    """One wrapper around one model, called with and without faults."""

    def __init__(self, style: str = "ht", n: int = 2, layers: int = 1, rt: Any = None) -> None:
        self.style, self.n, self.layers = style, n, layers
        self.rt = rt or get_runtime("host")
        self.wrapper = UBatchWrapper(self.model, runtime=self.rt, num_ubatches=n)
        self.compute = self.rt.Stream("compute")
        self.x = torch.arange(2.0 * n)
        self.right = self.x
        for _ in range(layers):
            self.right = 2 * (self.right + 1) + 3 * (self.right + 1)
        self.raiser = Raiser({})
        self.body = LAYERS[style]
        self.step: Callable[[torch.Tensor], torch.Tensor] = lambda x: self.wrapper(x=x)
        self.slices = maybe_create_ubatch_slices(True, [2 * n], 2 * n, 1, n)[0]

    def model(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.layers):
            x = self.body(self.rt, x)
        return x

    def facts(self, thread: str) -> list[str]:
        """What ``thread`` announces in a call without faults."""
        assert torch.equal(self.call({}), self.right)
        facts = self.raiser.told[thread]
        assert facts, f"{thread} did nothing"
        return facts

    def call(self, faults: dict[Where, BaseException]) -> torch.Tensor:
        """The wrapper's output; whatever comes out of it comes out here, once nothing is left behind."""
        self.raiser = Raiser(faults)
        try:
            with self.rt.stream(self.compute), set_forward_context(None, ubatch_slices=self.slices) as parent:
                try:
                    output: torch.Tensor = self._watched()
                finally:
                    assert get_forward_context() is parent
                self.rt.synchronize()  # the output may not be there yet
                return output
        finally:
            self.nothing_is_left()
            assert self.raiser.wrong == [], f"after faults at {self.raiser.raised}: {self.raiser.wrong}"

    def _watched(self) -> torch.Tensor:
        """The call, which ends with ``Stalled`` once nothing has moved for 1 s: no thread and no stream."""
        me: Any = SimpleNamespace(runtime=self.rt, main_ident=threading.get_ident())
        watchdog = Watchdog(me, 1, "raise")
        watchdog.start()
        self.rt.hooks.subscribe(self.raiser)
        try:
            return self.step(self.x)
        finally:
            self.rt.hooks.unsubscribe(self.raiser)
            watchdog.stop()

    def nothing_is_left(self) -> None:
        """No thread, no microbatch, no work, no context, no broken barrier."""
        assert microbatch_threads() == []
        assert not dbo_enabled()
        assert not is_forward_context_available()
        self.rt.synchronize()
        assert self.rt.idle()
        barrier = self.wrapper.ready_barrier
        assert (barrier.n_waiting, barrier.broken) == (0, False)

    def survives(self, faults: dict[Where, BaseException]) -> BaseException:
        """The exception that a call with ``faults`` raised; afterwards the same wrapper gives the right answer."""
        raised: BaseException | None = None
        try:
            self.call(faults)
        except AssertionError:
            raise
        except BaseException as error:
            raised = error
        assert raised is not None, f"nothing was raised with faults at {self.raiser.raised}"
        assert torch.equal(self.call({}), self.right)
        return raised


def note_of(error: BaseException, ubatch: int) -> bool:
    """Whether ``error`` has exactly one note, that microbatch ``ubatch`` raised it."""
    notes = getattr(error, "__notes__", [])
    return len(notes) == 1 and notes[0].startswith(f"microbatch {ubatch} (thread 'ubatch {ubatch}', at ")
