"""Choosing a runtime by name, and saying why one cannot be had."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..errors import BadArgument, MixedRuntimes, RuntimeUnavailable

NAMES = ("auto", "host", "cuda", "virtual")


def get_runtime(name: str = "auto", **options: Any) -> Any:
    """A new runtime: ``"cuda"`` is this machine's GPU, ``"host"`` emulated streams on its CPU.

    ``"auto"`` is cuda where PyTorch sees a device, else host. ``"virtual"`` is deterministic, in virtual time; it takes
    ``costs``, ``seed`` or ``schedule``, and times like ``wake_ns`` (see ``VirtualRuntime``).

    >>> rt = get_runtime("host")
    >>> rt.name
    'host'

    Raises ``BadArgument`` for an unknown name, ``RuntimeUnavailable`` where what it needs is not there.
    """
    check_name(name)
    if name == "virtual":
        from .virtual import VirtualRuntime

        return VirtualRuntime(**options)
    if options:
        raise BadArgument(f"runtime {name!r} takes no option {next(iter(options))!r}")
    if name == "cuda" or (name == "auto" and why_no_cuda() is None):
        return _cuda()
    try:
        from .host import HostRuntime
    except ImportError as error:
        raise RuntimeUnavailable(
            f"the host runtime needs PyTorch ({error}): install ubviz with its extra run; `ubviz doctor` says how"
        ) from None
    return HostRuntime()


def _cuda() -> Any:
    if (missing := why_no_cuda()) is not None:
        raise RuntimeUnavailable(f"there is no cuda runtime here: {missing.why}; {missing.how}")
    from .cuda import CudaRuntime

    return CudaRuntime()


def check_name(name: str) -> None:
    """Raise ``BadArgument`` unless there is a runtime of this name."""
    if name not in NAMES:
        raise BadArgument(f"there is no runtime {name!r}; this version has {', '.join(NAMES)}")


class Missing(NamedTuple):
    """Why something cannot be had, and how to get it."""

    why: str
    how: str


def why_no_cuda() -> Missing | None:
    """What is missing for the cuda runtime; None where it can be had."""
    try:
        import torch
    except ImportError as error:
        absent = find_spec("torch") is None
        why = "torch is not installed" if absent else f"torch cannot be imported: {error}"
        return Missing(why, "install ubviz with its extra run")
    return missing_for_cuda(torch)


def missing_for_cuda(torch: Any) -> Missing | None:
    """What keeps this ``torch`` from a CUDA device: its build, the driver, or the device."""
    if torch.cuda.is_available():
        return None
    if torch.version.cuda is None:
        how = "on a machine with an NVIDIA GPU, install the build for its driver that pytorch.org offers"
        return Missing("this torch is built without CUDA", how)
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        return Missing(said, "install NVIDIA's driver; nvidia-smi has to list the device")
    how = "nvidia-smi has to list one, and CUDA_VISIBLE_DEVICES must not hide it"
    return Missing(f"torch for CUDA {torch.version.cuda} sees no device", how)


_adopting: dict[int, Any] = {}  # the runtimes that stand for streams which PyTorch made, by device


def runtime_stream(stream: Any) -> Any:
    """The stream that stands for a bare ``torch.cuda.Stream``; a stream of a runtime is returned as it is.

    All bare streams of a device belong to one runtime, which is made when it is first needed.

    Raises ``MixedRuntimes`` for anything else.
    """
    if getattr(stream, "runtime", None) is not None:
        return stream
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(stream, torch.cuda.Stream):
        raise MixedRuntimes(f"{stream!r} belongs to no runtime of ubviz; make it with rt.Stream()")
    index = stream.device_index
    if index not in _adopting:
        from .cuda import CudaRuntime

        _adopting[index] = CudaRuntime(index)
    return _adopting[index].adopt(stream)
