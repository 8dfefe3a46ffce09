"""The arguments of each kind of trace event: from a fact's object and argument to the words of the table.

The words and their order are those of ``ubviz.trace.events.KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .names import Names
from .sites import Sites

Args = dict[str, Any]


class Speaker(Protocol):
    """Who knows what things are called."""

    names: Names
    sites: Sites

    def number(self, thread: Any) -> int:
        """The integer of a thread."""

    def stream(self, stream: Any) -> str:
        """The name of a stream, which gets a lane."""


def _thread(s: Speaker, obj: Any, _: Any) -> Args:
    return {"thread": s.number(obj)}


def _named_thread(s: Speaker, obj: Any, _: Any) -> Args:
    return {"thread": s.number(obj), "name": obj.name}


def _barrier(s: Speaker, obj: Any, _: Any) -> Args:
    return {"barrier": s.names.name(obj, "barrier")}


def _arrival(s: Speaker, obj: Any, arg: Any) -> Args:
    return {**_barrier(s, obj, arg), "n": arg[0], "parties": obj.parties, "generation": arg[1]}


def _host_event(s: Speaker, obj: Any, _: Any) -> Args:
    return {"host_event": s.names.name(obj, "host_event")}


def _flag(s: Speaker, obj: Any, was: Any) -> Args:
    return {"host_event": s.names.name(obj, "host_event"), "was": was}


def _context(_s: Speaker, obj: Any, _: Any) -> Args:
    return {"ubatch": obj.id}


def _forward_context(_s: Speaker, obj: Any, _: Any) -> Args:
    return {"ubatch": obj.ubatch, "digest": obj.digest()}


def _hook(_s: Speaker, obj: Any, _: Any) -> Args:
    return {"from_ubatch": obj[0] and obj[0].id, "to_ubatch": obj[1].id}


def _switch(s: Speaker, obj: Any, before: Any) -> Args:
    return {"from": s.stream(before), "to": s.stream(obj)}


def _binding(s: Speaker, obj: Any, arg: Any) -> Args:
    return {"event": s.names.name(obj, "event"), "stream": s.stream(arg[0]), "record": arg[1]}


def _event(s: Speaker, obj: Any, _: Any) -> Args:
    return {"event": s.names.name(obj, "event")}


def _query(s: Speaker, obj: Any, done: Any) -> Args:
    return {"event": s.names.name(obj, "event"), "done": done}


def _on_stream(s: Speaker, obj: Any, _: Any) -> Args:
    return {"stream": s.stream(obj)}


def _read(s: Speaker, obj: Any, what: Any) -> Args:
    return {"stream": s.stream(obj), "what": what}


def _launch(s: Speaker, stream: Any, launch: Any) -> Args:
    op = launch.operation
    return {
        "name": launch.name, "cls": launch.cls, "operation": op and op.name, "layer": op and op.layer,
        "stream": s.stream(stream), "correlation": launch.correlation, "reads": _list(launch.reads),
        "writes": _list(launch.writes), "host_wait": launch.host_wait,
    }  # fmt: skip


def _list(numbers: tuple[int, ...] | None) -> list[int] | None:
    return None if numbers is None else list(numbers)


def _buffer(s: Speaker, stream: Any, number: Any) -> Args:
    return {"buffer": number, "stream": stream and s.stream(stream)}


def _graph(s: Speaker, obj: Any, key: Any) -> Args:
    return {"graph": s.names.name(obj, "graph"), "key": key}


def _replay(s: Speaker, obj: Any, arg: Any) -> Args:
    return _graph(s, obj, arg[0])


def _as_told(_s: Speaker, _obj: Any, arg: Any) -> Args:
    return dict(arg)


def _error(s: Speaker, _obj: Any, arg: Any) -> Args:
    place = arg["at"]
    return {**arg, "at": place and f"{s.sites.file(place[0])}:{place[1]}"}


def _text(_s: Speaker, _obj: Any, arg: Any) -> Args:
    return {"text": arg}


ARGS: dict[str, Callable[[Speaker, Any, Any], Args]] = {
    "thread.create": _named_thread, "thread.start": _named_thread, "thread.end": _thread, "thread.join": _thread,
    "barrier.arrive": _arrival, "barrier.release": _arrival, "barrier.abort": _barrier, "barrier.reset": _barrier,
    "host_event.set": _flag, "host_event.clear": _flag,
    "host_event.wait": _host_event, "host_event.wake": _host_event,
    "ctx.enter": _context, "ctx.exit": _context, "ctx.yield": _context, "ctx.resume": _context,
    "context.set": _forward_context, "hook.register": _hook, "hook.run": _hook, "stream.switch": _switch,
    "event.record": _binding, "event.wait": _binding, "event.query": _query, "event.synchronize": _event,
    "stream.synchronize": _on_stream, "host.read": _read, "kernel.launch": _launch,
    "buffer.alloc": _buffer, "buffer.free": _buffer, "buffer.record_stream": _buffer,
    "graph.capture_begin": _graph, "graph.capture_end": _graph, "graph.replay": _replay,
    "step.begin": _as_told, "step.end": _as_told, "vote": _as_told, "collective": _as_told,
    "error": _error, "mark": _text,
}  # fmt: skip
