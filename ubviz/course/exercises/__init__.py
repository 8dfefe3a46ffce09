"""The exercises of the notebooks, one file each: ``e05_yields.py`` holds the one called ``"05.yields"``."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from ...errors import BadArgument
from ..exercise import Exercise


def names() -> list[str]:
    """All of them, in the order of the notebooks.

    >>> names()[0]
    '00.wall_time'
    """
    found = [module.name for module in pkgutil.iter_modules(__path__)]
    return sorted(f"{name[1:3]}.{name[4:]}" for name in found if name[0] == "e")


def named(name: str) -> Exercise:
    """The exercise of a name; ``BadArgument`` where there is none."""
    if not isinstance(name, str) or name not in names():
        raise BadArgument(f"there is no exercise {name!r}; there are {', '.join(names())}")
    module = import_module(f"{__name__}.e{name.replace('.', '_')}")
    exercise: Exercise = module.EXERCISE
    return exercise
