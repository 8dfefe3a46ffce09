"""Subscribing to a runtime's facts: hooks are data, looked up at call time."""

from __future__ import annotations

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


def test_two_threads_that_subscribe_at_once_are_both_heard():
    threads = []

    class Interrupted(Hooks):
        """While it takes in a first listener, another thread comes with a second."""

        def _replace(self, listeners):
            if not threads:
                threads.append(threading.Thread(target=self.subscribe, args=(second,)))
                threads[0].start()
                threads[0].join(0.2)  # it is not let in meanwhile
            super()._replace(listeners)

    first, second = Listener(), Listener()
    hooks = Interrupted()
    hooks.subscribe(first)
    threads[0].join()
    assert hooks.listeners == (first, second)
