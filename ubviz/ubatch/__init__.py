"""The mechanism: microbatches on threads, one turn among them, two streams under them; vLLM's names."""

from .contexts import UBatchContext, Unwind, make_ubatch_contexts
from .dbo import (
    dbo_current_ubatch_id,
    dbo_current_ubatch_token_offset,
    dbo_enabled,
    dbo_get_previous_event,
    dbo_maybe_run_recv_hook,
    dbo_register_recv_hook,
    dbo_switch_to_comm,
    dbo_switch_to_comm_sync,
    dbo_switch_to_compute,
    dbo_switch_to_compute_sync,
    dbo_yield,
    dbo_yield_and_switch_from_comm_to_compute,
    dbo_yield_and_switch_from_compute_to_comm,
)
from .forward_context import (
    BatchDescriptor,
    CUDAGraphMode,
    ForwardContext,
    get_forward_context,
    override_forward_context,
    set_forward_context,
)
from .metadata import CommonAttentionMetadata, slice_query_start_locs, split_attn_metadata
from .slices import UBatchSlice, is_last_ubatch_empty, maybe_create_ubatch_slices
from .wrapper import UBatchWrapper, merge_outputs

__all__ = [
    "BatchDescriptor",
    "CUDAGraphMode",
    "CommonAttentionMetadata",
    "ForwardContext",
    "UBatchContext",
    "UBatchSlice",
    "UBatchWrapper",
    "Unwind",
    "dbo_current_ubatch_id",
    "dbo_current_ubatch_token_offset",
    "dbo_enabled",
    "dbo_get_previous_event",
    "dbo_maybe_run_recv_hook",
    "dbo_register_recv_hook",
    "dbo_switch_to_comm",
    "dbo_switch_to_comm_sync",
    "dbo_switch_to_compute",
    "dbo_switch_to_compute_sync",
    "dbo_yield",
    "dbo_yield_and_switch_from_comm_to_compute",
    "dbo_yield_and_switch_from_compute_to_comm",
    "get_forward_context",
    "is_last_ubatch_empty",
    "make_ubatch_contexts",
    "maybe_create_ubatch_slices",
    "merge_outputs",
    "override_forward_context",
    "set_forward_context",
    "slice_query_start_locs",
    "split_attn_metadata",
]
