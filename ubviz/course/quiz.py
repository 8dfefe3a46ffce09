"""Closed questions: a plain Python value, and what each wrong choice has in mind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import BadArgument
from .told import filled


def answered(choice: Any, right: Any, because: str, wrong: Mapping[Any, str]) -> str:
    """A sentence or two about a choice: whether it is the right one, and why, or what it takes for granted.

    >>> answered("b", "b", "A wait binds to the record before it.", {"a": "That would block Python."})
    'Right. A wait binds to the record before it.'
    >>> answered("a", "b", "A wait binds to the record before it.", {"a": "That would block Python."})
    'No: That would block Python.'
    """
    if choice is None or choice is Ellipsis:
        return "No answer yet: put one in place of the dots, and run the cell again."
    if choice == right:
        return filled(f"Right. {because}")
    if choice in wrong:
        return filled(f"No: {wrong[choice]}")
    choices = ", ".join(repr(each) for each in sorted([right, *wrong], key=repr))
    raise BadArgument(f"{choice!r} is none of the answers; they are {choices}")
