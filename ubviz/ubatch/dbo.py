"""The ``dbo_*`` functions: what model code calls, from the thread of a microbatch or from anywhere.

With no microbatch alive they do nothing, so the same layer runs unsplit. (DBO is dual batch overlap.) From a
thread that runs no microbatch while others do, they raise ``NotAMicrobatchThread``, a ``KeyError`` as in vLLM.

Source: vLLM ``vllm/v1/worker/ubatching.py``.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from ..errors import NotAMicrobatchThread
from .contexts import Hook, UBatchContext, by_thread


def current_context() -> UBatchContext | None:
    """The calling thread's context; None when no microbatch is alive."""
    if not by_thread:
        return None
    context = by_thread.get(threading.get_ident())
    if context is None:
        raise NotAMicrobatchThread(
            f"thread {threading.current_thread().name!r} runs no microbatch, but {len(by_thread)} are alive; "
            "call dbo_* functions from the threads of the microbatches only"
        )
    return context


def dbo_enabled() -> bool:
    """True while microbatches are alive."""
    return bool(by_thread)


def dbo_current_ubatch_id() -> int:
    """The number of the calling thread's microbatch; 0 when none is alive."""
    context = current_context()
    return 0 if context is None else context.id


def dbo_current_ubatch_token_offset() -> int:
    """Where in the batch the calling thread's microbatch begins, in tokens; 0 when none is alive."""
    context = current_context()
    return 0 if context is None else context.token_offset


def _on_context(method: Callable[[UBatchContext], None]) -> Callable[[], None]:
    @functools.wraps(method)
    def call() -> None:
        context = current_context()
        if context is not None:
            method(context)

    return call


dbo_maybe_run_recv_hook = _on_context(UBatchContext.maybe_run_recv_hook)
dbo_yield = _on_context(UBatchContext.yield_)
dbo_yield_and_switch_from_compute_to_comm = _on_context(UBatchContext.yield_and_switch_from_compute_to_comm)
dbo_yield_and_switch_from_comm_to_compute = _on_context(UBatchContext.yield_and_switch_from_comm_to_compute)
dbo_switch_to_comm = _on_context(UBatchContext.switch_to_comm)
dbo_switch_to_compute = _on_context(UBatchContext.switch_to_compute)
dbo_switch_to_comm_sync = _on_context(UBatchContext.switch_to_comm_sync)
dbo_switch_to_compute_sync = _on_context(UBatchContext.switch_to_compute_sync)


def dbo_register_recv_hook(hook: Hook) -> None:
    """Leave ``hook`` with the next microbatch; nothing happens when none is alive."""
    context = current_context()
    if context is not None:
        context.register_recv_hook(hook)


def dbo_get_previous_event(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call ``func`` with the microbatch's compute stream current; None when no microbatch is alive."""
    context = current_context()
    if context is None:
        return None
    with context.runtime.stream(context.compute_stream):
        return func(*args, **kwargs)
