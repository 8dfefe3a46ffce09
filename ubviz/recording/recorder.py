"""The recorder: listens to a runtime, and makes a Trace of what it was told.

While recording, one trace event is one ``list.extend`` of seven values into a flat buffer: time, thread, kind,
object, argument, code, offset. No dict, no string and no tuple is kept for it; names are given when the trace
is built.
"""

from __future__ import annotations

import datetime
import sys
import threading
import time
from threading import get_ident
from types import TracebackType
from typing import Any

from ..errors import BadArgument, raised_at
from ..runtime.base import Runtime
from ..trace.model import Trace
from .cost import fact_cost_ns
from .sites import MECHANISM, SKIP, USER, Levels
from .story import STRIDE, Story
from .watchdog import Watchdog


class Recording:
    """Records a runtime while its ``with`` block runs; see ``record``."""

    def __init__(
        self, rt: Runtime, keep: int | None, watchdog_s: float | None, on_stall: str, rank: int = 0
    ) -> None:
        self.runtime = rt
        self.rank = rank
        self.keep = keep
        self._facts: list[Any] = []
        self._ends: list[int] = []  # where in the facts each step has ended
        self._dropped_steps = 0
        self._levels = Levels()
        self._trace: Trace | None = None
        self._on = False
        self._meta: dict[str, Any] = {}
        self._virtual = getattr(
            rt, "virtual_time", False
        )  # no date, and no watchdog: a deadlock ends its waits
        watched = watchdog_s is not None and not self._virtual
        self._watchdog = Watchdog(self, watchdog_s or 0.0, on_stall) if watched else None
        self.host, self.device = self._listeners()

    def __repr__(self) -> str:
        state = "made" if self._trace is not None else "running" if self._on else "not begun"
        return f"<recording of {self.runtime!r}: {state}>"

    # ---- the hot path

    def _listeners(self) -> tuple[Any, Any]:
        """Two functions with everything they need in local variables; called at once, in any thread."""
        now, ident, frame = self.runtime.now_ns, get_ident, sys._getframe
        extend, levels = self._facts.extend, self._levels
        users: set[str] = set()  # files whose frames are sites; a set of strings is the quickest to ask

        def host(kind: str, obj: Any, arg: Any) -> None:
            at = frame(2)
            code = at.f_code
            if code.co_filename in users:
                extend((now(), ident(), kind, obj, arg, code, at.f_lasti))
            else:
                extend((now(), ident(), kind, obj, arg, *far_site(at)))
                if levels[code.co_filename] == USER:
                    users.add(code.co_filename)

        def far_site(at: Any) -> tuple[Any, Any]:
            """Walk out of the runtime to the site; from the mechanism's module on to the caller."""
            while at is not None and levels[at.f_code.co_filename] == SKIP:
                at = at.f_back
            if at is None:
                return None, None
            if levels[at.f_code.co_filename] != MECHANISM:
                return at.f_code, at.f_lasti
            site = at
            while at is not None and levels[at.f_code.co_filename]:
                at = at.f_back
            caller = (at.f_code, at.f_lasti) if at is not None else (None, None)
            return (site.f_code, *caller), site.f_lasti

        def host_in_steps(kind: str, obj: Any, arg: Any) -> None:
            host(kind, obj, arg)
            if kind == "step.end":
                self._step_ended()

        def device(kind: str, obj: Any, arg: Any) -> None:
            extend((now(), ident(), kind, obj, arg, None, None))

        return (host if self.keep is None else host_in_steps), device

    def _step_ended(self) -> None:
        assert self.keep is not None
        self._ends.append(len(self._facts))
        if len(self._ends) > self.keep:
            cut = self._ends.pop(0)
            del self._facts[:cut]
            self._ends = [end - cut for end in self._ends]
            self._dropped_steps += 1

    # ---- the block

    def __enter__(self) -> Recording:
        if self._on or self._trace is not None:
            raise BadArgument("this recording has been made; call ubviz.record(rt) again for another one")
        self._meta = self.runtime.describe()
        if not self._virtual:
            now = datetime.datetime.now(datetime.UTC)
            self._meta["created"] = now.isoformat(timespec="seconds")
            self._meta["recording"] = {"fact_ns": fact_cost_ns(self.host)}  # in virtual time it costs nothing
            self._facts.clear()
        self._snapshot = self.runtime.snapshot()
        self.main_ident = get_ident()
        self._origin_ns = self.runtime.now_ns()
        self._meta["base_ns"] = 0 if self._virtual else time.time_ns()
        self._on = True
        self.runtime.hooks.subscribe(self)
        if self._watchdog is not None:
            self._watchdog.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        if exc is not None and self.runtime.hooks.host is not None:
            self.runtime.hooks.host(
                "error", None, {"type": type(exc).__name__, "text": str(exc), "at": raised_at(exc)}
            )
        self._meta.update(
            self.runtime.describe()
        )  # a device tells what it still has to tell, and how exactly
        self.runtime.hooks.unsubscribe(self)
        if self._watchdog is not None:
            self._watchdog.stop()
        self._trace = self._build()
        self._on = False
        self._facts.clear()
        self._snapshot = []

    # ---- the result

    @property
    def trace(self) -> Trace:
        """What was recorded: a snapshot inside the block, the whole after it."""
        if self._trace is not None:
            return self._trace
        if not self._on:
            raise BadArgument(
                "nothing is recorded yet: enter the block first, `with ubviz.record(rt) as rec:`"
            )
        self._meta.update(self.runtime.describe())
        return self._build()

    def now_ns(self) -> int:
        """Nanoseconds since this recording began: the time of its trace events."""
        return self.runtime.now_ns() - self._origin_ns

    @property
    def facts_nbytes(self) -> int:
        """Bytes the buffer's own list holds."""
        return sys.getsizeof(self._facts)

    def _build(self) -> Trace:
        facts = self._facts[: len(self._facts) // STRIDE * STRIDE]
        story = Story(facts, self._origin_ns, self.main_ident, threading.main_thread().ident, self.rank)
        return story.trace(self._meta, self._snapshot, self._dropped_steps)


def record(
    rt: Runtime,
    *,
    keep: int | None = None,
    kernels: str | None = None,
    watchdog_s: float | None = 5.0,
    on_stall: str = "raise",
    rank: int = 0,
) -> Recording:
    """Record everything that ``rt`` does inside a ``with`` block.

    ``keep`` holds on to the last so many steps only. The watchdog fires when every known thread is parked and
    every stream idle for ``watchdog_s`` seconds; ``on_stall="raise"`` then ends all waits with ``Stalled``,
    ``"report"`` only prints who waits for what. ``kernels`` chooses between sources of kernel spans on runtimes
    that have several; host has one. ``rank`` is this process's among several; every row of the trace carries it.

    >>> with ubviz.record(rt) as rec:  # doctest: +SKIP
    ...     wrapper(hidden_states=x)
    >>> rec.trace  # doctest: +SKIP
    <Trace: 1,204 trace events, 890 spans, 610 flows, 5 lanes, 1 step>

    Raises ``BadArgument`` for values that it cannot use. After an exception in the block the trace is there,
    with an ``error`` trace event at its end.
    """
    if not hasattr(rt, "hooks"):
        raise BadArgument(f"record takes a runtime, as ubviz.get_runtime() gives, not {rt!r}")
    if keep is not None and keep < 1:
        raise BadArgument(f"keep is a number of steps, at least 1, not {keep}")
    if kernels is not None:
        raise BadArgument(
            f"runtime {rt.name!r} has one source of kernel spans; leave kernels={kernels!r} out"
        )
    if on_stall not in ("raise", "report"):
        raise BadArgument(f'on_stall is "raise" or "report", not {on_stall!r}')
    if watchdog_s is not None and not watchdog_s > 0:
        raise BadArgument(f"watchdog_s is a time in seconds above 0, or None, not {watchdog_s}")
    if rank < 0:
        raise BadArgument(f"rank is a number from 0 on, not {rank}")
    return Recording(rt, keep, watchdog_s, on_stall, rank)
