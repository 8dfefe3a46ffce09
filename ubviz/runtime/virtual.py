"""CUDA streams in virtual time: a deterministic runtime, whose only freedom is who runs next.

Threads pass a baton (``virtual_baton``), streams are times at which they are free (``virtual_streams``), operations
take what ``Costs`` says (``virtual_costs``) and are computed for real when they are launched (``virtual_work``).
The same program with the same costs is the same recording, to the byte. PyTorch is used where the program uses it.

What this model does not show: kernels that slow one another down, the interpreter lock, an allocator that hands
freed memory out again, other ranks.
"""

from __future__ import annotations

import atexit
import itertools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ..errors import AsyncError, BadArgument, Deadlock, MixedRuntimes
from . import virtual_streams as work
from . import virtual_sync as sync
from .base import Launch
from .hooks import Hooks
from .host_capture import Capture
from .schedule import LOOK, SYNC, AtRandom, Choice, Oracle, Replay, looks_in, read_schedule, written
from .virtual_baton import Baton, Runner
from .virtual_buffers import Buffers, nbytes_of
from .virtual_costs import TIMES, costs_of
from .virtual_graph import Graph
from .virtual_parking import Parking
from .virtual_work import Operation, launch


class VirtualRuntime:
    """Threads, streams and events in virtual time; the thread that makes it is its main thread.

    ``costs`` says what operations take (``Costs``, a mapping of names to nanoseconds, or a function), keywords like
    ``wake_ns=`` what hand-overs take. Who goes on is decided by virtual time; with ``seed`` at random; with
    ``schedule`` by an ``Oracle``, or by the string of a schedule that is to be played again.

    >>> rt = VirtualRuntime(costs={"experts": 300_000})
    >>> compute = rt.Stream("compute")
    >>> with rt.stream(compute), rt.op("experts"):
    ...     pass
    >>> rt.synchronize(); rt.now_ns()
    308000
    """

    name = "virtual"
    virtual_time = True

    def __init__(
        self, *, costs: Any = None, seed: int | None = None, schedule: Oracle | str | None = None, **times: Any
    ) -> None:  # fmt: skip
        self.costs = costs_of(costs, times)
        self.hooks = Hooks()
        self.baton = Baton(self.hooks, _oracle(seed, schedule))
        self.parking = Parking(self.baton)
        self.threads: set[Any] = set()
        self.buffer_numbers = Buffers(self)
        self.baton.tell_freed = self.buffer_numbers.tell_freed
        self.captures: tuple[Capture, ...] = ()
        self.contested = False  # a thread put down a flag for which another one waits: see ``LOOK``
        self.unreported: dict[AsyncError, None] = {}
        self._streams: dict[int, weakref.ref[work.Stream]] = {}
        self._objects: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._numbers = itertools.count()
        self._names = itertools.count(1)
        self._correlations = itertools.count(1)
        self._default: work.Stream | None = None
        _open_runtimes.add(self)

    @property
    def device(self) -> Any:
        """Where tensors live."""
        import torch

        return torch.device("cpu")

    # ---- what the oracle's side wants to know

    @property
    def steps(self) -> list[int]:
        """Who went on, choice by choice; empty in the order of virtual time."""
        return self.baton.steps

    @property
    def schedule(self) -> str:
        """The string that plays this run again."""
        return written(self.baton.steps, LOOK in self.baton.visible)

    @property
    def deadlock(self) -> Deadlock | None:
        """The first deadlock of this run."""
        return self.baton.deadlock

    def blocked(self) -> list[Choice]:
        """The pending operations that cannot be carried out now."""
        return self.baton.pending(able=False)

    def keeps(self, error: BaseException) -> bool:
        """Whether what a thread raised is kept by somebody, and not for ``threading.excepthook``."""
        return False

    def rest(self) -> None:
        """Let the other threads go on until none of them can."""
        self.baton.rest()

    # ---- making things

    def Thread(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        name: str | None = None,
        failed: Callable[[BaseException], Any] | None = None,
    ) -> sync.Thread:
        """A thread inside the device context; ``failed`` is told what kept ``target`` from being called."""
        return sync.Thread(self, _in_same_modes(target), args, name, failed)

    def Barrier(self, parties: int, name: str | None = None) -> sync.Barrier:
        return self._known(sync.Barrier(self, parties, name))

    def HostEvent(self, name: str | None = None) -> sync.HostEvent:
        return self._known(sync.HostEvent(self, name))

    def Stream(self, name: str | None = None) -> work.Stream:
        return work.Stream(self, name)

    def Event(self, name: str | None = None, enable_timing: bool = False) -> work.Event:
        return self._known(work.Event(self, name, enable_timing))

    def _known(self, obj: Any) -> Any:
        self._objects[next(self._numbers)] = obj
        return obj

    def thread_name(self) -> str:
        """The name of a thread that was given none; ``threading``'s own count goes on from run to run."""
        return f"thread {next(self._names)}"

    def Link(self, name: str = "network") -> work.Link:
        return work.Link(self, name)

    def graph(self, name: str | None = None) -> Graph:
        """A graph to capture work into, and to replay; see ``virtual_graph``."""
        return Graph(self, name)

    def warm_up(self) -> None:
        """What a thread does on each stream before it may capture there; nothing here."""

    def op(
        self,
        name: str,
        cls: str = "compute",
        layer: int | None = None,
        duration_ns: int | None = None,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
    ) -> Operation:
        """One named operation: one kernel, whatever PyTorch does inside. Reads and writes are tensors, or names."""
        return Operation(self, name, cls, layer, duration_ns, reads, writes)

    # ---- the current stream

    def default_stream(self) -> work.Stream:
        if self._default is None:
            self._default = work.Stream(self, "default")
        return self._default

    def current_stream(self) -> work.Stream:
        stream: work.Stream | None = self.baton.current.stream
        return stream if stream is not None else self.default_stream()

    def set_stream(self, stream: work.Stream) -> None:
        self._check_own(stream)
        self.flush(self.baton.me())
        if (host := self.hooks.host) is not None:
            host("stream.switch", stream, self.current_stream())
        self.baton.current.stream = stream

    def _check_own(self, stream: Any) -> None:
        if getattr(stream, "runtime", None) is not self:
            raise MixedRuntimes(f"{stream!r} is no stream of this runtime; make it with its rt.Stream()")

    @contextmanager
    def stream(self, stream: work.Stream | None) -> Iterator[work.Stream | None]:
        """``with rt.stream(s):`` makes ``s`` this thread's current stream; None changes nothing."""
        if stream is None:
            yield None
            return
        before = self.current_stream()
        self.set_stream(stream)
        try:
            yield stream
        finally:
            self.set_stream(before)

    # ---- launching

    def device_context(self) -> Any:
        """Run this thread's PyTorch operators as the device's; nothing to do where PyTorch is not loaded."""
        return self._context(drains=True)

    def thread_context(self) -> Any:
        """The device context of a thread of this runtime, whose end does not wait."""
        return self._context(drains=False)

    def _context(self, drains: bool) -> Any:
        if sys.modules.get("torch") is None:
            return _Drains(self) if drains else nullcontext()
        from .virtual_ops import device_context

        return device_context(self, drains)

    def check_thread(self) -> None:
        """Refuse a thread that is inside another runtime's device context."""
        if "ubviz.runtime.host_ops" in sys.modules:
            from .host_ops import check_thread_is_of

            check_thread_is_of(self)  # type: ignore[arg-type]

    def launch(
        self,
        name: str,
        fn: Callable[..., Any] | None = None,
        *args: Any,
        cls: str = "other",
        duration_ns: int | None = None,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
        stream: work.Stream | None = None,
        host_wait: bool = False,
        sends: work.Flight | None = None,
        receives: work.Flight | None = None,
    ) -> None:
        """One kernel on ``stream`` (the current one); ``fn(*args)`` is called when its start is known, mostly now.

        ``duration_ns`` is what it takes (default: ``costs``). ``sends`` departs when it ends; with ``receives`` it
        spins until that flight has arrived. ``host_wait=True`` returns when it is done. ``reads`` and ``writes`` are
        tensors or names.
        """
        stream = stream or self.current_stream()
        self._check_own(stream)
        stream._check_open()
        if host_wait and (capture := stream.capture) is not None:
            raise capture.waits(f"the launch {name}, which waits for its kernel (host_wait=True),", stream)  # type: ignore[arg-type]
        writes = tuple(writes)
        launched = Launch(
            0, name, cls, self.baton.me().op, self.buffers(reads), self.buffers(writes), host_wait, sends,
            receives, duration_ns,
        )  # fmt: skip
        launch(self, stream, fn, args, launched, nbytes_of(writes))

    def flush(self, me: Runner) -> None:
        """Launch what PyTorch did so far in this thread's operation, before something that comes after it."""
        if me.op is not None and me.op.seen is not None:
            me.op.launch()

    def buffers(self, things: Iterable[Any]) -> tuple[int, ...]:
        """Numbers of tensors' storages, and of names."""
        return self.buffer_numbers.numbers(things)

    def record_stream(self, thing: Any, stream: work.Stream) -> None:
        """Say that ``stream`` uses a buffer, so that its memory is not given away before."""
        self.buffer_numbers.recorded(thing, stream)

    def correlation(self) -> int:
        return next(self._correlations)

    @contextmanager
    def on_device(self, at_ns: int) -> Iterator[None]:
        """While a kernel's function runs: at the device's time, unseen, and as a worker would."""
        me = self.baton.current
        before, me.on_device_ns = me.on_device_ns, at_ns
        try:
            with _inference_mode():
                yield
        finally:
            me.on_device_ns = before

    def wake(self, waiters: list[work.Stream]) -> None:
        """Let streams go on that waited for what is known now."""
        going, waiters[:] = list(waiters), []
        for stream in going:
            stream.go_on()

    # ---- time, waiting and ending

    def now_ns(self) -> int:
        """The time of the thread that runs; of the device, inside a kernel's function."""
        me = self.baton.current
        return me.clock_ns if me.on_device_ns is None else me.on_device_ns

    def synchronize(self) -> None:
        """Block until all streams are done; raise the first error found. Idle streams are not asked."""
        for capture in self.captures:
            raise capture.waits("synchronize of the runtime", capture.origin)
        self.flush(self.baton.me())
        first: AsyncError | None = None
        for stream in self.streams():
            if stream.idle() and stream._error is None:
                continue
            try:
                stream.synchronize()
            except AsyncError as error:
                first = first or error
        if first is not None:
            raise first

    def add_stream(self, stream: work.Stream) -> None:
        self._streams[next(self._numbers)] = weakref.ref(stream)

    def forget_stream(self, stream: work.Stream) -> None:
        self._streams = {n: ref for n, ref in self._streams.items() if ref() not in (stream, None)}

    def streams(self) -> list[work.Stream]:
        """The streams that are open, in order of creation."""
        return [stream for ref in self._streams.values() if (stream := ref()) is not None]

    def idle(self) -> bool:
        """True when no stream has work."""
        return all(stream.idle() for stream in self.streams())

    def describe(self) -> dict[str, Any]:
        """Facts for a recording's meta; no version of anything."""
        times = {name: getattr(self.costs, name) for name in TIMES}
        named = {"buffers": dict(self.buffer_numbers.named)} if self.buffer_numbers.named else {}
        return {"runtime": self.name, "device": "virtual time", "times": times, **named}

    def snapshot(self) -> list[tuple[Any, Any]]:
        """Host events, barriers and events that exist now, each with its flag, count or record number."""
        return [(obj, obj.state()) for ref in self._objects.valuerefs() if (obj := ref()) is not None]

    def close(self) -> None:
        """Unwind threads that still wait; streams take no more work; captures under way are given up."""
        for capture in self.captures:
            capture.end()
        self.baton.close()
        for stream in self.streams():
            stream.close()
        self._default = None

    def __repr__(self) -> str:
        return f"<virtual runtime with {len(self.streams())} streams>"


class _Drains:
    """A device context without PyTorch: leaving it waits for all streams."""

    def __init__(self, runtime: VirtualRuntime) -> None:
        self._runtime = runtime

    def __enter__(self) -> _Drains:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self._runtime.synchronize()


def _oracle(seed: int | None, schedule: Oracle | str | None) -> Oracle | None:
    if seed is not None and schedule is not None:
        raise BadArgument("a run has a seed or a schedule, not both")
    if isinstance(schedule, str):
        return Replay(read_schedule(schedule), SYNC | {LOOK} if looks_in(schedule) else SYNC)
    return AtRandom(seed) if seed is not None else schedule


def _inference_mode() -> Any:
    torch = sys.modules.get("torch")
    return torch.inference_mode() if torch is not None else nullcontext()


def _in_same_modes(target: Callable[..., Any]) -> Callable[..., Any]:
    """Gradient and inference mode belong to a thread; a new one takes over its creator's."""
    torch = sys.modules.get("torch")
    if torch is None:
        return target
    inference, grad = torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    def run(*args: Any) -> Any:
        with torch.inference_mode(inference), torch.set_grad_enabled(grad):
            return target(*args)

    return run


_open_runtimes: weakref.WeakSet[VirtualRuntime] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """Say which errors nobody was told of."""
    for runtime in list(_open_runtimes):
        for error in runtime.unreported:
            print(f"ubviz: never synchronized: {error}", file=sys.stderr)
