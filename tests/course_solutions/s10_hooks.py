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


def called(k: Any) -> None:
    """The hook is called where it should be left: what is left is None."""
    k.attention()
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("dispatch")())
    dbo_yield()
    k.experts()
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("combine")())
    dbo_yield()


def sends_first(k: Any) -> None:
    k.attention()
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("dispatch"))
    dbo_yield()
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("combine"))
    k.experts()
    dbo_yield()


def no_attention(k: Any) -> None:
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("dispatch"))
    dbo_yield()
    k.experts()
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("combine"))
    dbo_yield()


def never_yields(k: Any) -> None:
    k.attention()
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("dispatch"))
    k.experts()
    dbo_maybe_run_recv_hook()
    dbo_register_recv_hook(k.send("combine"))


def yields_for_ever(k: Any) -> None:
    while True:
        dbo_yield()


def spins(k: Any) -> None:
    while True:
        pass


def raises(k: Any) -> None:
    k.attention()
    raise ValueError("by me")


def misspelt(k: Any) -> None:
    k.send("dispach")


wrong = {
    "each receives its own, at once": (at_once, "only 0% of the flight is hidden"),
    "hooks may pile up": (twice, "is replaced by"),
    "it is enough to send": (never, "Microbatch 0 launches dispatch receive 0 times in 4 layers"),
    "receive before one computes": (before_computing, "of the flight is hidden"),
    "a hook is called at once": (called, "leave that function, and do not call it"),
    "sending needs no computing": (
        sends_first,
        "Microbatch 0, layer 0: combine send is launched before the experts",
    ),
    "attention plays no part": (no_attention, "Microbatch 0 launches attention 0 times in 4 layers"),
    "nobody has to yield": (never_yields, "registers a receive hook for microbatch 0, which has left"),
    "one yields for ever": (yields_for_ever, "without coming to an end"),
    "one never yields, and never ends": (spins, "without coming to an end"),
    "it raises in a thread": (raises, "by me (microbatch 0)"),
    "a misspelt name": (misspelt, 'send takes "dispatch" or "combine", not \'dispach\''),
    "no layer": ("ll", "the answer is a function layer(k)"),
}
