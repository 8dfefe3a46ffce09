"""Some steps of a trace: all that belongs to them, nothing else, joined as before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.small import recorded
from ubviz.analysis import handoff, overlap, turns
from ubviz.errors import BadArgument
from ubviz.trace import Trace, load


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_one_step_holds_what_the_whole_holds_of_it(style: str) -> None:
    whole = recorded(style, 2, steps=3)
    first, step, _ = whole.steps
    part = whole.only(step)
    assert part.steps == (step,)
    assert list(part.events) == [event for event in whole.events if event.step == step]
    kernels = whole.spans.mask(cat="kernel", step=step)
    assert part.spans.rows(part.spans.mask(cat="kernel")) == whole.spans.rows(kernels)
    assert overlap(part) == overlap(whole, step=step)
    assert turns(part) == turns(whole, step)
    assert handoff(part) == []
    assert whole.only(step, first).steps == (first, step)


def test_flows_still_join_the_same_rows() -> None:
    whole = recorded("ht", 2, steps=2)
    part = whole.only(whole.steps[1])

    def joined(trace: Trace) -> list[tuple[str, Any, Any]]:
        return [
            (
                flow.kind,
                getattr(trace, flow.from_table)[flow.from_row],
                getattr(trace, flow.to_table)[flow.to_row],
            )
            for flow in trace.flows
        ]

    within = [arrow for arrow in joined(whole) if {end.step for end in arrow[1:]} == set(part.steps)]
    assert joined(part) == within


def test_a_life_longer_than_a_step_is_cut_to_it() -> None:
    whole = recorded("ht", 2, steps=2)
    part = whole.only(whole.steps[0])
    (main,) = part.spans.rows(part.spans.mask(cat="thread", lane=part.lane("main").id))
    assert (main.start_ns, main.step) == (part.events["t_ns"].min(), part.steps[0])
    assert main.end_ns == max(part.spans["end_ns"])


def test_a_part_survives_its_file(tmp_path: Path) -> None:
    whole = recorded("ht", 2, steps=2)
    part = whole.only(whole.steps[1])
    part.save(tmp_path / "part.json.gz")
    assert load(tmp_path / "part.json.gz") == part


def test_unknown_steps_are_refused() -> None:
    trace = recorded("ht", 2, steps=2)
    first, second = trace.steps
    for steps, said in (((99,), r"\[99\]"), ((), "an empty choice")):
        with pytest.raises(BadArgument, match=rf"this trace has the steps \[{first}, {second}\], not {said}"):
            trace.only(*steps)
