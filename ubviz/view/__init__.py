"""Views of a recording: the interactive timeline, the still picture, and two recordings above one another."""

from .pair import before_after
from .picture import Picture, picture
from .stepper import Stepper
from .timeline import Timeline

__all__ = ["Picture", "Stepper", "Timeline", "before_after", "picture"]
