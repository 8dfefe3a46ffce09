"""A graph as it is captured: begun and ended on a stream, and what was noted kept, stream by stream.

``host_capture`` has the rules; how a graph is replayed is each runtime's own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import CaptureError
from .base import Launch
from .host_capture import Capture, Kernel, Node, Record


class CapturedGraph:
    """A graph to capture into and to replay.

    >>> graph = rt.graph("step")  # doctest: +SKIP
    >>> with graph.capture(stream):  # doctest: +SKIP
    ...     y = model(x)  # noted, not run
    >>> x.copy_(new); graph.replay()  # y will hold the result  # doctest: +SKIP

    Raises ``CaptureError`` where the rules of ``host_capture`` are broken, when captured twice, and when replayed
    before it was captured.
    """

    def __init__(self, runtime: Any, name: str | None = None) -> None:
        self.runtime, self.name = runtime, name
        self.key: Any = None
        self.edges: list[dict[str, Any]] | None = None
        self._capture: Capture | None = None
        self._share: list[Node] | None = None  # the origin's; None before the capture has ended well
        self._sides: list[tuple[Any, list[Node]]] = []
        self.kernels: tuple[Launch, ...] = ()  # the captured launches, in order

    def __repr__(self) -> str:
        return f"graph {self.name or 'unnamed'}"

    # ---- capturing

    @contextmanager
    def capture(self, stream: Any = None, capture_error_mode: str = "global") -> Iterator[CapturedGraph]:
        """Capture what the block does on ``stream``, which is current in it; after an error nothing is kept."""
        current = self.runtime.current_stream()
        with self.runtime.stream(None if stream is current else stream):
            self.capture_begin(stream, capture_error_mode)
            try:
                yield self
            except BaseException:
                self._give_up()
                raise
            self.capture_end()

    def capture_begin(self, stream: Any = None, capture_error_mode: str = "global") -> None:
        """Begin to note what ``stream`` (the current one) is given."""
        stream = stream or self.runtime.current_stream()
        self.runtime._check_own(stream)
        stream._check_open()
        if self._capture is not None:
            raise CaptureError(f"{self} is being captured already; capture_end() comes first")
        if self._share is not None:
            raise CaptureError(f"{self} has been captured already; make another one with rt.graph()")
        if stream.capture is not None:
            raise stream.capture.refuse(
                f"stream {stream.name or 'unnamed'} is already captured into {stream.capture.graph}: one at a time"
            )
        if stream is self.runtime._default:
            raise CaptureError(
                f"the default stream cannot be captured into {self}; make one with rt.Stream()"
            )
        self._capture = Capture(self, stream, capture_error_mode)
        try:
            if (host := self.runtime.hooks.host) is not None:
                host("graph.capture_begin", self, self.key)
        except BaseException:  # a listener's
            self._give_up()
            raise

    def capture_end(self) -> None:
        """End the capture, on the thread that began it; every stream is out of it, also where it is no graph."""
        capture = self._capture
        if capture is None:
            raise CaptureError(f"{self} is not being captured: capture_begin comes before capture_end")
        if capture.thread is not threading.current_thread():
            raise CaptureError(
                f"the capture of {self} was begun by thread {capture.thread.name!r} and must end there"
            )
        problem = capture.problem()
        noted = self._give_up()
        if problem is not None:
            raise CaptureError(problem)
        self._keep(capture.origin, noted)
        if (host := self.runtime.hooks.host) is not None:
            host("graph.capture_end", self, self.key)

    def _give_up(self) -> dict[Any, list[Node]]:
        capture, self._capture = self._capture, None
        return capture.end() if capture is not None else {}

    def _keep(self, origin: Any, noted: dict[Any, list[Node]]) -> None:
        used = {
            stream: [node for node in nodes if not isinstance(node, Record) or node.edge.waited]
            for stream, nodes in noted.items()
        }
        self._share = used.pop(origin)
        self._sides = [
            (self.runtime.Stream(f"{stream.name or 'unnamed'} of {self}"), nodes)
            for stream, nodes in used.items()
        ]
        launches = (node.launch for node in self.nodes() if isinstance(node, Kernel))
        self.kernels = tuple(sorted(launches, key=lambda launch: launch.node or 0))

    def nodes(self) -> Iterator[Node]:
        """Everything that was noted and is needed, stream by stream."""
        for nodes in (self._share or [], *(nodes for _, nodes in self._sides)):
            yield from nodes
