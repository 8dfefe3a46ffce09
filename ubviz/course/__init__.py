"""What the notebooks need beyond the package: predictions, quizzes, exercises and their checks, hints."""

from .check import check, hint, solution
from .predict import verdict
from .progress import solved
from .quiz import answered

__all__ = ["answered", "check", "hint", "solution", "solved", "verdict"]
