"""PyTorch on the virtual runtime: its operators run at once, and what they touch is noted for the operation.

One dispatch mode a thread. Outside a capture an operator runs where it stands; a read of values waits for the
stream, in virtual time. In a capture it is put off as on host, "allocate the outputs now, run later", and an
operation's operators become one kernel of the graph. An operation reads and writes the storages that were there
before it or are there after it.

Not caught: raw pointers.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .base import Launch
from .host_ops import DeviceContext, _thread
from .host_plans import COMPOSITE_KEY, Op, Sort, _needs_values, call, fill, find_plan, flat, ops
from .virtual_work import submit

if TYPE_CHECKING:
    from .virtual import VirtualRuntime
    from .virtual_streams import Stream

_empty = torch.empty_strided
_reads_values: dict[Any, bool] = {}


class Seen:
    """What PyTorch did inside one operation."""

    def __init__(self) -> None:
        self.read: dict[int, Any] = {}  # storages, by identity, in order
        self.written: dict[int, Any] = {}
        self.made: dict[int, weakref.ref[Any]] = {}  # weakly: what is dropped inside does not count
        self.put_off: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def note(self, read: list[Any], written: list[Any]) -> None:
        """One operator: the storages of its tensors; what it made is told apart by not being there before."""
        for storage in read:
            if id(storage) not in self.made or self.made[id(storage)]() is not storage:
                self.read.setdefault(id(storage), storage)
        for storage in written:
            if id(storage) not in self.made or self.made[id(storage)]() is not storage:
                self.written.setdefault(id(storage), storage)

    def makes(self, storages: list[Any]) -> None:
        """Storages that did not exist before."""
        for storage in storages:
            self.made.pop(id(storage), None)  # an identity that is used again does not inherit the place
            self.made[id(storage)] = weakref.ref(storage)

    def finish(
        self, rt: VirtualRuntime, stream: Stream, reads: tuple[int, ...], writes: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...], int, Callable[..., Any] | None]:
        """Reads, writes, bytes made, and what is to be run at replay, of the operation as a whole."""
        buffers = rt.buffer_numbers
        read = [buffers.storage(storage) for storage in self.read.values()]
        written = [buffers.storage(storage) for storage in self.written.values()]
        nbytes = 0
        for ref in self.made.values():
            if (storage := ref()) is not None:
                written.append(buffers.storage(storage))
                buffers.allocated(written[-1], stream)
                nbytes += storage.nbytes()
        put_off = self.put_off
        fn = (lambda: run_all(put_off)) if put_off else None
        return tuple(dict.fromkeys((*reads, *read))), tuple(dict.fromkeys((*writes, *written))), nbytes, fn


def run_all(put_off: list[tuple[Callable[..., Any], tuple[Any, ...]]]) -> None:
    """A captured operation, at a replay."""
    for fn, args in put_off:
        fn(*args)


class _Mode(TorchDispatchMode):
    def __init__(self, runtime: VirtualRuntime) -> None:
        super().__init__()
        self.runtime = runtime
        self.eager = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:  # otherwise the first operation imports torch._dynamo (seconds)
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        me = self.runtime.baton.me()
        if self.eager or me.on_device_ns is not None:
            return func(*args, **kwargs)
        op = ops.get(func) or ops.setdefault(func, Op(func))
        stream = self.runtime.current_stream()
        if stream.capture is not None and op.sort is not Sort.VIEW:
            return self._put_off(stream, func, op, args, kwargs)
        if op.sort is not Sort.VIEW and reads_values(func, op, args):
            stream.drain("host.read", op.name)
            return func(*args, **kwargs)
        result = func(*args, **kwargs)
        if me.op is not None:
            self._note(me.op, op, args, kwargs, result)
        return result

    def _note(self, operation: Any, op: Op, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        if operation.seen is None:
            operation.seen = Seen()
        seen: Seen = operation.seen
        touched = storages([*args, *kwargs.values()])
        before = {id(storage) for storage in touched}
        if op.sort is not Sort.VIEW:
            seen.note(touched, storages([_argument(args, kwargs, where) for where in op.written]))
        seen.makes([storage for storage in storages([result]) if id(storage) not in before])

    # ---- in a capture

    def _put_off(self, stream: Stream, func: Any, op: Op, args: Any, kwargs: dict[str, Any]) -> Any:
        capture = stream.capture
        assert capture is not None
        if op.sort is Sort.COMPOSITE:
            with self:  # the C++ kernel: func.decompose() prefers Python ones that differ
                return func._op_dk(COMPOSITE_KEY, *args, **kwargs)
        if op.random:
            raise capture.random(op.name, stream)  # type: ignore[arg-type]
        plan = find_plan(func, op, args, kwargs) if op.checked else None
        if plan.sync if plan is not None else op.sort is not Sort.INPLACE:
            stream.drain("host.read", op.name)  # refused
        if plan is None or op.written:
            written = [_argument(args, kwargs, where) for where in op.written]
            self._add(stream, op, (call, (func, args, kwargs)), args, kwargs, written, [])
            n = len(func._schema.returns)
            return None if n == 0 else written[0] if n == 1 else tuple(written[:n])
        if plan.view:
            return func(*args, **kwargs)
        outs = [_empty(shape, stride, dtype=dtype) for shape, stride, dtype in plan.layouts]
        self._add(stream, op, (fill, (func, op, args, kwargs, outs, plan)), args, kwargs, [], outs)
        return outs[0] if plan.sequence is None else plan.sequence(outs)

    def _add(
        self, stream: Stream, op: Op, work: tuple[Callable[..., Any], tuple[Any, ...]], args: Any,
        kwargs: dict[str, Any], written: list[Any], made: list[Any],
    ) -> None:  # fmt: skip
        rt = self.runtime
        operation = rt.baton.current.op
        if operation is None:  # a kernel of its own, that takes no time
            reads, writes = rt.buffers([*args, *kwargs.values()]), rt.buffers([*written, *made])
            submit(rt, stream, Launch(0, op.name, "other", None, reads, writes), (run_all, ([work],), 0, 0))
            return
        if operation.seen is None:
            operation.seen = Seen()
        operation.seen.note(storages([*args, *kwargs.values()]), storages(written))
        operation.seen.makes(storages(made))
        operation.seen.put_off.append(work)


def reads_values(func: Any, op: Op, args: Any) -> bool:
    """Whether the operator needs values on the host, as ``item`` and ``nonzero`` do."""
    found = _reads_values.get(func)
    if found is None:
        found = _reads_values[func] = op.sort is Sort.SYNC and not op.random and _needs_values(func, op)
    if op.bool_index:
        return any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in args[1])
    return found


def storages(things: Any) -> list[Any]:
    """The storages of all tensors among ``things``."""
    return [thing.untyped_storage() for thing in flat(things) if isinstance(thing, torch.Tensor)]


def _argument(args: Any, kwargs: dict[str, Any], where: tuple[int, str, bool]) -> Any:
    i, name, _ = where
    return kwargs[name] if name in kwargs else args[i]


class VirtualContext(DeviceContext):
    """The device context of a thread; leaving the outermost one waits for all streams.

    Inside, PyTorch computes with one thread, as a worker of the host runtime does: others would only be in the way.
    """

    mode = _Mode

    def __enter__(self) -> VirtualContext:
        self._threads = torch.get_num_threads()
        super().__enter__()
        torch.set_num_threads(1)
        return self

    def __exit__(self, *exc: Any) -> None:
        torch.set_num_threads(self._threads)
        super().__exit__(*exc)


def device_context(runtime: Any, drains: bool) -> VirtualContext:
    """A device context that sees PyTorch's operators."""
    return VirtualContext(runtime, drains)


def thread_is_of(runtime: Any) -> bool:
    """False in a thread that is inside another runtime's device context."""
    return _thread.mode is None or _thread.mode.runtime is runtime
