"""What a capture must keep: whoever was forked is joined, and nothing waits for what does not run.

Runtimes refuse these at once; a trace shows them where the recording goes on, or by the error that was told.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..trace.model import Trace
from .captures import Capture, captures
from .findings import Finding
from .order import Order
from .words import at, lane_name, stream_name


def graph_rules(trace: Trace, order: Order | None = None) -> list[Finding]:
    """``unjoined_stream`` and ``capture_violation``, capture by capture.

    >>> [finding.kind for finding in graph_rules(trace)]  # doctest: +SKIP
    ['unjoined_stream']
    """
    found = captures(trace)
    if not found:
        return []
    order = order or Order(trace)
    return [finding for capture in found for finding in _rules(trace, order, capture)]


def _rules(trace: Trace, order: Order, capture: Capture) -> Iterator[Finding]:
    refused = capture.error is not None and capture.error.args.get("type") == "CaptureError"
    text = str(capture.error.args.get("text")) if capture.error is not None else ""
    unjoined = refused and text.startswith("unjoined")
    if capture.end is not None or unjoined:
        yield from _unjoined(trace, order, capture)
    for event, problem in capture.problems:
        yield Finding(
            "capture_violation", "error",
            f"{lane_name(trace, event)} breaks the capture of {capture.graph} at {at(event)}: {problem}",
            (capture.begin.seq, event.seq),
        )  # fmt: skip
    if refused and not unjoined and not capture.problems and capture.error is not None:
        sentence = f"the capture of {capture.graph} at {at(capture.begin)} was broken: {text}"
        yield Finding("capture_violation", "error", sentence, (capture.begin.seq, capture.error.seq))


def _unjoined(trace: Trace, order: Order, capture: Capture) -> Iterator[Finding]:
    tails = {
        trace.events[row].args["stream"]: order.device(row) for row in capture.rows if order.device(row) >= 0
    }
    joined = tails.get(capture.origin, -1)
    for stream, fork in capture.streams.items():
        if stream != capture.origin and not order.node_before(tails[stream], joined):
            yield Finding(
                "unjoined_stream", "error",
                f"the {stream_name(stream)} was forked into the capture of {capture.graph} at {at(fork)} and never "
                f"joined back; let the {stream_name(capture.origin)} wait for an event recorded there before the "
                "capture ends",
                (capture.begin.seq, fork.seq),
            )  # fmt: skip
