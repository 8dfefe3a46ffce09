"""Putting the outputs of microbatches together: tensors, tuples, lists, dicts and nested auxiliary outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import SlicingError


def merge_outputs(outputs: Sequence[Any]) -> Any:
    """Outputs of all microbatches, in order, as one: tensors along their first dimension, containers by part.

    Raises ``SlicingError`` when the microbatches' outputs differ in kind or shape, or are no tensors.
    """
    first = outputs[0]
    if any(type(output) is not type(first) for output in outputs):
        kinds = ", ".join(type(output).__name__ for output in outputs)
        raise SlicingError(
            f"the microbatches returned different things ({kinds}): they cannot be put together"
        )
    if first is None:
        return None
    if isinstance(first, (list, tuple)):
        return _merge_sequences(outputs)
    if isinstance(first, dict):
        if any(output.keys() != first.keys() for output in outputs):
            raise SlicingError(
                "the microbatches returned dicts with different keys: they cannot be put together"
            )
        return {key: merge_outputs([output[key] for output in outputs]) for key in first}
    return _merge_tensors(outputs)


def _merge_sequences(outputs: Sequence[Any]) -> Any:
    kind = type(outputs[0])
    lengths = [len(output) for output in outputs]
    if len(set(lengths)) > 1:
        raise SlicingError(f"the microbatches returned {lengths} parts each: they cannot be put together")
    parts = [merge_outputs(part) for part in zip(*outputs, strict=True)]
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def _merge_tensors(outputs: Sequence[Any]) -> Any:
    import torch

    shapes = [tuple(output.shape) if isinstance(output, torch.Tensor) else None for output in outputs]
    if None in shapes or () in shapes or len({shape[1:] for shape in shapes if shape is not None}) > 1:
        said = f"shapes {shapes}" if None not in shapes else type(outputs[0]).__name__
        raise SlicingError(f"the microbatches returned {said}, which cannot be put together along the tokens")
    return torch.cat(list(outputs), dim=0)
