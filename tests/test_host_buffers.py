"""Which buffers the launches of PyTorch code read and write, by numbers that are never used again."""

from __future__ import annotations

import pytest
import torch

from ubviz import get_runtime


@pytest.fixture
def launches(rt):
    """Run a program, and give the launches it made by name."""

    def launched(program):
        found = {}

        class Listener:
            def host(self, kind, obj, arg):
                if kind == "kernel.launch":
                    found.setdefault(arg.name, []).append(arg)

            def device(self, kind, obj, arg):
                pass

        listener = Listener()
        rt.hooks.subscribe(listener)
        with torch.inference_mode(), rt.device_context():
            tensors = program()
            rt.synchronize()
        rt.hooks.unsubscribe(listener)
        return found, [rt.buffers([tensor])[0] for tensor in tensors]

    return launched


def test_a_functional_operator_reads_its_inputs_and_writes_its_outputs(launches):
    def program():
        x, y = torch.zeros(4), torch.ones(4)
        z = x + y
        values, indices = z.topk(2)
        return [x, y, z, values, indices]

    found, (x, y, z, values, indices) = launches(program)
    (add,), (topk,) = found["add"], found["topk"]
    assert (add.reads, add.writes) == ((x, y), (z,))
    assert (topk.reads, topk.writes) == ((z,), (values, indices))
    assert found["ones"][0].reads == ()
    assert len({x, y, z, values, indices}) == 5


def test_an_operator_in_place_reads_and_writes_its_target(launches):
    def program():
        x, y = torch.zeros(4), torch.ones(4)
        x.add_(y)
        return [x, y]

    found, (x, y) = launches(program)
    assert (found["add_"][0].reads, found["add_"][0].writes) == ((x, y), (x,))


def test_an_output_argument_is_written_and_not_read(launches):
    def program():
        x, out = torch.zeros(4), torch.ones(4)
        torch.mul(x, 2, out=out)
        torch.mul(out, x, out=out)
        return [x, out]

    found, (x, out) = launches(program)
    first, second = found["mul"]
    assert (first.reads, first.writes) == ((x,), (out,))
    assert (second.reads, second.writes) == ((out, x), (out,))


def test_views_share_the_buffer_of_their_base(launches):
    def program():
        x = torch.zeros(4, 4)
        x[1:].t()[0].mul_(2)
        return [x, x[2], x.view(-1)]

    found, (x, row, all_of_it) = launches(program)
    assert x == row == all_of_it
    assert found["mul_"][0].writes == (x,)


def test_lists_of_tensors_are_looked_into(launches):
    def program():
        x, y = torch.zeros(4), torch.ones(4)
        z = torch.cat([x, y])
        torch._foreach_add_([x, y], [z[:4], z[4:]])
        return [x, y, z]

    found, (x, y, z) = launches(program)
    assert (found["cat"][0].reads, found["cat"][0].writes) == ((x, y), (z,))
    assert (found["_foreach_add_"][0].reads, found["_foreach_add_"][0].writes) == ((x, y, z, z), (x, y))


def test_buffer_numbers_are_small_and_never_used_again(rt):
    seen = set()
    for _ in range(50):
        (number,) = rt.buffers(
            [torch.zeros(1000)]
        )  # freed at once: the allocator gives the same address again
        seen.add(number)
    assert len(seen) == 50
    assert max(seen) - min(seen) == 49
    assert max(seen) < 1_000_000


def test_a_storage_keeps_its_number_when_nobody_holds_its_python_object(rt):
    x = torch.zeros(4)
    assert rt.buffers([x]) == rt.buffers([x]) == rt.buffers([x.view(2, 2)])
    other = get_runtime("host")
    assert other.buffers([x]) == rt.buffers([x])
    other.close()


def test_launches_name_their_operation(launches, rt):
    def program():
        x = torch.zeros(4)
        with rt.op("experts", cls="compute", layer=2):
            y = x + 1
        with rt.op("dispatch", cls="comm"):
            y.mul_(2)
        return [x, y - 1]

    found, _ = launches(program)
    assert [(name, launch.cls, launch.operation and launch.operation.name) for name, (launch,) in found.items()] == [
        ("zeros", "other", None), ("add", "compute", "experts"), ("mul_", "comm", "dispatch"), ("sub", "other", None),
    ]  # fmt: skip
