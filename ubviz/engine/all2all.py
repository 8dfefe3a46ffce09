"""Sending tokens to experts and back: the two styles of DeepEP's all-to-all, as vLLM uses them.

``ht`` (high throughput; prefill, eager). Three yields a layer:

1. prepare: yield and switch to comm; dispatch on the comm stream, which *blocks the host* until the receive
   counts arrive (that is why the yield comes first); switch back to compute with a wait.
2. finalize: yield and switch to comm; combine; switch to compute without a wait; shared experts; switch to
   comm; copy; yield and switch to compute.

``ll`` (low latency; decode, CUDA graphs). Two yields a layer: send and receive are both launches on the
*compute* stream. Between them the transfer is in flight on no stream; the receive spins until the data is
there, and is run by the *next* microbatch, through the hook.

In one process the copies are real and the wire is a model, and labelled so. Exchange between processes is in
``rank_all2all``.

Source: vLLM ``model_executor/layers/fused_moe/deepep_{ht,ll}_prepare_finalize.py``, ``modular_kernel.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from ..errors import BadArgument
from ..runtime.base import Runtime
from ..ubatch import dbo
from .kernels import copy, copy_and_weigh, pack, permute, unpack, unpermute

SharedExperts = Callable[[Tensor, int], Tensor]
Kernel = tuple[Callable[..., None], tuple[Tensor, ...]]
"""A function to run on a stream, and its arguments."""


@dataclass(frozen=True)
class LinkModel:
    """How long a modelled wire takes: ``latency_ns + nbytes / bytes_per_s``.

    >>> LinkModel(latency_ns=10_000, bytes_per_s=1e9).time_ns(5_000)
    15000
    """

    latency_ns: int = 20_000
    bytes_per_s: float = 1e9

    def time_ns(self, nbytes: int) -> int:
        """Nanoseconds that ``nbytes`` take from one end to the other."""
        return self.latency_ns + round(nbytes * 1e9 / self.bytes_per_s)

    def __str__(self) -> str:
        return f"{self.latency_ns / 1e3:.0f} us + {self.bytes_per_s / 1e9:.3g} GB/s, modelled"


@dataclass
class Routed:
    """Where a layer's tokens go: expert numbers and weights, both [tokens, top_k]."""

    ids: Tensor
    weights: Tensor


@dataclass
class Dispatched:
    """Tokens as the experts see them.

    ht: ``tokens`` [tokens * top_k, hidden] sorted by expert, ``counts`` rows of each expert on the host.
    ll: ``tokens`` [experts, capacity, hidden], ``counts`` None: shapes do not depend on data.
    """

    tokens: Tensor
    order: Tensor
    counts: list[int] | None = None
    way_back: Any = None  # between ranks: what combine must know of the dispatch


class PrepareFinalize(Protocol):
    """A style of all-to-all around the experts of one layer."""

    style: str
    link: LinkModel

    def prepare(self, x: Tensor, routed: Routed, layer: int) -> Dispatched: ...
    def finalize(
        self, y: Tensor, sent: Dispatched, routed: Routed, x: Tensor, shared: SharedExperts, layer: int
    ) -> tuple[Tensor, Tensor]: ...


def make_prepare_finalize(style: str, rt: Runtime, num_experts: int, link: LinkModel) -> PrepareFinalize:
    """The all-to-all of a style, "ht" or "ll"."""
    if style == "ht":
        return HighThroughput(rt, num_experts, link)
    if style == "ll":
        return LowLatency(rt, num_experts, link)
    raise BadArgument(f'the style of all-to-all is "ht" or "ll", not {style!r}')


class HighThroughput:
    """Dispatch and combine on the comm stream; the dispatch blocks the host."""

    style = "ht"

    def __init__(self, rt: Runtime, num_experts: int, link: LinkModel) -> None:
        self.rt, self.num_experts, self.link = rt, num_experts, link

    def prepare(self, x: Tensor, routed: Routed, layer: int) -> Dispatched:
        sent = self.room(x, routed)
        dbo.dbo_yield_and_switch_from_compute_to_comm()  # first, since the dispatch blocks this thread
        with self.rt.op("dispatch", cls="comm", layer=layer):
            self.dispatch(x, routed, sent, layer)
        dbo.dbo_switch_to_compute_sync()
        return sent

    def finalize(
        self, y: Tensor, sent: Dispatched, routed: Routed, x: Tensor, shared: SharedExperts, layer: int
    ) -> tuple[Tensor, Tensor]:
        combined, out = torch.empty_like(x), torch.empty_like(x)
        dbo.dbo_yield_and_switch_from_compute_to_comm()
        with self.rt.op("combine", cls="comm", layer=layer):
            self.combine(y, sent, routed, combined, layer)
        dbo.dbo_switch_to_compute()
        alongside = shared(x, layer)
        dbo.dbo_switch_to_comm()
        with self.rt.op("copy", cls="copy", layer=layer):
            out.copy_(combined)
        dbo.dbo_yield_and_switch_from_comm_to_compute()
        return out, alongside

    # ---- the exchange itself

    def room(self, x: Tensor, routed: Routed) -> Dispatched:
        """Where the tokens will be, as far as that can be known before they are sent."""
        tokens = x.new_empty(x.shape[0] * routed.ids.shape[1], x.shape[1])
        return Dispatched(tokens, routed.ids.new_empty(tokens.shape[0]), [])

    def dispatch(self, x: Tensor, routed: Routed, sent: Dispatched, layer: int) -> None:
        self.rt.launch(
            "dispatch", permute, x, routed.ids, self.num_experts, sent, cls="comm",
            duration_ns=self.link.time_ns(sent.tokens.nbytes), reads=(x, routed.ids),
            writes=(sent.tokens, sent.order), host_wait=True,
        )  # fmt: skip

    def combine(self, y: Tensor, sent: Dispatched, routed: Routed, combined: Tensor, layer: int) -> None:
        self.rt.launch(
            "combine", unpermute, y, sent.order, routed.weights, combined, cls="comm",
            duration_ns=self.link.time_ns(y.nbytes), reads=(y, sent.order, routed.weights), writes=(combined,),
        )  # fmt: skip


class LowLatency:
    """Send and receive on the compute stream; the transfer between them is on no stream."""

    style = "ll"

    def __init__(self, rt: Runtime, num_experts: int, link: LinkModel) -> None:
        self.rt, self.num_experts, self.link = rt, num_experts, link
        self.network = rt.Link("network")

    def prepare(self, x: Tensor, routed: Routed, layer: int) -> Dispatched:
        dbo.dbo_maybe_run_recv_hook()
        # every expert has room for every token, so that no shape depends on where tokens go
        buffer = x.new_empty(self.num_experts, x.shape[0], x.shape[1])
        sent = Dispatched(torch.empty_like(buffer), torch.empty_like(routed.ids))
        nbytes = x.nbytes * routed.ids.shape[1]  # the room that stays empty is not sent
        self.exchange(
            "dispatch", (pack, (x, routed.ids, buffer, sent.order)), buffer, (copy, (sent.tokens,)),
            (sent.tokens,), layer, nbytes,
        )  # fmt: skip
        return sent

    def finalize(
        self, y: Tensor, sent: Dispatched, routed: Routed, x: Tensor, shared: SharedExperts, layer: int
    ) -> tuple[Tensor, Tensor]:
        dbo.dbo_maybe_run_recv_hook()
        rows = y.new_empty(*routed.ids.shape, y.shape[-1])
        arrived, out = torch.empty_like(rows), torch.empty_like(x)
        alongside: list[Tensor] = []
        self.exchange(
            "combine", (unpack, (y, routed.ids, sent.order, rows)), rows,
            (copy_and_weigh, (arrived, routed.weights, out)), (arrived, out), layer, rows.nbytes,
            meanwhile=lambda: alongside.append(shared(x, layer)),
        )  # fmt: skip
        return out, alongside[0]

    def fly(self, name: str, layer: int, buffer: Tensor, nbytes: int) -> tuple[Any, Tensor]:
        """A transfer of ``buffer`` to come, and where its data will be."""
        return self.network.flight(self.link.time_ns(nbytes), nbytes), buffer

    def exchange(
        self, name: str, packing: Kernel, buffer: Tensor, unpacking: Kernel, written: tuple[Tensor, ...], layer: int,
        nbytes: int, meanwhile: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """Send ``nbytes`` of ``buffer``, do something else, and receive: through the next microbatch, if any."""
        flight, wire = self.fly(name, layer, buffer, nbytes)
        function, arguments = packing
        with self.rt.op(f"{name} send", cls="comm", layer=layer):
            self.rt.launch(
                f"{name} send", function, *arguments, cls="comm", reads=arguments[:-1], writes=(buffer,), sends=flight
            )  # fmt: skip
        meanwhile()

        def receive() -> None:
            land, into = unpacking
            with self.rt.op(f"{name} receive", cls="comm", layer=layer):
                self.rt.launch(
                    f"{name} receive", land, wire, *into, cls="comm", reads=(wire,), writes=written, receives=flight
                )  # fmt: skip

        if dbo.dbo_enabled():
            dbo.dbo_register_recv_hook(receive)
            dbo.dbo_yield()
        else:
            receive()
