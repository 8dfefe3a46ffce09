"""The hand-over: what each microbatch's thread does, in which order, and that nothing hangs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
import torch

from tests.stories import Story, microbatch_threads
from ubviz.analysis import handoff, turns, yields
from ubviz.errors import (
    BadArgument,
    ContextReused,
    MixedRuntimes,
    NoReceiver,
    NotAMicrobatchThread,
    ProtocolError,
    SlicingError,
    WrapperBusy,
)
from ubviz.runtime import get_runtime
from ubviz.ubatch import (
    ForwardContext,
    UBatchWrapper,
    dbo_current_ubatch_id,
    dbo_current_ubatch_token_offset,
    dbo_enabled,
    dbo_get_previous_event,
    dbo_maybe_run_recv_hook,
    dbo_register_recv_hook,
    dbo_switch_to_comm,
    dbo_switch_to_comm_sync,
    dbo_switch_to_compute,
    dbo_switch_to_compute_sync,
    dbo_yield,
    dbo_yield_and_switch_from_comm_to_compute,
    dbo_yield_and_switch_from_compute_to_comm,
    get_forward_context,
    make_ubatch_contexts,
    maybe_create_ubatch_slices,
    merge_outputs,
    set_forward_context,
)
from ubviz.ubatch import forward_context as fc


@pytest.fixture(params=[2, 3, 4])
def story(request: pytest.FixtureRequest) -> Iterator[Story]:
    story = Story(request.param)
    yield story
    assert microbatch_threads() == []
    assert not dbo_enabled()
    story.rt.close()


ENTER = [
    "barrier.arrive ready_barrier", "host_event.wait cpu_event[{i}]", "host_event.clear cpu_event[{i}]",
    "stream.switch compute",
]  # fmt: skip
HAND_OVER = [
    "host_event.set cpu_event[{j}]", "host_event.wait cpu_event[{i}]", "host_event.clear cpu_event[{i}]",
]  # fmt: skip
EXIT = ["host_event.set cpu_event[{j}]", "host_event.clear cpu_event[{i}]"]


def expected(story: Story, ubatch: int, *parts: list[str]) -> list[str]:
    names = {"i": ubatch, "j": (ubatch + 1) % story.n}
    return [line.format(**names) for part in (ENTER, *parts, EXIT) for line in part]


def test_plain_yields(story: Story) -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_yield()
        dbo_yield()
        return x

    out = story.run(body)
    assert torch.equal(out, story.x)
    for ubatch in range(story.n):
        assert story.operations(ubatch) == expected(story, ubatch, HAND_OVER, HAND_OVER)
    assert turns(story.trace) == [*range(story.n)] * 3
    assert yields(story.trace) == dict.fromkeys(range(story.n), 2)
    assert handoff(story.trace) == []


def test_an_ht_layer(story: Story) -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_yield_and_switch_from_compute_to_comm()
        dbo_switch_to_compute_sync()
        dbo_yield_and_switch_from_compute_to_comm()
        dbo_switch_to_compute()
        dbo_switch_to_comm()
        dbo_yield_and_switch_from_comm_to_compute()
        return x

    story.run(body)
    to_comm = [
        "event.record compute_done[{i}] compute", *HAND_OVER, "stream.switch comm",
        "event.wait compute_done[{i}] comm",
    ]  # fmt: skip
    prepare = [*to_comm, "event.record comm_done[{i}] comm", "stream.switch compute",
               "event.wait comm_done[{i}] compute"]  # fmt: skip
    finalize = [*to_comm, "stream.switch compute", "stream.switch comm", "event.record comm_done[{i}] comm",
                *HAND_OVER, "stream.switch compute", "event.wait comm_done[{i}] compute"]  # fmt: skip
    for ubatch in range(story.n):
        assert story.operations(ubatch) == expected(story, ubatch, prepare, finalize)
    assert handoff(story.trace) == []


def test_the_peer_runs_the_hook(story: Story) -> None:
    ran: list[tuple[int, int]] = []

    def body(x: torch.Tensor) -> torch.Tensor:
        mine = dbo_current_ubatch_id()
        dbo_maybe_run_recv_hook()
        dbo_register_recv_hook(lambda: ran.append((mine, dbo_current_ubatch_id())))
        dbo_yield()
        return x

    story.run(body)
    last = story.n - 1
    # microbatch 0 finds no hook at first; it runs the last one's when it leaves
    assert ran == [(i, i + 1) for i in range(last)] + [(last, 0)]
    assert story.operations(0)[4:5] == ["hook.register 0->1"]
    assert f"hook.run {last}->0" in story.operations(0)


def test_switches_with_and_without_waits(story: Story) -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_switch_to_comm_sync()
        dbo_switch_to_comm()  # already there: no switch
        dbo_switch_to_compute()
        return x

    story.run(body)
    expected_switches = [
        "event.record compute_done[{i}] compute", "stream.switch comm", "event.wait compute_done[{i}] comm",
        "stream.switch compute",
    ]  # fmt: skip
    assert story.operations(0) == expected(story, 0, expected_switches)


def test_each_microbatch_sees_its_own_context(story: Story) -> None:
    seen: list[tuple[int, int | None, int]] = []

    def body(x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            context = get_forward_context()
            seen.append((dbo_current_ubatch_id(), context.ubatch, dbo_current_ubatch_token_offset()))
            dbo_yield()
        return x

    story.run(body)
    assert seen == [(i, i, 4 * i) for _ in range(3) for i in range(story.n)]
    assert fc._forward_context is None  # put back after the call


def test_the_previous_event_is_taken_on_compute(story: Story) -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_switch_to_comm()
        assert dbo_get_previous_event(lambda: story.rt.current_stream().name) == "compute"
        assert story.rt.current_stream().name == "comm"
        dbo_switch_to_compute()
        return x

    story.run(body)


# ---- failing: no hang, the original exception, and the same wrapper works again


@pytest.mark.parametrize("when", ["first", "middle", "last", "in a hook", "at exit"])
def test_an_exception_comes_out_as_it_is(story: Story, when: str) -> None:
    fault = ValueError("as it is")
    bad = story.n - 1

    def body(x: torch.Tensor) -> torch.Tensor:
        me = dbo_current_ubatch_id()
        if when == "first" and me == bad:
            raise fault
        dbo_yield()
        if when == "middle" and me == bad:
            raise fault
        if when == "in a hook" and me == bad - 1:
            dbo_register_recv_hook(lambda: (_ for _ in ()).throw(fault))
        dbo_yield()
        dbo_maybe_run_recv_hook()
        if when == "at exit" and me == bad - 1:
            dbo_register_recv_hook(lambda: (_ for _ in ()).throw(fault))
        if when == "last" and me == bad:
            raise fault
        return x

    with pytest.raises(ValueError, match="as it is") as caught:
        story.run(body)
    assert caught.value is fault
    assert [note.split(" (")[0] for note in fault.__notes__] == [f"microbatch {bad}"]
    assert microbatch_threads() == []
    assert torch.equal(story.run(lambda x: (dbo_yield(), x)[1]), story.x)


def test_two_fail_and_the_first_is_raised(story: Story) -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_yield()
        raise ValueError(f"from {dbo_current_ubatch_id()}")

    with pytest.raises(ValueError, match="from 0"):
        story.run(body)


def test_a_thread_that_cannot_start(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    from ubviz.runtime.host_sync import Thread

    plain = Thread.start

    def start(thread: Thread) -> None:
        if thread.name == "ubatch 1":
            raise RuntimeError("can't start new thread")
        plain(thread)

    monkeypatch.setattr(Thread, "start", start)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        story.run(lambda x: x)
    monkeypatch.undo()
    assert torch.equal(story.run(lambda x: x), story.x)


def test_an_interrupt_in_main_while_it_joins(story: Story) -> None:
    def body(x: torch.Tensor) -> torch.Tensor:
        if dbo_current_ubatch_id() == 0:
            signal.pthread_kill(
                threading.main_thread().ident, signal.SIGINT
            )  # a real one wakes a parked main
        for _ in range(20_000):  # until the microbatches are told to unwind
            dbo_yield()
        raise AssertionError("main was interrupted, but nobody told the microbatches")

    with pytest.raises(KeyboardInterrupt):
        story.run(body)
    assert microbatch_threads() == []
    assert torch.equal(story.run(lambda x: x), story.x)


def test_unequal_yields_end_and_are_found() -> None:
    story = Story(3)

    def body(x: torch.Tensor) -> torch.Tensor:
        for _ in range((1, 3, 3)[dbo_current_ubatch_id()]):
            dbo_yield()
        return x

    assert torch.equal(story.run(body), story.x)
    assert [finding.kind for finding in handoff(story.trace)] == ["unequal_yields"]
    assert "microbatch 0 1 times, microbatch 1 3 times" in handoff(story.trace)[0].sentence


def test_an_exception_after_the_last_yield_never_shortens_the_output() -> None:
    story = Story(2)

    def body(x: torch.Tensor) -> torch.Tensor:
        dbo_yield()
        if dbo_current_ubatch_id() == 1:
            raise ValueError("late")
        return x

    with pytest.raises(ValueError, match="late"):
        story.run(body)


# ---- misuse is told in a sentence


def test_from_outside_nothing_happens() -> None:
    for call in (dbo_yield, dbo_switch_to_comm, dbo_maybe_run_recv_hook):
        call()
    dbo_register_recv_hook(lambda: None)
    assert dbo_current_ubatch_id() == dbo_current_ubatch_token_offset() == 0
    assert dbo_get_previous_event(lambda: 1) is None


def test_from_a_stranger_while_microbatches_live(story: Story) -> None:
    caught: list[Exception] = []

    def body(x: torch.Tensor) -> torch.Tensor:
        if dbo_current_ubatch_id() == 0:
            stranger = threading.Thread(target=attempt, name="stranger")
            stranger.start()
            stranger.join()
        return x

    def attempt() -> None:
        try:
            dbo_yield()
        except KeyError as error:
            caught.append(error)

    story.run(body)
    assert isinstance(caught[0], NotAMicrobatchThread)
    alive = story.n
    assert str(caught[0]) == (
        f"thread 'stranger' runs no microbatch, but {alive} are alive; "
        "call dbo_* functions from the threads of the microbatches only"
    )


def test_a_wrapper_called_from_inside(story: Story) -> None:
    with pytest.raises(WrapperBusy, match="a wrapper was called while microbatches are running"):
        story.run(lambda x: story.wrapper(x=x))


def test_a_context_serves_once() -> None:
    rt = get_runtime("host")
    contexts = make_ubatch_contexts(
        2, rt.Stream(), rt.Stream(), [ForwardContext(), ForwardContext()], rt.Barrier(1)
    )
    contexts[0].cpu_wait_event.set()
    with contexts[0]:
        pass
    with pytest.raises(ContextReused, match="the context of microbatch 0 was entered before"):
        contexts[0].__enter__()
    fc._forward_context = None
    rt.close()


def test_a_hook_for_one_who_has_left() -> None:
    story = Story(2)

    def body(x: torch.Tensor) -> torch.Tensor:
        if dbo_current_ubatch_id() == 1:
            dbo_register_recv_hook(lambda: None)  # microbatch 0 has run to its end
        return x

    with pytest.raises(
        NoReceiver, match="microbatch 1 registers a receive hook for microbatch 0, which has left"
    ):
        story.run(body)


def test_leaving_the_wrong_stream() -> None:
    story = Story(2)
    with pytest.raises(ProtocolError, match="microbatch 0 leaves the comm stream, but is on <stream compute"):
        story.run(lambda x: dbo_yield_and_switch_from_comm_to_compute())


def test_somebody_else_changed_the_forward_context() -> None:
    story = Story(2)

    def body(x: torch.Tensor) -> torch.Tensor:
        with set_forward_context(None):
            dbo_yield()
        return x

    with pytest.raises(ProtocolError, match="microbatch 0 yields, but the forward context is not its own"):
        story.run(body)


def test_streams_of_two_runtimes() -> None:
    a, b = get_runtime("host"), get_runtime("host")
    with pytest.raises(MixedRuntimes, match="two runtimes; make both with one"):
        make_ubatch_contexts(2, a.Stream(), b.Stream(), [ForwardContext()] * 2, a.Barrier(3))
    with pytest.raises(MixedRuntimes, match="belongs to no runtime of ubviz"):
        make_ubatch_contexts(2, object(), b.Stream(), [ForwardContext()] * 2, a.Barrier(3))  # type: ignore[arg-type]
    a.close()
    b.close()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"num_ubatches": 1}, "micro-batching takes at least 2 microbatches, not 1"),
    ],
)
def test_a_wrapper_that_cannot_be_made(arguments: dict[str, object], sentence: str) -> None:
    rt = get_runtime("host")
    with pytest.raises(BadArgument, match=sentence):
        UBatchWrapper(lambda: None, runtime=rt, **arguments)  # type: ignore[arg-type]
    rt.close()


# ---- around the threads


def test_sizes_change_from_wrapper_to_wrapper() -> None:
    rt = get_runtime("host")
    for n in (3, 2, 3):
        story = Story(n, rt)
        assert torch.equal(story.run(lambda x: (dbo_yield(), x)[1]), story.x)
        assert len(turns(story.trace)) == 2 * n
    rt.close()


def test_two_wrappers_in_turn() -> None:
    rt = get_runtime("host")
    a, b = Story(2, rt), Story(3, rt)
    for story in (a, b, a, b):
        assert torch.equal(story.run(lambda x: (dbo_yield(), x)[1]), story.x)
    rt.close()


def test_without_slices_the_model_is_called_as_it_is() -> None:
    rt = get_runtime("host")
    wrapper = UBatchWrapper(lambda x: (x, dbo_enabled()), runtime=rt)
    with set_forward_context(None):
        assert wrapper(x=5) == (5, False)
    rt.close()


def test_attributes_are_the_models() -> None:
    rt = get_runtime("host")
    model = torch.nn.Linear(2, 3)
    wrapper = UBatchWrapper(model, runtime=rt)
    assert wrapper.out_features == 3
    assert wrapper.unwrap() is model
    with pytest.raises(AttributeError):
        _ = wrapper.nothing_of_this_name
    rt.close()


def test_outputs_merge_by_part() -> None:
    a, b = torch.tensor([1, 2]), torch.tensor([3])
    merged = merge_outputs([(a, {"aux": [a, None]}), (b, {"aux": [b, None]})])
    assert torch.equal(merged[0], torch.tensor([1, 2, 3]))
    assert torch.equal(merged[1]["aux"][0], torch.tensor([1, 2, 3]))
    assert merged[1]["aux"][1] is None


@pytest.mark.parametrize(
    ("outputs", "sentence"),
    [
        ([torch.ones(1), None], "returned different things \\(Tensor, NoneType\\)"),
        ([(1, 2), (1,)], "returned \\[2, 1\\] parts each"),
        ([{"a": 1}, {"b": 1}], "returned dicts with different keys"),
        ([torch.ones(2, 3), torch.ones(2, 4)], "returned shapes \\[\\(2, 3\\), \\(2, 4\\)\\]"),
        ([torch.tensor(1), torch.tensor(2)], "returned shapes \\[\\(\\), \\(\\)\\]"),
        ([1, 2], "returned int, which cannot be put together along the tokens"),
    ],
)
def test_outputs_that_cannot_be_merged(outputs: list[object], sentence: str) -> None:
    with pytest.raises(SlicingError, match=sentence):
        merge_outputs(outputs)


def test_outputs_can_be_read_after_the_call() -> None:
    """Without a device context of the caller's: the wrapper's own waits when it ends."""
    story, gate = Story(2), threading.Event()
    held = threading.Timer(0.05, gate.set)

    def body(x: torch.Tensor) -> torch.Tensor:
        story.rt.launch("held up", gate.wait)
        return x + 1

    story.body = body
    held.start()
    with story.rt.stream(story.compute), set_forward_context(None, ubatch_slices=two_slices(story)):
        out = story.wrapper(x=story.x)
    assert torch.equal(out, story.x + 1)
    story.rt.close()


def two_slices(story: Story) -> object:
    tokens = len(story.x)
    return maybe_create_ubatch_slices(True, [tokens], tokens, 1, 2)[0]


def test_inputs_go_by_keyword() -> None:
    story = Story(2)
    with pytest.raises(BadArgument, match="a wrapper takes its inputs by keyword"):
        story.wrapper(story.x)
    story.rt.close()


def test_a_microbatch_thread_takes_over_inference_mode() -> None:
    story = Story(2)
    with torch.inference_mode():
        assert story.run(lambda x: [torch.is_inference_mode_enabled() and x]) is not None
        assert all(isinstance(part, torch.Tensor) for part in story.run(lambda x: [x]))
    seen: list[bool] = []
    with torch.inference_mode():
        story.run(lambda x: (seen.append(torch.is_inference_mode_enabled()), x)[1])
    story.run(lambda x: (seen.append(torch.is_inference_mode_enabled()), x)[1])
    assert seen == [True, True, False, False]
