"""The variants: the protocol as it is, and twenty ways to break it, each with what has to be found.

Each is tried on the bare ring, where nobody checks anything, and on the contexts as vLLM has them, which check
themselves at each yield; both without our failing path. What a variant does is data: switches of the ring
(``bare_ring``), or a fault in the model (``ring_programs``). What has to be found is data, too: kinds of finding,
in every schedule or only in some.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import BadArgument
from .bare_ring import Switches
from .ring_programs import RingProgram

RINGS = ("own", "vllm", "bare")
"""The package's contexts with their failing path, vLLM's without it, and the bare ring without any check."""

HANGS = frozenset({"deadlock"})
RAISES = frozenset({"raised"})
PARTIES = frozenset({"barrier_parties"})
LOST = frozenset({"lost_wakeup"})
CONTEXT = frozenset({"wrong_context"})


@dataclass(frozen=True)
class Variant:
    """One way to break the protocol.

    ``bare`` and ``vllm`` are the kinds of finding that exploration must find, and the only errors that it may find,
    on two microbatches in style ``ht`` unless ``style`` says otherwise; empty where nothing goes wrong.
    ``always`` is false where only some schedules show it.
    """

    name: str
    sentence: str
    bare: frozenset[str] = frozenset()
    vllm: frozenset[str] = frozenset()
    always: bool = True
    style: str = "ht"
    switches: Mapping[str, Any] = field(default_factory=dict)
    fault: str | None = None


def _both(name: str, sentence: str, kinds: frozenset[str], **more: Any) -> Variant:
    always, style, fault = more.pop("always", True), more.pop("style", "ht"), more.pop("fault", None)
    return Variant(name, sentence, kinds, kinds, always, style, more, fault)


VARIANTS = {variant.name: variant for variant in (
    _both("none", "the protocol as it is", frozenset()),
    _both("parties_n", "the barrier opens for N threads, not N + 1: somebody is left outside",
          HANGS | PARTIES, parties=0),
    _both("parties_n_plus_2", "the barrier waits for one thread too many: nobody runs", HANGS | PARTIES, parties=2),
    _both("no_kick", "main never sets the first host event: all sleep behind the barrier", HANGS, kick=False),
    Variant("no_barrier", "nobody waits until all have come: a hook may find no receiver",
            RAISES | HANGS, RAISES, False, "ll", {"barrier": False}),
    _both("unequal_yields", "the last microbatch yields once more: its peer has left", HANGS, fault="unequal_yields"),
    Variant("no_clear", "a flag stays up after the wait: the next wait does not wait",
            frozenset({"two_batons", "unordered_submission"}), RAISES, switches={"clear": "never"}),
    Variant("clear_before_wait", "the flag goes down before the wait: a set that came early is lost",
            HANGS | LOST, HANGS | LOST | RAISES, False, switches={"clear": "before"}),
    Variant("no_restore", "who wakes does not put its forward context back",
            CONTEXT, CONTEXT | RAISES, switches={"restore": False}),
    _both("signal_self", "a yield sets its own host event: right answers, and no overlap",
          frozenset({"no_interleaving"}), yields_to_itself=True),
    _both("self_ring", "every microbatch signals itself, in leaving too: the others never run", HANGS, to=0),
    _both("no_exit_signal", "who leaves does not hand the turn on", HANGS, exit_signal=False),
    _both("ring_off_by_one", "microbatch i signals i + 2: with three that is still a ring", HANGS, to=2),
    Variant("dbo_outside", "main calls dbo_yield while microbatches are alive",
            frozenset(), RAISES, fault="dbo_outside"),
    Variant("hook_after_exit", "a hook is left with a microbatch that has left",
            frozenset({"lost_hook"}), RAISES, fault="hook_after_exit"),
    _both("hook_twice", "a second hook is left before the first was run", frozenset({"lost_hook"}),
          fault="hook_twice"),
    _both("record_after_yield", "the event is recorded after the yield: it covers the peer's work, too",
          frozenset(), record="after"),
    _both("missing_wait", "the comm stream does not wait for what it sends", frozenset({"race"}), wait=False),
    _both("raise_in_model", "the first microbatch raises in its model: its peer waits for ever", HANGS | RAISES,
          fault="raise_in_model"),
    _both("raise_before_barrier", "the last microbatch raises before the barrier: nobody passes it", HANGS | RAISES,
          fault="raise_before_barrier"),
)}  # fmt: skip
"""By name, in the order in which the course meets them."""


def program_of(
    variant: str = "none",
    *,
    ubatches: int = 2,
    layers: int = 1,
    style: str | None = None,
    ring: str | None = None,
) -> RingProgram:
    """The program of a variant, to explore.

    ``ring`` is one of ``RINGS``; by default the package's own for ``none``, else vLLM's. The style is by default the
    one in which the variant shows.

    >>> program_of("no_kick").switches.kick
    False

    Raises ``BadArgument`` for what does not exist.
    """
    if variant not in VARIANTS:
        raise BadArgument(f"there is no variant {variant!r}; there are {', '.join(VARIANTS)}")
    chosen = VARIANTS[variant]
    ring = ring or ("own" if variant == "none" else "vllm")
    if ring not in RINGS:
        raise BadArgument(f"ring is one of {', '.join(RINGS)}, not {ring!r}")
    if ring == "own" and chosen.switches:
        raise BadArgument(f"variant {variant} breaks the ring itself: choose ring vllm or bare")
    switches = None if ring == "own" else replace(Switches(asserts=ring == "vllm"), **chosen.switches)
    return RingProgram(ubatches, layers, style or chosen.style, switches, chosen.fault)
