"""What the notebooks need beyond the package: predictions now, checks and hints to come."""

from .predict import verdict

__all__ = ["verdict"]
