"""Runtimes: threads, streams and events behind one contract (``base``), with hooks for whoever listens."""

from .base import CLASSES, Launch, Runtime
from .choose import check_name, get_runtime
from .hooks import Hooks, Listener

__all__ = ["CLASSES", "Hooks", "Launch", "Listener", "Runtime", "check_name", "get_runtime"]
