"""Lifetime: memory that is freed, and given out again, while another stream may still use it.

A caching allocator gives freed memory to the next allocation of the stream that it was allocated for, at once, since
that stream's work is in order. What another stream does with it is not, unless ``record_stream`` told the allocator
of that stream, or the allocating stream waits for it before it writes the new buffer. Which memory a buffer got is
not in a trace: the first buffer that is allocated afterwards for the same stream may have it.

Source: PyTorch ``torch.Tensor.record_stream``; ``c10/cuda/CUDACachingAllocator.cpp``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from ..trace.model import Event, Trace
from .accesses import Access, accesses
from .findings import Finding
from .kept import told_rows
from .order import Order
from .races import described
from .words import at, buffer_name, stream_name


@dataclass
class _Memory:
    """One buffer: whom it was allocated for, who uses it, and who was told of."""

    alloc: Event
    last: dict[str, Access] = field(default_factory=dict)  # stream -> its last access
    recorded: set[str] = field(default_factory=set)
    freed: Event | None = None

    @property
    def stream(self) -> str:
        return str(self.alloc.args["stream"])


def lifetime(trace: Trace, order: Order | None = None) -> list[Finding]:
    """One finding for each freed buffer that another stream may still use when its memory is used again.

    >>> [finding.kind for finding in lifetime(trace)]  # doctest: +SKIP
    ['lifetime']
    """
    if not trace.events.mask(kind="buffer.free").any():
        return []  # nothing is known of memory
    order = order or Order(trace)
    return list(_reused(trace, order))


def _reused(trace: Trace, order: Order) -> Iterator[Finding]:
    by_row = {access.row: access for access in accesses(trace, order) if access.graph is None}
    memory: dict[Hashable, _Memory] = {}
    freed: dict[Hashable, list[_Memory]] = defaultdict(list)  # by stream, not yet given out again
    heirs: dict[Hashable, list[_Memory]] = {}  # new buffer -> whose memory it may have
    for row, event in told_rows(trace, "buffer.", "kernel.launch", "graph.replay"):
        key = (event.rank, event.args.get("buffer"))
        if event.kind == "buffer.alloc":
            memory[key] = _Memory(event)
            heirs[key] = freed.pop((event.rank, event.args["stream"]), [])
        elif event.kind == "buffer.record_stream" and key in memory:
            memory[key].recorded.add(str(event.args["stream"]))
        elif event.kind == "buffer.free" and key in memory:
            memory[key].freed = event
            freed[event.rank, memory[key].stream].append(memory[key])
        elif row in by_row:
            yield from _used(trace, order, by_row[row], memory, heirs)


def _used(
    trace: Trace,
    order: Order,
    access: Access,
    memory: dict[Hashable, _Memory],
    heirs: dict[Hashable, list[_Memory]],
) -> Iterator[Finding]:
    for number in sorted(access.touches, key=str):
        key = (access.event.rank, number)
        for old in heirs.pop(key, ()):
            for stream, use in old.last.items():
                told = stream == old.stream or stream in old.recorded
                if not told and not order.node_before(use.node, access.node):
                    yield _finding(trace, old, use, access, number)
        if key in memory:
            memory[key].last[access.stream] = access


def _finding(trace: Trace, old: _Memory, use: Access, access: Access, number: object) -> Finding:
    assert old.freed is not None
    freed, name = old.freed, buffer_name(trace, old.alloc.args["buffer"])
    return Finding(
        "lifetime", "error",
        f"{described(use)} may still use {name}, which was freed at {at(freed)}, when {described(access)} uses "
        f"{buffer_name(trace, number)}, which may have got its memory. Call {name}.record_stream with the "
        f"{stream_name(use.stream)}, or make the {stream_name(old.stream)} wait for {use.name} before {name} is "
        "freed.",
        (old.alloc.seq, use.event.seq, freed.seq, access.event.seq),
    )  # fmt: skip
