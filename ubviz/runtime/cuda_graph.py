"""Graphs of the cuda runtime: ``torch.cuda.CUDAGraph``, announced; the rules of a capture are CUDA's own.

What this adds to CUDA is in ``cuda_capture``: it is known which streams a capture has spread to, so that no twin is
recorded and nothing is asked meanwhile.

A replay is one kernel span, from a twin before it to one behind it: what happens inside needs a profiler. The
launches of the capture are kept in ``kernels``.

Source: CUDA programming guide, "Creating a graph using stream capture"; ``torch.cuda.CUDAGraph``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import CaptureError
from .base import Launch
from .cuda_capture import Capture, first_line
from .cuda_streams import Stream

if TYPE_CHECKING:
    from .cuda import CudaRuntime


class Graph:
    """A graph to capture into and to replay; ``pool`` is the memory of another one, to be shared.

    >>> graph = rt.graph("step")  # doctest: +SKIP
    >>> with graph.capture(stream):  # doctest: +SKIP
    ...     y = model(x)  # noted, not run
    >>> x.copy_(new); graph.replay()  # y will hold the result  # doctest: +SKIP

    Raises ``CaptureError`` where a rule of CUDA's captures is broken, when captured twice, and when replayed before
    it was captured.
    """

    def __init__(self, runtime: CudaRuntime, name: str | None = None, pool: Any = None) -> None:
        self.runtime, self.name = runtime, name
        self.key: Any = None
        self.edges: list[dict[str, Any]] | None = None
        self.kernels: tuple[Launch, ...] = ()  # the captured launches, in order
        self._pool = pool
        self._raw: Any = None  # made when its capture begins, which is outside of any other
        self._capture: Capture | None = None
        self._captured = False

    def __repr__(self) -> str:
        return f"graph {self.name or 'unnamed'}"

    def pool(self) -> Any:
        """This graph's memory, to be shared with a later one that is not replayed at the same time."""
        if not self._captured:
            raise CaptureError(f"{self} has no memory yet: capture into it first")
        return self._raw.pool()

    # ---- capturing

    @contextmanager
    def capture(self, stream: Stream | None = None, capture_error_mode: str = "global") -> Iterator[Graph]:
        """Capture what the block does on ``stream``, which is current in it; after an error nothing is kept."""
        current = self.runtime.current_stream()
        with self.runtime.stream(None if stream is current else stream):
            self.capture_begin(stream, capture_error_mode)
            try:
                yield self
            except BaseException:
                self.give_up()
                raise
            self.capture_end()

    def capture_begin(self, stream: Stream | None = None, capture_error_mode: str = "global") -> None:
        """Begin to capture what ``stream`` (the current one) is given."""
        rt = self.runtime
        stream = stream or rt.current_stream()
        rt.check_own(stream)
        stream._check_open()
        if self._capture is not None:
            raise CaptureError(f"{self} is being captured already; capture_end() comes first")
        if self._captured:
            raise CaptureError(f"{self} has been captured already; make another one with rt.graph()")
        if stream.capture is not None:
            raise stream.capture.refuse(
                f"stream {stream.name or 'unnamed'} is already captured into {stream.capture.graph}: one at a time"
            )
        if stream is rt.default_stream():
            raise CaptureError(
                f"the default stream cannot be captured into {self}; make one with rt.Stream()"
            )
        capture = Capture(self, stream, capture_error_mode)
        self._raw = rt.cuda.CUDAGraph()
        try:
            with rt.capture_lock, rt.cuda.stream(stream.raw):  # nobody is looking at twins now
                self._raw.capture_begin(pool=self._pool, capture_error_mode=capture_error_mode)
                rt.captures += (capture,)
        except RuntimeError as error:
            capture.end()
            raise CaptureError(f"CUDA began no capture of {self}: {first_line(error)}") from error
        self._capture = capture
        if (host := rt.hooks.host) is not None:
            host("graph.capture_begin", self, self.key)

    def capture_end(self) -> None:
        """End the capture, on the thread that began it; every stream is out of it, also after an error."""
        capture = self._capture
        if capture is None:
            raise CaptureError(f"{self} is not being captured: capture_begin comes before capture_end")
        if capture.thread is not threading.current_thread():  # CUDA would leave it open as well
            raise CaptureError(
                f"the capture of {self} was begun by thread {capture.thread.name!r} and must end there"
            )
        failed = self.give_up()
        if capture.broken is not None:
            raise CaptureError(f"the capture of {self} was broken: {capture.broken}")
        if failed is not None:
            raise CaptureError(capture.sentence(failed)) from failed
        self._captured, self.kernels = True, tuple(capture.launches)
        if (host := self.runtime.hooks.host) is not None:
            host("graph.capture_end", self, self.key)

    def give_up(self) -> RuntimeError | None:
        """End CUDA's capture, whatever its state; what CUDA said of it."""
        rt, capture = self.runtime, self._capture
        self._capture = None
        if capture is None:
            return None
        try:
            with rt.cuda.stream(capture.origin.raw):
                self._raw.capture_end()
        except RuntimeError as error:
            return error
        finally:
            capture.end()
            rt.captures = tuple(other for other in rt.captures if other is not capture)
        return None

    # ---- replaying

    def replay(self) -> None:
        """Queue all of it on the current stream, as one piece, and return at once."""
        rt = self.runtime
        stream = rt.current_stream()
        if not self._captured:
            raise CaptureError(f"{self} holds nothing to replay: capture into it first")
        if stream.capture is not None:
            raise stream.capture.waits(f"a replay of {self}", stream)
        stream._check_open()
        launch = Launch(rt.correlation(), str(self), "other")
        told = rt.hooks.device is not None and not rt.captures
        if (host := rt.hooks.host) is not None:
            host("graph.replay", self, (self.key, launch.correlation, int(told)))
        start = rt.timing.twin(stream.raw)
        with rt.cuda.stream(stream.raw):
            rt.ask(self._raw.replay)
        rt.timing.expect("kernel", stream, lambda *at: (launch, *at), start, rt.timing.twin(stream.raw))
        rt.timing.look()
