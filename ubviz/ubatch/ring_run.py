"""Main's part of a run: it starts the threads, sets the ring going, joins all, and lets them unwind after a failure.

1. Start one thread for each microbatch; arrive at the barrier with them.
2. Set the first one's host event, and join all. In a capture these two are what the capture is around.
3. When anything fails, in main (an interrupt, too) or in a microbatch: mark the ring, break the barrier for who
   has not passed it, set the ring going if nobody has, and join all. A step that raises is taken once more, since
   others wait for it.
4. Then mend the barrier, let the compute stream wait for the comm stream, and raise the first error as it is, with
   a note that names the microbatch.

One ring turns at a time in a process, since the forward context is process-wide.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..errors import WrapperBusy, raised_at
from ..runtime.base import Barrier, Runtime, Stream
from .contexts import Ring, UBatchContext, by_thread
from .forward_context import override_forward_context

_running = threading.Lock()
"""Held while microbatches run, of any wrapper; ``by_thread`` is empty until the first thread has entered."""


def refuse_if_busy() -> None:
    """Raise ``WrapperBusy`` while microbatches run."""
    if by_thread or _running.locked():
        raise _busy()


def _busy() -> WrapperBusy:
    return WrapperBusy(
        "a wrapper was called while microbatches are running; the forward context is process-wide, so "
        "wrappers are called one after the other, from outside their microbatches"
    )


class RingRun:
    """One run of a ring's ``threads``; see the module's text."""

    def __init__(
        self, rt: Runtime, ring: Ring, ready_barrier: Barrier, comm_stream: Stream, threads: Sequence[Any]
    ) -> None:
        self._rt, self._ring, self._ready_barrier = rt, ring, ready_barrier
        self._comm_stream, self._threads = comm_stream, threads

    def __call__(self, around: AbstractContextManager[Any], finish: Callable[[], Any]) -> Any:
        """Run all; what ``finish()`` makes of it. ``around`` is entered when all threads are at the barrier."""
        if not _running.acquire(blocking=False):
            raise _busy()
        try:
            if self._ready_barrier.broken:  # from outside, after everybody had passed it in the call before
                self._ready_barrier.reset()
            with override_forward_context(None), self._all_unwound():
                for thread in self._threads:
                    thread.start()
                self._ready_barrier.wait()
                with around:
                    with self._all_unwound():
                        self._ring.contexts[0].cpu_wait_event.set()
                        for thread in self._threads:
                            thread.join()
                    return finish()
        except BaseException:
            self._recover()
            raise
        finally:
            _running.release()

    @contextmanager
    def _all_unwound(self) -> Iterator[None]:
        """Leave with all threads ended; raise what failed first."""
        try:
            yield
        except BaseException as error:
            self._ring.fail(error)
            self._let_unwind()
        if self._ring.error is not None:
            raise self._ring.error

    def _let_unwind(self) -> None:
        """Let every thread of a failed ring end: out of the barrier, or by getting the turn one after the other."""
        if not any(thread.is_alive() for thread in self._threads):
            return
        self._surely(self._ready_barrier.abort)
        first = self._ring.contexts[0]
        if not (first.woken or first.cpu_wait_event.is_set()):
            self._surely(first.cpu_wait_event.set)
        for thread in self._threads:
            if thread.ident is not None:  # it was started
                self._surely(thread.join)

    def _recover(self) -> None:
        """After a failure: a whole barrier, nothing in flight on the comm stream, and a note for the reader."""
        if self._ready_barrier.broken:
            self._surely(self._ready_barrier.reset)
        self._surely(self._rt.current_stream().wait_stream, self._comm_stream)
        if self._ring.failed_by is not None and self._ring.error is not None:
            self._ring.error.add_note(_note(self._ring.failed_by, self._ring.error))

    def _surely(self, step: Callable[..., object], *args: Any) -> None:
        """Take a step that others wait for: once more if it raises, by a second interrupt or in a listener."""
        try:
            step(*args)
        except BaseException as error:
            self._ring.fail(error)
            step(*args)


def _note(context: UBatchContext, error: BaseException) -> str:
    place = raised_at(error)
    where = f", at {place[0]}:{place[1]}" if place is not None else ""
    return f"microbatch {context.id} (thread 'ubatch {context.id}'{where})"
