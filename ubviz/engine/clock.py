"""Clock anchors: the same moments by this rank's clock and by a common one, so that recordings can be joined.

The common clock is rank 0's recording. After a barrier each rank in turn asks rank 0 for its time, some rounds; a
round that went out at ``a`` and came back at ``b`` met rank 0's answer somewhere between: the anchor is the middle of
the shortest round, and half of it the error.

Kept as ``meta["clock"]``, times in nanoseconds since the recording of each began: ``{"common": "rank 0", "anchors":
[{"own_ns": ..., "common_ns": ..., "error_ns": ...}, ...]}``, one anchor where the recording begins and one where it
ends.

Source: F. Cristian, Probabilistic clock synchronization, 1989.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from .ranks import Ranks

ROUNDS = 16


def anchor(ranks: Ranks, now_ns: Callable[[], int], step: int) -> dict[str, int]:
    """One anchor; every rank calls it at the same point of its program."""
    found: list[dict[str, int]] = []
    ranks.barrier(step, "the clock's barrier")
    ranks.guard("main", step, "the clock's rounds", lambda: _all_ask(ranks, now_ns, found))
    now = now_ns()
    return min(
        found, key=lambda one: one["error_ns"], default={"own_ns": now, "common_ns": now, "error_ns": 0}
    )


def _all_ask(ranks: Ranks, now_ns: Callable[[], int], found: list[dict[str, int]]) -> None:
    for peer in range(1, ranks.size):
        if ranks.rank == 0:
            _answer(peer, now_ns, ranks.groups["main"])
        elif ranks.rank == peer:
            found += [_ask(now_ns, ranks.groups["main"]) for _ in range(ROUNDS)]


def _answer(peer: int, now_ns: Callable[[], int], group: Any) -> None:
    box = torch.zeros(1, dtype=torch.int64)
    for _ in range(ROUNDS):
        dist.recv(box, peer, group=group)
        dist.send(torch.tensor([now_ns()]), peer, group=group)


def _ask(now_ns: Callable[[], int], group: Any) -> dict[str, int]:
    box = torch.zeros(1, dtype=torch.int64)
    before = now_ns()
    dist.send(box, 0, group=group)
    dist.recv(box, 0, group=group)
    after = now_ns()
    return {
        "own_ns": (before + after) // 2, "common_ns": int(box), "error_ns": (after - before + 1) // 2
    }  # fmt: skip
