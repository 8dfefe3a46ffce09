"""What the notebooks need beyond the package: predictions, quizzes, exercises and their checks, hints."""

from .check import check, hint, solution
from .microbatches import microbatches
from .predict import verdict
from .progress import solved
from .quiz import answered
from .run import run

__all__ = ["answered", "check", "hint", "microbatches", "run", "solution", "solved", "verdict"]
