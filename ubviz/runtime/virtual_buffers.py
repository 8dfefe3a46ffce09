"""Numbers of buffers, and their lives: who made one, on which stream it was handed out, when it is free again.

A buffer is a tensor's storage, or in a program without PyTorch any name. It gets its number when the first kernel
touches it, so that what an operation makes and drops inside itself has none: numbers do not depend on how PyTorch
cuts an operation up. A storage's end is told where its last reference goes; one that only a garbage collection
finds is not told, since when that runs is chance.

Not modelled: an allocator that hands freed memory out again. A check of lifetimes must take every free for that.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterable
from threading import get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .virtual import VirtualRuntime

_ATTRIBUTE = "_ubviz_virtual"
_collecting = False


def _note(phase: str, _info: dict[str, int]) -> None:
    global _collecting
    _collecting = phase == "start"


gc.callbacks.append(_note)


class Life:
    """Kept on a storage; goes when it goes."""

    __slots__ = ("number", "owner")

    def __init__(self, owner: Buffers, number: int) -> None:
        self.owner, self.number = weakref.ref(owner), number

    def __del__(self) -> None:
        if not _collecting and (owner := self.owner()) is not None:
            owner.freed(self.number)


class Buffers:
    """The buffers of one runtime."""

    def __init__(self, runtime: VirtualRuntime) -> None:
        self._runtime = weakref.ref(runtime)
        self._key = f"{_ATTRIBUTE}_{id(self)}"
        self._names: dict[Any, int] = {}
        self.named: dict[str, str] = {}
        """By number: the names of buffers that a program calls by name, for a recording's meta."""
        self._last = 0

    def numbers(self, things: Iterable[Any]) -> tuple[int, ...]:
        """Numbers of tensors and names, also of those in lists."""
        found: list[int] = []
        for thing in things:
            if isinstance(thing, (list, tuple)):
                found += self.numbers(thing)
            elif is_tensor(thing):
                found.append(self.storage(thing.untyped_storage()))
            elif isinstance(thing, str):
                found.append(self._named(thing))
        return tuple(found)

    def storage(self, storage: Any) -> int:
        """The number of a storage."""
        life = storage.__dict__.get(self._key)
        if life is None:
            self._last += 1
            life = storage.__dict__[self._key] = Life(self, self._last)
        number: int = life.number
        return number

    def known(self, storage: Any) -> bool:
        """Whether it has a number already."""
        return self._key in storage.__dict__

    def _named(self, name: str) -> int:
        if name not in self._names:
            self._last += 1
            self._names[name] = self._last
            self.named[str(self._last)] = name
        return self._names[name]

    # ---- lives

    def allocated(self, number: int, stream: Any) -> None:
        """A buffer was made for ``stream``, after what has been freed by now."""
        self.tell_freed()
        self._tell("buffer.alloc", stream, number)

    def recorded(self, thing: Any, stream: Any) -> None:
        """``stream`` uses the buffer: its memory is not handed out again before that is done."""
        for number in self.numbers([thing]):
            self._tell("buffer.record_stream", stream, number)

    def free(self, name: str) -> None:
        """A name stands for a buffer that is no more; the next use of the name is another buffer."""
        number = self._names.pop(name, None)
        if number is not None:
            self.freed(number)

    def freed(self, number: int) -> None:
        """The last reference has gone, in the thread whose turn it is; told when that comes to its next point."""
        runtime = self._runtime()
        if (
            runtime is not None
            and runtime.hooks.host is not None
            and runtime.baton.current.ident == get_ident()
        ):
            runtime.baton.freed.append(number)

    def tell_freed(self) -> None:
        """Tell what this thread has let go of since its last point."""
        runtime = self._runtime()
        while runtime is not None and runtime.baton.freed:
            self._tell("buffer.free", None, runtime.baton.freed.pop(0))

    def _tell(self, kind: str, stream: Any, number: int) -> None:
        runtime = self._runtime()
        if runtime is not None and (host := runtime.hooks.host) is not None:
            host(kind, stream, number)


def is_tensor(thing: Any) -> bool:
    """Without importing PyTorch: where it is not there, nothing is a tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.Tensor)


def nbytes_of(things: Iterable[Any]) -> int:
    """Bytes of the tensors among ``things``."""
    return sum(thing.nbytes for thing in things if is_tensor(thing))
