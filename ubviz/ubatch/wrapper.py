"""UBatchWrapper: takes a model's call, runs it as microbatches on threads, and puts the outputs together.

One call, in numbered steps:
1. Read the forward context: are there slices, and may this pass be a graph (``CUDAGraphMode.FULL``)?
2. No slices. FULL: the graph of the unsplit shape, unless a microbatched graph owns this number of tokens, then
   eager. NONE, PIECEWISE: call the model as it is.
3. Slices. FULL: the first time capture, again replay. NONE, PIECEWISE: run the microbatches.
4. To run, make one forward context, one set of inputs and one ``UBatchContext`` for each slice; start one thread
   for each; arrive at the barrier with them; set the first one's host event; join all.
5. Put the outputs together by microbatch number, since results arrive in any order.

If a microbatch fails, all threads end, the comm stream is drained into the compute stream, and the original
exception comes out with a note that names the microbatch; the wrapper works on the next call, and a graph that was
being captured is not kept.

Source: vLLM ``vllm/v1/worker/gpu_ubatch_wrapper.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from ..errors import BadArgument, SlicingError
from ..runtime.base import Graph, Runtime, Stream
from . import contexts as ctx
from .forward_context import (
    CUDAGraphMode,
    ForwardContext,
    check_shares,
    get_forward_context,
    override_forward_context,
    share_of,
)
from .graphs import CUDAGraphMetaData, Decision, tokens_of, witnessed
from .outputs import merge_outputs as merge_outputs
from .ring_run import RingRun, refuse_if_busy
from .slices import UBatchSlice, check_slices, slice_model_inputs


@dataclass
class UbatchMetadata:
    """What one microbatch's thread needs."""

    context: ctx.UBatchContext
    inputs: dict[str, Any]
    num_tokens: int


class UBatchWrapper:
    """Wraps ``runnable`` so that a call with slices in its forward context runs as microbatches.

    ``runnable`` takes its tensors by keyword; those with one row a token are sliced. Attributes that the
    wrapper does not have are the wrapped model's. ``decided`` says how the last call was run, and why.

    >>> wrapper = UBatchWrapper(model, runtime=rt)  # doctest: +SKIP
    >>> with rt.device_context(), set_forward_context(metadata, ubatch_slices=slices):  # doctest: +SKIP
    ...     out = wrapper(hidden_states=x)  # may not be there yet: leaving the device context waits for it

    With ``CUDAGraphMode.FULL`` in the forward context, on a stream other than the default one, a graph is kept for
    each number of tokens. Its outputs are the same tensors at every call, and the next replay overwrites them.
    ``runtime_mode=FULL`` refuses at once a model that cannot be captured.

    Raises ``WrapperBusy`` when called while microbatches run, ``SlicingError`` when the slices are not
    ``num_ubatches`` or do not hold each row of the inputs once, ``CaptureError`` for what a graph cannot hold, and
    whatever a microbatch raised.
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
            _check_can_be_captured(runnable)
        self.runnable = runnable
        self.runtime = runtime
        self.num_ubatches = num_ubatches
        self.runtime_mode = runtime_mode
        self.comm_stream = runtime.Stream("comm")
        self.ready_barrier = runtime.Barrier(num_ubatches + 1, "ready_barrier")
        self.cudagraphs: dict[int, CUDAGraphMetaData] = {}  # of microbatched calls, by number of tokens
        self.unsplit_cudagraphs: dict[int, CUDAGraphMetaData] = {}
        self.decided: Decision | None = None

    def __getattr__(self, name: str) -> Any:
        if name == "runnable":  # not set yet: copying or unpickling
            raise AttributeError(name)
        return getattr(self.runnable, name)

    def unwrap(self) -> Callable[..., Any]:
        """The model as it was before wrapping."""
        return self.runnable

    # ---- which way to run

    def __call__(self, *args: Any, **inputs: Any) -> Any:
        if args:
            raise BadArgument("a wrapper takes its inputs by keyword, as in wrapper(hidden_states=x)")
        refuse_if_busy()
        parent = get_forward_context()
        if parent.ubatch_slices is not None:
            check_slices(parent.ubatch_slices, inputs)
        self.decided = None
        if parent.cudagraph_runtime_mode is CUDAGraphMode.FULL:
            return self._call_full(parent, inputs)
        return self._call_eager(parent, inputs, None)

    def _call_eager(self, parent: ForwardContext, inputs: dict[str, Any], why: str | None) -> Any:
        if parent.ubatch_slices is None:
            output = self.runnable(**inputs)
        else:
            output = self._run_ubatches(
                self._make_ubatch_metadata(parent, inputs, self.runtime.current_stream())
            )
        self.decided = Decision("eager", why)
        return output

    def _call_full(self, parent: ForwardContext, inputs: dict[str, Any]) -> Any:
        split, key = parent.ubatch_slices is not None, tokens_of(parent, inputs)
        if not split and key in self.cudagraphs:
            why = f"graph_owned_by_split: the graph of {key} tokens is microbatched, so an unsplit call is eager"
            if (host := self.runtime.hooks.host) is not None:
                host("mark", None, why)
            return self._call_eager(replace(parent, cudagraph_runtime_mode=CUDAGraphMode.NONE), inputs, why)
        graphs = self.cudagraphs if split else self.unsplit_cudagraphs
        with self.runtime.device_context():
            found = graphs.get(key)
            if found is None:
                _check_can_be_captured(self.runnable)
                found = self._capture(key, parent, inputs)
                graphs[key] = found  # only now, when the capture has ended well
                branch = "capture"
            else:
                with self.runtime.op("inputs", cls="copy"):
                    found.fill(inputs, parent)
                branch = "replay"
            found.cudagraph.replay()  # after a capture too, which runs nothing: this gives the call its outputs
        self.decided = Decision(branch, None, key)
        return found.outputs

    def _capture(self, key: int, parent: ForwardContext, inputs: dict[str, Any]) -> CUDAGraphMetaData:
        split = parent.ubatch_slices is not None
        graph = self.runtime.graph(f"split[{key}]" if split else f"unsplit[{key}]")
        graph.key = key
        with self.runtime.op("inputs", cls="copy"):
            made = CUDAGraphMetaData.make(graph, inputs, parent)
        stream = self.runtime.current_stream()
        if split:
            made.outputs = self._capture_ubatches(
                graph, self._make_ubatch_metadata(made.context, made.inputs, stream)
            )
        else:
            with (
                override_forward_context(made.context),
                witnessed(self.runtime, graph),
                graph.capture(stream),
            ):
                made.outputs = self.runnable(**made.inputs)
        return made

    # ---- before the threads

    def _make_ubatch_metadata(
        self, parent: ForwardContext, inputs: dict[str, Any], compute_stream: Stream
    ) -> list[UbatchMetadata]:
        slices: Sequence[UBatchSlice] = parent.ubatch_slices
        if len(slices) != self.num_ubatches:
            raise SlicingError(
                f"the forward context holds {len(slices)} slices, this wrapper runs {self.num_ubatches} microbatches"
            )
        check_shares(parent, self.num_ubatches)
        num_tokens = slices[-1].token_slice.stop
        children = [share_of(parent, i) for i in range(self.num_ubatches)]
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

    # ---- the threads

    def _run_ubatches(self, metadata: list[UbatchMetadata]) -> Any:
        return self._turn_ring(metadata, self._ubatch_thread, nullcontext())

    def _capture_ubatches(self, graph: Graph, metadata: list[UbatchMetadata]) -> Any:
        """Capture one graph of all microbatches.

        1. Main starts the threads. Each warms up on both streams (on cuda: makes its cuBLAS handle, which a
           capture could not), and goes to sleep in its context.
        2. Main arrives at the barrier, so all are warm.
        3. Main begins the capture on the compute stream, and wakes microbatch 0.
        4. The microbatches hand the turn on as ever; what they launch is noted. The comm stream joins the capture
           when it waits for the compute stream.
        5. Main joins the threads and puts their outputs together, in the graph too.
        6. Main ends the capture. After a failure the threads unwind first, so that none of them launches in earnest.
        """
        stream = metadata[0].context.compute_stream
        return self._turn_ring(metadata, self._capture_ubatch_thread, _captured(self.runtime, graph, stream))

    def _turn_ring(
        self, metadata: list[UbatchMetadata], target: Callable[..., None], around: AbstractContextManager[Any]
    ) -> Any:
        """Run one thread for each microbatch, the first of them woken ``around``; the merged outputs."""
        results: list[tuple[int, Any]] = []
        threads = [
            self.runtime.Thread(target, (results, part), f"ubatch {part.context.id}", part.context.give_up)
            for part in metadata
        ]
        run = RingRun(self.runtime, metadata[0].context.ring, self.ready_barrier, self.comm_stream, threads)
        return run(around, lambda: self._merge(results))

    def _ubatch_thread(self, results: list[tuple[int, Any]], part: UbatchMetadata) -> None:
        try:
            with part.context:
                output = self.runnable(**part.inputs)
            results.append((part.context.id, output))
        except ctx.Unwind:
            pass
        except BaseException as error:
            part.context.ring.fail(error, part.context)  # kept by the ring; main raises it

    def _capture_ubatch_thread(self, results: list[tuple[int, Any]], part: UbatchMetadata) -> None:
        context = part.context
        try:
            for stream in (context.compute_stream, context.comm_stream):
                with self.runtime.stream(stream):
                    self.runtime.warm_up()
        except BaseException as error:
            context.give_up(error)  # nobody waits for an arrival that will not come
            return
        self._ubatch_thread(results, part)

    def _merge(self, results: list[tuple[int, Any]]) -> Any:
        results.sort(key=lambda result: result[0])
        # inside the device context, since the outputs may not be there yet
        with self.runtime.device_context(), self.runtime.op("merge", cls="copy"):
            return merge_outputs([output for _, output in results])


@contextmanager
def _captured(rt: Runtime, graph: Graph, stream: Stream) -> Iterator[None]:
    """Capture what the block does. Other threads may use other streams meanwhile, and wait for them."""
    with witnessed(rt, graph), graph.capture(stream, "thread_local"):
        yield


def _check_can_be_captured(runnable: Any) -> None:
    style = getattr(getattr(runnable, "all2all", None), "style", None)
    if style == "ht":
        raise BadArgument(
            "the ht style of all-to-all cannot be captured: its dispatch blocks the host until the receive counts "
            "arrive, and a capture runs nothing; use ll, or CUDAGraphMode.NONE"
        )
