"""vLLM's order, and what one may believe instead."""

from typing import Any

from ubviz.ubatch import (
    dbo_switch_to_comm,
    dbo_switch_to_comm_sync,
    dbo_switch_to_compute,
    dbo_switch_to_compute_sync,
    dbo_yield,
    dbo_yield_and_switch_from_comm_to_compute,
    dbo_yield_and_switch_from_compute_to_comm,
)


def answer(k: Any) -> None:
    k.attention()
    dbo_yield_and_switch_from_compute_to_comm()
    k.dispatch()
    dbo_switch_to_compute_sync()
    k.experts()
    dbo_yield_and_switch_from_compute_to_comm()
    k.combine()
    dbo_switch_to_compute()
    k.shared()
    dbo_switch_to_comm()
    dbo_yield_and_switch_from_comm_to_compute()


def after_dispatch(k: Any) -> None:
    k.attention()
    dbo_switch_to_comm_sync()
    k.dispatch()
    dbo_yield_and_switch_from_comm_to_compute()
    k.experts()
    dbo_yield_and_switch_from_compute_to_comm()
    k.combine()
    dbo_switch_to_compute()
    k.shared()
    dbo_switch_to_comm()
    dbo_yield_and_switch_from_comm_to_compute()


def one_stream(k: Any) -> None:
    for piece in (k.attention, k.dispatch, k.experts, k.combine, k.shared):
        dbo_yield()
        piece()


def no_wait(k: Any) -> None:
    k.attention()
    dbo_yield()
    dbo_switch_to_comm()
    k.dispatch()
    dbo_switch_to_compute()
    k.experts()
    dbo_yield_and_switch_from_compute_to_comm()
    k.combine()
    dbo_yield_and_switch_from_comm_to_compute()
    k.shared()


def forgets(k: Any) -> None:
    k.attention()
    dbo_yield_and_switch_from_compute_to_comm()
    k.dispatch()
    dbo_switch_to_compute_sync()
    k.experts()


def unequal(k: Any) -> None:
    answer(k)
    if k.ubatch == 1:
        dbo_yield()


def no_last_wait(k: Any) -> None:
    k.attention()
    dbo_yield_and_switch_from_compute_to_comm()
    k.dispatch()
    dbo_switch_to_compute_sync()
    k.experts()
    dbo_yield_and_switch_from_compute_to_comm()
    k.combine()
    dbo_switch_to_compute()
    k.shared()


def dispatch_first(k: Any) -> None:
    k.dispatch()
    dbo_yield_and_switch_from_compute_to_comm()
    k.attention()
    dbo_switch_to_compute_sync()
    k.experts()
    dbo_yield_and_switch_from_compute_to_comm()
    k.combine()
    dbo_switch_to_compute_sync()
    k.shared()


def leaves_twice(k: Any) -> None:
    k.attention()
    dbo_yield_and_switch_from_compute_to_comm()
    dbo_yield_and_switch_from_compute_to_comm()


def mistyped(k: Any) -> None:
    k.atention()


def one_of_two(k: Any) -> None:
    answer(k)
    if k.ubatch == 1:
        k.shared()


wrong = {
    "what comes next needs no wait": (no_last_wait, "attention (ubatch 0, compute stream"),
    "dispatch needs no attention": (
        dispatch_first,
        "ubatch 0, layer 0: dispatch is launched before attention",
    ),
    "a switch may be said twice": (leaves_twice, "The answer raised ProtocolError"),
    "a slip of the pen": (mistyped, "has no attribute 'atention' (microbatch 0)"),
    "the second one may do more": (one_of_two, "ubatch 1 launches shared 8 times in 4 layers"),
    "the yield may come after the dispatch": (after_dispatch, "blocked"),
    "yield before every piece": (one_stream, "Dispatch and combine stand in the compute stream as well"),
    "streams need no waits": (no_wait, "No happens-before path joins them"),
    "a piece less is faster": (forgets, "ubatch 0 launches combine 0 times in 4 layers"),
    "no layer": (3, "the answer is a function layer(k)"),
}
