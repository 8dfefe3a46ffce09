"""Choosing a runtime by name."""

from __future__ import annotations

from typing import Any

from ..errors import BadArgument, RuntimeUnavailable

NAMES = ("auto", "host")


def get_runtime(name: str = "auto", **options: Any) -> Any:
    """A new runtime: ``"host"`` is emulated streams on this machine's CPU, ``"auto"`` the best there is.

    >>> rt = get_runtime("host")
    >>> rt.name
    'host'

    Raises ``BadArgument`` for an unknown name, ``RuntimeUnavailable`` where what it needs is not installed.
    """
    check_name(name)
    if options:
        raise BadArgument(f"runtime {name!r} takes no option {next(iter(options))!r}")
    try:
        from .host import HostRuntime
    except ImportError as error:
        raise RuntimeUnavailable(
            f"the host runtime needs PyTorch ({error}): install ubviz with its extra run; `ubviz doctor` says how"
        ) from None
    return HostRuntime()


def check_name(name: str) -> None:
    """Raise ``BadArgument`` unless there is a runtime of this name."""
    if name not in NAMES:
        raise BadArgument(f"there is no runtime {name!r}; this version has {', '.join(NAMES)}")
