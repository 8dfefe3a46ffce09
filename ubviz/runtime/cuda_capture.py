"""A capture of the cuda runtime under way: which streams it has spread to, and what is refused meanwhile.

What is refused here CUDA would refuse too, or break the capture for, without naming the stream; so it is refused
before CUDA is asked. Like CUDA, the capture is broken then: its end fails with the first sentence.

Source: CUDA programming guide, "Creating a graph using stream capture".
"""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

from ..errors import BadArgument, CaptureError
from .base import Launch
from .cuda_streams import Event, Stream

if TYPE_CHECKING:
    from .cuda_graph import Graph

MODES = ("global", "thread_local", "relaxed")
"""Who may wait for other streams meanwhile: nobody; any thread but the one that captures; everybody."""


class Capture:
    """One capture under way: the streams that it has spread to, and whether a rule was broken."""

    def __init__(self, graph: Graph, origin: Stream, mode: str) -> None:
        if mode not in MODES:
            raise BadArgument(f"capture_error_mode is one of {', '.join(MODES)}, not {mode!r}")
        self.graph, self.origin, self.mode = graph, origin, mode
        self.thread = threading.current_thread()
        self.launches: list[Launch] = []
        self.broken: CaptureError | None = None
        self.over = False
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
        forks = " or ".join(_name(stream) for stream in self._streams if stream is not self.origin)
        if not forks or "unjoined" not in str(error):
            return f"CUDA made no {self.graph}: {first_line(error)}"
        return (
            f"unjoined: {forks} was forked into the capture of {self.graph} and never joined back; let "
            f"{_name(self.origin)} wait for an event recorded there before the capture ends"
        )

    # ---- what is refused

    def refuse(self, sentence: str) -> CaptureError:
        """The error to raise; the first one breaks the capture."""
        error = CaptureError(sentence)
        self.broken = self.broken or error
        return error

    def check_wait(self, stream: Stream, event: Event) -> None:
        """A captured stream waits for what was recorded in the same capture, and so does one that joins it."""
        if self.over:
            raise self.no_point(event, "wait")
        if event.stream is not None and event.capture is not self:
            where = "outside" if event.capture is None else f"in the capture of {event.capture.graph}"
            raise self.refuse(
                f"{_name(stream)}, which is captured into {self.graph}, cannot wait for event {_of(event)}: it was "
                f"recorded {where}, on {_name(event.stream)}; record it in this capture, or wait before it begins"
            )

    def waits(self, what: str, stream: Stream) -> CaptureError:
        """``what`` needs the device to have run."""
        return self.refuse(
            f"{what} is not possible while {_name(stream)} is captured into {self.graph}: a capture runs nothing, so "
            "there is nothing to wait for; do it before or after the capture"
        )

    def no_point(self, event: Event, what: str) -> CaptureError:
        """``event`` was recorded in this capture and is asked for a time."""
        sentence = (
            f"event {_of(event)} was recorded in the capture of {self.graph}: it is an edge of the graph, not a point "
            f"in time, so {what} has nothing to go by; record it again outside the capture"
        )
        return CaptureError(sentence) if self.over else self.refuse(sentence)

    def check_may_wait(self, what: str, stream: Stream | None) -> None:
        """Refuse ``what``, on a stream or on an event, as far as this capture forbids it."""
        on = f" on {_name(stream)}" if stream is not None else ""
        thread = threading.current_thread()
        if stream is not None and stream.capture is self:
            raise self.waits(what, stream)
        if self.mode == "global" or (self.mode == "thread_local" and thread is self.thread):
            raise self.refuse(
                f"{what}{on}, in thread {thread.name!r}, is not possible while {_name(self.origin)} is captured into "
                f'{self.graph} with capture_error_mode="{self.mode}": do it before or after the capture, or from '
                'another thread with "thread_local"'
            )


def first_line(error: BaseException) -> str:
    """What CUDA said; the lines below it are advice."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def _name(stream: Stream) -> str:
    return f"stream {stream.name or 'unnamed'}"


def _of(event: Event) -> str:
    return event.name or "unnamed"
