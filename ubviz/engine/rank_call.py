"""What both styles share between ranks: the link, and the naming of a collective where it is launched.

A collective belongs to the group of the stream that it is launched on. All ranks make the same ones in the same
order: the vote sees to it, and the log that a failure is read from holds their names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors import BadArgument
from ..runtime.base import Runtime
from ..ubatch.forward_context import ForwardContext, get_forward_context
from .ranks import Call, Ranks


class RankLink(NamedTuple):
    """What carries the tokens between ranks; nothing about it is modelled."""

    size: int

    def time_ns(self, nbytes: int) -> None:
        """No modelled time: a transfer takes what it takes."""

    def __str__(self) -> str:
        return f"gloo between {self.size} processes, measured"


class Caller:
    """Names a collective where it is launched, and tells whoever listens."""

    rt: Runtime
    ranks: Ranks

    def announce(self, name: str, layer: int) -> Call:
        """A collective that is being launched; in a capture, whose replays begin it."""
        context: ForwardContext = get_forward_context()
        stream: Any = self.rt.current_stream()
        if stream.name not in self.ranks.groups:
            raise BadArgument(f"tokens are exchanged on the compute or the comm stream, not on {stream!r}")
        ubatch = "" if context.ubatch is None else f", microbatch {context.ubatch}"
        call = Call(stream.name, context.step or 0, f"{name} of layer {layer}{ubatch}")
        return call if stream.capture is not None else self._told(call)

    def announce_again(self, call: Call) -> Call:
        """The same collective in the step that is now: a graph that holds it is being replayed."""
        return self._told(call._replace(step=get_forward_context().step or 0))

    def _told(self, call: Call) -> Call:
        if (host := self.rt.hooks.host) is not None:
            host("collective", None, {"rank": self.ranks.rank, "step": call.step, "name": call.name})
        return call
