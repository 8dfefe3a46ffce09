"""Operations and launches of the virtual runtime: what becomes a kernel, and what it takes.

1. An operation is one kernel on the stream that is current when it ends, whatever PyTorch does inside: that is run
   at once and for real, and takes no time. What the kernel takes is the operation's cost.
2. Where ``rt.launch`` or another operation stands inside, those are its kernels, and it has none of its own.
3. What makes the thread wait for the device (a host read), or places an event, comes after the operation's kernel:
   it is launched there and then, if PyTorch was at work before. The rest of the operation belongs to it.
4. PyTorch outside an operation is run, takes no time, and is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .base import Launch
from .virtual_baton import Pending
from .virtual_buffers import nbytes_of

if TYPE_CHECKING:
    from .virtual import VirtualRuntime
    from .virtual_streams import Flight, Stream


class OperationLaunch(Launch):
    """The launch of an operation as a whole."""

    __slots__ = ()


class Operation:
    """A named piece of work: the launches made inside, in this thread, belong to it."""

    __slots__ = (
        "_launched", "_outer", "_runtime", "cls", "duration_ns", "layer", "name", "reads", "seen", "writes",
    )  # fmt: skip

    def __init__(
        self,
        runtime: VirtualRuntime,
        name: str,
        cls: str = "compute",
        layer: int | None = None,
        duration_ns: int | None = None,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
    ) -> None:
        self._runtime, self.name, self.cls, self.layer = runtime, name, cls, layer
        self.duration_ns, self.reads, self.writes = duration_ns, tuple(reads), tuple(writes)
        self._outer: Operation | None = None
        self._launched = False
        self.seen: Any = None  # what PyTorch did inside, by ``virtual_ops``

    def __enter__(self) -> Operation:
        rt = self._runtime
        me = rt.baton.me()
        rt.check_thread()
        if me.op is not None:
            me.op.has_others()
        self._outer, me.op = me.op, self
        self._launched, self.seen = False, None
        me.clock_ns += rt.costs.before.get(self.name, 0)
        if (host := rt.hooks.host) is not None:
            host("op.begin", self, None)
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        rt = self._runtime
        try:
            if error is None and not self._launched:
                self.launch()
        finally:
            rt.baton.current.op = self._outer
            self.seen = None
            if (host := rt.hooks.host) is not None:
                host("op.end", self, None)

    def has_others(self) -> None:
        """Something is launched inside: that is its kernel, after what PyTorch has done so far, if anything."""
        if self.seen is not None:
            self.launch()
        self._launched = True

    def launch(self) -> None:
        """The operation's own kernel."""
        if self._launched:
            return
        self._launched = True
        rt, seen = self._runtime, self.seen
        reads, writes = rt.buffers(self.reads), rt.buffers(self.writes)
        nbytes, fn = nbytes_of(self.writes), None
        stream = rt.current_stream()
        if seen is not None:
            reads, writes, made, fn = seen.finish(rt, stream, reads, writes)
            nbytes += made
        takes = self.duration_ns
        if takes is None:
            takes = rt.costs.duration_ns(self.name, self.cls, self.layer, nbytes)
        launch = OperationLaunch(0, self.name, self.cls, self, reads, writes, duration_ns=self.duration_ns)
        submit(rt, stream, launch, (fn, (), takes, 0))


def submit(
    rt: VirtualRuntime, stream: Stream, launch: Launch,
    work: tuple[Callable[..., Any] | None, tuple[Any, ...], int, int],
) -> None:  # fmt: skip
    """Launch ``work`` on ``stream``: a point, then the announcement, then the thread's time, then the kernel."""
    me = rt.baton.point(Pending("kernel.launch", stream, stream.touches))
    lead_ns = rt.costs.leads.get(launch.name, 0)
    me.clock_ns += lead_ns
    host, capture = rt.hooks.host, stream.capture
    told = host is not None or rt.hooks.device is not None or capture is not None
    if told:
        launch.correlation = rt.correlation()
        launch.node = None if capture is None else capture.number()
    if host is not None:
        host("kernel.launch", stream, launch)
    launch_ns = max(0, rt.costs.launches.get(launch.name, rt.costs.launch_ns) - lead_ns)
    # the device begins before the last of it is launched
    begin_ns = me.clock_ns + min(launch_ns, rt.costs.launch_ns)
    me.clock_ns += launch_ns
    if capture is not None:
        capture.kernel(stream, launch.name, launch, stream.kernel, work, launch.sends)  # type: ignore[arg-type]
        return
    sends: Flight | None = launch.sends  # type: ignore[assignment]
    receives: Flight | None = launch.receives  # type: ignore[assignment]
    stream.give(stream.kernel, launch.name, launch if told else None, work, sends, receives, begin_ns)


def launch(
    rt: VirtualRuntime, stream: Stream, fn: Callable[..., Any] | None, args: tuple[Any, ...], launched: Launch,
    nbytes: int,
) -> None:  # fmt: skip
    """``rt.launch``: one kernel, which calls ``fn(*args)`` as it starts."""
    op = launched.operation
    if op is not None:
        op.has_others()  # type: ignore[attr-defined]
    takes, least = 0, launched.duration_ns or 0
    if launched.duration_ns is None:
        layer = op.layer if op is not None else None
        takes = rt.costs.duration_ns(launched.name, launched.cls, layer, nbytes)
    submit(rt, stream, launched, (fn, args, takes, least))
    if launched.host_wait:
        host = rt.hooks.host
        try:
            stream.join_tail()
        finally:
            if host is not None:
                host("returned", stream, None)
