"""A capture of the cuda runtime under way: which streams it has spread to, and what is refused meanwhile.

What is refused here CUDA would refuse too, or break the capture for, without naming the stream; so it is refused
before CUDA is asked. Like CUDA, the capture is broken then: its end fails with the first sentence.

Source: CUDA programming guide, "Creating a graph using stream capture".
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from .base import Launch
from .capture_rules import CaptureRules, named
from .cuda_streams import Event, Stream

if TYPE_CHECKING:
    from .cuda_graph import Graph


class Capture(CaptureRules):
    """One capture under way: the streams that it has spread to, and whether a rule was broken."""

    def __init__(self, graph: Graph, origin: Stream, mode: str) -> None:
        super().__init__(graph, origin, mode)
        self.launches: list[Launch] = []
        self._streams: list[Stream] = []
        self._numbers = itertools.count()
        self.joins(origin)

    def joins(self, stream: Stream) -> None:
        """``stream`` waits for an event of this capture, and so belongs to it."""
        if stream.capture is None:
            self._streams.append(stream)
            stream.capture = self

    def number(self) -> int:
        """The number of the next kernel."""
        return next(self._numbers)

    def end(self) -> None:
        """Let go of all streams."""
        self.over = True
        for stream in self._streams:
            stream.capture = None

    def sentence(self, error: RuntimeError) -> str:
        """What CUDA's refusal to end this capture means; CUDA does not name the stream that was not joined."""
        forks = " or ".join(named(stream) for stream in self._streams if stream is not self.origin)
        if not forks or "unjoined" not in str(error):
            return f"CUDA made no {self.graph}: {first_line(error)}"
        return self.unjoined(forks)

    # ---- what is refused

    def check_wait(self, stream: Stream, event: Event) -> None:
        """A captured stream waits for what was recorded in the same capture, and so does one that joins it."""
        if self.over:
            raise self.no_point(event, "wait")
        if event.stream is not None and event.capture is not self:
            raise self.wait_from_outside(stream, event, event)


def first_line(error: BaseException) -> str:
    """What CUDA said; the lines below it are advice."""
    return (str(error).splitlines() or [type(error).__name__])[0]
