"""The kinds of trace events, and the words their arguments are called by.

A trace event is one logged fact. Kinds that block carry ``until_ns``, the time at which the thread went on;
it is missing where the thread was still blocked when the recording ended.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """What one kind of trace event carries."""

    args: tuple[str, ...]
    blocks: bool = False


KINDS: dict[str, Kind] = {
    "thread.create": Kind(("thread", "name")),
    "thread.start": Kind(("thread", "name")),
    "thread.end": Kind(("thread",)),
    "thread.join": Kind(("thread",), blocks=True),
    "barrier.arrive": Kind(("barrier", "n", "parties", "generation"), blocks=True),
    "barrier.release": Kind(("barrier", "n", "parties", "generation")),
    "barrier.abort": Kind(("barrier",)),
    "barrier.reset": Kind(("barrier",)),
    "host_event.set": Kind(("host_event", "was")),
    "host_event.clear": Kind(("host_event", "was")),
    "host_event.wait": Kind(("host_event",), blocks=True),
    "host_event.wake": Kind(("host_event",)),
    "ctx.enter": Kind(("ubatch",)),
    "ctx.exit": Kind(("ubatch",)),
    "ctx.yield": Kind(("ubatch",)),
    "ctx.resume": Kind(("ubatch",)),
    "context.set": Kind(("ubatch", "digest")),
    "hook.register": Kind(("from_ubatch", "to_ubatch")),
    "hook.run": Kind(("from_ubatch", "to_ubatch")),
    "stream.switch": Kind(("from", "to")),
    "event.record": Kind(("event", "stream", "record")),
    "event.wait": Kind(("event", "stream", "record")),
    "event.query": Kind(("event", "done")),
    "event.synchronize": Kind(("event",), blocks=True),
    "stream.synchronize": Kind(("stream",), blocks=True),
    "host.read": Kind(("stream", "what"), blocks=True),
    "kernel.launch": Kind(
        ("name", "cls", "operation", "layer", "stream", "correlation", "reads", "writes", "host_wait"),
        blocks=True,  # where host_wait is true
    ),
    "buffer.alloc": Kind(("buffer", "stream")),
    "buffer.free": Kind(("buffer", "stream")),
    "buffer.record_stream": Kind(("buffer", "stream")),
    "step.begin": Kind(("step", "tokens", "branch", "why")),
    "step.end": Kind(("step", "tokens", "branch", "why")),
    "vote": Kind(("rank", "step", "inputs", "vote")),
    "collective": Kind(("rank", "step", "name")),
    "graph.capture_begin": Kind(("graph", "key")),
    "graph.capture_end": Kind(("graph", "key")),
    "graph.replay": Kind(("graph", "key")),
    "error": Kind(("type", "text", "at")),
    "mark": Kind(("text",)),
}

SPAN_CATS = ("thread", "operation", "blocked", "kernel", "wait", "record", "transfer")
"""What a span is: a thread's life, an operation's host side, a thread blocked, a kernel on a stream, a stream
waiting for an event, an event being recorded (no length), data in flight."""

FLOW_KINDS = ("set -> wake", "arrive -> release", "record -> wait", "launch -> kernel",
              "register -> run", "send -> receive")  # fmt: skip
