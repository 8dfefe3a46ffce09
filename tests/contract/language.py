"""The small language that the contract is written in: listen, hold a stream, start a thread, wait for a state."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, NamedTuple

LIMIT_S = 30.0  # what should happen at once has gone wrong when it takes this long


class Fact(NamedTuple):
    """One announced fact, and the thread that announced it."""

    kind: str
    obj: Any
    arg: Any
    thread: int


class Ran(NamedTuple):
    """One kernel that has run."""

    name: str
    start_ns: int
    end_ns: int


class Listener:
    """Keeps all facts in the order in which it is told of them."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []

    def host(self, kind: str, obj: Any, arg: Any) -> None:
        self.facts.append(Fact(kind, obj, arg, get_ident()))

    def device(self, kind: str, obj: Any, arg: Any) -> None:
        self.facts.append(Fact(kind, obj, arg, get_ident()))

    def of(self, *kinds: str) -> list[Fact]:
        return [fact for fact in self.facts if fact.kind in kinds]

    def kinds(self, obj: Any) -> list[str]:
        """The kinds of facts about ``obj``, in order."""
        return [fact.kind for fact in self.facts if fact.obj is obj]

    def ran(self, stream: Any) -> list[Ran]:
        """The kernels that have run on ``stream``, in order."""
        facts = [fact for fact in self.of("kernel") if fact.obj is stream]
        return [Ran(launch.name, start, end) for launch, start, end in (fact.arg for fact in facts)]

    def names(self, stream: Any) -> list[str]:
        return [kernel.name for kernel in self.ran(stream)]


class Running:
    """A thread that has been started; ``end`` joins it and gives its result, or raises its error."""

    def __init__(self, thread_class: Callable[..., Any], target: Callable[[], Any]) -> None:
        self._result: Any = None
        self._error: BaseException | None = None
        self.thread = thread_class(target=self._run, args=(target,))
        self.thread.start()

    def _run(self, target: Callable[[], Any]) -> None:
        try:
            self._result = target()
        except BaseException as error:
            self._error = error

    def end(self) -> Any:
        self.thread.join(LIMIT_S)
        assert not self.thread.is_alive(), "the thread has not ended"
        if self._error is not None:
            raise self._error
        return self._result


_aside: list[Callable[[], Any]] = [lambda: time.sleep(0)]


@contextmanager
def stepping_aside(rt: Any) -> Iterator[None]:
    """Within the block ``until`` lets others go on in this runtime's way: on virtual one thread runs at a time."""
    _aside.append(rt.rest if rt.name == "virtual" else _aside[0])
    yield
    _aside.pop()


def until(ready: Callable[[], Any], what: str) -> None:
    """Leave the processor to others until ``ready()``."""
    deadline = time.monotonic() + LIMIT_S
    while not ready():
        assert time.monotonic() < deadline, f"it never came to this: {what}"
        _aside[-1]()


def waiters(obj: Any) -> int:
    """How many threads are blocked in ``obj.wait()``."""
    return obj.waiting if hasattr(obj, "waiting") else len(obj._cond._waiters)


class VirtualGate:
    """What a virtual stream stands still before: data that nobody has sent."""

    def __init__(self, rt: Any, stream: Any) -> None:
        self._rt, self._data = rt, rt.Link("gate").flight(0)
        rt.launch("gate", stream=stream, receives=self._data)

    def set(self) -> None:
        """Let the stream go on."""
        if not self._data.settled:
            self._data.depart(None, self._rt.now_ns())
