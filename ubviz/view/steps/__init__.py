"""What the page of a stepper is told: see ``store``."""

from .store import PANELS, StepStore

__all__ = ["PANELS", "StepStore"]
