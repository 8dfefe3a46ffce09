"""The ring of one step: which microbatches are still alive, and what has failed first.

The protocol that uses it is told in ``contexts``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .contexts import UBatchContext


class Unwind(BaseException):
    """Raised in a microbatch that wakes in a failed ring, so that its thread leaves; callers never see it."""


class Ring:
    """The microbatches of one step: who is still alive, and whether one has failed.

    Who holds the turn writes to it, and who fails without it: adding to a set or a list is one step.
    """

    def __init__(self) -> None:
        self.contexts: tuple[UBatchContext, ...] = ()
        self.left: set[int] = set()
        self._failures: list[tuple[BaseException, UBatchContext | None]] = []

    def fail(self, error: BaseException, by: UBatchContext | None = None) -> None:
        """Mark the ring; the first error stays."""
        self._failures.append((error, by))

    @property
    def error(self) -> BaseException | None:
        """What failed first; None while all is well."""
        return self._failures[0][0] if self._failures else None

    @property
    def failed_by(self) -> UBatchContext | None:
        """The microbatch that failed first; None also when main did."""
        return self._failures[0][1] if self._failures else None

    def after(self, ubatch: int) -> UBatchContext:
        """The next microbatch round the ring, alive or not."""
        return self.contexts[(ubatch + 1) % len(self.contexts)]

    def next_alive(self, ubatch: int) -> UBatchContext | None:
        """The next other microbatch that has not left."""
        n = len(self.contexts)
        for k in range(1, n):
            if (ubatch + k) % n not in self.left:
                return self.contexts[(ubatch + k) % n]
        return None
