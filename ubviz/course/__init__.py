"""What the notebooks need beyond the package: predictions, quizzes, exercises and their checks, hints."""

from .check import check, hint, solution
from .microbatches import microbatches
from .passes import forward_passes
from .predict import verdict
from .progress import solved
from .quiz import answered
from .run import run
from .told import listed, say

__all__ = [
    "answered",
    "check",
    "forward_passes",
    "hint",
    "listed",
    "microbatches",
    "run",
    "say",
    "solution",
    "solved",
    "verdict",
]
