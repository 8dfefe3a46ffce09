"""UBatchWrapper: takes a model's call, runs it as microbatches on threads, and puts the outputs together.

One call, in numbered steps:
1. Read the forward context. No slices: call the model as it is.
2. Make one forward context, one set of inputs and one ``UBatchContext`` for each slice.
3. Start one thread for each; arrive at the barrier with them; set the first one's host event; join all.
4. Put the outputs together by microbatch number, since results arrive in any order.

If a microbatch fails, all threads end, the comm stream is drained into the compute stream, and the original
exception comes out with a note that names the microbatch; the wrapper works on the next call.

Not here yet: capture and replay (``CUDAGraphMode.FULL``).

Source: vLLM ``vllm/v1/worker/gpu_ubatch_wrapper.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import BadArgument, SlicingError, WrapperBusy, raised_at
from ..runtime.base import Runtime, Stream
from . import contexts as ctx
from .forward_context import CUDAGraphMode, ForwardContext, get_forward_context, override_forward_context
from .slices import UBatchSlice, slice_model_inputs


@dataclass
class UbatchMetadata:
    """What one microbatch's thread needs."""

    context: ctx.UBatchContext
    inputs: dict[str, Any]
    num_tokens: int


class UBatchWrapper:
    """Wraps ``runnable`` so that a call with slices in its forward context runs as microbatches.

    ``runnable`` takes its tensors by keyword; those with one row a token are sliced. Attributes that the
    wrapper does not have are the wrapped model's.

    >>> wrapper = UBatchWrapper(model, runtime=rt)  # doctest: +SKIP
    >>> with rt.device_context(), set_forward_context(metadata, ubatch_slices=slices):  # doctest: +SKIP
    ...     out = wrapper(hidden_states=x)  # may not be there yet: leaving the device context waits for it

    Raises ``WrapperBusy`` when called while microbatches run, ``SlicingError`` when the number of slices is
    not ``num_ubatches``, and whatever a microbatch raised.
    """

    def __init__(
        self,
        runnable: Callable[..., Any],
        *,
        runtime: Runtime,
        num_ubatches: int = 2,
        runtime_mode: CUDAGraphMode = CUDAGraphMode.NONE,
    ) -> None:
        if num_ubatches < 2:
            raise BadArgument(f"micro-batching takes at least 2 microbatches, not {num_ubatches}")
        if runtime_mode is CUDAGraphMode.FULL:
            raise BadArgument("capture and replay are not built yet: use CUDAGraphMode.NONE or PIECEWISE")
        self.runnable = runnable
        self.runtime = runtime
        self.num_ubatches = num_ubatches
        self.runtime_mode = runtime_mode
        self.comm_stream = runtime.Stream("comm")
        self.ready_barrier = runtime.Barrier(num_ubatches + 1, "ready_barrier")

    def __getattr__(self, name: str) -> Any:
        if name == "runnable":  # not set yet: copying or unpickling
            raise AttributeError(name)
        return getattr(self.runnable, name)

    def unwrap(self) -> Callable[..., Any]:
        """The model as it was before wrapping."""
        return self.runnable

    def __call__(self, *args: Any, **inputs: Any) -> Any:
        if args:
            raise BadArgument("a wrapper takes its inputs by keyword, as in wrapper(hidden_states=x)")
        if ctx.by_thread:
            raise WrapperBusy(
                "a wrapper was called while microbatches are running; the forward context is process-wide, so "
                "wrappers are called one after the other, from outside their microbatches"
            )
        parent = get_forward_context()
        if parent.ubatch_slices is None:
            return self.runnable(**inputs)
        metadata = self._make_ubatch_metadata(parent, inputs, self.runtime.current_stream())
        return self._run_ubatches(metadata)

    # ---- before the threads

    def _make_ubatch_metadata(
        self, parent: ForwardContext, inputs: dict[str, Any], compute_stream: Stream
    ) -> list[UbatchMetadata]:
        slices: Sequence[UBatchSlice] = parent.ubatch_slices
        if len(slices) != self.num_ubatches:
            raise SlicingError(
                f"the forward context holds {len(slices)} slices, this wrapper runs {self.num_ubatches} microbatches"
            )
        num_tokens = slices[-1].token_slice.stop
        children = [self._forward_context_of(parent, i) for i in range(self.num_ubatches)]
        contexts = ctx.make_ubatch_contexts(
            self.num_ubatches,
            compute_stream,
            self.comm_stream,
            children,
            self.ready_barrier,
            token_offsets=[part.token_slice.start for part in slices],
        )
        return [
            UbatchMetadata(context, slice_model_inputs(part.token_slice, inputs, num_tokens), part.num_tokens)
            for context, part in zip(contexts, slices, strict=True)
        ]

    def _forward_context_of(self, parent: ForwardContext, ubatch: int) -> ForwardContext:
        def share(value: Any) -> Any:
            return value[ubatch] if isinstance(value, list) else value

        return replace(
            parent,
            attn_metadata=share(parent.attn_metadata),
            slot_mapping=share(parent.slot_mapping),
            dp_metadata=share(parent.dp_metadata),
            ubatch_slices=None,
            cudagraph_runtime_mode=CUDAGraphMode.NONE,  # graphs are off inside a microbatch
            ubatch=ubatch,
        )

    # ---- the threads

    def _run_ubatches(self, metadata: list[UbatchMetadata]) -> Any:
        results: list[tuple[int, Any]] = []
        ring = metadata[0].context.ring
        threads = [
            self.runtime.Thread(self._ubatch_thread, (results, part), name=f"ubatch {part.context.id}")
            for part in metadata
        ]
        with override_forward_context(None):
            try:
                self._start_and_join(threads, ring)
            except BaseException as error:  # also an interrupt, anywhere in main
                ring.fail(error)
                self._let_unwind(threads, ring)
        if ring.error is not None:
            self._recover(ring)
            raise ring.error
        results.sort(key=lambda result: result[0])
        # inside the device context, since the outputs may not be there yet
        with self.runtime.device_context(), self.runtime.op("merge", cls="copy"):
            return merge_outputs([output for _, output in results])

    def _start_and_join(self, threads: list[Any], ring: ctx.Ring) -> None:
        for thread in threads:
            thread.start()
        self.ready_barrier.wait()
        ring.contexts[0].cpu_wait_event.set()
        for thread in threads:
            thread.join()

    def _let_unwind(self, threads: list[Any], ring: ctx.Ring) -> None:
        """Let every thread of a failed ring end: out of the barrier, or by getting the turn one after the other."""
        self.ready_barrier.abort()
        first = ring.contexts[0]
        if not (first.woken or first.cpu_wait_event.is_set()):
            first.cpu_wait_event.set()
        for thread in threads:
            if thread.ident is not None:  # it was started
                thread.join()

    def _ubatch_thread(self, results: list[tuple[int, Any]], part: UbatchMetadata) -> None:
        try:
            with part.context:
                output = self.runnable(**part.inputs)
            results.append((part.context.id, output))
        except ctx.Unwind:
            pass
        except BaseException as error:
            part.context.ring.fail(error, part.context)  # kept by the ring; main raises it

    def _recover(self, ring: ctx.Ring) -> None:
        """After a failure: a whole barrier, nothing in flight on the comm stream, and a note for the reader."""
        if self.ready_barrier.broken:
            self.ready_barrier.reset()
        self.runtime.current_stream().wait_stream(self.comm_stream)
        if ring.failed_by is not None and ring.error is not None:
            ring.error.add_note(_note(ring.failed_by, ring.error))


def _note(context: ctx.UBatchContext, error: BaseException) -> str:
    place = raised_at(error)
    where = f", at {place[0]}:{place[1]}" if place is not None else ""
    return f"microbatch {context.id} (thread 'ubatch {context.id}'{where})"


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
