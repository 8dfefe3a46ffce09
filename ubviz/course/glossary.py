"""The words of the course in English and Chinese, where each is explained, and what it is called at its source.

``notebooks/GLOSSARY.md`` is written from this (``python -m ubviz.course.glossary``), and a test compares them.
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import BadArgument


class Term(NamedTuple):
    """One word: in English, in Chinese, what it means, the notebook that explains it, its source."""

    english: str
    chinese: str
    means: str
    notebook: str
    source: str


NOTEBOOKS = {
    "00": "00_the_whole_game", "01": "01_why_moe_waits", "02": "02_two_queues", "03": "03_events_order_the_device",
    "04": "04_a_sticky_flag", "05": "05_the_baton", "06": "06_the_start_line", "07": "07_who_am_i",
    "08": "08_changing_streams", "09": "09_an_ht_layer", "10": "10_an_ll_layer", "11": "11_the_vote",
    "12": "12_cut_and_paste", "13": "13_capture_once", "14": "14_break_it",
}  # fmt: skip
"""The file of each notebook, by its number."""

TERMS = (
    Term(
        "microbatch", "微批次",
        "a part of a batch that goes through the model on a thread of its own",
        "00", "vLLM `UBatchContext`; in code `ubatch`",
    ),
    Term(
        "overlap", "重叠",
        "time in which computation and communication run side by side",
        "00", "-",
    ),
    Term(
        "makespan", "总时长",
        "from the first kernel's start to the last one's end",
        "00", "scheduling theory",
    ),
    Term(
        "mixture of experts (MoE)", "混合专家",
        "a layer that sends each token to a few of many experts",
        "01", "vLLM `FusedMoE`",
    ),
    Term(
        "dispatch, combine", "分发，合并",
        "tokens to their experts and results back, each an all-to-all (全交换)",
        "01", "vLLM `prepare`, `finalize`; DeepEP",
    ),
    Term(
        "contention", "争用",
        "kernels that run side by side share the device, and are slower",
        "01", "-",
    ),
    Term(
        "stream", "流",
        "a queue of work of the device: in order, one after the other",
        "02", "CUDA stream",
    ),
    Term(
        "launch", "下发",
        "putting work into a stream; it runs later",
        "02", "CUDA kernel launch",
    ),
    Term(
        "kernel span", "内核区间",
        "the time in which a launched piece of work runs",
        "02", "CUDA kernel",
    ),
    Term(
        "event", "事件 (CUDA)",
        "a mark in a stream that other streams can wait for",
        "03", "`torch.cuda.Event`",
    ),
    Term(
        "record, wait", "记录，等待",
        "marking the end of a stream; a stream stops until a mark has been passed",
        "03", "`cudaEventRecord`, `cudaStreamWaitEvent`",
    ),
    Term(
        "race", "数据竞争",
        "two accesses to the same memory, one of them a write, without an order",
        "03", "-",
    ),
    Term(
        "host event", "主机事件",
        "a flag that threads wait for",
        "04", "`threading.Event`",
    ),
    Term(
        "sticky", "保持置位",
        "a flag that is up stays up until it is cleared",
        "04", "`threading.Event`",
    ),
    Term(
        "lost wake-up", "丢失唤醒",
        "a set that was cleared before anybody woke by it",
        "04", "-",
    ),
    Term(
        "yield", "让出",
        "setting the next one's host event and waiting for one's own",
        "05", "vLLM `_cpu_yield`",
    ),
    Term(
        "turn", "轮次 (接力棒)",
        "the permission to run; one microbatch has it at a time",
        "05", "-",
    ),
    Term(
        "deadlock", "死锁",
        "everybody waits, and nobody is left who could set anything",
        "05", "-",
    ),
    Term(
        "barrier, parties", "屏障 (集结号)，参与方数",
        "who arrives waits until so many have come",
        "06", "`threading.Barrier(parties)`",
    ),
    Term(
        "kick", "首次唤醒",
        "main sets the host event of microbatch 0",
        "06", "vLLM `_run_ubatches`",
    ),
    Term(
        "ring", "环",
        "microbatch i wakes (i + 1) mod n",
        "06", "vLLM `make_ubatch_contexts`",
    ),
    Term(
        "forward context", "前向上下文",
        "attention metadata and more of a pass; one variable of the process",
        "07", "vLLM `vllm/forward_context.py`",
    ),
    Term(
        "restore", "恢复上下文",
        "putting one's own forward context back after a wake-up",
        "07", "vLLM `_restore_context`",
    ),
    Term(
        "current stream", "当前流",
        "the stream onto which a thread's launches go",
        "08", "`torch.cuda.current_stream`",
    ),
    Term(
        "switch", "切换流",
        "changing the current stream; with *sync* the new one waits for the old",
        "08", "vLLM `switch_to_comm_sync`",
    ),
    Term(
        "high throughput (ht)", "高吞吐模式",
        "the style of all-to-all for prefill: on the comm stream, blocks the host",
        "09", "DeepEP, high-throughput kernels",
    ),
    Term(
        "prepare, finalize", "准备，收尾",
        "what stands round dispatch and combine in a layer",
        "09", "vLLM `FusedMoEPrepareAndFinalize`",
    ),
    Term(
        "low latency (ll)", "低延迟模式",
        "the style for decode: send and receive on the compute stream",
        "10", "DeepEP, low-latency kernels",
    ),
    Term(
        "receive hook", "接收钩子",
        "a function that launches the receive; the peer runs it",
        "10", "vLLM `dbo_register_recv_hook`",
    ),
    Term(
        "transfer, in flight", "传输中",
        "data on the wire; no stream is busy with it",
        "10", "-",
    ),
    Term(
        "data-parallel rank", "数据并行进程",
        "a process with batches of its own and a part of the experts",
        "11", "`data_parallel_rank`",
    ),
    Term(
        "vote", "投票",
        "all ranks exchange a table and come to one decision",
        "11", "vLLM `coordinate_batch_across_dp`",
    ),
    Term(
        "padding", "填充",
        "rows without tokens, so that all ranks have equally many",
        "11", "vLLM `num_tokens_after_padding`",
    ),
    Term(
        "request", "请求",
        "one sequence in a batch",
        "12", "vLLM `Request`",
    ),
    Term(
        "`UBatchSlice`", "微批次切片",
        "a range of requests and a range of tokens",
        "12", "vLLM `UBatchSlice`",
    ),
    Term(
        "KV cache", "KV 缓存",
        "keys and values of earlier tokens",
        "12", "vLLM paged KV cache",
    ),
    Term(
        "CUDA graph", "CUDA 图",
        "kernels and their order, launched at once",
        "13", "`torch.cuda.CUDAGraph`",
    ),
    Term(
        "capture", "捕获",
        "launches become nodes of a graph, and do not run",
        "13", "vLLM `_capture_ubatches`",
    ),
    Term(
        "replay", "重放",
        "launching a captured graph; no Python of the model runs",
        "13", "`CUDAGraph.replay`",
    ),
    Term(
        "schedule", "调度顺序",
        "the order in which threads took their steps",
        "14", "-",
    ),
    Term(
        "happens-before", "先行发生",
        "the order that program, streams and events make",
        "14", "Lamport 1978",
    ),
    Term(
        "exploration", "遍历调度",
        "running a program in every order that matters",
        "14", "model checking",
    ),
)  # fmt: skip

CORRECTIONS = (
    ("DBO", "is called Dual Batch Overlap, not Double Buffered Overlap"),
    ("Control changes hands", "at every yield, not when a microbatch has ended its model"),
    (
        "Streams",
        "there is one compute and one comm stream, shared by all microbatches; none has its own pair",
    ),
    ("The barrier is waited for", "in `__enter__`, `_run_ubatches` and `_capture_ubatches` (V1 runner)"),
    (
        "The figure of `_prepare`",
        "mixes the two styles: the blocking dispatch is of ht, the receive hook of ll",
    ),
    ("DBO", "needs two data-parallel ranks"),
    ("ht and CUDA graphs", "exclude each other"),
    ("Overlapped kernels", "share the device: overlap is not gain"),
)
"""What documents on the subject get wrong, and what is so."""


def meaning(word: str) -> str:
    """What a word means, in English or Chinese.

    >>> meaning("makespan")
    "makespan (总时长): from the first kernel's start to the last one's end; notebook 00"
    """
    for term in TERMS:
        if word in (term.english, term.chinese):
            return f"{term.english} ({term.chinese}): {term.means}; notebook {term.notebook}"
    raise BadArgument(f"the glossary has no {word!r}; it has {', '.join(term.english for term in TERMS)}")


def text() -> str:
    """The glossary as ``notebooks/GLOSSARY.md`` has it."""
    rows = [
        f"| **{term.english}** | {term.chinese} | {term.means} | "
        f"[{term.notebook}]({NOTEBOOKS[term.notebook]}.ipynb) | {term.source} |"
        for term in TERMS
    ]
    corrections = [f"- **{what}** {so}." for what, so in CORRECTIONS]
    return "\n".join([
        "# Glossary", "", "Words of the course, in the order in which they are needed.", "",
        "| English | 中文 | means | notebook | source |", "|---|---|---|---|---|", *rows, "",
        "## What documents get wrong", "", *corrections, "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(text(), end="")
