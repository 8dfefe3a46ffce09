"""Views of a recording: the interactive timeline, the still picture, and two recordings above one another."""

from .compare import Compare
from .pair import before_after
from .picture import Picture, picture
from .stepper import Stepper
from .timeline import Timeline

__all__ = ["Compare", "Picture", "Stepper", "Timeline", "before_after", "picture"]
