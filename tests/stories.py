"""A small language for tests of the mechanism: run a body on N microbatches, look at what was recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from ubviz.recording import record
from ubviz.runtime import get_runtime
from ubviz.trace import Trace
from ubviz.ubatch import UBatchWrapper, maybe_create_ubatch_slices, set_forward_context

OPERATIONS = (
    "barrier.arrive", "host_event.set", "host_event.wait", "host_event.clear", "event.record", "event.wait",
    "stream.switch", "hook.register", "hook.run",
)  # fmt: skip
"""What the happy path is compared by, for each thread of a microbatch."""


@dataclass
class Story:
    """Runs bodies on the microbatches of one wrapper, and keeps what was recorded."""

    n: int = 2
    rt: Any = field(default_factory=lambda: get_runtime("host"))
    trace: Trace | None = None

    def __post_init__(self) -> None:
        self.body: Callable[..., Any] = lambda x: x
        self.wrapper = UBatchWrapper(
            lambda **inputs: self.body(**inputs), runtime=self.rt, num_ubatches=self.n
        )
        self.compute = self.rt.Stream("compute")
        self.x = torch.arange(4 * self.n)

    def run(self, body: Callable[..., Any], **inputs: Any) -> Any:
        """Call the wrapper on ``body``; whatever it raises comes out, and the trace is kept."""
        self.body = body
        inputs = inputs or {"x": self.x}
        tokens = len(next(iter(inputs.values())))
        slices, _ = maybe_create_ubatch_slices(True, [tokens], tokens, 1, self.n)
        recording = record(self.rt, watchdog_s=5)
        try:
            with recording, self.rt.stream(self.compute), set_forward_context(None, ubatch_slices=slices):
                output = self.wrapper(**inputs)
                self.rt.synchronize()  # the outputs may not be there yet
                return output
        finally:
            self.trace = recording.trace

    def operations(self, ubatch: int) -> list[str]:
        """What microbatch ``ubatch``'s thread did, as "kind object"."""
        assert self.trace is not None
        return [
            " ".join([event.kind, *_objects(event.args)])
            for event in self.trace.events
            if event.ubatch == ubatch and event.kind in OPERATIONS
        ]


def _objects(args: dict[str, Any]) -> list[str]:
    if "from" in args:
        return [args["to"]]
    if "event" in args:
        return [args["event"], args["stream"]]
    if "from_ubatch" in args:
        return [f"{args['from_ubatch']}->{args['to_ubatch']}"]
    return [args.get("host_event") or args["barrier"]]


def microbatch_threads() -> list[str]:
    """Names of threads of microbatches that are alive."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("ubatch")]
