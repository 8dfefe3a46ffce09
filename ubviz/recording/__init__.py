"""Recording: from a runtime's hooks to a Trace."""

from .recorder import Recording, record

__all__ = ["Recording", "record"]
