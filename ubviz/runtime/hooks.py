"""Hooks: how a runtime and the mechanism tell whoever listens what happens.

A *fact* is announced at the moment it happens, by one call::

    if (host := hooks.host) is not None:
        host("host_event.set", self, was)

``hooks.host`` is None while nobody listens (one check), the listener's own method while one
listens, and a fan-out while several do. It is looked up at call time, so that a recording can begin
after the objects exist. A listener takes the time itself, in the thread that announces.

Host facts (from Python threads): ``host(kind, obj, arg)``. ``kind`` is a trace-event kind of
``ubviz.trace.events``; three more are internal and become spans or end times, not trace events:

====================  ==========================  ==============================================
kind                  obj                         arg
====================  ==========================  ==============================================
thread.*              Thread                      None
barrier.arrive        Barrier                     (n, generation); n counts this arrival
barrier.release       Barrier                     (n, generation) of the arrival that it releases
barrier.abort/reset   Barrier                     None
host_event.set/clear  HostEvent                   was (bool)
host_event.wait/wake  HostEvent                   None
ctx.*                 UBatchContext               None
context.set           ForwardContext              None
hook.register/run     (from, to) UBatchContexts   None
stream.switch         the new Stream              the old Stream
event.record          Event                       (stream, record number)
event.wait            Event                       (stream, record number or None)
event.query           Event                       answer (bool)
event.synchronize     Event                       None
stream.synchronize    Stream                      None
host.read             Stream                      what reads (str)
buffer.*              Stream, None for a free     buffer number (virtual only)
kernel.launch         Stream                      Launch
graph.capture_begin   Graph                       key; graph.capture_end too, unless the capture failed
graph.replay          Graph                       (key, correlation of its kernels, how many they are)
step.begin/end        None                        dict of the step
vote, collective      None                        dict of the vote / of the collective
error, mark           None                        dict / text
op.begin, op.end      Operation                   None (internal: a span on the thread's lane)
returned              any                         None, or "interrupted" by the watchdog (internal)
====================  ==========================  ==============================================

Device facts (from streams): ``device(kind, obj, arg)``, times taken by the runtime's own clock:

==========  ======  ===========================================
kernel      Stream  (Launch, start_ns, end_ns)
wait        Stream  (Event, record number, start_ns, end_ns)
record      Stream  (Event, record number, at_ns)
transfer    Link    (Flight, sending Launch, start_ns, end_ns)
==========  ======  ===========================================

Launches of a capture are announced as any other; their ``node`` tells them apart. Their kernels run at each
replay, with a copy of the launch that carries the replay's correlation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

Fact = Callable[[str, Any, Any], None]


class Listener(Protocol):
    """Who listens to a runtime: two methods, called at once and in the announcing thread."""

    def host(self, kind: str, obj: Any, arg: Any) -> None: ...

    def device(self, kind: str, obj: Any, arg: Any) -> None: ...


class Hooks:
    """The subscribers of one runtime, as data.

    >>> hooks = Hooks()
    >>> hooks.host is None
    True
    """

    __slots__ = ("_lock", "device", "host", "listeners")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.listeners: tuple[Listener, ...] = ()
        self.host: Fact | None = None
        self.device: Fact | None = None

    def subscribe(self, listener: Listener) -> None:
        """Tell ``listener`` every fact from now on."""
        with self._lock:
            self._replace((*self.listeners, listener))

    def unsubscribe(self, listener: Listener) -> None:
        """Stop telling ``listener``; unknown listeners are ignored."""
        with self._lock:
            self._replace(tuple(other for other in self.listeners if other is not listener))

    def mute(self) -> None:
        """Stop telling everybody: what comes is the unwinding of a run that was dropped."""
        with self._lock:
            self._replace(())

    def _replace(self, listeners: tuple[Listener, ...]) -> None:
        self.listeners = listeners
        self.host = _one_of(tuple(listener.host for listener in listeners))
        self.device = _one_of(tuple(listener.device for listener in listeners))


def _one_of(calls: tuple[Fact, ...]) -> Fact | None:
    if len(calls) < 2:
        return calls[0] if calls else None

    def fan_out(kind: str, obj: Any, arg: Any) -> None:
        for call in calls:
            call(kind, obj, arg)

    return fan_out
