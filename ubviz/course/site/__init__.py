"""All notebooks as pages that need no kernel and no network: ``python -m ubviz.course.site FOLDER``."""

from .build import build

__all__ = ["build"]
