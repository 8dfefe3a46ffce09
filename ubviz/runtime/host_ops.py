"""Making ordinary PyTorch code asynchronous on the CPU: one dispatch mode a thread.

Each operation becomes "allocate the outputs now, run the kernel later" on the current stream; ``host_plans`` says
how. Results are bitwise those of eager code with one intra-op thread. Not caught: raw pointers while work is
queued, and training (autograd's version counters of in-place operations). The context must be outermost: other
dispatch modes go inside it.
"""

from __future__ import annotations

import functools
import itertools
import sys
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ..errors import MixedRuntimes
from .base import Launch
from .host_plans import COMPOSITE_KEY, PLAIN, Op, Sort, call, fill, find_plan, ops

if TYPE_CHECKING:
    from .host import HostRuntime

_SWITCH_INTERVAL_S = 2e-4  # a spinning launcher must not starve the workers of the interpreter lock
_data = torch.Tensor.data.__get__  # past the guard on the attribute


_VIEW, _COMPOSITE, _INPLACE, _RANDOM = (
    Sort.VIEW,
    Sort.COMPOSITE,
    Sort.INPLACE,
    Sort.RANDOM,
)  # looking into the enum takes time
_Tensor, _empty = torch.Tensor, torch.empty_strided
_buffers = itertools.count(1)


def buffers_in(args: Iterable[Any]) -> list[int]:
    """Numbers of the storages of all tensors among arguments, also of those in lists.

    By our own counter, kept on the storage: an address would be reused.
    """
    found = []
    for a in args:
        cls = a.__class__
        if cls in PLAIN:
            continue
        if cls is _Tensor or isinstance(a, _Tensor):
            known = a.untyped_storage().__dict__
            if (number := known.get("_ubviz_buffer")) is None:
                number = known.setdefault("_ubviz_buffer", next(_buffers))
            found.append(number)
        elif isinstance(a, (list, tuple)):
            found += buffers_in(a)
    return found


# ---- the mode


class _Mode(TorchDispatchMode):
    def __init__(self, runtime: HostRuntime) -> None:
        super().__init__()
        self.runtime = runtime
        self.eager = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:  # otherwise the first operation imports torch._dynamo (seconds)
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        op = ops.get(func) or ops.setdefault(func, Op(func))
        kwargs = kwargs or {}
        sort = op.sort
        if sort is _VIEW or self.eager:
            return func(*args, **kwargs)
        if sort is _COMPOSITE:
            with self:  # the C++ kernel: func.decompose() prefers Python ones that differ
                return func._op_dk(COMPOSITE_KEY, *args, **kwargs)
        stream = self.runtime.current_stream()
        if op.random:
            if stream.capture is not None:
                raise stream.capture.random(op.name, stream)
            if sort is _RANDOM:
                return func(*args, **kwargs)
        plan = find_plan(func, op, args, kwargs) if op.checked else None
        if plan.sync if plan is not None else sort is not _INPLACE:
            stream.drain("host.read", op.name)
            return func(*args, **kwargs)
        if plan is None or op.written:
            return self._write(stream, func, op, args, kwargs)
        if plan.view:
            return func(*args, **kwargs)
        outs = [_empty(shape, stride, dtype=dtype) for shape, stride, dtype in plan.layouts]
        # the worker writes through .data: its own version counter, so autograd's checks stay quiet
        mine = outs if torch.is_inference_mode_enabled() else [_data(o) for o in outs]
        launch = None
        if (host := self.runtime.hooks.host) is not None or stream.capture is not None:
            launch = self._announce(host, stream, op, args, kwargs, outs)
        stream.submit(op.name, launch, fill, (func, op, args, kwargs, mine, plan))
        return outs[0] if plan.sequence is None else plan.sequence(outs)

    def _write(self, stream: Any, func: Any, op: Op, args: Any, kwargs: dict[str, Any]) -> Any:
        written = [kwargs[name] if name in kwargs else args[i] for i, name, _ in op.written]
        launch = None
        if (host := self.runtime.hooks.host) is not None or stream.capture is not None:
            launch = self._announce(host, stream, op, args, kwargs, written)
        stream.submit(op.name, launch, call, (func, args, kwargs))
        n = len(func._schema.returns)
        return None if n == 0 else written[0] if n == 1 else tuple(written[:n])

    def _announce(
        self, host: Any, stream: Any, op: Op, args: Any, kwargs: dict[str, Any], written: list[Any]
    ) -> Launch:
        rt = self.runtime
        operation = rt._local.op
        reads = buffers_in(args)
        if kwargs:
            targets = {name for _, name, keyword in op.written if keyword}  # an out= target is not read
            reads += buffers_in([value for name, value in kwargs.items() if name not in targets])
        launch = Launch(
            next(rt._correlations),
            op.name,
            "other" if operation is None else operation.cls,
            operation,
            tuple(reads),
            tuple(buffers_in(written)),
            node=None if stream.capture is None else stream.capture.number(),
        )
        if host is not None:
            host("kernel.launch", stream, launch)
        return launch


# ---- the context of a thread, and what is process-wide while one is open


class DeviceContext:
    """Run this thread's PyTorch operations on its current stream; entering it again inside does nothing.

    Leaving the outermost one waits for all streams (``drains``), since outside nothing makes a read wait, and
    raises what failed in them. The threads of a runtime do not wait: who started them goes on with their work.
    """

    mode: type[Any] = _Mode  # what sees the operations; it has ``runtime`` and ``eager``

    def __init__(self, runtime: HostRuntime, drains: bool = True) -> None:
        self._runtime, self._drains = runtime, drains
        self._mode: _Mode | None = None

    def __enter__(self) -> DeviceContext:
        if _thread.mode is None:
            _process.enter()
            self._mode = _thread.mode = self.mode(self._runtime)
            self._mode.__enter__()
        elif _thread.mode.runtime is not self._runtime:
            raise MixedRuntimes("this thread is already inside the device context of another host runtime")
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._mode is None:
            return
        self._mode.__exit__(*exc)
        self._mode = _thread.mode = None
        try:
            if self._drains and exc[0] is None:
                self._runtime.synchronize()
        finally:
            _process.leave()


def check_thread_is_of(runtime: HostRuntime) -> None:
    """Refuse what belongs to ``runtime`` in a thread that is inside another one's device context."""
    if _thread.mode is not None and _thread.mode.runtime is not runtime:
        raise MixedRuntimes("this thread is inside the device context of another host runtime")


class _Thread(threading.local):
    mode: _Mode | None = None


_thread = _Thread()


# Reads that reach the bytes without dispatching an operation: wait first, like a blocking copy to the host.
_RAW_READS = (
    "tolist", "numpy", "__array__", "__dlpack__", "__repr__", "__format__", "__deepcopy__", "__reduce_ex__", "cpu",
)  # fmt: skip


class _Process:
    """Guards on ``torch.Tensor`` and the interpreter's switch interval, while any device context is open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._plain: dict[str, Any] = {}
        self._interval = 0.0

    def enter(self) -> None:
        with self._lock:
            self._open += 1
            if self._open == 1:
                self._interval = sys.getswitchinterval()
                sys.setswitchinterval(_SWITCH_INTERVAL_S)
                for name in _RAW_READS:
                    self._guard(name)
                self._guard_data()

    def leave(self) -> None:
        with self._lock:
            self._open -= 1
            if self._open == 0:
                sys.setswitchinterval(self._interval)
                for name, plain in self._plain.items():
                    if plain is None:
                        delattr(torch.Tensor, name)
                    else:
                        setattr(torch.Tensor, name, plain)
                self._plain.clear()

    def _guard(self, name: str) -> None:
        plain = getattr(torch.Tensor, name)

        @functools.wraps(plain)
        def read(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            mode = _thread.mode
            if mode is None or mode.eager:
                return plain(tensor, *args, **kwargs)
            mode.runtime.current_stream().drain("host.read", name)
            mode.eager = True
            try:
                return plain(tensor, *args, **kwargs)
            finally:
                mode.eager = False

        self._replace(name, read)

    def _guard_data(self) -> None:
        """``x.data = y`` gives ``x`` other storage, under the hands of queued items that hold ``x``."""
        plain = torch.Tensor.data

        def set_data(tensor: torch.Tensor, value: torch.Tensor) -> None:
            if (mode := _thread.mode) is not None and not mode.eager:
                mode.runtime.current_stream().drain("host.read", "data")
            plain.__set__(tensor, value)

        self._replace("data", property(_data, set_data))

    def _replace(self, name: str, value: Any) -> None:
        self._plain[name] = torch.Tensor.__dict__.get(name)  # None: inherited
        setattr(torch.Tensor, name, value)


_process = _Process()
