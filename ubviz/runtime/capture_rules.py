"""What any capture refuses, in the words of all runtimes: what would wait, draw numbers, or ask an edge for a time.

Here is who may wait meanwhile, and that the first refusal breaks the capture. What a runtime notes of a capture, and
when it joins streams, is its own (``host_capture``, ``cuda_capture``).

Source: CUDA programming guide, "Creating a graph using stream capture"; CUDA's ``cudaStreamCaptureMode``.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..errors import BadArgument, CaptureError

if TYPE_CHECKING:
    from . import cuda_streams, host_streams

    Stream = host_streams.Stream | cuda_streams.Stream
    Event = host_streams.Event | cuda_streams.Event

MODES = ("global", "thread_local", "relaxed")
"""Who may wait for other streams meanwhile: nobody; any thread but the one that captures; everybody."""


class CaptureRules:
    """A capture under way, as far as refusing goes; streams, events and graphs are a runtime's own."""

    def __init__(self, graph: Any, origin: Any, mode: str) -> None:
        if mode not in MODES:
            raise BadArgument(f"capture_error_mode is one of {', '.join(MODES)}, not {mode!r}")
        self.graph, self.origin, self.mode = graph, origin, mode
        self.thread = threading.current_thread()
        self.broken: CaptureError | None = None
        self.over = False

    def refuse(self, sentence: str) -> CaptureError:
        """The error to raise; the first one breaks the capture."""
        error = CaptureError(sentence)
        self.broken = self.broken or error
        return error

    def waits(self, what: str, stream: Stream) -> CaptureError:
        """``what`` needs the device to have run."""
        return self.refuse(
            f"{what} is not possible while {named(stream)} is captured into {self.graph}: a capture runs nothing, so "
            "there is nothing to wait for; do it before or after the capture, which capture_end() ends"
        )

    def random(self, what: str, stream: Stream) -> CaptureError:
        """``what`` draws random numbers."""
        return self.refuse(
            f"the random operation {what} on {named(stream)} cannot be captured into {self.graph}: its numbers are "
            "drawn at launch, and every replay would repeat them; draw them before, into a tensor that it reads"
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
        on = f" on {named(stream)}" if stream is not None else ""
        thread = threading.current_thread()
        if stream is not None and stream.capture is self:
            raise self.waits(what, stream)
        if self.mode == "global" or (self.mode == "thread_local" and thread is self.thread):
            raise self.refuse(
                f"{what}{on}, in thread {thread.name!r}, is not possible while {named(self.origin)} is captured into "
                f'{self.graph} with capture_error_mode="{self.mode}": do it before or after the capture, which '
                'capture_end() ends, or from another thread with "thread_local"'
            )

    def wait_from_outside(self, stream: Stream, event: Event, recorded: Any) -> CaptureError:
        """``stream`` waits for ``recorded``, a record of ``event`` that is not of this capture."""
        where = "outside" if recorded.capture is None else f"in the capture of {recorded.capture.graph}"
        return self.refuse(
            f"{named(stream)}, which is captured into {self.graph}, cannot wait for event {_of(event)}: it "
            f"was recorded {where}, on {named(recorded.stream)}; record it in this capture, or wait before it begins"
        )

    def unjoined(self, forks: str) -> str:
        """What is wrong where ``forks``, by name, do not come back."""
        return (
            f"unjoined: {forks} was forked into the capture of {self.graph} and never joined back; let "
            f"{named(self.origin)} wait for an event recorded there before the capture ends"
        )


def named(stream: Stream) -> str:
    """How a sentence names a stream."""
    return f"stream {stream.name or 'unnamed'}"


def _of(event: Event) -> str:
    """How a sentence names an event."""
    return event.name or "unnamed"
