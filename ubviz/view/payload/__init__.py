"""What the page is told of a recording: an index, and named blocks that it asks for."""

from .store import Payload

__all__ = ["Payload"]
