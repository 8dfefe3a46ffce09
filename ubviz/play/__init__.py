"""Simulators handed to their views: what is played with in a cell is a program and a widget at once.

Where anywidget is not installed, the Python side is all there is.

Not here: running and searching (``ubviz.exploration``), what is seen (``ubviz.view``).
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING or find_spec("anywidget") is not None:
    from .scheduler import Scheduler
else:
    from ..exploration import Scheduler

__all__ = ["Scheduler"]
