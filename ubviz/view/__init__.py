"""Views of a recording: the still picture."""

from .picture import Picture, picture

__all__ = ["Picture", "picture"]
