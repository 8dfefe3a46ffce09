"""Programs that use everything below them: the demonstration, and exploration of schedules.

The demonstration runs on PyTorch, exploration does not need it; so each name is loaded when it is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .demo import Demo, Run, demo
    from .explorer import Exploration, explore
    from .scheduler import Scheduler

__all__ = ["Demo", "Exploration", "Run", "Scheduler", "demo", "explore"]

_HOME = {
    "Demo": "demo", "Run": "demo", "demo": "demo", "Exploration": "explorer", "explore": "explorer",
    "Scheduler": "scheduler",
}  # fmt: skip


class _Package(ModuleType):
    """``demo`` is a function, also after the module of that name was imported, which would take its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


sys.modules[__name__].__class__ = _Package
