"""How the contract is run over cuda: on a device, and on a fake that obeys CUDA's rules; and what cannot hold there."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

from tests.fake_cuda import FakeCuda, Gate

FAKE = "cuda on a fake"

_AT_LAUNCH = "a launch calls its function at once: what it does or raises in Python is done and raised there"
_ITS_PIECE = "a replay is one kernel span: what happens inside needs a profiler"
_CPU = "it reads tensors of the CPU, which no CUDA stream holds up"
_EXACT = "a modelled transfer takes as long as the device's kernel that takes the time, and is told when it is over"

#: What is run over other runtimes only, and why.
LEFT_OUT = {
    "test_an_error_surfaces_at_the_next_synchronize_and_is_then_cleared": _AT_LAUNCH,
    "test_work_after_an_error_is_skipped": _AT_LAUNCH,
    "test_an_error_goes_along_with_waits": _AT_LAUNCH,
    "test_synchronizing_another_stream_does_not_lose_the_error": _AT_LAUNCH,
    "test_synchronizing_the_runtime_raises_the_first_error_and_clears_all": _AT_LAUNCH,
    "test_an_event_recorded_before_the_error_is_good": _AT_LAUNCH,
    "test_an_error_in_one_round_leaves_the_events_usable": _AT_LAUNCH,
    "test_a_receive_fails_with_the_error_of_its_send": _AT_LAUNCH,
    "test_what_a_receive_does_comes_after_the_arrival": _AT_LAUNCH,
    "test_a_capture_runs_nothing_and_a_replay_runs_it": _AT_LAUNCH,
    "test_branches_of_a_graph_overlap": _AT_LAUNCH,
    "test_more_kernels_than_a_stream_may_lag_behind": _AT_LAUNCH,
    "test_several_graphs_in_any_order": _AT_LAUNCH,
    "test_an_error_in_a_replayed_kernel_surfaces_at_the_next_synchronize": _AT_LAUNCH,
    "test_a_replay_after_its_runtime_is_closed_fails_in_the_open": _AT_LAUNCH,
    "test_capture_spreads_to_a_stream_that_waits": _AT_LAUNCH,
    "test_an_error_of_the_block_comes_out_and_nothing_is_kept": _AT_LAUNCH,
    "test_thread_local_leaves_other_threads_alone_and_takes_their_captured_work": _AT_LAUNCH,
    "test_a_record_is_told_before_anyone_is_let_through": "device facts are told once their twins have completed",
    "test_a_receive_on_another_stream_waits_for_the_send": "a send is launched before its receive",
    "test_a_link_carries_one_transfer_after_another": _EXACT,
    "test_a_transfer_departs_when_its_sending_kernel_ends": _EXACT,
    "test_two_links_do_not_wait_for_each_other": _EXACT,
    "test_flights_are_made_anew_for_every_replay": _ITS_PIECE,
    "test_a_replay_returns_at_once_and_is_one_piece_of_its_stream": _ITS_PIECE,
    "test_a_replay_does_not_wait_for_the_streams_that_were_captured": _ITS_PIECE,
    "test_a_replay_announces_no_launch_and_its_kernels_name_the_captured_ones": _ITS_PIECE,
    "test_a_graph_does_not_run_beside_itself": _ITS_PIECE,
    "test_a_wait_for_an_event_never_recorded_does_nothing": _ITS_PIECE,
    "test_captured_once_and_ended_where_it_began": "a capture that another thread tries to end stays open",
    "test_a_replay_reads_what_is_in_its_inputs_now": _CPU,
    "test_tensors_of_a_capture_keep_their_place": _CPU,
    "-the host read ": _CPU,
    "-the random operation ": "CUDA draws new random numbers at every replay",
}


def left_out(name: str) -> bool:
    """Whether a test of this name, parameters and all, is for other runtimes."""
    return "[cuda" in name and any(
        name.startswith(f"{part}[") or part in name.partition("[")[2] for part in LEFT_OUT
    )


def made(name: str) -> Any:
    """A runtime that is cuda on a fake."""
    from ubviz.runtime.cuda import CudaRuntime

    fake = FakeCuda(drift_ppm=30.0)
    return CudaRuntime(cuda=fake, now_ns=fake.clock.now_ns)


def hold(rt: Any, stream: Any) -> Any:
    """Let a CUDA stream stand still until the gate that comes back is set."""
    if isinstance(rt.cuda, FakeCuda):
        gate = Gate(rt.cuda)
        rt.launch("gate", rt.cuda.hold, gate, stream=stream)
        return gate
    event = threading.Event()
    rt.launch("gate", _host_function, stream.raw.cuda_stream, event.wait, stream=stream)
    return event


_HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_kept: list[Any] = []  # a function of CUDA's must outlive its call


def _host_function(stream: int, function: Callable[[], Any]) -> None:
    """Queue a call of ``function``, by a thread of CUDA's: the stream goes on when it has returned."""

    def call(_: Any) -> None:
        function()

    _kept.append(_HostFunction(call))
    driver = ctypes.CDLL("libcuda.so.1")
    error = driver.cuLaunchHostFunc(ctypes.c_void_p(stream), _kept[-1], None)
    assert error == 0, f"cuLaunchHostFunc: error {error}"
