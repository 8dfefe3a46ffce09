"""Graphs of the host runtime: work that is captured once (``host_capture``) and replayed as one piece.

A replay is one item of the current stream, whatever the graph holds:
1. ``replay`` makes what a replay needs anew, markers for the edges and flights for the transfers, so that replays
   can be queued one behind the other, and queues itself on the current stream.
2. When its turn comes, the current stream's worker gives each forked stream's share to a stream of the graph's own,
   and runs the origin's share itself. CUDA too runs a graph's branches on streams of its own: a replay does not
   wait for what else the captured streams hold.
3. Shares wait for each other by the markers. Since all forks were joined, an error in any share has reached the
   origin's by the end; the side streams start afresh.
4. The item is over when all shares are. A graph does not run beside itself: a replay on another stream waits.

Tensors made in the capture belong to the noted work, and so to the graph: the same storage at every replay.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import CaptureError
from .base import Launch
from .host_capture import Capture, Edge, Kernel, Node, Record
from .host_streams import Flight, Marker, Stream, run_launch

if TYPE_CHECKING:
    from .host import HostRuntime


class Graph:
    """A graph to capture into and to replay.

    >>> graph = rt.graph("step")  # doctest: +SKIP
    >>> with graph.capture(stream):  # doctest: +SKIP
    ...     y = model(x)  # noted, not run
    >>> x.copy_(new); graph.replay()  # y will hold the result  # doctest: +SKIP

    Raises ``CaptureError`` where the rules of ``host_capture`` are broken, when captured twice, and when replayed
    before it was captured.
    """

    def __init__(self, runtime: HostRuntime, name: str | None = None) -> None:
        self.runtime, self.name = runtime, name
        self.key: Any = None
        self.edges: list[dict[str, Any]] | None = None
        self._capture: Capture | None = None
        self._share: list[Node] | None = None  # the origin's; None before the capture has ended well
        self._sides: list[tuple[Stream, list[Node]]] = []
        self.kernels: tuple[Launch, ...] = ()  # the captured launches, in order
        self._last: Marker | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"graph {self.name or 'unnamed'}"

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
                self._give_up()
                raise
            self.capture_end()

    def capture_begin(self, stream: Stream | None = None, capture_error_mode: str = "global") -> None:
        """Begin to note what ``stream`` (the current one) is given."""
        stream = stream or self.runtime.current_stream()
        self.runtime._check_own(stream)
        stream._check_open()
        if self._share is not None or self._capture is not None:
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

    def _give_up(self) -> dict[Stream, list[Node]]:
        capture, self._capture = self._capture, None
        return capture.end() if capture is not None else {}

    def _keep(self, origin: Stream, noted: dict[Stream, list[Node]]) -> None:
        used = {
            stream: [node for node in nodes if not isinstance(node, Record) or node.edge.waited]
            for stream, nodes in noted.items()
        }
        self._share = used.pop(origin)
        self._sides = [
            (Stream(self.runtime, f"{stream.name or 'unnamed'} of {self}"), nodes)
            for stream, nodes in used.items()
        ]
        launches = (node.launch for node in self.nodes() if isinstance(node, Kernel))
        self.kernels = tuple(sorted(launches, key=lambda launch: launch.node or 0))

    # ---- replaying

    def nodes(self) -> Iterator[Node]:
        """Everything that was noted and is needed, stream by stream."""
        for nodes in (self._share or [], *(nodes for _, nodes in self._sides)):
            yield from nodes

    def replay(self) -> None:
        """Queue all of it on the current stream, as one piece, and return at once."""
        stream = self.runtime.current_stream()
        if self._share is None:
            raise CaptureError(f"{self} holds nothing to replay: capture into it first")
        if stream.capture is not None:
            raise stream.capture.waits(f"a replay of {self}", stream)
        stream._check_open()
        hooks = self.runtime.hooks
        correlation = next(self.runtime._correlations) if hooks.device is not None else None
        if (host := hooks.host) is not None:
            host("graph.replay", self, (self.key, correlation, len(self.kernels)))
        replay = Replay(self, stream, self._share, self._sides, correlation)
        with self._lock:
            if self._last is not None and self._last.stream is not stream and not self._last.done:
                stream._put(stream._await, (self._last, None))
            stream._put(replay.run, ())
            self._last = replay.over


class Replay:
    """One replay under way."""

    def __init__(
        self, graph: Graph, stream: Stream, share: list[Node], sides: Sequence[tuple[Stream, list[Node]]],
        correlation: int | None,
    ) -> None:  # fmt: skip
        self._graph, self._stream, self._share = graph, stream, share
        self._sides = [(side, nodes, Marker(side)) for side, nodes in sides]
        self._correlation = correlation  # None: nobody listens
        self._markers: dict[Edge, Marker] = {}
        self._flights: dict[Flight | None, Flight | None] = {None: None}
        self.over = Marker(stream)
        for node in graph.nodes():
            if isinstance(node, Record):
                self._markers[node.edge] = Marker(node.edge.stream)
            elif isinstance(node, Kernel) and (sent := node.sends) is not None:
                self._flights[sent] = Flight(sent.link, sent.duration_ns, sent.nbytes)

    # ---- the workers' side; none of these raises

    def run(self, number: int) -> None:
        """The origin's share, in the worker of the stream that replays."""
        stream = self._stream
        try:
            for side, nodes, over in self._sides:
                side._put(self._run_side, (side, nodes, over))
        except BaseException as cause:  # the runtime has been closed
            stream._fail(f"the replay of {self._graph}", cause)
        else:
            self._run(stream, self._share)
            for _, _, over in self._sides:
                over.wait()
        stream._done = number
        self.over.fire()

    def _run_side(self, number: int, side: Stream, nodes: list[Node], over: Marker) -> None:
        self._run(side, nodes)
        side._error = None  # it has been handed on with the join
        side._done = number
        over.fire()

    def _run(self, stream: Stream, nodes: list[Node]) -> None:
        for node in nodes:
            number = stream._done  # the item is not over yet
            if isinstance(node, Kernel):
                launch, args, sends = self._renewed(node)
                stream._kernel(number, node.name, launch, node.fn, args, sends)
            elif isinstance(node, Record):
                stream._fire(number, self._markers[node.edge], None)
            else:
                stream._await(number, self._markers[node.edge], None)

    def _renewed(self, node: Kernel) -> tuple[Launch | None, tuple[Any, ...], Flight | None]:
        """Launch, arguments and flight of this replay."""
        sends, receives = self._flights[node.sends], self._flights[node.receives]
        launch = None
        if self._correlation is not None:
            launch = replace(node.launch, correlation=self._correlation, sends=sends, receives=receives)
        if node.fn is not run_launch:
            return launch, node.args, sends
        return launch, (*node.args[:3], sends, receives, launch), sends
