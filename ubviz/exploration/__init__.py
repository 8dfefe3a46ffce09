"""Programs that use everything below them: the demonstration now, exploration of schedules to come."""

from .demo import Demo, Run, demo

__all__ = ["Demo", "Run", "demo"]
