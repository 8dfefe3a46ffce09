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
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import CaptureError
from .base import Launch
from .captured import CapturedGraph
from .host_capture import Edge, Kernel, Node, Record
from .host_streams import Marker, Stream
from .host_wire import Flight, run_launch

if TYPE_CHECKING:
    from .host import HostRuntime


class Graph(CapturedGraph):
    """A graph to capture into and to replay; see ``CapturedGraph``."""

    def __init__(self, runtime: HostRuntime, name: str | None = None) -> None:
        super().__init__(runtime, name)
        self._last: Marker | None = None
        self._lock = threading.Lock()

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
                self._flights[sent] = sent.again()

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
