"""The two styles of all-to-all between real ranks: ``all_to_all_single``, experts divided among the ranks.

``rank_ht`` and ``rank_ll`` are the styles of ``all2all`` with another exchange in the middle; streams, yields and
hooks are the same code. Not here: NVLink, RDMA, quantised tokens.
"""

from __future__ import annotations

from ..errors import BadArgument
from ..runtime.base import Runtime
from .all2all import PrepareFinalize
from .rank_ht import RankHighThroughput
from .rank_ll import RankLowLatency
from .ranks import Ranks


def make_rank_prepare_finalize(style: str, rt: Runtime, num_experts: int, ranks: Ranks) -> PrepareFinalize:
    """The all-to-all of a style between ranks, "ht" or "ll"."""
    ranks.own(num_experts)  # raises where they cannot be divided
    if style == "ht":
        return RankHighThroughput(rt, num_experts, ranks)
    if style == "ll":
        return RankLowLatency(rt, num_experts, ranks)
    raise BadArgument(f'the style of all-to-all is "ht" or "ll", not {style!r}')
