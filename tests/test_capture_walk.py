"""A fault at every fact of a capture, in main and in each microbatch: nothing hangs, nothing half is kept."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch

from tests.faults import Broken, Raiser, ll_layer
from tests.graph_calls import FULL, NONE, rows
from tests.stories import microbatch_threads
from ubviz.runtime import get_runtime
from ubviz.ubatch import UBatchWrapper, dbo_enabled, maybe_create_ubatch_slices, set_forward_context


class Capturing:
    """One wrapper, called with a listener that raises."""

    def __init__(self, n: int) -> None:
        self.rt, self.n = get_runtime("host"), n
        self.wrapper = UBatchWrapper(lambda x: ll_layer(self.rt, x), runtime=self.rt, num_ubatches=n)
        self.compute = self.rt.Stream("compute")
        self.x = rows(2 * n)

    def call(
        self, faults: dict[tuple[str, int], BaseException], mode: Any = FULL
    ) -> tuple[Raiser, torch.Tensor]:
        slices, _ = maybe_create_ubatch_slices(True, [2 * self.n], 2 * self.n, 1, self.n)
        raiser = Raiser(faults)
        with self.rt.device_context(), self.rt.stream(self.compute):
            self.rt.hooks.subscribe(raiser)
            try:
                with set_forward_context(None, ubatch_slices=slices, cudagraph_runtime_mode=mode):
                    output = self.wrapper(x=self.x)
            finally:
                self.rt.hooks.unsubscribe(raiser)
        return raiser, output


@pytest.mark.parametrize("n", [2, 3])
def test_a_fault_at_every_fact(n: int) -> None:
    capturing = Capturing(n)
    told, output = capturing.call({})
    right = output.clone()
    walked = 0
    for who, facts in told.told.items():
        for k in range(1, len(facts) + 1):
            capturing.wrapper.cudagraphs.clear()
            fault, at = Broken(f"{who} {facts[k - 1]}"), (who, k)
            with pytest.raises(Broken) as caught:
                capturing.call({at: fault})
            assert caught.value is fault, at
            assert (microbatch_threads(), dbo_enabled(), capturing.rt.captures) == ([], False, ()), at
            if "graph.capture_end" not in facts[: k - 1]:
                assert capturing.wrapper.cudagraphs == {}, at
            capturing.rt.synchronize()
            walked += 1
        assert torch.equal(capturing.call({})[1], right), who
        assert torch.equal(capturing.call({}, NONE)[1], right), who
    assert walked > 40 * n
    assert threading.active_count() < 20
    capturing.rt.close()
