"""Ranks for tests: votes of several ranks, in threads or in real processes over gloo."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from tests.small import Small
from ubviz.engine import GPUModelRunner, StepOutput
from ubviz.engine.dp import Coordination, ParallelConfig, coordinate_batch_across_dp
from ubviz.engine.ranks import Ranks
from ubviz.exploration.launch import launch
from ubviz.exploration.programs import contexts_of, requests
from ubviz.recording import record
from ubviz.ubatch import CUDAGraphMode, dbo


class Row(NamedTuple):
    """What ranks vote with, and what must come out: microbatches, and tokens after padding."""

    tokens: list[int]
    ubatches: int
    padded: list[int]
    uniform: list[int] = [0, 0]
    allow: bool = True
    run_empty: bool = False


#: The rows that vLLM's test asserts (T2), thresholds 32 and 128.
T2 = [
    Row([256, 256], 2, [256, 256]),
    Row([256, 100], 1, [256, 100]),
    Row([100, 256], 1, [100, 256]),
    Row([64, 64], 2, [64, 64], uniform=[1, 1]),
    Row([64, 64], 1, [64, 64], uniform=[1, 0]),
    Row([200, 256], 2, [256, 256]),
    Row([128, 512], 2, [512, 512], run_empty=True),  # the V2 runner's rule
    Row([256, 256], 1, [256, 256], allow=False),
]


def config(rank: int, size: int = 2, **fields: Any) -> ParallelConfig:
    chosen = {"dbo_decode_token_threshold": 32, "dbo_prefill_token_threshold": 128, **fields}
    return ParallelConfig(size, rank, **chosen)


def vote(row: Row, rank: int, all_reduce: Any = None, **options: Any) -> Coordination:
    return coordinate_batch_across_dp(
        row.tokens[rank],
        row.allow,
        config(rank, len(row.tokens), run_empty_ubatch=row.run_empty),
        uniform_decode=bool(row.uniform[rank]),
        all_reduce=all_reduce,
        **options,
    )


class Table:
    """An all-reduce among threads: everybody adds to one tensor, and reads it when all have."""

    def __init__(self, size: int) -> None:
        self.sum: Any = 0
        self.lock = threading.Lock()
        self.barrier = threading.Barrier(size)

    def __call__(self, tensor: torch.Tensor, step: int) -> None:
        with self.lock:
            self.sum = self.sum + tensor
        self.barrier.wait(10)
        tensor.copy_(self.sum)


def among_threads(call: Any, size: int = 2) -> list[Any]:
    """``call(rank, all_reduce)`` on one thread a rank; what each returned or raised."""
    table, results = Table(size), [None] * size

    def run(rank: int) -> None:
        try:
            results[rank] = call(rank, table)
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return results


def votes_over_gloo(store: Path) -> list[list[Any]]:
    """What each of two real processes makes of the rows of ``T2``: [microbatches, padded] a row."""
    words = [sys.executable, "-m", "tests.ranks", str(store)]
    ranks = [subprocess.Popen([*words, str(r)], stdout=subprocess.PIPE, text=True) for r in range(2)]
    try:
        return [json.loads(rank.communicate(timeout=60)[0]) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()


# ---- stories of two ranks, each a process


def play(story: str, limit_s: float = 2.0) -> int:
    """Launch two ranks that play ``story``; what ``launch`` raises comes out."""
    return launch([sys.executable, "-m", "tests.ranks", "story", story, str(limit_s)], 2)


def act(story: str, limit_s: float) -> None:
    """One rank of ``play``: a small model whose experts are divided, and what ``STORIES`` tells."""
    ranks = Ranks.join(limit_s)
    style = "ll" if story.endswith("ll") else "ht"
    small = Small(style)  # with the same weights on each rank, and a batch of its own
    small.batch = requests(style, (25, 18)[ranks.rank], 4, 64, seed=ranks.rank)
    if style == "ll":
        small.runner.execute_model(contexts_of(small.batch, 64, seed=ranks.rank), "unsplit")
    reference = small.runner.execute_model(small.batch, "unsplit")
    model = small.runner.model.unwrap()
    model.join(ranks)
    small.runner = GPUModelRunner(model, small.rt, 2, config(ranks.rank).asked(), ranks.all_reduce)
    try:
        if story.startswith("graphs"):
            replay_graphs(small, model, ranks)
        elif story.startswith("compare"):
            compare(small, reference, ranks.rank)
        else:
            three_steps(small, MISTAKES[story], ranks)
        ranks.barrier(9, "the end")
    except Exception as error:
        ranks.fail(error)
        os._exit(1)
    small.close()
    ranks.close()


def compare(small: Small, reference: StepOutput, rank: int) -> None:
    """Every way of running gives what a single process gives, padded or beside a rank that has nothing to do."""
    outputs = {}
    for mode in ("unsplit", "split", "overlapped", "rank 1 idles"):
        idles = mode == "rank 1 idles"
        small.runner.forget(small.batch)
        output = small.runner.execute_model(
            [] if idles and rank == 1 else small.batch, None if idles else mode
        )
        if idles:
            same("the branch beside an idle rank", output.branch, "unsplit")
        if not (idles and rank == 1):
            outputs[mode] = output.hidden
            same(f"the tokens of {mode}", output.sampled, reference.sampled)
            torch.testing.assert_close(output.hidden, reference.hidden, rtol=1e-5, atol=1e-5)
    same("split and overlapped", torch.equal(outputs["split"], outputs["overlapped"]), True)


def replay_graphs(small: Small, model: Any, ranks: Ranks) -> None:
    """Decode steps by a graph that both ranks capture and replay, padded alike, and what makes both run eagerly."""
    shape = config(ranks.rank).asked()
    full = GPUModelRunner(
        model, small.rt, 2, shape, ranks.all_reduce, cudagraph_mode=CUDAGraphMode.FULL, max_model_len=32
    )
    full.step, small.runner.step = 10, 11
    prefill = [replace(r, num_computed_tokens=0, token_ids=(1, 2)) for r in small.batch[:9]]
    plan = {  # what each rank runs, and by which branch both do
        "first": ((small.batch, small.batch), "capture"),
        "again": ((small.batch, small.batch), "replay"),
        "one request less on rank 1": ((small.batch, small.batch[:-1]), "replay"),
        "a prefill on rank 1": ((small.batch, prefill), "overlapped"),
        "rank 1 idles": ((small.batch, []), "unsplit"),  # of a size that microbatches own
        "other tokens": (([], small.batch), "capture"),  # unsplit, 18 tokens
        "other tokens again": (([], small.batch), "replay"),
    }
    for what, (batches, branch) in plan.items():
        batch = batches[ranks.rank]
        with record(small.rt, rank=ranks.rank) as recording:
            graph = full.execute_model(batch)
        eager = small.runner.execute_model(batch)
        same(f"the branch of {what}", graph.branch, branch)
        same(f"the tokens of {what}", graph.sampled, eager.sampled)
        torch.testing.assert_close(graph.hidden, eager.hidden, rtol=1e-5, atol=1e-5)
        if ranks.rank == 0:
            print(f"{what}: {', '.join(graph_facts(recording.trace.events))}", flush=True)
        full.step, small.runner.step = full.step + 1, small.runner.step + 1


def graph_facts(events: Any) -> Iterator[str]:
    """Of a step: the branch, the modes that the ranks voted for, how often tokens were exchanged, and in which step."""
    rows = list(events)
    (end,) = [e for e in rows if e.kind == "step.end"]
    names = [e.args for e in rows if e.kind == "collective" and e.args["name"] != "vote"]
    yield end.args["branch"]
    yield f"modes {[e.args['inputs']['cudagraph_mode'] for e in rows if e.kind == 'vote']}"
    yield f"{len(names)} exchanges in step {({e['step'] for e in names} or {None}).pop()}"


def same(what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise ValueError(f"{what}: {found}, not {expected}")


def three_steps(small: Small, mistake: Any, ranks: Ranks) -> None:
    for step in range(3):
        if ranks.rank == 1 and step == 1:
            mistake(small, small.runner.model.unwrap(), ranks)
        small.runner.execute_model(small.batch, "overlapped")


def skip_a_step(small: Small, model: Any, ranks: Ranks) -> None:
    small.runner.step += 1


def hang(small: Small, model: Any, ranks: Ranks) -> None:
    threading.Event().wait(60)


def hang_in_a_layer(small: Small, model: Any, ranks: Ranks) -> None:
    model.moe[1].register_forward_pre_hook(lambda *_: threading.Event().wait(60))


def skip_a_layer(small: Small, model: Any, ranks: Ranks) -> None:
    del model.moe[1], model.attention[1]


def swap_microbatches(small: Small, model: Any, ranks: Ranks) -> None:
    """Microbatch 0 hands on once more, at the beginning, so that microbatch 1 is the first to exchange tokens."""
    model.moe[0].register_forward_pre_hook(
        lambda *_: dbo.dbo_yield() if dbo.dbo_current_ubatch_id() == 0 else None
    )


def die(small: Small, model: Any, ranks: Ranks) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(small: Small, model: Any, ranks: Ranks) -> None:
    raise ValueError("no more memory")


MISTAKES = {
    "skip a step": skip_a_step, "hang": hang,
    "hang in a layer": hang_in_a_layer, "skip a layer": skip_a_layer, "skip a layer, ll": skip_a_layer, "die": die,
    "fail": fail, "swap": swap_microbatches, "swap, ll": swap_microbatches,
}  # fmt: skip


def main(words: Sequence[str]) -> None:
    """One rank of ``votes_over_gloo``, or of ``play``."""
    if words[0] == "story":
        act(words[1], float(words[2]))
        return
    rank = int(words[1])
    torch.distributed.init_process_group("gloo", init_method=f"file://{words[0]}", rank=rank, world_size=2)
    agreed = [vote(row, rank) for row in T2]
    print(json.dumps([[1 + a.should_ubatch, list(a.num_tokens_after_padding)] for a in agreed]))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1:])
