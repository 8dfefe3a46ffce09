"""Graphs of the virtual runtime: captured as on host, and replayed as one piece of the current stream's time.

1. A replay begins when the stream is free. Every forked stream's share starts then, on a stream of the graph's own.
2. Shares are carried out in turn, each as far as it goes: they wait for each other only by records and by transfers
   that are inside the graph, so all come to their end.
3. The stream is free again when every share is over. A replay elsewhere waits for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import CaptureError, StreamClosed
from .captured import CapturedGraph
from .host_capture import Edge, Kernel, Node, Record
from .virtual_baton import Pending
from .virtual_streams import Flight, Marker, Stream

if TYPE_CHECKING:
    from .virtual import VirtualRuntime


class Graph(CapturedGraph):
    """A graph to capture into and to replay; see ``CapturedGraph``."""

    runtime: VirtualRuntime

    def __init__(self, runtime: VirtualRuntime, name: str | None = None) -> None:
        super().__init__(runtime, name)
        self._last: Marker | None = None

    def replay(self) -> None:
        """Give all of it to the current stream, as one piece, and return at once."""
        rt = self.runtime
        stream: Stream = rt.current_stream()
        if self._share is None:
            raise CaptureError(f"{self} holds nothing to replay: capture into it first")
        if stream.capture is not None:
            raise stream.capture.waits(f"a replay of {self}", stream)  # type: ignore[arg-type]
        stream._check_open()
        me = rt.baton.point(Pending("graph.replay", stream, stream.touches))
        rt.flush(me)
        correlation = rt.correlation() if rt.hooks.device is not None else None
        if (host := rt.hooks.host) is not None:
            host("graph.replay", self, (self.key, correlation, len(self.kernels)))
        me.clock_ns += rt.costs.launch_ns
        if self._last is not None and self._last.stream is not stream:
            stream.give(stream._await, self._last, None, me.clock_ns)
        replay = Replay(self, [(stream, self._share), *self._sides], correlation)
        self._last = replay.over
        stream.give(replay.run, me.clock_ns)


class Replay:
    """One replay under way; the first share is the origin's."""

    def __init__(
        self, graph: Graph, shares: Sequence[tuple[Stream, list[Node]]], correlation: int | None
    ) -> None:  # fmt: skip
        self._graph, self._shares, self._correlation = graph, shares, correlation
        self._markers: dict[Edge, Marker] = {}
        self._flights: dict[Any, Flight | None] = {None: None}
        self.over = Marker(shares[0][0])
        for node in graph.nodes():
            if isinstance(node, Record):
                self._markers[node.edge] = Marker(node.edge.stream)  # type: ignore[arg-type]
            elif isinstance(node, Kernel) and (sent := node.sends) is not None:
                self._flights[sent] = Flight(sent.link, sent.duration_ns, sent.nbytes)  # type: ignore[arg-type]

    def run(self, at_ns: int) -> bool:
        """All shares, from when the stream is free."""
        stream = self._shares[0][0]
        at_ns = stream.free_ns = max(at_ns, stream.free_ns)
        sides = [side for side, _ in self._shares[1:]]
        closed = next((side for side in sides if side._closed), None)
        if closed is not None:
            stream._fail(
                f"the replay of {self._graph}", StreamClosed(f"{closed!r} is closed and takes no more work")
            )
        else:
            for side in sides:
                side.free_ns = at_ns
            self._turns(at_ns)
            for side in sides:
                side._error = None  # it has been handed on with the join
                stream.free_ns = max(stream.free_ns, side.free_ns)
        return stream._fire(self.over, None, stream.free_ns)

    def _turns(self, at_ns: int) -> None:
        left = [(stream, iter(nodes)) for stream, nodes in self._shares]
        heads = [next(nodes, None) for _, nodes in left]
        while any(head is not None for head in heads):
            for i, (stream, nodes) in enumerate(left):
                while (head := heads[i]) is not None and self._step(stream, head, at_ns):
                    heads[i] = next(nodes, None)

    def _step(self, stream: Stream, node: Node, at_ns: int) -> bool:
        if isinstance(node, Record):
            return stream._fire(self._markers[node.edge], None, at_ns)
        if not isinstance(node, Kernel):
            marker = self._markers[node.edge]
            return marker.t_ns is not None and stream._await(marker, None, at_ns)
        sends, receives = self._flights[node.sends], self._flights[node.receives]
        if receives is not None and not receives.settled:
            return False
        launch = None
        if self._correlation is not None:
            launch = replace(node.launch, correlation=self._correlation, sends=sends, receives=receives)
        return stream.kernel(node.name, launch, node.args, sends, receives, at_ns)
