"""Views of a recording: the still picture, and two recordings above one another."""

from .pair import before_after
from .picture import Picture, picture

__all__ = ["Picture", "before_after", "picture"]
