"""Which trace events say enough to be judged: those of a known kind that carry the words the checkers go by.

A file may hold anything. What lacks a word, or has a list where a name belongs, is judged as a mark, and counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..trace.model import Event, Notice, Trace, make_table
from .kept import Kept, kept

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
    return _sound(trace, _says_too_little(trace))


def _sound(trace: Trace, bad: np.ndarray) -> Trace:
    if not bad.any():
        return trace
    events = [
        e._replace(kind="mark", args={"text": ""}) if no else e
        for e, no in zip(trace.events, bad, strict=True)
    ]
    return Trace(make_table(Event, events), trace.spans, trace.flows, trace.lanes, trace.meta, trace.notices)


def judged(trace: Trace) -> Trace:
    """The sound trace, with rows that are kept: what every checker looks at. Asked again, it gives itself."""
    if isinstance(trace.events, Kept) and trace.events.unsound is not None:
        return trace
    bad = _says_too_little(trace)
    return kept(_sound(trace, bad), int(bad.sum()))


def unsound(trace: Trace) -> list[Notice]:
    """A notice when some trace events say too little to be judged."""
    events = judged(trace).events
    n = events.unsound if isinstance(events, Kept) else None
    if not n:
        return []
    said = (
        "1 trace event lacks what the checkers go by; it is"
        if n == 1
        else (f"{n} trace events lack what the checkers go by; they are")
    )
    return [Notice("unjudged_events", n, f"{said} not judged")]


def _says_too_little(trace: Trace) -> np.ndarray:
    """One look at each pair of kind and arguments, which are kept once."""
    kinds, names = trace.events.codes("kind")
    codes, pool = trace.events.codes("args")
    pairs, of_row = np.unique(kinds.astype(np.int64) * max(len(pool), 1) + codes, return_inverse=True)
    kind_codes, args_codes = np.divmod(pairs, max(len(pool), 1))
    looked = zip(kind_codes.tolist(), args_codes.tolist(), strict=True)
    lacks: np.ndarray = np.array([_lacks(names[kind], pool[args]) for kind, args in looked], dtype=bool)
    return lacks[of_row]


_ABSENT = object()


def _lacks(kind: str, args: dict[str, Any]) -> bool:
    for word, types, may_be_none in _CHECKS.get(kind, ()):
        value = args.get(word, _ABSENT)
        if not isinstance(value, types) and not (value is None and may_be_none):
            return True
    return kind in WORDS and not (_is_list(args.get("reads")) and _is_list(args.get("writes")))


def _fits(word: str) -> tuple[Any, bool]:
    """The types that a word may have, and whether it may be None."""
    if word in _NUMBERS:
        return int, False
    return (int, True) if word in _NUMBERS_OR_NONE else ((str, int), True)


_CHECKS = {kind: tuple((word, *_fits(word)) for word in words) for kind, words in WORDS.items()}


def _is_list(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, list):
        return False
    for item in value:  # noqa: SIM110 - a generator would take twice as long, for each launch
        if not isinstance(item, (str, int)):
            return False
    return True
