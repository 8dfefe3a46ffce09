"""The forward context: what layers need to know of the batch, in one process-wide place.

vLLM keeps it in a module global, not in a thread's local storage. That is why a microbatch puts its own back
each time it gets the turn (``UBatchContext._restore_context``), and why two wrappers cannot run at once.

Source: vLLM ``vllm/forward_context.py``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..errors import ProtocolError


class CUDAGraphMode(Enum):
    """How a forward pass is launched."""

    NONE = "none"  # eager
    PIECEWISE = "piecewise"  # graphs between attention layers; eager as far as microbatches are concerned
    FULL = "full"  # one graph of the whole pass


@dataclass(frozen=True)
class ForwardContext:
    """What layers look up during one forward pass, of the whole batch or of one microbatch."""

    attn_metadata: Any = None
    slot_mapping: Any = None
    ubatch_slices: Any = None
    cudagraph_runtime_mode: CUDAGraphMode = CUDAGraphMode.NONE
    batch_descriptor: Any = None
    dp_metadata: Any = None
    ubatch: int | None = None
    step: int | None = None

    def digest(self) -> str:
        """Eight hexadecimal digits that tell one context's metadata from another's."""
        text = repr((self.attn_metadata, self.slot_mapping, self.ubatch_slices, self.ubatch))
        return hashlib.blake2s(text.encode(), digest_size=4).hexdigest()


_forward_context: ForwardContext | None = None


def get_forward_context() -> ForwardContext:
    """The current forward context; an error when none is set."""
    if _forward_context is None:
        raise ProtocolError("no forward context is set: call the model inside set_forward_context(...)")
    return _forward_context


def is_forward_context_available() -> bool:
    """True while a forward context is set."""
    return _forward_context is not None


@contextmanager
def override_forward_context(context: ForwardContext | None) -> Iterator[None]:
    """Make ``context`` the forward context, and put the one before it back afterwards."""
    global _forward_context
    before = _forward_context
    _forward_context = context
    try:
        yield
    finally:
        _forward_context = before


@contextmanager
def set_forward_context(attn_metadata: Any, **fields: Any) -> Iterator[ForwardContext]:
    """Set the forward context of a whole batch for one call of the model.

    >>> with set_forward_context(None) as context:
    ...     get_forward_context() is context
    True
    """
    context = ForwardContext(attn_metadata=attn_metadata, **fields)
    with override_forward_context(context):
        yield context
