"""Which trace events say enough to be judged: those of a known kind that carry the words the checkers go by.

A file may hold anything. What lacks a word, or has a list where a name belongs, is judged as a mark, and counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..trace.model import Event, Notice, Trace, make_table

_STREAM, _BINDING = ("stream",), ("event", "stream", "record")
_ARRIVAL = ("barrier", "n", "parties", "generation")
WORDS: dict[str, tuple[str, ...]] = {
    "thread.create": ("thread",), "thread.start": ("thread",), "thread.end": ("thread",),
    "thread.join": ("thread",), "barrier.arrive": _ARRIVAL, "barrier.release": _ARRIVAL,
    "host_event.set": ("host_event",), "host_event.clear": ("host_event",), "host_event.wait": ("host_event",),
    "host_event.wake": ("host_event",), "ctx.enter": ("ubatch",), "ctx.yield": ("ubatch",),
 "hook.register": ("from_ubatch", "to_ubatch"),
    "hook.run": ("from_ubatch", "to_ubatch"), "stream.switch": ("from", "to"), "event.record": _BINDING,
    "event.wait": _BINDING, "event.query": ("event",), "event.synchronize": ("event",),
    "stream.synchronize": _STREAM, "host.read": _STREAM, "kernel.launch": _STREAM,
    "buffer.alloc": ("buffer", "stream"), "buffer.free": ("buffer", "stream"),
    "buffer.record_stream": ("buffer", "stream"), "graph.capture_begin": ("graph",),
    "graph.capture_end": ("graph",), "graph.replay": ("graph",), "collective": ("rank", "step", "name"),
}  # fmt: skip
"""Kind -> the words that a checker needs."""
_NUMBERS = ("n", "parties", "ubatch", "rank", "to_ubatch")
_NUMBERS_OR_NONE = ("step", "from_ubatch", "record")


def sound(trace: Trace) -> Trace:
    """The trace with marks in place of what says too little; the trace itself where nothing does.

    >>> sound(trace) is trace  # doctest: +SKIP
    True
    """
    bad = _says_too_little(trace)
    if not bad.any():
        return trace
    events = [
        e._replace(kind="mark", args={"text": ""}) if no else e
        for e, no in zip(trace.events, bad, strict=True)
    ]
    return Trace(make_table(Event, events), trace.spans, trace.flows, trace.lanes, trace.meta, trace.notices)


def unsound(trace: Trace) -> list[Notice]:
    """A notice when some trace events say too little to be judged."""
    n = int(_says_too_little(trace).sum())
    if not n:
        return []
    return [
        Notice("unjudged_events", n, f"{n} trace events lack what the checkers go by; they are not judged")
    ]


def _says_too_little(trace: Trace) -> np.ndarray:
    """One look at each pair of kind and arguments, which are kept once."""
    kinds, names = trace.events.codes("kind")
    codes, pool = trace.events.codes("args")
    known: dict[tuple[int, int], bool] = {}
    bad = np.zeros(len(kinds), dtype=bool)
    for row, pair in enumerate(zip(kinds.tolist(), codes.tolist(), strict=True)):
        if pair not in known:
            known[pair] = _lacks(names[pair[0]], pool[pair[1]])
        bad[row] = known[pair]
    return bad


def _lacks(kind: str, args: dict[str, Any]) -> bool:
    words = WORDS.get(kind)
    if words is None:
        return False
    return not all(word in args and _fits(word, args[word]) for word in words) or not all(
        _is_list(args.get(word)) for word in ("reads", "writes")
    )


def _fits(word: str, value: Any) -> bool:
    if word in _NUMBERS:
        return isinstance(value, int)
    if word in _NUMBERS_OR_NONE:
        return value is None or isinstance(value, int)
    return value is None or isinstance(value, (str, int))


def _is_list(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(item, (str, int)) for item in value))
