"""The vote among ranks: who votes what and why, what all make of it, and that a missed vote is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.ranks import T2, Row, among_threads, config, vote, votes_over_gloo
from tests.small import Small
from ubviz.engine.dp import (
    ParallelConfig,
    check_ubatch_thresholds,
    coordinate_batch_across_dp,
    default_group_device,
    why,
    why_not,
)
from ubviz.errors import BadArgument, MissedCollective
from ubviz.recording import record
from ubviz.trace import Event, Trace


def agreed(row: Row, **options: Any) -> Any:
    """What all ranks agree on; they must all say the same."""
    results = among_threads(lambda rank, table: vote(row, rank, table, **options), len(row.tokens))
    assert results[1:] == results[:-1]
    return results[0]


# ---- published numbers


@pytest.mark.parametrize("row", T2, ids=lambda row: f"{row.tokens}")
def test_the_rows(row: Row) -> None:
    found = agreed(row)
    assert (1 + found.should_ubatch, list(found.num_tokens_after_padding)) == (row.ubatches, row.padded)


def test_the_rows_over_a_real_all_reduce(tmp_path: Path) -> None:
    expected = [[row.ubatches, row.padded] for row in T2]
    assert votes_over_gloo(tmp_path / "store") == [expected, expected]


@pytest.mark.parametrize("name", ["dbo_decode_token_threshold", "dbo_prefill_token_threshold"])
def test_a_threshold_below_the_number_of_microbatches_is_refused(name: str) -> None:
    """T2: decode_threshold 1 with 2 ubatches."""
    with pytest.raises(BadArgument) as raised:
        config(0, **{name: 1})
    assert str(raised.value) == (
        f"{name} is 1, below the number of microbatches (2): each needs a token, so set the threshold to at least "
        "as many"
    )
    assert config(0, dbo_decode_token_threshold=2, dbo_prefill_token_threshold=2).asked() == config(0).asked()


# ---- thresholds, padding, empty microbatches


@pytest.mark.parametrize(("tokens", "uniform"), [(32, True), (128, False)])
def test_a_threshold_is_the_least_number(tokens: int, uniform: bool) -> None:
    assert check_ubatch_thresholds(config(0), tokens, uniform)
    assert not check_ubatch_thresholds(config(0), tokens - 1, uniform)
    assert not check_ubatch_thresholds(config(0, enable_dbo=False), tokens, uniform)


@pytest.mark.parametrize(("tokens", "ubatches"), [([64, 128], 1), ([65, 128], 2)])
def test_an_empty_last_microbatch_ends_the_attempt(tokens: list[int], ubatches: int) -> None:
    """V11: 64 of 128 leave the second microbatch nothing; one more is enough."""
    found = agreed(Row(tokens, 0, [], uniform=[1, 1]))
    assert 1 + found.should_ubatch == ubatches
    assert list(found.num_tokens_after_padding) == (tokens if ubatches == 1 else [128, 128])
    reason = why_not(found.votes, config(0))
    assert (reason is None) == (ubatches == 2)
    assert reason is None or reason == (
        "every rank voted yes, but rank 0 would have nothing in the last of 2 microbatches: it has 64 tokens, and "
        "of 128 the last microbatch begins at token 64"
    )


@pytest.mark.parametrize(
    ("tokens", "allow", "mode", "padded"),
    [
        ([300, 20], False, 0, [300, 20]),  # eager, no microbatches: nobody pads for nothing
        ([300, 20], False, 2, [300, 300]),  # CUDA graphs on all ranks
        ([300, 200], True, 0, [300, 300]),  # microbatches always pad
    ],
)
def test_who_pads(tokens: list[int], allow: bool, mode: int, padded: list[int]) -> None:
    """V14."""
    assert (
        list(agreed(Row(tokens, 0, [], allow=allow), cudagraph_mode=mode).num_tokens_after_padding) == padded
    )


def test_ranks_choose_a_graph_by_the_agreed_size() -> None:
    """V22: 3 and 7 tokens in graphs of 4 and 8; and one rank without a graph is enough for nobody to have one."""

    def call(modes: tuple[int, int]) -> list[Any]:
        return among_threads(
            lambda rank, table: coordinate_batch_across_dp(
                (3, 7)[rank], False, config(rank), (4, 8)[rank], cudagraph_mode=modes[rank], all_reduce=table
            )
        )

    assert [found[1:3] for found in call((2, 2))] == [((8, 8), 2)] * 2
    assert [found[1:3] for found in call((0, 2))] == [((4, 8), 0)] * 2


# ---- which input made which rank vote no


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (Row([256, 100], 1, []), "rank 1 voted no: its 100 tokens are below the prefill threshold of 128"),
        (
            Row([20, 64], 1, [], uniform=[1, 0]),
            "rank 0 voted no: its 20 tokens are below the decode threshold of 32; "
            "rank 1 voted no: its 64 tokens are below the prefill threshold of 128",
        ),
        (
            Row([256, 256], 1, [], allow=False),
            "rank 0 voted no: its caller did not allow microbatches; "
            "rank 1 voted no: its caller did not allow microbatches",
        ),
    ],
)
def test_why_not(row: Row, sentence: str) -> None:
    assert why_not(agreed(row).votes, config(0)) == sentence


def test_microbatching_that_is_off_is_said_first() -> None:
    found = coordinate_batch_across_dp(600, False, ParallelConfig(enable_dbo=False))
    assert why_not(found.votes, config(0)) == (
        "rank 0 voted no: microbatching is off (enable_dbo, num_ubatches)"
    )


def test_why() -> None:
    assert why(agreed(Row([200, 256], 2, [])).votes) == (
        "every rank voted yes: rank 0: 200 tokens reach the prefill threshold of 128; "
        "rank 1: 256 tokens reach the prefill threshold of 128"
    )
    assert why_not(agreed(Row([200, 256], 2, [])).votes, config(0)) is None


def test_a_rank_that_skips_a_vote_is_named() -> None:
    """V15: tokens [4, 4, 4] and [4, 0, 4]; rank 1 skips step 1, and hangs nobody, not even at step 2."""
    both = Row([4, 4], 0, [])
    steps = ([0, 1, 2], [0, 2])

    def call(rank: int, table: Any) -> int:
        vote(both, rank, table, step=steps[rank][0])
        table.barrier.wait(10)
        table.sum = 0
        table.barrier.wait(10)
        return vote(both, rank, table, step=steps[rank][1]).votes[0].step

    for error in among_threads(call):
        assert isinstance(error, MissedCollective)
        assert str(error) == (
            "rank 1 missed the vote of step 1 and went on to that of step 2; every rank takes part in every step, "
            "also with nothing to do: call execute_model([])"
        )


# ---- the runner decides by it


def events(trace: Trace, kind: str) -> list[Event]:
    return trace.events.rows(trace.events.mask(kind=kind))


def small(style: str = "ht", n: int = 2, tokens: int = 25, **fields: Any) -> Small:
    made = Small(style, n, tokens=tokens)
    made.runner.parallel_config = config(0, 1, num_ubatches=n, **fields)
    return made


@pytest.mark.parametrize(
    ("threshold", "branch", "reason"),
    [
        (25, "overlapped", "25 tokens reach the prefill threshold of 25"),
        (26, "unsplit", "rank 0 voted no: its 25 tokens are below the prefill threshold of 26"),
    ],
)
def test_the_threshold_chooses_the_branch(threshold: int, branch: str, reason: str) -> None:
    chosen = small(dbo_prefill_token_threshold=threshold)
    with record(chosen.rt) as recording:
        assert chosen.runner.execute_model(chosen.batch).branch == branch
    (begin,) = events(recording.trace, "step.begin")
    assert (begin.args["branch"], begin.args["why"]) == (branch, reason)
    (cast,) = events(recording.trace, "vote")
    assert (cast.seq < begin.seq, cast.step, cast.args["vote"]) == (True, begin.step, branch != "unsplit")
    assert cast.args["inputs"] == {
        "num_tokens": 25, "num_tokens_padded": 25, "cudagraph_mode": 0, "uniform_decode": False,
        "allow_microbatching": True, "use_ubatching": True, "threshold": threshold,
    }  # fmt: skip
    assert events(recording.trace, "collective") == []  # one rank has nobody to ask
    chosen.close()


@pytest.mark.parametrize("mode", ["unsplit", "split", "overlapped"])
def test_what_the_caller_asks_for_is_run(mode: str) -> None:
    """No threshold counts, and the same vote says that it was asked for."""
    chosen = small()
    with record(chosen.rt) as recording:
        assert chosen.runner.execute_model(chosen.batch, mode).branch == mode
    (begin,) = events(recording.trace, "step.begin")
    assert (begin.args["branch"], begin.args["why"]) == (mode, "asked for by the caller")
    (cast,) = events(recording.trace, "vote")
    assert cast.args["inputs"]["allow_microbatching"] is (mode != "unsplit")
    assert cast.args["inputs"]["threshold"] == 2 or mode == "unsplit"
    chosen.close()


@pytest.mark.parametrize("style", ["ht", "ll"])
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("run_empty", [False, True])
def test_a_larger_rank_pads_this_one(style: str, n: int, run_empty: bool) -> None:
    """Padding rows change nothing, not even where a whole microbatch is padding."""
    chosen = small(style, n, tokens=13)
    before = chosen.runner.execute_model(chosen.batch, "unsplit")
    chosen.runner.parallel_config = config(0, 2, num_ubatches=n, run_empty_ubatch=run_empty)
    chosen.runner.all_reduce = other_rank(tokens=29 if run_empty else 17)
    for mode in ("split", "overlapped"):
        chosen.runner.forget(chosen.batch)
        with record(chosen.rt) as recording:
            after = chosen.runner.execute_model(chosen.batch, mode)
        assert after.branch == mode
        assert after.hidden.shape == before.hidden.shape
        torch.testing.assert_close(after.hidden, before.hidden, rtol=1e-5, atol=1e-5)
        assert after.sampled == before.sampled
        assert [e.args["rank"] for e in events(recording.trace, "vote")] == [0, 1]
        assert [e.args["name"] for e in events(recording.trace, "collective")] == ["vote"]
    chosen.close()


def other_rank(tokens: int) -> Any:
    """An all-reduce with a rank 1 that votes as rank 0 does, with its own number of tokens."""

    def all_reduce(table: torch.Tensor, step: int) -> None:
        table[:, 1] = table[:, 0]
        table[:2, 1] = tokens

    return all_reduce


@pytest.mark.parametrize("style", ["ht", "ll"])
def test_a_rank_with_nothing_to_do_still_takes_part(style: str) -> None:
    chosen = small(style)
    with record(chosen.rt) as recording:
        output = chosen.runner.execute_model([])
    assert (output.branch, output.sampled, tuple(output.hidden.shape)) == ("unsplit", [], (0, 32))
    assert len(events(recording.trace, "vote")) == 1
    operations = {
        span.operation for span in recording.trace.spans.rows(recording.trace.spans.mask(cat="kernel"))
    }
    assert "experts" in operations
    chosen.close()


def test_a_runner_and_its_config_agree() -> None:
    chosen = Small("ht")
    with pytest.raises(BadArgument, match="the runner has 3 microbatches, its parallel_config 2; give both"):
        type(chosen.runner)(chosen.runner.model.unwrap(), chosen.rt, 3, config(0, 1))
    with pytest.raises(BadArgument, match="rank 2 is not one of 2 ranks, which count from 0"):
        config(2)
    with pytest.raises(BadArgument, match="5 tokens cannot be padded to 4; padding only adds"):
        coordinate_batch_across_dp(5, False, config(0, 1), 4)
    chosen.close()


@pytest.mark.parametrize(("backend", "device"), [("gloo", "cpu"), ("nccl", "cuda"), ("undefined", "cpu")])
def test_the_default_group_adds_up_where_its_backend_can(
    backend: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.distributed, "get_backend", lambda: backend)
    assert default_group_device() == torch.device(device)
