"""Forward passes of the small model in virtual time: the whole call path, in a few seconds."""

from __future__ import annotations

from functools import lru_cache

from ..errors import BadArgument
from ..trace import Trace

STYLES = ("ht", "ll")


def forward_passes(
    style: str = "ht", *, passes: int = 1, tokens: int = 96, ubatches: int = 2, full: bool = False
) -> Trace:
    """The recording of some passes of a small MoE model, microbatched; ``full`` captures and replays a graph.

    >>> forward_passes("ll", passes=3, full=True).steps  # doctest: +SKIP
    (1, 2, 3)

    Before them one pass that is not recorded fills the KV cache of a decode. Needs PyTorch. In virtual time a recording
    is the same every time, so the same question is answered from memory.
    """
    if style not in STYLES:
        raise BadArgument(f"style is ht or ll, not {style!r}")
    return _recorded(style, passes, tokens, ubatches, full)


@lru_cache(maxsize=2)
def _recorded(style: str, passes: int, tokens: int, ubatches: int, full: bool) -> Trace:
    import torch

    from ..engine import GPUModelRunner, LinkModel, ModelConfig, MoETransformer
    from ..exploration.programs import CONTEXT, blocks_needed, contexts_of, requests
    from ..recording import record
    from ..runtime import get_runtime
    from ..ubatch import CUDAGraphMode

    rt = get_runtime("virtual")
    config = ModelConfig(num_blocks=blocks_needed(style, tokens, ModelConfig.block_size))
    torch.manual_seed(0)
    model = MoETransformer(config, rt, style, LinkModel()).eval()
    mode = CUDAGraphMode.FULL if full else CUDAGraphMode.NONE
    runner = GPUModelRunner(
        model, rt, ubatches, cudagraph_mode=mode, max_model_len=CONTEXT + 1 if full else None
    )
    batch = requests(style, tokens, config.block_size, config.vocabulary, 0)
    try:
        if style == "ll":
            runner.execute_model(contexts_of(batch, config.vocabulary, 0), "unsplit")
        with record(rt) as recording:
            for _ in range(passes):
                runner.execute_model(batch, "overlapped")
    finally:
        rt.close()
    return recording.trace
