"""The forward context: what layers need to know of the batch, in one process-wide place.

vLLM keeps it in a module global, not in a thread's local storage. That is why a microbatch puts its own back
each time it gets the turn (``UBatchContext._restore_context``), and why two wrappers cannot run at once.

Source: vLLM ``vllm/forward_context.py``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

from ..errors import ProtocolError, SlicingError


class CUDAGraphMode(Enum):
    """How a forward pass is launched; of the numbers that ranks vote for, the least holds for all."""

    NONE = 0  # eager
    PIECEWISE = 1  # graphs between attention layers; eager as far as microbatches are concerned
    FULL = 2  # one graph of the whole pass


class BatchDescriptor(NamedTuple):
    """What a whole batch's graph is chosen by."""

    num_tokens: int  # with padding
    uniform: bool = False  # every request runs one token: a decode


@dataclass(frozen=True)
class ForwardContext:
    """What layers look up during one forward pass, of the whole batch or of one microbatch."""

    attn_metadata: Any = None
    slot_mapping: Any = None
    ubatch_slices: Any = None
    cudagraph_runtime_mode: CUDAGraphMode = CUDAGraphMode.NONE
    batch_descriptor: BatchDescriptor | None = None
    dp_metadata: Any = None
    ubatch: int | None = None
    step: int | None = None

    def digest(self) -> str:
        """Eight hexadecimal digits that tell one context's metadata from another's."""
        text = repr((self.attn_metadata, self.slot_mapping, self.ubatch_slices, self.ubatch))
        return hashlib.blake2s(text.encode(), digest_size=4).hexdigest()


PER_UBATCH = ("attn_metadata", "slot_mapping", "dp_metadata")
"""Fields that may be a list with one value for each microbatch."""


def check_shares(parent: ForwardContext, num_ubatches: int) -> None:
    """What is given to each microbatch is given to all of them; ``SlicingError`` names what is missing."""
    for name in PER_UBATCH:
        shares = getattr(parent, name)
        if not isinstance(shares, list):
            continue
        if len(shares) != num_ubatches:
            raise SlicingError(
                f"{name} in the forward context has {len(shares)} parts for {num_ubatches} microbatches"
            )
        missing = [i for i, share in enumerate(shares) if share is None]
        if 0 < len(missing) < num_ubatches:
            raise SlicingError(
                f"{name} of microbatch {missing[0]} is None, and other microbatches have one: fill it in when the "
                "batch is split"
            )


def share_of(parent: ForwardContext, ubatch: int) -> ForwardContext:
    """The forward context of one microbatch; graphs are off inside it."""
    values = {name: getattr(parent, name) for name in PER_UBATCH}
    own = {name: value[ubatch] if isinstance(value, list) else value for name, value in values.items()}
    return replace(
        parent, **own, ubatch_slices=None, cudagraph_runtime_mode=CUDAGraphMode.NONE, ubatch=ubatch
    )


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
