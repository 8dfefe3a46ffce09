"""Run what you were left, then leave your own."""

from typing import Any

from ubviz.ubatch import dbo_maybe_run_recv_hook, dbo_register_recv_hook, dbo_yield


def answer(k: Any) -> None:
    k.attention()
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("dispatch"))
    dbo_yield()
    k.experts()
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("combine"))
    dbo_yield()


def own(k: Any) -> None:
    k.attention()
    receive = k.send("dispatch")
    dbo_yield()
    receive()
    k.experts()
    receive = k.send("combine")
    dbo_yield()
    receive()


def at_once(k: Any) -> None:
    k.attention()
    k.send("dispatch")()
    dbo_yield()
    k.experts()
    k.send("combine")()
    dbo_yield()


def twice(k: Any) -> None:
    k.attention()
    dbo_register_recv_hook(k.send("dispatch"))
    dbo_yield()
    k.experts()
    dbo_register_recv_hook(k.send("combine"))
    dbo_yield()


def before_computing(k: Any) -> None:
    dbo_maybe_run_recv_hook()
    k.attention()
    dbo_register_recv_hook(k.send("dispatch"))
    dbo_yield()
    dbo_maybe_run_recv_hook()
    k.experts()
    dbo_register_recv_hook(k.send("combine"))
    dbo_yield()


def never(k: Any) -> None:
    k.attention()
    k.send("dispatch")
    dbo_yield()
    k.experts()
    k.send("combine")
    dbo_yield()


wrong = {
    "each receives its own, at once": (at_once, "only 0% of the flight is hidden"),
    "hooks may pile up": (twice, "is replaced by"),
    "it is enough to send": (never, "runs before its dispatch is received"),
    "receive before one computes": (before_computing, "of the flight is hidden"),
    "no layer": ("ll", "the answer is a function layer(k)"),
}
