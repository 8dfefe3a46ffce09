"""Making ordinary PyTorch code asynchronous on the CPU: one dispatch mode a thread.

Each operation is classified once, from its schema and tags:

=========  ============================================================================================
VIEW       runs at once: its metadata is true even if the bytes are not there yet
COMPOSITE  is expanded by its own C++ kernel (inference mode shows composites whole)
INPLACE    is queued with its arguments; the argument itself is returned
OUT        the same, unless it would resize its target
FUNC       outputs are allocated now, and filled later ("run, write into these")
FACTORY    as FUNC, without tensor inputs
SYNC       needs values, draws random numbers or changes a tensor object: waits, then runs at once
=========  ============================================================================================

The layout of outputs is learned once for each signature (shapes, strides, dtypes, scalars with their class) by
running the CPU kernel on zeros: PyTorch's meta kernels promise CUDA's layout, which differs in places. Results
are bitwise those of eager code with one intra-op thread. Not caught: ``x.data = y`` and raw pointers while work
is queued, and training (autograd's version counters of in-place operations).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import torch
import torch._meta_registrations  # noqa: F401  (Python meta kernels)
from torch.utils._python_dispatch import TorchDispatchMode

from ..errors import MixedRuntimes
from .base import Launch

if TYPE_CHECKING:
    from .host import HostRuntime

_aten = torch.ops.aten
_Tag = torch.Tag
_COMPOSITE_KEY = torch._C.DispatchKey.CompositeImplicitAutograd
_SEEDED_BUT_PURE = {"aten::_scaled_dot_product_flash_attention_for_cpu"}  # tagged as random; it is not
_WHOLE = {"aten::linear", "aten::matmul", "aten::layer_norm", "aten::rms_norm", "aten::softmax"}
_OWN_COPY = {_aten.clone.default, _aten._to_copy.default}
_FRESH = ("aten::empty", "aten::new_empty")
_MOST_PLANS = 50_000
_SWITCH_INTERVAL_S = 2e-4  # a spinning launcher must not starve the workers of the interpreter lock


class Sort(IntEnum):
    """How an operation is run; the module's text has the table."""

    VIEW = 0
    COMPOSITE = 1
    SYNC = 2
    INPLACE = 3
    OUT = 4
    FACTORY = 5
    FUNC = 6


class _Op:
    """What is known of one operator overload."""

    __slots__ = ("bool_index", "device_arg", "name", "out_names", "out_op", "plans", "sort", "written")

    def __init__(self, func: Any) -> None:
        arguments = func._schema.arguments
        self.name = func._schema.name.removeprefix("aten::")
        self.plans: dict[Any, _Plan] = {}
        self.bool_index = func is _aten.index.Tensor
        self.device_arg = any(a.name == "device" for a in arguments)
        self.written = [(i, a.name, bool(a.kwarg_only)) for i, a in enumerate(arguments) if _is_write(a)]
        self.out_op: Any = None
        self.out_names: list[str] = []
        self.sort = _sort(func, self)
        if self.sort == Sort.FUNC and func not in _OWN_COPY and func._schema.name not in _WHOLE:
            self.out_op, self.out_names = _find_out(func)


class _Plan:
    """How to allocate the outputs of one (operator, signature)."""

    __slots__ = ("confirmed", "layouts", "sequence", "sync", "view")

    def __init__(
        self,
        layouts: list[Any] | None = None,
        sequence: Callable[[list[Any]], Any] | None = None,
        sync: bool = False,
        view: bool = False,
        confirmed: bool = False,
    ) -> None:
        self.layouts, self.sequence, self.sync, self.view = layouts or [], sequence, sync, view
        self.confirmed = confirmed


class _NoKey(Exception):
    """The arguments have no signature (sparse tensors, boolean indices)."""


_ops: dict[Any, _Op] = {}


# ---- classification


def _is_write(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _sort(func: Any, op: _Op) -> Sort:
    schema, tags = func._schema, func.tags
    has_tensor = any("Tensor" in str(a.type) for a in schema.arguments)
    if func is _aten.detach_.default:
        return Sort.VIEW
    if _Tag.inplace_view in tags:
        return Sort.SYNC  # changes a tensor object that queued items may hold
    if _is_composite(func) and not op.written and schema.name not in _WHOLE:
        return Sort.COMPOSITE
    if any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns):
        return Sort.VIEW
    if schema.name.startswith(_FRESH) and not op.written:
        return Sort.VIEW
    if _Tag.nondeterministic_seeded in tags and schema.name not in _SEEDED_BUT_PURE:
        return Sort.SYNC if has_tensor else Sort.VIEW  # random numbers are drawn in launch order
    if _needs_values(func, op):
        return Sort.SYNC
    if op.written:
        fresh = any(r.alias_info is None for r in schema.returns)
        resizes = any(keyword for _, _, keyword in op.written)
        return Sort.SYNC if fresh else Sort.OUT if resizes else Sort.INPLACE
    return Sort.FUNC if has_tensor else Sort.FACTORY


def _is_composite(func: Any) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), _COMPOSITE_KEY))


def _needs_values(func: Any, op: _Op) -> bool:
    dynamic = _Tag.dynamic_output_shape in func.tags or _Tag.data_dependent_output in func.tags
    returns_python = any("Tensor" not in str(r.type) for r in func._schema.returns)
    return (dynamic and not op.bool_index) or returns_python


def _find_out(func: Any) -> tuple[Any, list[str]]:
    """The out= overload whose other arguments are exactly func's, if there is one."""

    def signature(arguments: Sequence[Any]) -> list[Any]:
        return [(a.name, str(a.type), a.kwarg_only) for a in arguments]

    mine = signature(func._schema.arguments)
    packet = func.overloadpacket
    for overload in packet.overloads():
        candidate = getattr(packet, overload)
        outs = [a for a in candidate._schema.arguments if _is_write(a)]
        rest = [a for a in candidate._schema.arguments if a not in outs]
        plain = all(a.kwarg_only and str(a.type) == "Tensor" for a in outs)
        counts = len(outs) == len(func._schema.returns)
        if outs and plain and counts and signature(rest) == mine and _Tag.generated not in candidate.tags:
            return candidate, [a.name for a in outs]
    return None, []


# ---- signatures and plans


def _key(args: Any, out: list[Any]) -> None:
    for a in args:
        if isinstance(a, torch.Tensor):
            if a.layout is not torch.strided:
                raise _NoKey
            out += (a.shape, a.stride(), a.dtype)
        elif isinstance(a, (list, tuple)):
            out.append(len(a))
            _key(a, out)
        else:
            out += (a.__class__, a)  # the class, since 1 == 1.0 == True


def _signature(op: _Op, args: Any, kwargs: dict[str, Any]) -> Any:
    key: list[Any] = []
    _key(args, key)
    if kwargs:
        key.append(tuple(kwargs))
        _key(kwargs.values(), key)
    if op.bool_index and any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in args[1]):
        raise _NoKey
    return tuple(key)


def _find_plan(func: Any, op: _Op, args: Any, kwargs: dict[str, Any]) -> _Plan | None:
    try:
        key = _signature(op, args, kwargs)
        plan = op.plans.get(key)
    except (_NoKey, TypeError):
        return None
    if plan is None:
        if len(op.plans) > _MOST_PLANS:
            op.plans.clear()
        plan = op.plans[key] = _make_plan(func, op, args, kwargs)
    return plan


def _dummy(x: Any, device: str) -> Any:
    if isinstance(x, torch.Tensor):
        t = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device)
        return t if device == "meta" else t.zero_()
    if isinstance(x, (list, tuple)):
        return [_dummy(i, device) for i in x]
    return torch.device(device) if isinstance(x, torch.device) else x


def _flat(x: Any) -> list[Any]:
    return [t for i in x for t in _flat(i)] if isinstance(x, (list, tuple)) else [x]


def _layouts(tensors: Sequence[torch.Tensor]) -> list[Any]:
    return [(t.shape, t.stride(), t.dtype) for t in tensors]


def _make_plan(func: Any, op: _Op, args: Any, kwargs: dict[str, Any]) -> _Plan:
    """Learn the outputs' layout without touching the real inputs, which may not be ready.

    On zeros of the same layout; on meta tensors only where that fails, and first for operators of others,
    whose kernels may have effects.
    """
    for device in ("cpu", "meta") if func.namespace == "aten" else ("meta",):
        dummy_args = [_dummy(a, device) for a in args]
        dummy_kwargs = {k: _dummy(v, device) for k, v in kwargs.items()}
        if op.sort == Sort.FACTORY and op.device_arg:
            dummy_kwargs["device"] = device
        inputs = [t for t in _flat([dummy_args, list(dummy_kwargs.values())]) if isinstance(t, torch.Tensor)]
        before = _layouts(inputs)
        try:
            result = func(*dummy_args, **dummy_kwargs)
        except Exception:
            continue
        if op.sort == Sort.OUT:  # an out= call that would resize its target
            return _Plan(sync=before != _layouts(inputs))
        return _plan_from(result, inputs, confirmed=device == "cpu")
    return _Plan(sync=True)  # a user error, most likely: run it now, raise it here


def _plan_from(result: Any, inputs: Sequence[torch.Tensor], confirmed: bool) -> _Plan:
    flat = _flat(result)
    if not all(isinstance(t, torch.Tensor) and t.layout is torch.strided for t in flat):
        return _Plan(sync=True)
    owned = {t.untyped_storage()._cdata for t in inputs}
    mine = [t.untyped_storage()._cdata for t in flat]
    if owned & set(mine):
        return _Plan(view=True)  # aliases an input without saying so, e.g. _unsafe_view
    if len(set(mine)) != len(mine):
        return _Plan(sync=True)
    sequence = None if isinstance(result, torch.Tensor) else list if type(result) is list else tuple
    return _Plan(_layouts(flat), sequence, confirmed=confirmed)


# ---- the worker's side


def _call(fn: Any, args: Any, kwargs: dict[str, Any]) -> None:
    fn(*args, **kwargs)


def _fill(func: Any, op: _Op, args: Any, kwargs: dict[str, Any], outs: list[Any], plan: _Plan) -> None:
    """Run a functional operator and write its results into the tensors handed out at launch."""
    if plan.confirmed and op.out_op is not None:
        op.out_op(*args, **kwargs, **dict(zip(op.out_names, outs, strict=True)))
        return
    results = _flat(func(*args, **kwargs))
    if not plan.confirmed:  # the meta kernel's word is checked once for each signature
        real = _layouts(results)
        if [(r[0], r[2]) for r in real] != [(p[0], p[2]) for p in plan.layouts]:
            raise RuntimeError(f"the meta kernel of {op.name} promised {plan.layouts}, it made {real}")
        plan.layouts, plan.confirmed = real, True
    for out, result in zip(outs, results, strict=True):
        out.copy_(result)


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
        op = _ops.get(func) or _ops.setdefault(func, _Op(func))
        kwargs = kwargs or {}
        sort = op.sort
        if sort == Sort.VIEW or self.eager:
            return func(*args, **kwargs)
        if sort == Sort.COMPOSITE:
            with self:  # the C++ kernel: func.decompose() prefers Python ones that differ
                return func._op_dk(_COMPOSITE_KEY, *args, **kwargs)
        stream = self.runtime.current_stream()
        if sort == Sort.INPLACE:
            return self._write(stream, func, op, args, kwargs)
        plan = None if sort == Sort.SYNC else _find_plan(func, op, args, kwargs)
        if plan is None or plan.sync:
            stream.drain("host.read", op.name)
            return func(*args, **kwargs)
        if plan.view:
            return func(*args, **kwargs)
        if sort == Sort.OUT:
            return self._write(stream, func, op, args, kwargs)
        outs = [torch.empty_strided(shape, stride, dtype=dtype) for shape, stride, dtype in plan.layouts]
        # the worker writes through .data: its own version counter, so autograd's checks stay quiet
        mine = outs if torch.is_inference_mode_enabled() else [o.data for o in outs]
        launch = None
        if (host := self.runtime.hooks.host) is not None:
            launch = self._announce(host, stream, op, args, kwargs, outs)
        stream.submit(launch, _fill, (func, op, args, kwargs, mine, plan))
        return outs[0] if plan.sequence is None else plan.sequence(outs)

    def _write(self, stream: Any, func: Any, op: _Op, args: Any, kwargs: dict[str, Any]) -> Any:
        written = [kwargs[name] if name in kwargs else args[i] for i, name, _ in op.written]
        launch = None
        if (host := self.runtime.hooks.host) is not None:
            launch = self._announce(host, stream, op, args, kwargs, written)
        stream.submit(launch, _call, (func, args, kwargs))
        n = len(func._schema.returns)
        return None if n == 0 else written[0] if n == 1 else tuple(written[:n])

    def _announce(
        self, host: Any, stream: Any, op: _Op, args: Any, kwargs: dict[str, Any], written: list[Any]
    ) -> Launch:
        rt = self.runtime
        operation = rt._local.op
        tensors = [t for t in _flat([args, list(kwargs.values())]) if isinstance(t, torch.Tensor)]
        writes = rt.buffers(t for t in _flat(written) if isinstance(t, torch.Tensor))
        cls = "other" if operation is None else operation.cls
        launch = Launch(next(rt._correlations), op.name, cls, operation, rt.buffers(tensors), writes)
        host("kernel.launch", stream, launch)
        return launch


# ---- the context of a thread, and what is process-wide while one is open


class DeviceContext:
    """Run this thread's PyTorch operations on its current stream; entering it again inside does nothing."""

    def __init__(self, runtime: HostRuntime) -> None:
        self._runtime = runtime
        self._mode: _Mode | None = None

    def __enter__(self) -> DeviceContext:
        if _thread.mode is None:
            _process.enter()
            self._mode = _thread.mode = _Mode(self._runtime)
            self._mode.__enter__()
        elif _thread.mode.runtime is not self._runtime:
            raise MixedRuntimes("this thread is already inside the device context of another host runtime")
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._mode is not None:
            self._mode.__exit__(*exc)
            self._mode = _thread.mode = None
            _process.leave()


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
        self._plain[name] = torch.Tensor.__dict__.get(name)  # None: inherited
        plain = getattr(torch.Tensor, name)

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

        read.__name__ = name
        setattr(torch.Tensor, name, read)


_process = _Process()
