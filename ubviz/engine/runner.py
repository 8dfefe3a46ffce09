"""The model runner in small: from scheduled requests to sampled tokens, one step at a time.

``execute_model`` prepares inputs, cuts them, sets the forward context and calls the wrapped model. Whether to
cut is said by the caller here; the vote among ranks is not built yet.

Source: vLLM ``v1/worker/gpu_model_runner.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from ..errors import BadArgument
from ..runtime.base import Runtime
from ..ubatch.forward_context import set_forward_context
from ..ubatch.slices import (
    CommonAttentionMetadata,
    UBatchSlices,
    maybe_create_ubatch_slices,
    slice_model_inputs,
    split_attn_metadata,
)
from ..ubatch.wrapper import UBatchWrapper, merge_outputs
from .attention import build_attention_metadata
from .model import MoETransformer


@dataclass(frozen=True)
class Request:
    """One request of a step: its KV-cache blocks, tokens computed before, and the tokens to run now."""

    blocks: tuple[int, ...]
    num_computed_tokens: int
    token_ids: tuple[int, ...]


@dataclass
class StepOutput:
    """What a step gives: hidden states [tokens, hidden], one sampled token a request, wall time."""

    hidden: Tensor
    sampled: list[int]
    duration_ns: int


MODES = ("unsplit", "split", "overlapped")
"""Whole batch at once; microbatches one after the other; microbatches on threads, overlapped."""


class GPUModelRunner:
    """Runs steps of one model on one runtime.

    >>> runner = GPUModelRunner(model, rt, num_ubatches=2)  # doctest: +SKIP
    >>> runner.execute_model(requests, mode="overlapped").sampled  # doctest: +SKIP
    [17, 250, 3, 99]
    """

    def __init__(self, model: MoETransformer, rt: Runtime, num_ubatches: int = 2) -> None:
        self.rt, self.num_ubatches = rt, num_ubatches
        self.config = model.config
        self.model = UBatchWrapper(model, runtime=rt, num_ubatches=num_ubatches)
        self.compute_stream = rt.Stream("compute")
        self.step = 0

    def execute_model(self, requests: Sequence[Request], mode: str = "overlapped") -> StepOutput:
        """One step: forward pass, logits, one sampled token a request."""
        if mode not in MODES:
            raise BadArgument(f"mode is one of {', '.join(MODES)}, not {mode!r}")
        start = self.rt.now_ns()
        with self.rt.device_context(), self.rt.stream(self.compute_stream), torch.inference_mode():
            about = {
                "step": self.step, "tokens": sum(len(r.token_ids) for r in requests), "branch": mode,
                "why": "asked for by the caller",
            }  # fmt: skip
            self._announce("step.begin", about)
            try:
                hidden, sampled = self._run(requests, mode)
            finally:
                self._announce("step.end", about)
                self.step += 1
        return StepOutput(hidden, sampled, self.rt.now_ns() - start)

    def _run(self, requests: Sequence[Request], mode: str) -> tuple[Tensor, list[int]]:
        inputs, common = self._prepare_inputs(requests)
        slices, _ = maybe_create_ubatch_slices(
            mode != "unsplit", [len(r.token_ids) for r in requests], common.num_tokens, len(requests),
            self.num_ubatches,
        )  # fmt: skip
        if slices is None:
            with set_forward_context(self._metadata(common)):
                hidden = self.model(**inputs)
        elif mode == "split":
            hidden = self._run_split(inputs, common, slices)
        else:
            parts = [self._metadata(part) for part in split_attn_metadata(slices, common)]
            with set_forward_context(parts, ubatch_slices=slices):
                hidden = self.model(**inputs)
        with self.rt.op("sample", cls="compute"):
            last_tokens = torch.tensor([end - 1 for end in common.query_start_loc[1:]])
            logits = self.model.compute_logits(hidden.index_select(0, last_tokens))
            return hidden, logits.argmax(-1).tolist()

    def _run_split(
        self, inputs: dict[str, Any], common: CommonAttentionMetadata, slices: UBatchSlices
    ) -> Tensor:
        outputs = []
        for part, metadata in zip(slices, split_attn_metadata(slices, common), strict=True):
            with set_forward_context(self._metadata(metadata)):
                outputs.append(self.model(**slice_model_inputs(part.token_slice, inputs, common.num_tokens)))
        with self.rt.op("merge", cls="copy"):
            merged: Tensor = merge_outputs(outputs)
        return merged

    def _prepare_inputs(
        self, requests: Sequence[Request]
    ) -> tuple[dict[str, Tensor], CommonAttentionMetadata]:
        size = self.config.block_size
        positions = [range(r.num_computed_tokens, r.num_computed_tokens + len(r.token_ids)) for r in requests]
        slots = tuple(
            r.blocks[p // size] * size + p % size
            for r, ps in zip(requests, positions, strict=True)
            for p in ps
        )
        common = CommonAttentionMetadata(
            query_start_loc=(0, *accumulate(len(r.token_ids) for r in requests)),
            seq_lens=tuple(r.num_computed_tokens + len(r.token_ids) for r in requests),
            slot_mapping=slots,
            block_table=tuple(r.blocks for r in requests),
        )
        with self.rt.op("inputs", cls="copy"):
            inputs = {
                "input_ids": torch.tensor([t for r in requests for t in r.token_ids]),
                "positions": torch.tensor([p for ps in positions for p in ps]),
            }
        return inputs, common

    def _metadata(self, common: CommonAttentionMetadata) -> Any:
        with self.rt.op("inputs", cls="copy"):
            return build_attention_metadata(common, self.config.block_size)

    def forget(self, requests: Sequence[Request]) -> None:
        """Overwrite what a step of ``requests`` puts into the KV cache, so that no later step can lean on it."""
        self.rt.synchronize()
        _, common = self._prepare_inputs(requests)
        for attention in self.model.attention:
            attention.cache[list(common.slot_mapping)] = float("nan")

    def _announce(self, kind: str, about: dict[str, Any]) -> None:
        if (host := self.rt.hooks.host) is not None:
            host(kind, None, about)
