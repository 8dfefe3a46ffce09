"""What a graph reads: buffers that are refilled before each replay, and values that are baked in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
import torch

from tests.graph_calls import FULL, NONE, Graphs, rows
from tests.stories import microbatch_threads
from ubviz.errors import CaptureError, SlicingError
from ubviz.ubatch import CUDAGraphMode, dbo_yield, get_forward_context


@pytest.fixture
def two() -> Iterator[Graphs]:
    graphs = Graphs(2)
    yield graphs
    assert microbatch_threads() == []
    graphs.rt.close()


@dataclass(frozen=True)
class Metadata:
    slots: torch.Tensor
    kind: str = "decode"
    numbers: tuple[int, ...] = field(default=(), compare=False)


class Pair(NamedTuple):
    a: torch.Tensor
    b: Any


def parts(value: float, **more: Any) -> list[Metadata]:
    return [Metadata(torch.full((4,), value + i), **more) for i in range(2)]


def test_metadata_of_each_microbatch_is_refilled(two: Graphs) -> None:
    two.body = lambda x: (dbo_yield(), x + get_forward_context().attn_metadata.slots)[1]
    two.call(metadata=parts(10.0, numbers=(1,)), x=torch.zeros(8))
    new = parts(20.0, numbers=(2,))  # the host's own numbers may change
    assert two.call(metadata=new, x=torch.ones(8)).tolist() == [21.0] * 4 + [22.0] * 4
    assert two.branch == "replay"
    assert new[0].slots.tolist() == [20.0] * 4


def test_the_callers_own_tensors_are_never_written_to(two: Graphs) -> None:
    two.body = lambda x: x + get_forward_context().attn_metadata.slots
    x, metadata = torch.zeros(8), parts(10.0)
    two.call(metadata=metadata, x=x)
    two.call(metadata=parts(20.0), x=torch.ones(8))
    assert x.tolist() == [0.0] * 8
    assert [part.slots.tolist() for part in metadata] == [[10.0] * 4, [11.0] * 4]


def test_metadata_of_an_unsplit_call_is_refilled(two: Graphs) -> None:
    two.body = lambda x: x + get_forward_context().attn_metadata.b[0]
    two.call(split=False, metadata=Pair(torch.zeros(1), [torch.ones(4)]), x=torch.zeros(4))
    two.call(split=False, metadata=Pair(torch.zeros(1), [torch.full((4,), 7.0)]), x=torch.ones(4))
    assert two.wrapper.unsplit_cudagraphs[4].outputs.tolist() == [8.0] * 4


BAKED = "; what changes from step to step belongs into a tensor"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ({"x": torch.ones(8, 2), "scale": 2},
         "x is a tensor (8, 2) of torch.float32, and it was captured as a tensor (8,) of torch.float32"),
        ({"x": torch.ones(8, dtype=torch.int64), "scale": 2},
         "x is a tensor (8,) of torch.int64, and it was captured as a tensor (8,) of torch.float32"),
        ({"x": torch.ones(8), "scale": 3}, f"scale is 3, and the graph has 2 baked in{BAKED}"),
        ({"x": torch.ones(8), "other": 2}, "it was captured with the inputs x, scale, not x, other"),
        ({"x": torch.ones(8), "scale": 2, "split": [5]}, "it was captured with tokens cut at [4], not at [5]"),
        ({"x": torch.ones(8), "scale": 2, "metadata": parts(1.0, kind="prefill")},
         f"attn_metadata[0].kind is 'prefill', and the graph has 'decode' baked in{BAKED}"),
        ({"x": torch.ones(8), "scale": 2, "metadata": {}}, "attn_metadata is {}, and the graph has ["),
        ({"x": torch.ones(8), "scale": 2, "metadata": None}, "attn_metadata is None, and the graph has ["),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_changes_nothing(
    two: Graphs, call: dict[str, Any], sentence: str
) -> None:
    two.body = lambda x, scale: x * scale + get_forward_context().attn_metadata.slots
    two.call(metadata=parts(1.0), x=torch.ones(8), scale=2)
    kept = two.wrapper.cudagraphs[8]
    with pytest.raises(CaptureError) as error:
        two.call(**{"metadata": parts(1.0), **call})
    assert str(error.value).startswith(f"graph split[8] cannot be replayed: {sentence}")
    assert kept.inputs["x"].tolist() == [1.0] * 8
    assert two.wrapper.decided is None
    assert two.call(metadata=parts(1.0), x=torch.ones(8), scale=2).tolist() == [3.0] * 4 + [4.0] * 4


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ([1, None], "attn_metadata of microbatch 1 is None, and other microbatches have one: fill it in when the batch "
         "is split"),
        ([1], "attn_metadata in the forward context has 1 parts for 2 microbatches"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", [NONE, FULL])
def test_a_share_that_is_missing_is_named_before_any_thread_starts(
    two: Graphs, mode: CUDAGraphMode, metadata: Any, sentence: str
) -> None:
    with pytest.raises(SlicingError) as error:
        two.call(mode, metadata=metadata, x=rows(8))
    assert str(error.value) == sentence
    assert two.count("thread.create") == 0
