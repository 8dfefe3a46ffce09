"""CUDA streams on a CPU, in real time.

Inside ``rt.device_context()`` ordinary PyTorch code is asynchronous: a dispatch mode (``host_ops``) turns each
operation into "allocate the outputs now, run the kernel later" on the current stream (``host_streams``). What
this emulation does not show: streaming multiprocessors shared by overlapping kernels, and memory reused too
early (a queued item keeps its tensors alive).
"""

from __future__ import annotations

import atexit
import itertools
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch

from ..errors import AsyncError, MixedRuntimes
from . import host_streams as work
from . import host_sync as sync
from . import host_wire as wire
from .base import Launch
from .hooks import Hooks
from .host_capture import Capture
from .host_graph import Graph
from .host_ops import DeviceContext, buffers_in, check_thread_is_of


class _StreamContext:
    def __init__(self, runtime: HostRuntime, stream: work.Stream | None) -> None:
        self._runtime, self._stream = runtime, stream

    def __enter__(self) -> work.Stream | None:
        self._before = self._runtime.current_stream()
        if self._stream is not None:
            if (host := self._runtime.hooks.host) is not None:
                host("stream.switch", self._stream, self._before)
            self._runtime._local.stream = self._stream
        return self._stream

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._runtime._local.stream = self._before  # first, since a listener may raise
            if (host := self._runtime.hooks.host) is not None:
                host("stream.switch", self._before, self._stream)


class Operation:
    """A named piece of work: the launches made inside, in this thread, belong to it."""

    __slots__ = ("_outer", "_runtime", "cls", "duration_ns", "layer", "name", "reads", "writes")

    def __init__(
        self,
        runtime: HostRuntime,
        name: str,
        cls: str = "compute",
        layer: int | None = None,
        duration_ns: int | None = None,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
    ) -> None:
        self._runtime, self.name, self.cls, self.layer = runtime, name, cls, layer
        self.duration_ns, self.reads, self.writes = duration_ns, reads, writes
        self._outer: Operation | None = None

    def __enter__(self) -> Operation:
        check_thread_is_of(self._runtime)
        local = self._runtime._local
        self._outer, local.op = local.op, self
        if (host := self._runtime.hooks.host) is not None:
            host("op.begin", self, None)
        return self

    def __exit__(self, *_: object) -> None:
        self._runtime._local.op = self._outer
        if (host := self._runtime.hooks.host) is not None:
            host("op.end", self, None)


class _Local(threading.local):
    stream: work.Stream | None = None
    op: Operation | None = None


class HostRuntime:
    """Threads, streams and events of one machine's CPU.

    >>> rt = HostRuntime()
    >>> a, b, done = rt.Stream("a"), rt.Stream("b"), rt.Event("done")
    >>> said = []
    >>> rt.launch("first", said.append, 1, stream=a)
    >>> done.record(a); b.wait_event(done)
    >>> rt.launch("second", said.append, 2, stream=b)
    >>> rt.synchronize(); said
    [1, 2]
    >>> rt.close()
    """

    name = "host"
    device = torch.device("cpu")
    now_ns = staticmethod(time.perf_counter_ns)

    def __init__(self) -> None:
        self.hooks = Hooks()
        self.parking = sync.Parking()
        self.threads: set[threading.Thread] = set()
        self._numbers = itertools.count()
        # by number, in order of creation; unlike a WeakSet they can be read while another thread adds
        self._streams: weakref.WeakValueDictionary[int, work.Stream] = weakref.WeakValueDictionary()
        self._objects: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._local = _Local()
        self._correlations = itertools.count(1)
        self._default: work.Stream | None = None
        self._default_lock = threading.Lock()
        self.captures: tuple[Capture, ...] = ()  # those under way
        _open_runtimes.add(self)

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

    def Link(self, name: str = "network") -> wire.Link:
        return wire.Link(self, name)

    def graph(self, name: str | None = None) -> Graph:
        """A graph to capture work into, and to replay; see ``host_graph``."""
        return Graph(self, name)

    def warm_up(self) -> None:
        """What a thread does on each stream before it may capture there; on a CPU there is nothing to make."""

    def op(
        self,
        name: str,
        cls: str = "compute",
        layer: int | None = None,
        duration_ns: int | None = None,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
    ) -> Operation:
        """One named operation around ordinary torch code; ``duration_ns`` is for runtimes that model time."""
        return Operation(self, name, cls, layer, duration_ns, reads, writes)

    # ---- the current stream

    def default_stream(self) -> work.Stream:
        with self._default_lock:
            if self._default is None:
                self._default = work.Stream(self, "default")
            return self._default

    def current_stream(self) -> work.Stream:
        stream = self._local.stream
        return stream if stream is not None else self.default_stream()

    def set_stream(self, stream: work.Stream) -> None:
        self._check_own(stream)
        if (host := self.hooks.host) is not None:
            host("stream.switch", stream, self.current_stream())
        self._local.stream = stream

    def _check_own(self, stream: Any) -> None:
        if getattr(stream, "runtime", None) is not self:
            raise MixedRuntimes(f"{stream!r} is no stream of this runtime; make it with its rt.Stream()")

    def stream(self, stream: work.Stream | None) -> _StreamContext:
        """``with rt.stream(s):`` makes ``s`` this thread's current stream; None changes nothing."""
        if stream is not None:
            self._check_own(stream)
        return _StreamContext(self, stream)

    # ---- launching

    def device_context(self) -> DeviceContext:
        """Run this thread's PyTorch operations on its current stream; outermost, once per thread.

        Leaving it waits for all streams, so that what was computed can be read outside.
        """
        return DeviceContext(self)

    def thread_context(self) -> DeviceContext:
        """The device context of a thread of this runtime, whose end does not wait."""
        return DeviceContext(self, drains=False)

    def __repr__(self) -> str:
        return f"<host runtime with {len(self.streams())} streams>"

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
        sends: wire.Flight | None = None,
        receives: wire.Flight | None = None,
    ) -> None:
        """Queue ``fn(*args)`` on ``stream`` (the current one) as one kernel.

        ``duration_ns`` is the least time that it takes: a timed wait fills it up. ``sends`` departs when the
        kernel ends; with ``receives`` the kernel spins until that flight has arrived. ``host_wait=True`` returns
        only when the kernel is done. ``reads`` and ``writes`` are tensors.
        """
        stream = stream or self.current_stream()
        self._check_own(stream)
        stream._check_open()
        launch = None
        host, capture = self.hooks.host, stream.capture
        if capture is not None and host_wait:
            raise capture.waits(f"the launch {name}, which waits for its kernel (host_wait=True),", stream)
        if host is not None or capture is not None:
            launch = Launch(
                next(self._correlations), name, cls, self._local.op, self.buffers(reads), self.buffers(writes),
                host_wait, sends, receives, duration_ns, None if capture is None else capture.number(),
            )  # fmt: skip
        if host is not None:
            host("kernel.launch", stream, launch)
        stream.submit(name, launch, wire.run_launch, (fn, args, duration_ns, sends, receives, launch), sends)
        if host_wait:
            try:
                marker = work.Marker(stream)
                stream._put(stream._fire, (marker, None))
                stream._join(marker)
            finally:
                if host is not None:
                    host("returned", stream, None)

    def buffers(self, tensors: Iterable[Any]) -> tuple[int, ...]:
        """Numbers of the tensors' storages."""
        return tuple(buffers_in(tensors))

    # ---- waiting and ending

    def synchronize(self) -> None:
        """Block until all streams are done; raise the first error found. Idle streams are not asked."""
        for capture in self.captures:
            raise capture.waits("synchronize of the runtime", capture.origin)
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

    def streams(self) -> list[work.Stream]:
        """The streams that are open, in order of creation."""
        return _alive(self._streams)

    def idle(self) -> bool:
        """True when no stream has work."""
        return all(stream.idle() for stream in self.streams())

    def describe(self) -> dict[str, Any]:
        """Facts for a recording's meta."""
        return {"runtime": self.name, "device": "cpu", "torch": str(torch.__version__)}

    def snapshot(self) -> list[tuple[Any, Any]]:
        """Host events, barriers and events that exist now, each with its flag, count or record number."""
        return [(obj, obj.state()) for obj in _alive(self._objects)]

    def close(self) -> None:
        """End the streams' workers once their queues are empty; captures under way are given up."""
        for capture in self.captures:
            capture.end()
        for stream in self.streams():
            stream.close()
            if threading.current_thread() is not stream._thread:
                stream._thread.join(2.0)
        self._default = None


def _alive(objects: weakref.WeakValueDictionary[int, Any]) -> list[Any]:
    return [obj for ref in objects.valuerefs() if (obj := ref()) is not None]


def _in_same_modes(target: Callable[..., Any]) -> Callable[..., Any]:
    """Gradient and inference mode belong to a thread; a new one takes over its creator's."""
    inference, grad = torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    def run(*args: Any) -> Any:
        with torch.inference_mode(inference), torch.set_grad_enabled(grad):
            return target(*args)

    return run


_open_runtimes: weakref.WeakSet[HostRuntime] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """End the workers before the interpreter goes, and say which errors nobody was told of."""
    for runtime in list(_open_runtimes):
        runtime.close()
    for error in work.unreported:
        print(f"ubviz: never synchronized: {error}", file=sys.stderr)
