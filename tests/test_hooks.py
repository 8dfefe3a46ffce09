"""Subscribing to a runtime's facts: hooks are data, looked up at call time."""

from __future__ import annotations

import sys
import threading

from ubviz.runtime import Hooks


class Listener:
    def __init__(self, name="", log=None):
        self.name, self.log = name, [] if log is None else log

    def host(self, kind, obj, arg):
        self.log.append((self.name, "host", kind, obj, arg))

    def device(self, kind, obj, arg):
        self.log.append((self.name, "device", kind, obj, arg))


def test_nobody_is_told_of_anything_at_first():
    hooks = Hooks()
    assert (hooks.host, hooks.device, hooks.listeners) == (None, None, ())


def test_one_listener_is_called_without_anything_between():
    hooks, listener = Hooks(), Listener()
    hooks.subscribe(listener)
    assert (hooks.host, hooks.device) == (listener.host, listener.device)
    hooks.host("mark", None, "here")
    hooks.device("record", 1, 2)
    assert listener.log == [("", "host", "mark", None, "here"), ("", "device", "record", 1, 2)]


def test_listeners_are_told_in_order_of_subscription():
    hooks, log = Hooks(), []
    for name in "abc":
        hooks.subscribe(Listener(name, log))
    hooks.host("mark", None, "x")
    hooks.device("record", None, None)
    assert [(name, side) for name, side, *_ in log] == [
        ("a", "host"), ("b", "host"), ("c", "host"), ("a", "device"), ("b", "device"), ("c", "device"),
    ]  # fmt: skip


def test_who_unsubscribes_is_told_no_more_and_the_others_are():
    hooks, log = Hooks(), []
    a, b = Listener("a", log), Listener("b", log)
    hooks.subscribe(a)
    hooks.subscribe(b)
    hooks.unsubscribe(a)
    hooks.host("mark", None, "x")
    assert log == [("b", "host", "mark", None, "x")]
    hooks.unsubscribe(b)
    assert (hooks.host, hooks.device, hooks.listeners) == (None, None, ())


def test_unsubscribing_a_stranger_changes_nothing():
    hooks, listener = Hooks(), Listener()
    hooks.subscribe(listener)
    hooks.unsubscribe(Listener())
    assert hooks.listeners == (listener,)


def test_listeners_that_are_equal_are_told_apart():
    class Equal(Listener):
        def __eq__(self, other):
            return isinstance(other, Equal)

        __hash__ = None

    hooks, log = Hooks(), []
    a, b = Equal("a", log), Equal("b", log)
    hooks.subscribe(a)
    hooks.subscribe(b)
    hooks.unsubscribe(b)
    hooks.host("mark", None, "x")
    assert [name for name, *_ in log] == ["a"]


def test_a_change_while_facts_are_told_counts_from_the_next_fact():
    hooks, log = Hooks(), []

    class Leaver(Listener):
        def host(self, kind, obj, arg):
            super().host(kind, obj, arg)
            hooks.unsubscribe(self)

    hooks.subscribe(Leaver("leaver", log))
    hooks.subscribe(Listener("stayer", log))
    hooks.host("mark", None, 1)
    hooks.host("mark", None, 2)
    assert [(name, arg) for name, _, _, _, arg in log] == [("leaver", 1), ("stayer", 1), ("stayer", 2)]


def test_subscribing_from_many_threads_loses_nobody():
    hooks = Hooks()
    listeners = [[Listener() for _ in range(50)] for _ in range(4)]
    barrier, interval = threading.Barrier(4), sys.getswitchinterval()

    def subscribe(mine):
        barrier.wait()
        for listener in mine:
            hooks.subscribe(listener)

    threads = [threading.Thread(target=subscribe, args=(mine,)) for mine in listeners]
    sys.setswitchinterval(1e-6)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert len(hooks.listeners) == 200
