"""What a Lab of the package varies: one small model on the ring, modelled kernels, in virtual time.

``simulate`` runs one setting: unsplit where ``ubatches`` is 1, else split, on the contexts of ``bare_ring``. A layer
is attention, dispatch, experts, combine. Its computation and its communication are given for the whole batch, a
microbatch has its equal share of them; each kernel takes ``fixed_ns`` besides, which is what splitting costs (a send
or a receive takes nothing else).

As in the engine: in ``ht`` the dispatch blocks the host and runs on the comm stream; in ``ll`` send and receive are
on the compute stream, and the transfer between them is in flight on none. No PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import BadArgument
from ..recording import record
from ..runtime.virtual_costs import Costs, Key
from ..trace.model import Trace
from ..ubatch import UBatchContext
from .bare_ring import Switches, plain_contexts, turn
from .execution import Explored

VARIANTS = {
    "none": Switches(),
    "record_after_yield": Switches(record="after"),
    "missing_wait": Switches(wait=False),
}
"""Of the variants those that finish, and that one sees in the time: by their names in ``exploration.variants``."""

SHARES = {
    "attention": ("compute", 2, 5),
    "experts": ("compute", 3, 5),
    "dispatch": ("comm", 1, 2),
    "combine": ("comm", 1, 2),
}
"""Of each operation, of which work it is, and how much of that in a layer."""


@dataclass(frozen=True)
class Setting:
    """Times are nanoseconds: of a layer's whole work, of each kernel besides, of a launch on its thread."""

    ubatches: int = 2
    layers: int = 4
    style: str = "ht"
    variant: str = "none"
    compute_ns: int = 480_000
    comm_ns: int = 360_000
    fixed_ns: int = 5_000
    launch_ns: int = 8_000

    def __post_init__(self) -> None:
        if self.style not in _LAYERS:
            raise BadArgument(f"style is ht or ll, not {self.style!r}")
        if self.variant not in VARIANTS:
            raise BadArgument(f"variant is {', '.join(VARIANTS)}, not {self.variant!r}")
        for name, least, most in (("ubatches", 1, 8), ("layers", 1, 64)):
            if not least <= getattr(self, name) <= most:
                raise BadArgument(f"{name} is from {least} to {most}, not {getattr(self, name)}")

    def own_ns(self, operation: str) -> int:
        """What a microbatch's operation takes, without ``fixed_ns``."""
        cls, part, of = SHARES[operation]
        return getattr(self, f"{cls}_ns") * part // (of * self.ubatches)


def simulate(**options: Any) -> Trace:
    """One step of a ``Setting`` in virtual time.

    >>> simulate(ubatches=2, layers=1).steps
    (0,)
    """
    setting = Setting(**options)
    rt: Any = Explored(None, modelled=True)
    receives: dict[Key, int] = {
        f"{name} receive": setting.fixed_ns for name in SHARES
    }  # once the data is there
    rt.costs = Costs(receives, launch_ns=setting.launch_ns)
    run = _unsplit if setting.ubatches == 1 else _overlapped
    with record(rt) as recording:
        about = {
            "step": 0,
            "tokens": 0,
            "branch": "unsplit" if setting.ubatches == 1 else "overlapped",
            "why": "",
        }
        _announce(rt, "step.begin", about)
        run(rt, setting)
        _announce(rt, "step.end", about)
        rt.synchronize()
    rt.close()
    return recording.trace


def _announce(rt: Any, kind: str, about: dict[str, Any]) -> None:
    if (host := rt.hooks.host) is not None:
        host(kind, None, about)


def _unsplit(rt: Any, setting: Setting) -> None:
    with rt.stream(rt.Stream("compute")):
        for layer in range(setting.layers):
            _UNSPLIT[setting.style](_Work(rt, setting, 0, layer))


def _overlapped(rt: Any, setting: Setting) -> None:
    def microbatch(context: UBatchContext) -> None:
        with context:
            for layer in range(setting.layers):
                _LAYERS[setting.style](_Work(rt, setting, context.id, layer), context)

    turn(rt, plain_contexts(rt, setting.ubatches, VARIANTS[setting.variant]), microbatch)


@dataclass(frozen=True)
class _Work:
    """Launches the operations of one microbatch's layer."""

    rt: Any
    setting: Setting
    ubatch: int
    layer: int

    def kernel(self, name: str, cls: str, ns: int | None, reads: str, writes: str, **more: Any) -> None:
        with self.rt.op(name, cls=cls, layer=self.layer):
            self.rt.launch(
                name, cls=cls, duration_ns=ns, reads=(f"{reads}{self.ubatch}",), writes=(f"{writes}{self.ubatch}",),
                **more,
            )  # fmt: skip

    def do(self, name: str, reads: str, writes: str, **more: Any) -> None:
        ns = self.setting.own_ns(name) + self.setting.fixed_ns
        self.kernel(name, SHARES[name][0], ns, reads, writes, **more)

    def send(self, name: str, reads: str) -> Callable[[], None]:
        """Send, and give what receives it."""
        flight = self.rt.Link("network").flight(self.setting.own_ns(name))
        self.kernel(f"{name} send", "comm", self.setting.fixed_ns, reads, f"{name} wire ", sends=flight)
        stream = self.rt.current_stream()

        def receive() -> None:
            self.kernel(
                f"{name} receive", "comm", None, f"{name} wire ", f"{name}d ", receives=flight, stream=stream
            )  # fmt: skip

        return receive


def _ht(work: _Work, c: UBatchContext) -> None:
    work.do("attention", "x", "h")
    c.yield_and_switch_from_compute_to_comm()
    work.do("dispatch", "h", "d", host_wait=True)
    c.switch_to_compute_sync()
    work.do("experts", "d", "e")
    c.yield_and_switch_from_compute_to_comm()
    work.do("combine", "e", "x")
    c.yield_and_switch_from_comm_to_compute()


def _ll(work: _Work, c: UBatchContext) -> None:
    for name, reads, writes, sent in (
        ("attention", "x", "h", "dispatch"),
        ("experts", "dispatchd ", "e", "combine"),
    ):
        work.do(name, reads, writes)
        c.maybe_run_recv_hook()
        c.register_recv_hook(work.send(sent, writes))
        c.yield_()


def _ht_unsplit(work: _Work) -> None:
    work.do("attention", "x", "h")
    work.do("dispatch", "h", "d", host_wait=True)
    work.do("experts", "d", "e")
    work.do("combine", "e", "x")


def _ll_unsplit(work: _Work) -> None:
    work.do("attention", "x", "h")
    work.send("dispatch", "h")()
    work.do("experts", "dispatchd ", "e")
    work.send("combine", "e")()


_LAYERS: dict[str, Callable[[_Work, UBatchContext], None]] = {"ht": _ht, "ll": _ll}
_UNSPLIT: dict[str, Callable[[_Work], None]] = {"ht": _ht_unsplit, "ll": _ll_unsplit}
