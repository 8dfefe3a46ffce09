"""The model runner in small: from scheduled requests to sampled tokens, one step at a time.

``execute_model``, in vLLM's steps:

1. ``_prepare_inputs``: token ids, positions, and what attention must know of the batch.
2. ``_determine_batch_execution_and_padding``: vote with the other ranks; agree on microbatches and padding.
3. ``maybe_create_ubatch_slices``: cut the tokens.
4. ``_get_slot_mappings``, ``_build_attention_metadata``: one of each for every microbatch.
5. ``set_forward_context``, and call the wrapped model; then logits and one sampled token a request.

A rank without requests runs a dummy batch of one padding token, since the experts' all-to-all needs every rank.
With ``CUDAGraphMode.FULL`` a decode step is captured the first time that its number of tokens comes, and replayed
from then on. The ranks vote on that too: all pad to the largest then, and so choose the same graph; one rank that runs
a prefill makes all run eagerly.

Source: vLLM ``v1/worker/gpu_model_runner.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..errors import BadArgument
from ..runtime.base import Runtime
from ..ubatch.forward_context import BatchDescriptor, CUDAGraphMode, set_forward_context
from ..ubatch.metadata import CommonAttentionMetadata, split_attn_metadata
from ..ubatch.slices import UBatchSlices, maybe_create_ubatch_slices, slice_model_inputs
from ..ubatch.wrapper import UBatchWrapper, merge_outputs
from .attention import build_attention_metadata
from .batch import Request, prepare
from .dp import AllReduce, DPMetadata, ParallelConfig
from .execution import MODES, BatchExecution, decide
from .model import MoETransformer


@dataclass
class StepOutput:
    """What a step gives: hidden states [tokens, hidden], one sampled token a request, wall time, what was run."""

    hidden: Tensor
    sampled: list[int]
    duration_ns: int
    branch: str = "unsplit"


class GPUModelRunner:
    """Runs steps of one model on one runtime.

    ``parallel_config`` says which rank of how many this is and from how many tokens on microbatches are worth it;
    ``all_reduce`` is what the ranks' votes go through (default: ``torch.distributed``'s). ``cudagraph_mode``: FULL
    captures and replays decode steps, and then needs ``max_model_len``, the most tokens of a sequence: a graph's
    shapes must not depend on how long the sequences are.

    >>> runner = GPUModelRunner(model, rt, num_ubatches=2)  # doctest: +SKIP
    >>> runner.execute_model(requests).sampled  # doctest: +SKIP
    [17, 250, 3, 99]
    """

    def __init__(
        self,
        model: MoETransformer,
        rt: Runtime,
        num_ubatches: int = 2,
        parallel_config: ParallelConfig | None = None,
        all_reduce: AllReduce | None = None,
        cudagraph_mode: CUDAGraphMode = CUDAGraphMode.NONE,
        max_model_len: int | None = None,
    ) -> None:
        _check_options(num_ubatches, cudagraph_mode, max_model_len)
        if cudagraph_mode is CUDAGraphMode.FULL and max_model_len is None:
            raise BadArgument(
                "CUDAGraphMode.FULL needs max_model_len, the most tokens that a sequence may have"
            )
        self.rt, self.num_ubatches, self.all_reduce = rt, num_ubatches, all_reduce
        self.cudagraph_mode, self.max_model_len = cudagraph_mode, max_model_len
        self.config = model.config
        self.parallel_config = parallel_config or _default_config(num_ubatches)
        if self.parallel_config.num_ubatches != num_ubatches:
            raise BadArgument(
                f"the runner has {num_ubatches} microbatches, its parallel_config "
                f"{self.parallel_config.num_ubatches}; give both the same number"
            )
        self.model = UBatchWrapper(model, runtime=rt, num_ubatches=num_ubatches, runtime_mode=cudagraph_mode)
        self.compute_stream = rt.Stream("compute")
        self.step = 0

    def execute_model(self, requests: Sequence[Request], mode: str | None = None) -> StepOutput:
        """One step: forward pass, logits, one sampled token a request.

        ``mode`` None lets thresholds and ranks decide between "unsplit" and "overlapped". One of ``MODES`` is what
        this caller asks for: no threshold counts then, but microbatches still need the other ranks' votes.
        """
        if mode is not None and mode not in MODES:
            raise BadArgument(f"mode is one of {', '.join(MODES)}, not {mode!r}")
        for i, request in enumerate(requests):
            self._check_request(i, request)
        start = self.rt.now_ns()
        with self.rt.device_context(), self.rt.stream(self.compute_stream), torch.inference_mode():
            execution = self._determine_batch_execution_and_padding(requests, mode)
            about = {
                "step": self.step, "tokens": sum(len(r.token_ids) for r in requests),
                "branch": execution.branch, "why": execution.why,
            }  # fmt: skip
            self._announce("step.begin", about)
            try:
                with on_device(self.rt.device):
                    hidden, sampled = self._run(requests, execution, about)
            finally:
                self._announce("step.end", about)
                self.step += 1
        return StepOutput(hidden, sampled, self.rt.now_ns() - start, str(about["branch"]))

    def _check_request(self, i: int, request: Request) -> None:
        """Raise ``BadArgument`` for a request that cannot be run: a step would fail late, or write where others are."""
        tokens, computed, config = len(request.token_ids), request.num_computed_tokens, self.config
        if tokens < 1:
            raise BadArgument(f"request {i} has no tokens; leave it out of this step, or give it one")
        if computed < 0:
            raise BadArgument(f"request {i} has {computed} computed tokens; it is a number from 0 on")
        for block in request.blocks:
            if not 0 <= block < config.num_blocks:
                raise BadArgument(
                    f"request {i} has block {block}, but the KV cache has the blocks 0 to {config.num_blocks - 1}"
                )
        length = computed + tokens
        if self.max_model_len is not None and length > self.max_model_len:
            raise BadArgument(
                f"request {i} is {length} tokens long, more than max_model_len ({self.max_model_len}) allows"
            )
        needed = -(-length // config.block_size)
        if len(request.blocks) < needed:
            raise BadArgument(
                f"request {i} has {len(request.blocks)} blocks of {config.block_size} tokens, but its {length} tokens "
                f"need {needed}"
            )

    def _determine_batch_execution_and_padding(
        self, requests: Sequence[Request], mode: str | None
    ) -> BatchExecution:
        return decide(
            requests,
            mode,
            self.parallel_config,
            self.step,
            self.all_reduce,
            self._announce,
            self.cudagraph_mode,
        )

    # ---- running

    def _run(
        self, requests: Sequence[Request], execution: BatchExecution, about: dict[str, Any]
    ) -> tuple[Tensor, list[int]]:
        inputs, common = self._prepare_inputs(requests, execution.num_tokens_padded)
        _, slices = maybe_create_ubatch_slices(
            execution.branch != "unsplit", [len(r.token_ids) for r in requests], common.num_tokens_padded,
            common.num_reqs_padded, self.num_ubatches,
        )  # fmt: skip
        across_dp = DPMetadata(execution.num_tokens_across_dp)
        mode = execution.cudagraph_mode
        if slices is None:
            with self._context(common, across_dp, mode):
                hidden = self.model(**inputs)
        elif execution.branch == "split":
            hidden = self._run_split(inputs, common, slices, across_dp)
        else:
            parts = split_attn_metadata(slices, common)
            with set_forward_context(
                [self._build_attention_metadata(part) for part in parts],
                slot_mapping=self._get_slot_mappings(parts, mode),
                cudagraph_runtime_mode=mode,
                batch_descriptor=_descriptor(common),
                dp_metadata=[across_dp.of_ubatch(part.num_tokens_padded) for part in parts],
                ubatch_slices=slices,
                step=self.step,
            ):
                hidden = self.model(**inputs)
        if mode is CUDAGraphMode.FULL:
            hidden = self._of_graph(hidden, about)
        if common.num_tokens < common.num_tokens_padded:
            hidden = hidden[: common.num_tokens]
        return hidden, self._sample(hidden, common)

    def _of_graph(self, hidden: Tensor, about: dict[str, Any]) -> Tensor:
        """Say which branch the wrapper took; a graph's output is its own, and the next replay writes over it."""
        decided = self.model.decided
        if decided is None or decided.branch == "eager":
            about["why"] = (decided and decided.why) or about["why"]
            return hidden
        about["branch"] = decided.branch
        with self.rt.op("outputs", cls="copy"):
            return hidden.clone()

    def _run_split(
        self,
        inputs: dict[str, Any],
        common: CommonAttentionMetadata,
        slices: UBatchSlices,
        across_dp: DPMetadata,
    ) -> Tensor:
        outputs = []
        for part, metadata in zip(slices, split_attn_metadata(slices, common), strict=True):
            with self._context(metadata, across_dp.of_ubatch(metadata.num_tokens_padded)):
                rows = slice_model_inputs(part.token_slice, inputs, common.num_tokens_padded)
                outputs.append(self.model(**rows))
        with self.rt.op("merge", cls="copy"):
            merged: Tensor = merge_outputs(outputs)
        return merged

    def _sample(self, hidden: Tensor, common: CommonAttentionMetadata) -> list[int]:
        if common.num_reqs == 0:
            return []
        with self.rt.op("sample", cls="compute"):
            last_tokens = torch.tensor([end - 1 for end in common.query_start_loc[1:]])
            logits = self.model.compute_logits(hidden.index_select(0, last_tokens))
            sampled: list[int] = logits.argmax(-1).tolist()
            return sampled

    # ---- preparing

    def _prepare_inputs(
        self, requests: Sequence[Request], num_tokens_padded: int | None = None
    ) -> tuple[dict[str, Tensor], CommonAttentionMetadata]:
        with self.rt.op("inputs", cls="copy"):
            return prepare(requests, self.config.block_size, num_tokens_padded)

    def _context(
        self,
        common: CommonAttentionMetadata,
        across_dp: DPMetadata,
        mode: CUDAGraphMode = CUDAGraphMode.NONE,
    ) -> Any:
        """The forward context of one batch, or of one microbatch that is run by itself."""
        return set_forward_context(
            self._build_attention_metadata(common),
            slot_mapping=self._get_slot_mappings([common], mode)[0],
            cudagraph_runtime_mode=mode,
            batch_descriptor=_descriptor(common),
            dp_metadata=across_dp,
            step=self.step,
        )

    def _get_slot_mappings(self, parts: Sequence[CommonAttentionMetadata], mode: CUDAGraphMode) -> list[Any]:
        """Of each microbatch; a graph reads them from tensors of its own, which are filled anew before a replay."""
        if mode is CUDAGraphMode.FULL:
            with self.rt.op("inputs", cls="copy"):
                return [torch.tensor(part.slot_mapping) for part in parts]
        return [part.slot_mapping for part in parts]

    def _build_attention_metadata(self, common: CommonAttentionMetadata) -> Any:
        with self.rt.op("inputs", cls="copy"):
            return build_attention_metadata(
                common, self.config.block_size, self.config.num_slots, self.max_model_len
            )

    def forget(self, requests: Sequence[Request]) -> None:
        """Overwrite what a step of ``requests`` puts into the KV cache, so that no later step can lean on it."""
        self.rt.synchronize()
        _, common = self._prepare_inputs(requests)
        for attention in self.model.attention:
            attention.cache[list(common.slot_mapping)] = float("nan")

    def _announce(self, kind: str, about: dict[str, Any]) -> None:
        if (host := self.rt.hooks.host) is not None:
            host(kind, None, about)


def _descriptor(common: CommonAttentionMetadata) -> BatchDescriptor:
    return BatchDescriptor(common.num_tokens_padded, uniform=common.max_query_len <= 1)


def _check_options(num_ubatches: Any, cudagraph_mode: Any, max_model_len: Any) -> None:
    if type(num_ubatches) is not int:
        raise BadArgument(f"num_ubatches is a whole number, not {num_ubatches!r}")
    if not isinstance(cudagraph_mode, CUDAGraphMode):
        names = ", ".join(mode.name for mode in CUDAGraphMode)
        raise BadArgument(f"cudagraph_mode is a CUDAGraphMode ({names}), not {cudagraph_mode!r}")
    if max_model_len is not None and (type(max_model_len) is not int or max_model_len < 1):
        raise BadArgument(f"max_model_len is a whole number from 1 on, not {max_model_len!r}")


def on_device(device: Any) -> AbstractContextManager[Any]:
    """New tensors are made there; nothing to do where they are made anyway.

    >>> with on_device(torch.device("cpu")):
    ...     torch.zeros(1).device
    device(type='cpu')
    """
    return nullcontext() if torch.device(device).type == "cpu" else torch.device(device)


def _default_config(num_ubatches: int) -> ParallelConfig:
    """vLLM's thresholds, raised to the number of microbatches where that is larger."""
    return ParallelConfig(num_ubatches=num_ubatches, dbo_decode_token_threshold=max(32, num_ubatches))
