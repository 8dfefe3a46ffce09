"""The graphs of a wrapper: what is kept of each, and what was seen while it was captured.

A replay starts no thread and touches no host event or stream event, so whoever looks at one sees kernels only.
A ``Witness`` therefore listens at capture: it marks each launch with the microbatch that made it, and keeps the
edges as plain data, so that a view can lay them over any replay. An edge is a dict::

    {"kind": "record -> wait", "event": "compute_done[0]", "record": 1, "from_stream": "compute",
     "to_stream": "comm", "from_node": 4, "to_node": 5}
    {"kind": "set -> wake", "from_ubatch": 0, "to_ubatch": 1, "from_node": 4, "to_node": 6}
    {"kind": "register -> run", "from_ubatch": 0, "to_ubatch": 1, "from_node": 9, "to_node": 14}

Nodes are kernels, by their number in the graph (``node`` of a replayed kernel span): the last one before the edge
begins and the first one after it ends, on the same stream or by the same microbatch; None where there is none.

Source: vLLM ``vllm/v1/worker/gpu_ubatch_wrapper.py``, ``CUDAGraphMetaData``.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..errors import CaptureError
from ..runtime.base import Graph, Runtime
from .contexts import by_thread
from .forward_context import PER_UBATCH, CUDAGraphMode, ForwardContext
from .slices import UBatchSlice
from .static import refill, twin


class Decision(NamedTuple):
    """How a call of the wrapper was run: ``branch`` is "eager", "capture" or "replay"."""

    branch: str
    why: str | None = None
    key: int | None = None


@dataclass
class CUDAGraphMetaData:
    """One captured graph: what it reads, and the outputs that each replay writes."""

    cudagraph: Graph
    inputs: dict[str, Any]
    context: ForwardContext
    outputs: Any = None

    @classmethod
    def make(cls, graph: Graph, inputs: dict[str, Any], parent: ForwardContext) -> CUDAGraphMetaData:
        """Buffers for the inputs and for the tensors in the forward context, filled with what they are now."""
        metadata = {name: twin(getattr(parent, name)) for name in PER_UBATCH}
        context = replace(parent, cudagraph_runtime_mode=CUDAGraphMode.NONE, **metadata)
        return cls(graph, twin(inputs), context)

    def fill(self, inputs: dict[str, Any], parent: ForwardContext) -> None:
        """Put what this call brings into the buffers; raise ``CaptureError`` if it does not fit what was captured."""
        self._check_cuts(parent)
        if inputs.keys() != self.inputs.keys():
            raise CaptureError(
                f"{self.cudagraph} cannot be replayed: it was captured with the inputs {', '.join(self.inputs)}, "
                f"not {', '.join(inputs)}"
            )
        kept = {**self.inputs, **{name: getattr(self.context, name) for name in PER_UBATCH}}
        refill(kept, {**inputs, **{name: getattr(parent, name) for name in PER_UBATCH}}, self.cudagraph)

    def _check_cuts(self, parent: ForwardContext) -> None:
        mine, theirs = _cuts(self.context.ubatch_slices), _cuts(parent.ubatch_slices)
        if mine != theirs:
            raise CaptureError(
                f"{self.cudagraph} cannot be replayed: it was captured with tokens cut at {mine}, not at {theirs}"
            )


def _cuts(slices: Sequence[UBatchSlice] | None) -> list[int]:
    return [part.token_slice.start for part in slices[1:]] if slices is not None else []


def tokens_of(context: ForwardContext, inputs: dict[str, Any]) -> int:
    """Tokens of a call, which a graph is kept by: over *all* microbatches, however many they are."""
    if context.ubatch_slices is not None:
        return sum(part.num_tokens for part in context.ubatch_slices)
    if context.batch_descriptor is not None:
        return context.batch_descriptor.num_tokens
    rows = [len(value) for value in inputs.values() if getattr(value, "shape", ())]
    if not rows:
        raise CaptureError("a call without tensors, slices or a batch descriptor has no number of tokens")
    return rows[0]


@contextmanager
def witnessed(rt: Runtime, graph: Graph) -> Iterator[None]:
    """Mark launches and keep edges while ``graph`` is captured."""
    witness = Witness()
    rt.hooks.subscribe(witness)
    try:
        yield
    finally:
        rt.hooks.unsubscribe(witness)
    graph.edges = witness.edges


class Witness:
    """Listens to one capture. Only one thread has the turn at a time, so facts come in their order."""

    def __init__(self) -> None:
        self.edges: list[dict[str, Any]] = []
        self._records: dict[tuple[int, int], tuple[str, int | None]] = {}
        self._last: dict[Any, int] = {}  # stream name or microbatch -> its last kernel
        self._open: dict[Any, list[dict[str, Any]]] = defaultdict(list)  # edges whose end has no kernel yet
        self._hooks: dict[int, int | None] = {}  # microbatch that registered -> its last kernel then
        self._turn: int | None = None
        self._main = threading.get_ident()

    def device(self, kind: str, obj: Any, arg: Any) -> None:
        """Nothing runs in a capture."""

    def host(self, kind: str, obj: Any, arg: Any) -> None:
        ident = threading.get_ident()
        context = by_thread.get(ident)
        if context is None and ident != self._main:
            return  # somebody else's
        if kind == "kernel.launch" and arg.node is not None:
            arg.ubatch = context.id if context is not None else None
            self._launched(arg.node, obj.name, arg.ubatch)
        elif kind == "event.record":
            stream = arg[0].name
            self._records[id(obj), arg[1]] = (stream, self._last.get(stream))
        elif kind == "event.wait" and (id(obj), arg[1]) in self._records:
            stream, node = self._records[id(obj), arg[1]]
            self._edge("record -> wait", arg[0].name, node, event=obj.name, record=arg[1], from_stream=stream,
                       to_stream=arg[0].name)  # fmt: skip
        elif kind == "context.set":
            self._took_turn(obj.ubatch)
        elif kind == "hook.register":
            self._hooks[obj[0].id] = self._last.get(obj[0].id)
        elif kind == "hook.run" and obj[0] is not None:
            self._edge("register -> run", obj[1].id, self._hooks.get(obj[0].id), from_ubatch=obj[0].id,
                       to_ubatch=obj[1].id)  # fmt: skip

    def _launched(self, node: int, stream: str | None, ubatch: int | None) -> None:
        for who in (stream, ubatch):
            if who is not None:
                self._last[who] = node
                for edge in self._open.pop(who, ()):
                    edge["to_node"] = node

    def _took_turn(self, ubatch: int) -> None:
        """The forward context is put back whenever a microbatch gets the turn."""
        if self._turn is not None:
            self._edge(
                "set -> wake", ubatch, self._last.get(self._turn), from_ubatch=self._turn, to_ubatch=ubatch
            )
        self._turn = ubatch

    def _edge(self, kind: str, who: Any, from_node: int | None, **about: Any) -> None:
        """An edge that ends at the next kernel of ``who``, a stream or a microbatch."""
        edge = {"kind": kind, **about, "from_node": from_node, "to_node": None}
        self.edges.append(edge)
        self._open[who].append(edge)
