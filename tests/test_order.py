"""Happens-before: each edge in a story with its near miss, and all of it against reachability in the graph."""

from __future__ import annotations

from hypothesis import given, settings

from tests.programs import graph, programs, reachable
from tests.traces import Traces
from ubviz.analysis.order import Order
from ubviz.trace import Trace


def kernel(trace: Trace, name: str) -> tuple[str, int]:
    """The span of a kernel, as a row."""
    (row,) = [row for row, span in enumerate(trace.spans) if span.cat == "kernel" and span.name == name]
    return "spans", row


def two_kernels(*, wait: bool) -> Trace:
    """a on compute, b on comm, with or without an event between them."""
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.launch("a", "compute", takes=50)
    u0.record("done", "compute")
    if wait:
        u0.wait_event("comm", "done")
    u0.launch("b", "comm")
    return t.finish()


def test_a_launch_comes_before_its_kernel_and_not_before_its_neighbour_on_another_stream() -> None:
    trace = two_kernels(wait=False)
    order = Order(trace)
    assert order.before(0, kernel(trace, "a"))
    assert order.before(0, kernel(trace, "b"))  # the thread launched a first
    assert order.concurrent(kernel(trace, "a"), kernel(trace, "b"))
    assert not order.before(kernel(trace, "a"), 1)  # launching is not running


def test_a_wait_orders_what_comes_after_it_behind_what_comes_before_the_record() -> None:
    trace = two_kernels(wait=True)
    assert Order(trace).before(kernel(trace, "a"), kernel(trace, "b"))


def test_a_wait_is_bound_to_the_record_that_was_current_when_it_was_called() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.record("e", "compute")
    u0.wait_event("comm", "e")
    u0.launch("a", "compute")
    u0.record("e", "compute")
    u0.launch("b", "comm")
    trace = t.finish()
    assert Order(trace).concurrent(kernel(trace, "a"), kernel(trace, "b"))


def test_a_wait_for_what_was_never_recorded_orders_nothing() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    u0.launch("a", "compute")
    u0.wait_event("comm", "e")
    u0.launch("b", "comm")
    trace = t.finish()
    assert Order(trace).concurrent(kernel(trace, "a"), kernel(trace, "b"))


def test_one_thread_that_synchronizes_orders_what_another_one_launches_when_told() -> None:
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    u0.launch("a", "compute")
    u0.synchronize("compute")
    early = u1.launch("early", "comm")
    u0.set("go")
    u1.take("go")
    u1.launch("late", "comm")
    trace = t.finish()
    order = Order(trace)
    assert order.before(kernel(trace, "a"), kernel(trace, "late"))
    assert order.concurrent(kernel(trace, "a"), early)


def test_a_launch_that_waits_for_the_host_orders_what_its_thread_does_next() -> None:
    t = Traces()
    u0 = t.thread("ubatch 0")
    a = u0.launch("dispatch", "comm", host_wait=True)
    after = u0.tell("mark", text="counts are there")
    trace = t.finish()
    order = Order(trace)
    assert order.before(kernel(trace, "dispatch"), after)
    assert order.before(a, kernel(trace, "dispatch"))


def test_a_flag_is_sticky_and_a_second_set_of_it_wakes_nobody() -> None:
    t = Traces()
    main, u0, u1 = t.thread("main"), t.thread("ubatch 0"), t.thread("ubatch 1")
    first = main.set("go")
    second = u0.set("go")
    u1.wait("go")
    wake = u1.wake("go")
    order = Order(t.finish())
    assert order.before(first, wake)
    assert order.concurrent(second, wake)


def test_who_is_parked_is_woken_by_the_first_set_even_if_the_flag_went_down_again() -> None:
    t = Traces()
    main, u0, u1 = t.thread("main"), t.thread("ubatch 0"), t.thread("ubatch 1")
    u1.wait("go")
    first = main.set("go")
    main.clear("go")
    second = u0.set("go")
    wake = u1.wake("go")
    order = Order(t.finish())
    assert order.before(first, wake)
    assert order.concurrent(second, wake)


def test_who_finds_the_flag_up_was_let_through_by_the_set_before_its_wait() -> None:
    t = Traces()
    main, u0, u1 = t.thread("main"), t.thread("ubatch 0"), t.thread("ubatch 1")
    first = main.set("go")
    u1.wait("go")
    main.clear("go")
    second = u0.set("go")
    wake = u1.wake("go")
    order = Order(t.finish())
    assert order.before(first, wake)
    assert order.concurrent(second, wake)


def test_a_role_is_another_flag_in_every_step() -> None:
    t = Traces()
    main, u0 = t.thread("main"), t.thread("ubatch 0")
    main.step_begin(1)
    left_up = main.set("cpu_event[0]")
    main.step_end()
    main.step_begin(2)
    u0.wait("cpu_event[0]")
    t.flags.clear()
    kick = main.set("cpu_event[0]")
    wake = u0.wake("cpu_event[0]")
    order = Order(t.finish())
    assert order.before(left_up, kick)
    assert order.before(kick, wake)


def test_a_barrier_orders_all_arrivals_before_all_releases_of_a_generation() -> None:
    t = Traces()
    u0, u1 = t.thread("ubatch 0"), t.thread("ubatch 1")
    a, b = u0.arrive("b"), u1.arrive("b")
    out = [u1.release("b"), u0.release("b")]
    order = Order(t.finish())
    assert all(order.before(arrival, release) for arrival in (a, b) for release in out)
    assert order.concurrent(a, b)
    assert order.concurrent(*out)


def test_creating_and_joining_a_thread_order_what_it_does() -> None:
    t = Traces()
    main, u0, u1 = t.thread("main"), t.thread("ubatch 0"), t.thread("ubatch 1")
    begin = main.create(u0)
    u0.start()
    work = u0.launch("a", "compute")
    joining = main.join(u0, over=False)  # told before the thread has ended
    other = u1.launch("b", "comm")
    u0.end()
    t.builder.close(joining, t.now)
    after = main.tell("mark", text="joined")
    order = Order(t.finish())
    assert order.before(begin, work)
    assert order.before(work, after)
    assert order.before(work, joining)
    assert order.concurrent(other, after)


def test_a_replay_is_one_piece_of_the_current_stream_and_a_capture_runs_nothing() -> None:
    t = Traces()
    main = t.thread("main")
    main.switch("default", "compute")
    main.capture_begin("g")
    main.launch("noted", "compute", runs=False)
    main.record("fork", "compute")
    main.wait_event("comm", "fork")
    main.launch("noted too", "comm", runs=False)
    main.record("join", "comm")
    main.wait_event("compute", "join")
    main.capture_end("g")
    main.launch("a", "compute")
    main.launch("b", "comm")
    replay = main.replay("g")
    main.launch("c", "compute")
    trace = t.finish()
    order = Order(trace)
    lanes = order.causes.lanes
    assert lanes[order.device(1 + 1)] == (0, "stream", "compute of g")
    assert lanes[order.device(replay)] == (0, "stream", "compute")
    assert order.node_before(order.node(kernel(trace, "a")), order.device(replay))
    assert order.node_before(order.device(replay), order.node(kernel(trace, "c")))
    assert order.concurrent(
        kernel(trace, "a"), kernel(trace, "b")
    )  # the fork of the capture orders no other work


def test_the_current_stream_is_known_from_the_next_switch_too() -> None:
    t = Traces()
    main = t.thread("main")
    replay = main.replay("g")
    main.switch("compute", "side")
    order = Order(t.finish())
    assert order.causes.lanes[order.device(replay)] == (0, "stream", "compute")


def test_kernels_without_a_launch_follow_each_other_on_their_stream() -> None:
    t = Traces()
    a, b = t.lane("stream 7", "streams"), t.lane("stream 13", "streams")
    for lane, start in ((a, 0), (a, 10), (b, 5)):
        t.builder.span(start, start + 3, "kernel", "gemm", lane=lane)
    order = Order(t.finish())  # spans are sorted by their start: a, b, a
    assert order.before(("spans", 0), ("spans", 2))
    assert order.concurrent(("spans", 0), ("spans", 1))


def test_what_has_no_place_in_the_order_is_in_no_relation() -> None:
    t = Traces()
    main = t.thread("main")
    mark = main.tell("mark", text="here")
    t.builder.span(0, 10, "operation", "experts", lane=main.lane)
    order = Order(t.finish())
    assert not order.before(mark, ("spans", 0))
    assert not order.concurrent(mark, ("spans", 0))


def test_threads_of_steps_share_a_component() -> None:
    t = Traces()
    main = t.thread("main")
    for _ in range(50):
        u0 = t.thread("ubatch 0")
        main.create(u0)
        u0.start()
        u0.end()
        main.join(u0)
    order = Order(t.finish())
    assert order.components == 2
    assert order.before(1, 5)
    assert not order.before(5, 1)


def test_a_thread_that_lives_on_beside_the_one_that_it_created_keeps_its_own() -> None:
    t = Traces()
    first, second = t.thread("worker"), t.thread("worker")
    create = first.create(second)
    start = second.start()
    on = first.tell("mark", text="on")
    order = Order(t.finish())
    assert order.before(create, start)
    assert order.concurrent(start, on)


def test_a_thread_that_ended_unseen_keeps_its_own() -> None:
    t = Traces()
    main, first, second = t.thread("main"), t.thread("worker"), t.thread("worker")
    first.set("go")
    main.take("go")
    late = first.tell("mark", text="late")
    first.end()
    main.create(second)
    start = second.start()
    order = Order(t.finish())
    assert order.before(0, start)
    assert order.concurrent(late, start)


@settings(max_examples=150, deadline=None)
@given(programs())
def test_the_order_is_reachability_in_the_graph(trace: Trace) -> None:
    order, out = Order(trace), graph(trace)
    number = {node: order.node(node[1]) if node[0] == "host" else order.device(node[1]) for node in out}
    for node in out:
        causes = reachable(out, node)
        assert {other for other in out if order.node_before(number[node], number[other])} == causes
