"""The contexts of the cuda runtime: a thread inside the device, and a stream that is current for a while."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..errors import MixedRuntimes

if TYPE_CHECKING:
    from .cuda import CudaRuntime
    from .cuda_streams import Stream


class _Inside(threading.local):
    """The runtime whose device context a thread is in."""

    runtime: CudaRuntime | None = None


_inside = _Inside()


class DeviceContext:
    """Make a runtime's device this thread's current one; entering it again inside does nothing.

    Leaving the outermost one waits for all streams (``drains``), since what runs outside is not ordered behind them,
    and raises what failed in them. The threads of a runtime do not wait: who started them goes on with their work.
    """

    def __init__(self, runtime: CudaRuntime, drains: bool = True) -> None:
        self._runtime, self._drains = runtime, drains
        self._device: Any = None

    def __enter__(self) -> DeviceContext:
        if _inside.runtime is None:
            self._device = self._runtime.cuda.device(self._runtime.index)
            self._device.__enter__()
            _inside.runtime = self._runtime
        elif _inside.runtime is not self._runtime:
            raise MixedRuntimes("this thread is already inside the device context of another cuda runtime")
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._device is None:
            return
        _inside.runtime = None
        device, self._device = self._device, None
        device.__exit__(*exc)
        if self._drains and exc[0] is None:
            self._runtime.synchronize()


class StreamContext:
    """Make a stream current, and the former one again at the end, whatever happens; None changes nothing."""

    def __init__(self, runtime: CudaRuntime, stream: Stream | None) -> None:
        self._runtime, self._stream = runtime, stream

    def __enter__(self) -> Stream | None:
        if self._stream is not None:
            self._before = self._runtime.current_stream()
            self._runtime.set_stream(self._stream)
        return self._stream

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            try:
                if (host := self._runtime.hooks.host) is not None:
                    host("stream.switch", self._before, self._stream)
            finally:  # whatever a listener raises
                self._runtime.go_to(self._before)
