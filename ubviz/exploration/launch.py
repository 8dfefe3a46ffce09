"""Starting ranks as processes, and ending them all when one goes wrong.

1. This process holds the store that the ranks meet in, on a free port of this machine.
2. Each rank is the same command with ``RANK`` and ``WORLD_SIZE`` set, as ``torchrun`` would start it.
3. A rank that fails puts a sentence into the store, and ends; one that dies does not. Who is left gets a moment to
   end too, and is ended then. The sentence of the first cause comes out.
4. A rank tells that it lives through a pipe, if it likes from its first line on, and through the store once it has
   met the others. One that no longer does, or that is stopped, is named, and all are ended (``signs``).
5. An interrupt ends all. If this process itself is killed, the ranks miss it, or the store, and end. One that is
   stopped then cannot miss anything, so each rank is a process group of its own in our session: when its parent has
   gone, the group is orphaned, and the system sends SIGHUP and SIGCONT to an orphaned group that is stopped.

Source: ``torch.distributed.run`` (whose agent holds the store in the same way); POSIX ``_exit``, "Consequences of
Process Termination".
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta

import torch.distributed as dist

from ..engine.logs import Told, died
from ..engine.ranks import check_distributed
from ..engine.watch import DEAD_S, IN_THE_MEANTIME
from ..errors import RankDied, RankError
from .signs import Limits, Signs

GRACE_S = DEAD_S + 4  # what a rank may need to find out what went wrong
LAUNCHED = "UBVIZ_LAUNCHED"
"""Set for ranks that this module started: it speaks for them."""
BEAT = "UBVIZ_BEAT"
"""The number of the file into which such a rank writes a byte now and then, to say that it lives."""
_POLL_S = 0.05
_END_S = 1.0  # for a rank to end politely
_LIMITS = Limits()


def launch(command: Sequence[str], ranks: int, limits: Limits = _LIMITS) -> int:
    """Run ``command`` once for each rank; the largest exit code comes back.

    Raises ``RankError`` with one sentence when a rank failed, ``RankDied`` when one ended without a word, or gave
    no sign of life within ``limits``.
    """
    check_distributed()
    store = dist.TCPStore(
        "127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=5)
    )
    told = dist.PrefixStore("ubviz", store)
    processes: list[subprocess.Popen[bytes]] = []
    signs = Signs(ranks, lambda: _said(told, ranks, "beat"), limits)
    try:
        for rank in range(ranks):
            with signs.pipe(rank) as end_of_rank:
                env = {**environment(rank, ranks, store.port), BEAT: str(end_of_rank)}
                process = subprocess.Popen(
                    command, env=env, stdin=subprocess.DEVNULL, process_group=0, pass_fds=(end_of_rank,)
                )
                processes.append(process)
            signs.follow(rank, process.pid)
        codes = _wait(processes, lambda: _knows(_said(told, ranks, "failed")), signs.check)
        error = first_cause(codes, _said(told, ranks, "failed"), _said(told, ranks, "beat"))
    finally:
        end(processes)
        signs.close()
    if error is not None:
        raise error
    return max(code or 0 for code in codes)


def environment(rank: int, ranks: int, port: int) -> dict[str, str]:
    """What ``torchrun`` would set, and gloo on the loopback interface."""
    loopback = "lo0" if sys.platform == "darwin" else "lo"
    return {
        "GLOO_SOCKET_IFNAME": loopback,
        "OMP_NUM_THREADS": "1",
        **os.environ,
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        LAUNCHED: "1",
    }


def _wait(
    processes: Sequence[subprocess.Popen[bytes]],
    known: Callable[[], bool],
    check: Callable[[Collection[int]], None],
) -> list[int | None]:
    """Until all have ended, or one went wrong and the others had their moment; then None is who still runs."""
    deadline: float | None = None
    while True:
        codes = [process.poll() for process in processes]
        if None not in codes:
            return codes
        if any(codes):
            killed = any(code is not None and code < 0 for code in codes)
            deadline = deadline or time.monotonic() + GRACE_S
            if killed or known() or time.monotonic() > deadline:  # else the others may say more
                return codes
        else:
            check([rank for rank, code in enumerate(codes) if code is None])
        time.sleep(_POLL_S)


def _knows(failed: dict[int, str | None]) -> bool:
    """Whether a rank has said the cause itself."""
    return any(sentence and IN_THE_MEANTIME not in sentence for sentence in failed.values())


def first_cause(
    codes: Sequence[int | None], failed: dict[int, str | None], beats: dict[int, str | None]
) -> RankError | None:
    """What to say of ranks that ended so: a death first, then what a rank said by itself, then of others."""
    for rank, code in enumerate(codes):
        if code is not None and code < 0:
            return RankDied(died(rank, Told.from_json(beats.get(rank)), signal.Signals(-code).name))
    said = [sentence for sentence in failed.values() if sentence]
    said.sort(key=lambda sentence: IN_THE_MEANTIME in sentence)
    if said:
        return RankError(said[0])
    for rank, code in enumerate(codes):
        if code not in (0, 1, None):
            return RankDied(died(rank, Told.from_json(beats.get(rank)), f"exit code {code}"))
    return None


def _said(store: dist.Store, ranks: int, what: str) -> dict[int, str | None]:
    """What each rank has put into the store."""
    keys = {rank: f"{what}/{rank}" for rank in range(ranks)}
    return {rank: store.get(key).decode() if store.check([key]) else None for rank, key in keys.items()}


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End all that still run: politely, also those that are stopped, then for good."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
            process.send_signal(signal.SIGCONT)
    deadline = time.monotonic() + _END_S
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
