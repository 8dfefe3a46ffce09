"""What is known of PyTorch's operators: how each is to be run, and the layout of what it makes.

Each operator is classified once, from its schema and tags:

=========  ============================================================================================
VIEW       runs at once: its metadata is true even if the bytes are not there yet
COMPOSITE  is expanded by its own C++ kernel (inference mode shows composites whole)
INPLACE    is queued with its arguments, once they are known to fit; the argument itself is returned
OUT        the same, unless it would resize its target
FUNC       outputs are allocated now, and filled later ("run, write into these")
FACTORY    as FUNC, without tensor inputs
SYNC       needs values, draws random numbers or changes a tensor object: waits, then runs at once
RANDOM     makes random numbers of no input: runs at once, so that they are drawn in launch order
=========  ============================================================================================

The layout of outputs is learned once for each signature (shapes, strides, dtypes, scalars with their class) by
running the CPU kernel on zeros: PyTorch's meta kernels promise CUDA's layout, which differs in places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import torch
import torch._meta_registrations

_aten = torch.ops.aten
_Tag = torch.Tag
COMPOSITE_KEY = torch._C.DispatchKey.CompositeImplicitAutograd
_SEEDED_BUT_PURE = {"aten::_scaled_dot_product_flash_attention_for_cpu"}  # tagged as random; it is not
_WHOLE = {"aten::linear", "aten::matmul", "aten::layer_norm", "aten::rms_norm", "aten::softmax"}
_OWN_COPY = {_aten.clone.default, _aten._to_copy.default}
_INDEXING = {_aten.index.Tensor, _aten.index_put_.default, _aten._index_put_impl_.default}
_FRESH = ("aten::empty", "aten::new_empty")
_MOST_PLANS = 50_000
_Tensor, _strided = torch.Tensor, torch.strided
PLAIN = {int, float, bool, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format}
"""No tensors; asking the class is quicker than ``isinstance``, which goes to the metaclass of Tensor."""


class Sort(IntEnum):
    """How an operation is run; the module's text has the table."""

    VIEW = 0
    COMPOSITE = 1
    SYNC = 2
    INPLACE = 3
    OUT = 4
    FACTORY = 5
    FUNC = 6
    RANDOM = 7


class Op:
    """What is known of one operator overload."""

    __slots__ = (
        "bool_index", "checked", "device_arg", "name", "out_names", "out_op", "plans", "random", "sort",
        "written",
    )  # fmt: skip

    def __init__(self, func: Any) -> None:
        arguments = func._schema.arguments
        self.name = func._schema.name.removeprefix("aten::")
        self.plans: dict[Any, Plan] = {}
        self.bool_index = func in _INDEXING
        self.device_arg = any(a.name == "device" for a in arguments)
        self.written = [(i, a.name, bool(a.kwarg_only)) for i, a in enumerate(arguments) if _is_write(a)]
        self.out_op: Any = None
        self.out_names: list[str] = []
        self.random = _Tag.nondeterministic_seeded in func.tags and func._schema.name not in _SEEDED_BUT_PURE
        self.sort = _sort(func, self)
        # in-place operators of others are not tried on copies: their kernels may have effects
        self.checked = self.sort not in (Sort.SYNC, Sort.RANDOM) and (
            self.sort != Sort.INPLACE or func.namespace == "aten"
        )
        if self.sort == Sort.FUNC and func not in _OWN_COPY and func._schema.name not in _WHOLE:
            self.out_op, self.out_names = _find_out(func)


class Plan:
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


ops: dict[Any, Op] = {}


# ---- classification


def _is_write(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _sort(func: Any, op: Op) -> Sort:
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
    if op.random:
        return Sort.SYNC if has_tensor else Sort.RANDOM  # random numbers are drawn in launch order
    if _needs_values(func, op):
        return Sort.SYNC
    if op.written:
        fresh = any(r.alias_info is None for r in schema.returns)
        resizes = any(keyword for _, _, keyword in op.written)
        return Sort.SYNC if fresh else Sort.OUT if resizes else Sort.INPLACE
    return Sort.FUNC if has_tensor else Sort.FACTORY


def _is_composite(func: Any) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), COMPOSITE_KEY))


def _needs_values(func: Any, op: Op) -> bool:
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
        cls = a.__class__
        if cls in PLAIN:
            out += (cls, a)  # the class, since 1 == 1.0 == True
        elif cls is _Tensor or isinstance(a, _Tensor):
            if a.layout is not _strided:
                raise _NoKey
            out += (a.shape, a.stride(), a.dtype)
        elif isinstance(a, (list, tuple)):
            out.append(len(a))
            _key(a, out)
        else:
            out += (cls, a)


def _signature(op: Op, args: Any, kwargs: dict[str, Any]) -> Any:
    key: list[Any] = [torch.get_default_dtype()]
    _key(args, key)
    if kwargs:
        key.append(tuple(kwargs))
        _key(kwargs.values(), key)
    if op.bool_index and any(i is not None and i.dtype in (torch.bool, torch.uint8) for i in args[1]):
        raise _NoKey
    return tuple(key)


def find_plan(func: Any, op: Op, args: Any, kwargs: dict[str, Any]) -> Plan | None:
    try:
        key = _signature(op, args, kwargs)
        plan = op.plans.get(key)
    except (_NoKey, TypeError, RuntimeError):  # RuntimeError: nested tensors have no shape
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


def flat(x: Any) -> list[Any]:
    return [t for i in x for t in flat(i)] if isinstance(x, (list, tuple)) else [x]


def _layouts(tensors: Sequence[torch.Tensor]) -> list[Any]:
    return [(t.shape, t.stride(), t.dtype) for t in tensors]


def _make_plan(func: Any, op: Op, args: Any, kwargs: dict[str, Any]) -> Plan:
    """Learn the outputs' layout without touching the real inputs, which may not be ready.

    On zeros of the same layout; on meta tensors only where that fails, and first for operators of others,
    whose kernels may have effects.
    """
    for device in ("cpu", "meta") if func.namespace == "aten" else ("meta",):
        dummy_args = [_dummy(a, device) for a in args]
        dummy_kwargs = {k: _dummy(v, device) for k, v in kwargs.items()}
        if op.sort == Sort.FACTORY and op.device_arg:
            dummy_kwargs["device"] = device
        inputs = [t for t in flat([dummy_args, *dummy_kwargs.values()]) if isinstance(t, torch.Tensor)]
        before = _layouts(inputs)
        try:
            result = func(*dummy_args, **dummy_kwargs)
        except Exception:
            continue
        if op.written:  # an out= call that would resize its target waits, and so does a user error
            return Plan(sync=before != _layouts(inputs))
        return _plan_from(result, inputs, confirmed=device == "cpu")
    return Plan(sync=True)  # a user error, most likely: run it now, raise it here


def _plan_from(result: Any, inputs: Sequence[torch.Tensor], confirmed: bool) -> Plan:
    made = flat(result)
    if not all(isinstance(t, torch.Tensor) and t.layout is torch.strided for t in made):
        return Plan(sync=True)
    theirs = {t.untyped_storage()._cdata for t in inputs}
    mine = [t.untyped_storage()._cdata for t in made]
    if theirs & set(mine):
        return Plan(view=True)  # aliases an input without saying so, e.g. _unsafe_view
    if len(set(mine)) != len(mine):
        return Plan(sync=True)
    sequence = None if isinstance(result, torch.Tensor) else list if type(result) is list else tuple
    return Plan(_layouts(made), sequence, confirmed=confirmed)


# ---- the worker's side


def call(fn: Any, args: Any, kwargs: dict[str, Any]) -> None:
    fn(*args, **kwargs)


def fill(func: Any, op: Op, args: Any, kwargs: dict[str, Any], outs: list[Any], plan: Plan) -> None:
    """Run a functional operator and write its results into the tensors handed out at launch."""
    if plan.confirmed and op.out_op is not None:
        op.out_op(*args, **kwargs, **dict(zip(op.out_names, outs, strict=True)))
        return
    results = flat(func(*args, **kwargs))
    if not plan.confirmed:  # the meta kernel's word is checked once for each signature
        real = _layouts(results)
        if [(r[0], r[2]) for r in real] != [(p[0], p[2]) for p in plan.layouts]:
            raise RuntimeError(f"the meta kernel of {op.name} promised {plan.layouts}, it made {real}")
        plan.layouts, plan.confirmed = real, True
    for out, result in zip(outs, results, strict=True):
        out.copy_(result)
