"""Operations and launches of the cuda runtime: what becomes a kernel span.

PyTorch's own kernels are not seen. What is seen are *pieces*, each from a twin to a twin on one stream:

1. An operation is one piece, of the stream that is current when it begins. It is announced as a launch of its own
   (``OperationLaunch``) at that moment, since its kernels may begin before it is over.
2. The first ``rt.launch`` inside, on the same stream, gives that piece its name, its reads and its flights: the two
   are one kernel. Any further one, an inner operation, or another current stream ends the piece and begins the next.
3. ``rt.launch`` outside an operation, or on another stream, is a piece of its own.

So ``kernels`` counts operations here. ``fn`` of a launch is called at once, in the calling thread, with the stream
current; what it raises comes out of the launch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .base import Launch
from .cuda_streams import Stream
from .cuda_timing import Twin

if TYPE_CHECKING:
    from .cuda import CudaRuntime


class OperationLaunch(Launch):
    """The launch of an operation as a whole."""

    __slots__ = ()


class Piece:
    """A stretch of one stream, from a twin on; ``bare`` until a launch has given it a name of its own."""

    __slots__ = ("bare", "launch", "start", "stream")

    def __init__(self, stream: Stream, launch: Launch | None, bare: bool) -> None:
        self.stream, self.launch, self.bare = stream, launch, bare
        self.start: Twin | None = stream.runtime.timing.twin(stream.raw)

    def end(self) -> None:
        """The stretch ends at the stream's tail, and is a kernel once that has been reached."""
        launch = self.launch
        if launch is not None and launch.node is None:
            timing = self.stream.runtime.timing
            end = timing.twin(self.stream.raw)
            timing.expect("kernel", self.stream, lambda *at: (launch, *at), self.start, end)
            timing.look()


class Operation:
    """A named piece of work: the launches made inside, in this thread, belong to it."""

    __slots__ = ("_outer", "_runtime", "cls", "duration_ns", "layer", "name", "reads", "writes")

    def __init__(
        self,
        runtime: CudaRuntime,
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

    def __enter__(self) -> Operation:
        rt = self._runtime
        if (host := rt.hooks.host) is not None:
            host("op.begin", self, None)
        cut(rt)
        self._outer, rt.local.op = rt.local.op, self
        try:
            go_on(rt)
        except BaseException:  # a listener's; Python calls no __exit__ then
            rt.local.op = self._outer
            raise
        return self

    def __exit__(self, *_: object) -> None:
        rt = self._runtime
        try:
            cut(rt)
        finally:  # also where the device has failed
            rt.local.op = self._outer
        if (host := rt.hooks.host) is not None:
            host("op.end", self, None)
        go_on(rt)


def cut(rt: CudaRuntime) -> None:
    """End this thread's piece, if it is in one."""
    piece, rt.local.piece = rt.local.piece, None
    if piece is not None:
        piece.end()


def go_on(rt: CudaRuntime) -> None:
    """Begin a piece of this thread's operation, if it is in one, on its current stream."""
    op = rt.local.op
    if op is None or (rt.hooks.host is None and not rt.captures):
        return
    stream = rt.current_stream()
    launch = OperationLaunch(
        rt.correlation(), op.name, op.cls, op, rt.buffers(op.reads) or None, rt.buffers(op.writes) or None
    )
    announce(stream, launch)
    rt.local.piece = Piece(stream, launch, bare=True)


def announce(stream: Stream, launch: Launch) -> None:
    """Tell of a launch; in a capture it is numbered, and kept for the graph."""
    if (capture := stream.capture) is not None:
        launch.node = capture.number()
        capture.launches.append(launch)
    if (host := stream.runtime.hooks.host) is not None:
        host("kernel.launch", stream, launch)


@contextmanager
def launched(stream: Stream, asked: dict[str, Any]) -> Iterator[Launch | None]:
    """Around the work of one launch with the fields ``asked``: it is announced, and becomes a kernel span."""
    rt = stream.runtime
    piece: Piece | None = rt.local.piece
    mine = piece is not None and piece.stream is stream
    if piece is not None and mine and piece.bare:
        for field, value in asked.items():
            setattr(piece.launch, field, value)
        piece.bare = False
        yield piece.launch
    elif rt.hooks.host is None and stream.capture is None:
        yield None
    else:
        if mine:
            cut(rt)
        launch = Launch(rt.correlation(), operation=rt.local.op, **asked)
        announce(stream, launch)
        new = Piece(stream, launch, bare=False)
        if mine:  # it goes on to the end of the operation
            rt.local.piece = new
        try:
            yield launch
        finally:
            if not mine:
                new.end()
