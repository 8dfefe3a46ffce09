"""PyTorch code on the host runtime's streams: asynchronous, and bitwise and stride equal to eager code.

Which buffers launches touch is in test_host_buffers.py; threads, lifetimes and errors in test_host_threads.py;
reads that wait in test_host_reads.py.
"""

from __future__ import annotations

import threading
import warnings

import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from tests.moe_blocks import Block
from ubviz import get_runtime
from ubviz.errors import AsyncError, MixedRuntimes

MODES = [torch.no_grad, torch.inference_mode]


@pytest.fixture(autouse=True)
def one_thread():
    """Eager reference with one intra-op thread, as the workers have."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def run(rt):
    """Run a program on a stream, its worker parked until all is launched where ``parked``; wait for the results."""
    stream = rt.Stream("s")

    def run_on_stream(program, *args, parked=False):
        gate = threading.Event()
        if parked:
            rt.launch("gate", gate.wait, stream=stream)
        try:
            with rt.device_context():
                with rt.stream(stream):
                    result = program(*args)
                gate.set()
        finally:
            gate.set()
        return result

    return run_on_stream


def flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def assert_same(got, expected):
    got, expected = flat(got), flat(expected)
    assert len(got) == len(expected)
    for i, (a, b) in enumerate(zip(got, expected)):
        assert (a.shape, a.stride(), a.dtype) == (b.shape, b.stride(), b.dtype), i
        assert torch.equal(a, b), (i, (a.double() - b.double()).abs().max())


# ---- whole modules


@pytest.mark.parametrize("mode", [*MODES, torch.enable_grad])
@pytest.mark.parametrize("dynamic", [False, True])
def test_moe_blocks_are_bitwise_eager(run, mode, dynamic):
    block = Block(dynamic=dynamic)
    with mode():
        for i in range(8):
            x = torch.randn(2, 3 + i % 4, 64)
            assert_same(run(block, x), block(x))


def test_moe_blocks_in_bfloat16_are_bitwise_eager(run):
    block = Block().bfloat16()
    with torch.inference_mode():
        for i in range(6):
            x = torch.randn(2, 5 + i % 3, 64).bfloat16()
            assert_same(run(block, x), block(x))


def test_a_whole_block_is_launched_while_the_worker_is_parked(run):
    block = Block()
    x = torch.randn(2, 4, 64)
    with torch.inference_mode():
        assert_same(run(block, x, parked=True), block(x))


def test_backward_is_bitwise_eager(run):
    net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 1))
    x = torch.randn(4, 8)
    net(x).exp().sum().backward()
    expected = [p.grad.clone() for p in net.parameters()]
    for _ in range(3):
        net.zero_grad()
        run(lambda: net(x).exp().sum().backward())
        assert_same([p.grad for p in net.parameters()], expected)


# ---- single programs


def programs():
    g = torch.Generator().manual_seed(1)

    def rand(*shape):
        return torch.randn(*shape, generator=g)

    x, y, w, img, ker = rand(6, 8), rand(6, 8), rand(3, 8, 8), rand(2, 3, 9, 9), rand(4, 3, 3, 3)
    idx, times = torch.tensor([3, 0, 5, 5]), torch.tensor([1, 2, 0, 3, 1, 1])
    q, k, v = rand(1, 2, 3, 8), rand(1, 2, 3, 8), rand(1, 2, 3, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a prototype, PyTorch says
        nested = torch.nested.nested_tensor([x, y[:3]])
    return {
        "conv": lambda: F.conv2d(img, ker, padding=1),
        "conv channels last": lambda: F.conv2d(img.to(memory_format=torch.channels_last), ker),
        "batch norm": lambda: F.batch_norm(img, torch.zeros(3), torch.ones(3), training=True),
        "bmm": lambda: torch.bmm(x.view(3, 2, 8), w),
        "einsum": lambda: torch.einsum("bi,ij->bj", x, w[0]),
        "linear": lambda: F.linear(x, w[0], y[0]),
        "sort": lambda: x.sort(1),
        "topk": lambda: x.topk(3),
        "unique": lambda: x.round().unique(return_counts=True),
        "nonzero": lambda: (x > 0).nonzero(),
        "one hot": lambda: F.one_hot(idx),
        "one hot of 8": lambda: F.one_hot(idx, 8),
        "gather": lambda: x.gather(1, idx.view(1, 4).expand(6, 4)),
        "embedding": lambda: F.embedding(idx, x),
        "index": lambda: x[idx, 1:3],
        "mask": lambda: x[x > 0],
        "logsumexp": lambda: x.logsumexp(1),
        "gelu": lambda: F.gelu(x),
        "layer norm": lambda: F.layer_norm(x, (8,)),
        "layer norm bf16": lambda: F.layer_norm(x.bfloat16(), (8,)),
        "native layer norm bf16": lambda: torch.native_layer_norm(x.bfloat16(), (8,), None, None, 1e-5),
        "rms norm": lambda: F.rms_norm(x, (8,)),
        "cross entropy": lambda: F.cross_entropy(x, torch.arange(6)),
        "index_add": lambda: x.index_add(0, idx, y[:4]),
        "cat": lambda: torch.cat([x, y], 1),
        "matmul bf16": lambda: x.to(torch.bfloat16) @ y.t().to(torch.bfloat16),
        "linear bf16": lambda: F.linear(x.bfloat16(), w[0].bfloat16(), y[0].bfloat16()),
        "softmax bf16": lambda: x.bfloat16().softmax(-1).float(),
        "repeat_interleave": lambda: x.repeat_interleave(times, 0),
        "repeat_interleave sized": lambda: x.repeat_interleave(times, 0, output_size=8),
        "svd": lambda: torch.linalg.svd(x).S,
        "masked_fill": lambda: x.masked_fill(x > 0, 1),
        "tril": lambda: torch.ones(5, 5).tril(),
        "roll": lambda: x.roll(2, 1),
        "pad": lambda: F.pad(x, (1, 1)),
        "std": lambda: x.std(1),
        "mean of all": lambda: x.mean(),
        "allclose": lambda: torch.tensor(torch.allclose(x, x)),
        "fft": lambda: torch.fft.rfft(x).abs(),
        "arange": lambda: torch.arange(5) * 1.0,
        "linspace": lambda: torch.linspace(0, 1, 5),
        "searchsorted": lambda: torch.searchsorted(torch.arange(5.0), x),
        "attention": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "attention with mask": lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=torch.zeros(3, 3)),
        "remainder": lambda: x.clamp(-1, 1).floor().int().remainder(3),
        "cdist": lambda: torch.cdist(x, y),
        "float8": lambda: x.to(torch.float8_e4m3fn).float(),
        "integer division": lambda: idx / 2,
        "scalars of three kinds": lambda: [idx * 1, idx * 1.0, idx * True],
        "foreach": lambda: torch._foreach_add([x, y], 1.0),
        "foreach norm": lambda: torch._foreach_norm([x, y]),
        "sparse": lambda: torch.sparse.mm(x.to_sparse(), y.t()),
        "nested": lambda: torch.nested.to_padded_tensor(nested * 2, 0.0),
        "complex": lambda: torch.view_as_real(
            (torch.view_as_complex(x.view(6, 4, 2)).conj() * 2).resolve_conj()
        ),
    }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", programs())
def test_operators_are_bitwise_eager(run, name, mode):
    program = programs()[name]
    with mode():
        expected = program()
        for _ in range(3):  # learned, checked, and known
            assert_same(run(program), expected)


def test_the_default_dtype_is_part_of_what_is_learned(run):
    def program():
        return [torch.zeros(2), torch.arange(3) / 2, torch.full((2,), 1.5)]

    assert_same(run(program), program())
    torch.set_default_dtype(torch.float64)
    try:
        assert_same(run(program), program())
    finally:
        torch.set_default_dtype(torch.float32)
    assert_same(run(program), program())


# ---- aliasing and mutation


def mutations(base: Tensor) -> list[Tensor]:
    """Views, copies and writes through them: what shares memory with what shows in the values."""
    b = base.clone()
    view = b[1:3].t()
    view.mul_(2)
    flattened = b.flatten()
    flattened[0] = 100
    b.view(-1)[3:5] += 7
    unsafe = torch.ops.aten._unsafe_view(b, [24])
    unsafe[1] = -3
    left, right = b.chunk(2, 1)
    left.copy_(right)
    reshaped = b.reshape(6, 4)
    reshaped[2] = 0
    same = b.contiguous()
    same[3] = 9
    copied = b.t().contiguous()
    copied[0] = 1
    undropped = F.dropout(b, 0.5, training=False)  # eval dropout returns its input
    undropped[0, 5] = 42
    cast = b.to(torch.float32)
    cast[1, 1] = 77
    most, where = b.max(1)
    product, resized = torch.empty(4, 4), torch.empty(0)
    torch.mm(b, b.t(), out=product)
    torch.add(b, 1, out=resized.resize_(4, 6))
    b.unsqueeze_(0)
    b.squeeze_(0)
    big = torch.where(b > 5, b, 0)
    masked = b[b > 5]
    b[b > 50] = 1
    put = b.index_put((torch.tensor([0, 1]),), torch.tensor(3.0))
    b.scatter_add_(0, torch.zeros(1, 6, dtype=torch.long), torch.ones(1, 6))
    stacked = torch.stack([b, b]).cumsum(0)
    lists = torch._foreach_add([b, most], 1.0)
    torch._foreach_mul_([b, most], 2.0)
    return [
        b, view, flattened, unsafe, reshaped, same, copied, undropped, cast, most, where, product, resized, big,
        masked, put, stacked, *lists, *b.unbind(0), *b.split([1, 5], 1),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_views_and_writes_are_bitwise_eager(run, mode):
    base = torch.arange(24.0).view(4, 6)
    with mode():
        expected = mutations(base)
        for _ in range(3):
            assert_same(run(mutations, base), expected)


def test_writing_returns_the_tensor_object_itself(run):
    def program():
        x, out = torch.zeros(3), torch.empty(3)
        assert x.add_(1) is x
        assert torch.add(x, 1, out=out) is out
        x += 1
        return [x, out]

    assert_same(run(program), [torch.full((3,), 2.0), torch.full((3,), 2.0)])


def test_an_output_that_must_grow_is_resized_as_by_eager_code(run):
    def program():
        out = torch.empty(0)
        torch.add(torch.ones(2, 3), 1, out=out)
        return out + 1

    assert_same(run(program), torch.full((2, 3), 3.0))


@pytest.mark.parametrize("change", ["resize_", "set_", "data"])
def test_a_tensor_gets_other_storage_only_after_queued_work_has_read_it(rt, run, change):
    def program():
        rt.launch(
            "pause", duration_ns=5_000_000
        )  # gives a change that does not wait its chance to come too early
        x = torch.ones(4)
        y = x * 3
        if change == "resize_":
            x.resize_(100).fill_(5)
        elif change == "set_":
            x.set_(torch.full((4,), 7.0))
        else:
            x.data = torch.full((4,), 7.0)
        return y

    with torch.no_grad():
        assert_same(run(program), torch.full((4,), 3.0))


# ---- random numbers, values, time


def test_random_numbers_are_those_of_eager_code(run):
    def program():
        return [
            torch.rand(3), F.dropout(torch.ones(50), 0.5), torch.randn_like(torch.ones(4)),
            torch.ones(5).multinomial(3), torch.empty(4).uniform_(), torch.randperm(5),
            torch.bernoulli(torch.full((9,), 0.5)), torch.randint(9, (4,)),
        ]  # fmt: skip

    torch.manual_seed(3)
    expected = program()
    for _ in range(2):
        torch.manual_seed(3)
        assert_same(run(program), expected)


def test_metadata_is_there_before_the_values(rt):
    stream, gate = rt.Stream("s"), threading.Event()
    rt.launch("gate", gate.wait, stream=stream)
    with rt.device_context(), rt.stream(stream):
        y = (torch.zeros(3) + 1).view(3, 1).expand(3, 2).sum(1)
        z = torch.cat([y, y]).reshape(2, 3).t()
        assert (y.shape, z.shape, z.stride()) == ((3,), (3, 2), (1, 3))
        assert not stream.query()
        gate.set()
        assert y.tolist() == [2, 2, 2]
        assert stream.query()


# ---- leaving the device context


def test_what_was_computed_can_be_read_outside(rt):
    gate = threading.Event()
    with torch.inference_mode():
        with rt.device_context():
            rt.launch("held up", gate.wait)
            x = torch.ones(3) + 1
            gate.set()
        assert torch.equal(x, torch.full((3,), 2.0))


def test_leaving_raises_what_failed_inside(rt):
    with (
        pytest.raises(AsyncError, match="bad on stream default failed: ZeroDivisionError"),
        rt.device_context(),
    ):
        rt.launch("bad", lambda: 1 / 0)
    assert torch.Tensor.__dict__.get("tolist") is None


def test_an_operation_of_another_runtime_is_refused(rt):
    other = get_runtime("host")
    with rt.device_context(), pytest.raises(MixedRuntimes, match="inside the device context of another"):
        other.op("experts").__enter__()
    other.close()
