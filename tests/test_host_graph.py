"""Graphs of the host runtime, beyond the contract."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
import torch

from ubviz.errors import CaptureError


def test_what_a_graph_holds_goes_with_it(rt: Any) -> None:
    s0, s1 = rt.Stream("S0"), rt.Stream("S1")
    graph = rt.graph("g")
    with rt.device_context(), rt.stream(s0):
        with graph.capture(s0):
            s1.wait_stream(s0)
            with rt.stream(s1):
                kept = weakref.ref((torch.ones(4) * 2).untyped_storage())
            s0.wait_stream(s1)
        graph.replay()
        s0.synchronize()
    assert kept() is not None
    streams = len(rt.streams())
    del graph
    rt.launch("k", host_wait=True)
    assert kept() is None
    assert len(rt.streams()) == streams - 1  # its own has gone, too


def test_a_fork_without_work_is_to_be_joined_too(rt: Any) -> None:
    """Whether CUDA lets it pass is not documented; here it is named, since a graph with it may fail there."""
    s0, s1 = rt.Stream("S0"), rt.Stream("S1")
    with pytest.raises(
        CaptureError, match=r"^unjoined: stream S1 was forked into the capture of graph g and never"
    ):
        with rt.graph("g").capture(s0):
            s1.wait_stream(s0)
