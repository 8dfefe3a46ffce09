"""Static values: what a captured graph reads, kept in place and filled anew before each replay.

A graph reads the very tensors that it was captured with, and has every other value baked in. So at capture all
tensors among inputs and metadata get a buffer of the wrapper's own, and at a replay new values go into them:

- A tensor must have the shape and the dtype that it had; its values are copied.
- Lists, tuples, dicts and dataclasses are looked into. A dataclass field with ``compare=False`` is for the host
  alone, and may be anything.
- Everything else must be equal, since a replay cannot see that it has changed.

vLLM's buffers belong to its model runner, which fills them in place; here the wrapper does it, so that any model
can be captured.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from ..errors import CaptureError

Pair = tuple[Any, Any]


def twin(value: Any) -> Any:
    """A copy of ``value`` in which every tensor is a buffer of its own."""
    if _is_tensor(value):
        import torch

        with torch.inference_mode(False):  # so that it can be filled in any mode
            return value.detach().clone()
    return _rebuilt(value, twin)


def refill(kept: dict[str, Any], new: dict[str, Any], graph: Any) -> None:
    """Copy the tensors of ``new`` into those of ``kept``, all or none.

    Raises ``CaptureError``, naming the graph and the value, when they do not fit.
    """
    try:
        pairs = [pair for name in kept for pair in _pairs(kept[name], new[name], name)]
    except _Differs as differs:
        raise CaptureError(f"{graph} cannot be replayed: {differs}") from None
    for buffer, value in pairs:
        buffer.copy_(value)


class _Differs(Exception):
    """A value does not fit what was captured."""


def _pairs(kept: Any, new: Any, where: str) -> Iterator[Pair]:
    """The tensors of both, side by side."""
    if _is_tensor(kept) and _is_tensor(new):
        if (kept.shape, kept.dtype) != (new.shape, new.dtype):
            raise _Differs(f"{where} is {_kind(new)}, and it was captured as {_kind(kept)}")
        yield kept, new
        return
    mine, theirs = _parts(kept), _parts(new)
    if mine is None or theirs is None or type(kept) is not type(new):
        if kept is not new and not _equal(kept, new):
            raise _Differs(
                f"{where} is {_kind(new)}, and the graph has {_kind(kept)} baked in; what changes from step to step "
                "belongs into a tensor"
            )
        return
    if mine.keys() != theirs.keys():
        raise _Differs(f"{where} has {len(theirs)} parts, and it was captured with {len(mine)}, or others")
    for part, value in mine.items():
        yield from _pairs(value, theirs[part], where + part)


def _parts(value: Any) -> dict[str, Any] | None:
    """What a container holds, by how each part is written; None for what is no container."""
    if isinstance(value, dict):
        return {f"[{key!r}]": part for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return {f"[{i}]": part for i, part in enumerate(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {f".{f.name}": getattr(value, f.name) for f in fields(value) if f.compare}
    return None


def _rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """A container of the same kind with every part changed; anything else as it is."""
    if isinstance(value, dict):
        return {key: change(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [change(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if is_dataclass(value) and not isinstance(value, type):
        rebuilt = copy.copy(value)
        for field in fields(value):
            if field.compare:
                object.__setattr__(
                    rebuilt, field.name, change(getattr(value, field.name))
                )  # also of frozen ones
        return rebuilt
    return value


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "copy_")


def _kind(value: Any) -> str:
    if _is_tensor(value):
        return f"a tensor {tuple(value.shape)} of {value.dtype}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _equal(kept: Any, new: Any) -> bool:
    try:
        same = kept == new
        return bool(same.all()) if hasattr(same, "all") else bool(same)
    except Exception:  # what cannot be compared is not known to be equal
        return False
