"""The cuda runtime: a thin adapter of ``torch.cuda`` to the contract in ``base``.

Threads, barriers and host events are those of ``host_sync``. Streams and events wrap PyTorch's (``cuda_streams``),
graphs are ``torch.cuda.CUDAGraph`` (``cuda_graph``, ``cuda_capture``); operations are timed from their edges
(``cuda_work``) by events (``cuda_timing``) that are anchored to the host's clock (``cuda_anchor``, ``cuda_clock``);
durations and wires are modelled on the device (``cuda_wire``).

What a listener is not told: PyTorch's own kernels (spans are those of operations and launches), host reads
(``item``, ``tolist``), and the allocator's buffers: ``reads`` and ``writes`` are those declared, else unknown.

An error of the device is CUDA's: it surfaces at a later call as ``AsyncError``, does not say which kernel, and every
call after it fails as well, for the context is lost. ``CUDA_LAUNCH_BLOCKING=1`` finds the launch.

Source: PyTorch notes, "CUDA semantics"; CUDA runtime API, stream and event management.
"""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch

from ..errors import AsyncError, CaptureError, MixedRuntimes
from . import cuda_wire as wire
from . import cuda_work as work
from . import host_sync as sync
from .cuda_capture import Capture, first_line
from .cuda_context import DeviceContext, StreamContext
from .cuda_graph import Graph
from .cuda_streams import Event as CudaEvent
from .cuda_streams import Stream as CudaStream
from .cuda_timing import Timing
from .hooks import Hooks
from .host import _alive, _in_same_modes
from .host_ops import buffers_in


class _Local(threading.local):
    """What belongs to a thread."""

    stream: CudaStream | None = None
    op: work.Operation | None = None
    piece: work.Piece | None = None


class CudaRuntime:
    """Threads, and the streams and events of one CUDA device.

    ``index`` is its number (the current one); ``cuda`` and ``now_ns`` stand for ``torch.cuda`` and the host's clock
    where a test puts others in their place.

    >>> rt = CudaRuntime()  # doctest: +SKIP
    >>> compute, comm = rt.Stream("compute"), rt.Stream("comm")  # doctest: +SKIP
    >>> with rt.device_context(), rt.stream(compute):  # doctest: +SKIP
    ...     y = model(x.to(rt.device))
    """

    name = "cuda"

    def __init__(
        self, index: int | None = None, *, cuda: Any = None, now_ns: Callable[[], int] = time.perf_counter_ns
    ) -> None:
        self.cuda: Any = torch.cuda if cuda is None else cuda
        self.now_ns = now_ns
        self.index: int = self.cuda.current_device() if index is None else index
        self.hooks = Hooks()
        self.parking = sync.Parking()
        self.threads: set[threading.Thread] = set()
        self.local = _Local()
        self.captures: tuple[Capture, ...] = ()  # those under way
        self.capture_lock = threading.Lock()  # held while twins are asked, and while a capture begins
        self._numbers, self._correlations = itertools.count(), itertools.count(1)
        self._streams: weakref.WeakValueDictionary[int, CudaStream] = weakref.WeakValueDictionary()
        self._objects: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._wrapped: weakref.WeakValueDictionary[int, CudaStream] = weakref.WeakValueDictionary()
        self._lost: RuntimeError | None = None
        self._default = CudaStream(self, "default", self.cuda.default_stream(self.index))
        with self.cuda.device(self.index):
            self.timing, self.sleeper = Timing(self), wire.Sleeper(self)
            self.timing.clock.start()

    @property
    def device(self) -> Any:
        """Where the tensors of this runtime's streams live."""
        return torch.device("cuda", self.index)

    def __repr__(self) -> str:
        return f"<cuda runtime of device {self.index} with {len(self.streams())} streams>"

    # ---- making things

    def Thread(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] = (),
        name: str | None = None,
        failed: Callable[[BaseException], Any] | None = None,
    ) -> sync.Thread:
        """A thread inside the device context; ``failed`` is told what kept ``target`` from being called."""
        return sync.Thread(self, _in_same_modes(target), args, name, failed)  # type: ignore[arg-type]

    def Barrier(self, parties: int, name: str | None = None) -> sync.Barrier:
        return self._known(sync.Barrier(self, parties, name))  # type: ignore[arg-type]

    def HostEvent(self, name: str | None = None) -> sync.HostEvent:
        return self._known(sync.HostEvent(self, name))  # type: ignore[arg-type]

    def Stream(self, name: str | None = None) -> CudaStream:
        return CudaStream(self, name)

    def Event(self, name: str | None = None, enable_timing: bool = False) -> CudaEvent:
        return self._known(CudaEvent(self, name, enable_timing))

    def _known(self, obj: Any) -> Any:
        self._objects[next(self._numbers)] = obj
        return obj

    def Link(self, name: str = "network") -> wire.Link:
        return wire.Link(self, name)

    def graph(self, name: str | None = None, pool: Any = None) -> Graph:
        """A graph to capture work into, and to replay; ``pool`` is another one's memory, as its ``pool()`` gives."""
        return Graph(self, name, pool)

    def warm_up(self) -> None:
        """What a thread does on each stream before it may capture there: cuBLAS makes its handle and workspace."""
        self.cuda.current_blas_handle()

    def op(
        self,
        name: str,
        cls: str = "compute",
        layer: int | None = None,
        duration_ns: int | None = None,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
    ) -> work.Operation:
        """One named operation around ordinary torch code; ``duration_ns`` is for runtimes that model time."""
        return work.Operation(self, name, cls, layer, duration_ns, reads, writes)

    # ---- streams

    def default_stream(self) -> CudaStream:
        return self._default

    def remember(self, stream: CudaStream) -> None:
        """A stream has been made."""
        self._streams[next(self._numbers)] = stream
        self._wrapped[stream.raw.stream_id] = stream

    def forget(self, stream: CudaStream) -> None:
        """A stream has been closed."""
        for number, other in list(self._streams.items()):
            if other is stream:
                del self._streams[number]

    def adopt(self, raw: Any) -> CudaStream:
        """The stream of this runtime that stands for one of PyTorch's; made anew if nobody has it."""
        return self._wrapped.get(raw.stream_id) or CudaStream(self, None, raw)

    def current_stream(self) -> CudaStream:
        """The current stream of this thread, also where plain PyTorch code has set it."""
        raw, known = self.cuda.current_stream(self.index), self.local.stream
        if known is not None and known.raw == raw:
            return known
        return self.adopt(raw)

    def set_stream(self, stream: CudaStream) -> None:
        self.check_own(stream)
        if (host := self.hooks.host) is not None:
            host("stream.switch", stream, self.current_stream())
        self.go_to(stream)

    def go_to(self, stream: CudaStream) -> None:
        """Make a stream current, without a word; an operation under way goes on on it."""
        piece = self.local.piece
        if piece is not None and piece.stream is not stream:
            work.cut(self)
        else:
            piece = None
        self.local.stream = stream
        self.cuda.set_stream(stream.raw)
        if piece is not None:
            work.go_on(self)

    def check_own(self, stream: Any) -> None:
        """Raise ``MixedRuntimes`` for a stream of another runtime."""
        if getattr(stream, "runtime", None) is not self:
            raise MixedRuntimes(f"{stream!r} is no stream of this runtime; make it with its rt.Stream()")

    def stream(self, stream: CudaStream | None) -> StreamContext:
        """``with rt.stream(s):`` makes ``s`` this thread's current stream; None changes nothing."""
        if stream is not None:
            self.check_own(stream)
        return StreamContext(self, stream)

    # ---- launching

    def device_context(self) -> DeviceContext:
        """Make the device this thread's current one; outermost, once per thread.

        Leaving it waits for all streams, so that what was computed can be read outside.
        """
        return DeviceContext(self)

    def thread_context(self) -> DeviceContext:
        """The device context of a thread of this runtime, whose end does not wait."""
        return DeviceContext(self, drains=False)

    def launch(
        self,
        name: str,
        fn: Callable[..., Any] | None = None,
        *args: Any,
        cls: str = "other",
        duration_ns: int | None = None,
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
        stream: CudaStream | None = None,
        host_wait: bool = False,
        sends: wire.Flight | None = None,
        receives: wire.Flight | None = None,
    ) -> None:
        """Call ``fn(*args)`` with ``stream`` (the current one) current, as one kernel; see ``cuda_work``.

        ``duration_ns`` is the least time that the device takes for it. ``sends`` departs when the kernel ends; with
        ``receives`` the kernel waits until that flight has arrived. ``host_wait=True`` returns only when the kernel
        is done. ``reads`` and ``writes`` are tensors; their memory is not given away before the stream has passed.
        """
        stream = stream or self.current_stream()
        self.check_own(stream)
        stream._check_open()
        if stream.capture is not None and host_wait:
            raise stream.capture.waits(
                f"the launch {name}, which waits for its kernel (host_wait=True),", stream
            )
        reads, writes = tuple(reads), tuple(writes)
        asked = {
            "name": name, "cls": cls, "reads": self.buffers(reads), "writes": self.buffers(writes),
            "host_wait": host_wait, "sends": sends, "receives": receives, "duration_ns": duration_ns,
        }  # fmt: skip
        with work.launched(stream, asked) as launch:
            if receives is not None:
                receives.arrive(stream, name)
            with self.cuda.stream(stream.raw):
                wire.run(stream, fn, args, duration_ns)
        wire.keep(stream, (*reads, *writes))
        if sends is not None:
            sends.depart(stream, launch)
        if host_wait:
            self.wait_for(wire.point(self, stream.raw), None, stream)

    def buffers(self, tensors: Iterable[Any]) -> tuple[int, ...]:
        """Numbers of the tensors' storages."""
        return tuple(buffers_in(tensors))

    def correlation(self) -> int:
        """A number for one launch."""
        return next(self._correlations)

    # ---- waiting and ending

    def ask(self, call: Callable[..., Any], *args: Any) -> Any:
        """Call CUDA; an error that it tells of is that of earlier work."""
        try:
            return call(*args)
        except RuntimeError as error:
            raise self.fault(error) from error

    def fault(self, error: RuntimeError) -> AsyncError | CaptureError:
        """What CUDA's error is to the caller."""
        for capture in self.captures:
            return capture.refuse(
                f"CUDA refused a call in the capture of {capture.graph}: {first_line(error)}"
            )
        self._lost = error
        return AsyncError(
            f"work on device {self.index} failed: {first_line(error)}; its context is lost, and CUDA does not say "
            "which kernel it was: run again with CUDA_LAUNCH_BLOCKING=1 to be told at its launch"
        )

    def listener_failed(self, kind: str, obj: Any, cause: BaseException) -> None:
        """Keep a listener's mistake for the next synchronize of the stream that it was told about."""
        stream = obj if isinstance(obj, CudaStream) else self._default
        stream.error = AsyncError(
            f"the listener to {kind!r} on stream {stream.name or 'unnamed'} failed: {type(cause).__name__}: {cause}"
        )
        stream.error.__cause__ = cause

    def wait_for(self, raw: Any, kind: str | None, obj: Any) -> None:
        """Block until a CUDA stream or event is done, and tell what else is; ``kind`` announces it."""
        host = self.hooks.host
        if host is not None and kind is not None:
            host(kind, obj, None)
        try:
            self.ask(raw.synchronize)
            self.timing.look(now=True)
            if isinstance(obj, CudaStream):
                obj.raise_error()
        finally:
            if host is not None:
                host("returned", obj, None)

    def synchronize(self) -> None:
        """Block until all streams are done; raise the first error found. Idle streams are not asked."""
        for capture in self.captures:
            raise capture.waits("synchronize of the runtime", capture.origin)
        first: AsyncError | None = None
        for stream in self.streams():
            try:
                if stream.error is None and self.ask(stream.raw.query):
                    continue
                stream.synchronize()
            except AsyncError as error:
                first = first or error
        self.timing.look(now=True)
        if first is not None:
            raise first

    def streams(self) -> list[CudaStream]:
        """The streams that are open, in order of creation."""
        return _alive(self._streams)

    def idle(self) -> bool:
        """True when no stream has work; a capture under way counts as work, since it must not be asked."""
        with self.capture_lock:
            if self.captures:
                return False
            try:
                return all(stream.raw.query() for stream in self.streams())
            except RuntimeError:
                return True  # the context is lost: nothing moves any more

    def describe(self) -> dict[str, Any]:
        """Facts for a recording's meta; at its end, with how sure the device's times are on the host's clock."""
        if self.hooks.device is None:
            self.timing.clock.worst_ns = 0
        self.timing.look(now=True)
        return {
            "runtime": self.name, "device": self.cuda.get_device_name(self.index),
            "torch": str(torch.__version__), "kernels": "operations", "clock": self.timing.clock.describe(),
        }  # fmt: skip

    def snapshot(self) -> list[tuple[Any, Any]]:
        """Host events, barriers and events that exist now, each with its flag, count or record number."""
        return [(obj, obj.state()) for obj in _alive(self._objects)]

    def close(self) -> None:
        """Take no more work, give up captures under way, and put back PyTorch's default stream."""
        for capture in self.captures:
            capture.graph.give_up()
        if self.local.stream is not None and self._lost is None:
            self.cuda.set_stream(self._default.raw)
        self.timing.forget()
        for stream in self.streams():
            stream.close()
