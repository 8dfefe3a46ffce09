"""How findings name things: threads by lane, places by file and line, buffers by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..trace.model import Event, Trace


def lane_name(trace: Trace, event: Event) -> str:
    """The lane of the thread that told an event: "ubatch 1"."""
    return next((lane.role for lane in trace.lanes if lane.id == event.lane), f"lane {event.lane}")


def at(event: Event) -> str:
    """Where in the code: the caller of the mechanism, else the site.

    >>> at(event)  # doctest: +SKIP
    'moe.py:41'
    """
    return event.caller or event.site or "an unknown place"


def place(event: Event) -> str:
    """``at``, as the end of a phrase: " at moe.py:41", or nothing where no place is known."""
    where = event.caller or event.site
    return f" at {where}" if where else ""


def stream_name(name: Any) -> str:
    """A stream in a sentence: "compute stream", but "stream 7" and "stream#2" as they are."""
    return str(name) if str(name).startswith("stream") else f"{name} stream"


def buffer_name(trace: Trace, buffer: Any) -> str:
    """A buffer by the name that ``meta["buffers"]`` gives it, else by its number."""
    named = trace.meta.get("buffers")
    name = named.get(str(buffer)) if isinstance(named, dict) else None
    return str(name) if name else f"buffer {buffer}"


def in_step(step: int | None) -> str:
    """ " in step 3", or nothing outside steps."""
    return "" if step is None else f" in step {step}"


def times(n: int) -> str:
    """ "", or how many more there are like the one that was told."""
    return "" if n == 1 else f" ({n - 1} more like {'this' if n == 2 else 'these'})"


def either(names: Sequence[str]) -> str:
    """Names as alternatives.

    >>> either(["main", "ubatch 0", "ubatch 1"])
    'main, ubatch 0 or ubatch 1'
    """
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "nobody"
