"""Starting ranks as processes, and ending them all when one goes wrong.

1. This process holds the store that the ranks meet in, on a free port of this machine.
2. Each rank is the same command with ``RANK`` and ``WORLD_SIZE`` set, as ``torchrun`` would start it.
3. A rank that fails puts a sentence into the store, and ends; one that dies does not. Who is left gets a moment to
   end too, and is ended then. The sentence of the first cause comes out.
4. A rank tells that it lives through a pipe, if it likes from its first line on, and through the store once it has
   met the others. One that no longer does (it was stopped, it hangs) is named, and all are ended.
5. An interrupt ends all. If this process itself is killed, the ranks miss it, or the store, and end.

Source: ``torch.distributed.run`` (whose agent holds the store in the same way).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import torch.distributed as dist

from ..engine.logs import Told, died
from ..engine.ranks import check_distributed
from ..engine.watch import BEAT_S, DEAD_S, IN_THE_MEANTIME, silent
from ..errors import RankDied, RankError

GRACE_S = DEAD_S + 4  # what a rank may need to find out what went wrong
SILENT_S = 15.0
"""So long without a sign of life, which a rank owes from its first one on: loading PyTorch can hold one back."""
FIRST_S = 60.0  # until the first one: a rank that beats only when it has met the others may come late
LAUNCHED = "UBVIZ_LAUNCHED"
"""Set for ranks that this module started: it speaks for them."""
BEAT = "UBVIZ_BEAT"
"""The number of the file into which such a rank writes a byte now and then, to say that it lives."""
_POLL_S = 0.05


def launch(command: Sequence[str], ranks: int, silent_s: float = SILENT_S, first_s: float = FIRST_S) -> int:
    """Run ``command`` once for each rank; the largest exit code comes back.

    Raises ``RankError`` with one sentence when a rank failed, ``RankDied`` when one ended without a word, or gave
    no sign of life for ``silent_s``, or no first one for ``first_s``.
    """
    check_distributed()
    store = dist.TCPStore(
        "127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=5)
    )
    told = dist.PrefixStore("ubviz", store)
    processes: list[subprocess.Popen[bytes]] = []
    signs = Signs(ranks, lambda: _said(told, ranks, "beat"), silent_s, first_s)
    try:
        for rank in range(ranks):
            with signs.pipe(rank) as end_of_rank:
                env = {**environment(rank, ranks, store.port), BEAT: str(end_of_rank)}
                processes.append(
                    subprocess.Popen(command, env=env, start_new_session=True, pass_fds=(end_of_rank,))
                )
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


class Signs:
    """What each rank gives as signs of life: bytes through a pipe of its own, and a beat in the store.

    >>> with signs.pipe(0) as end_of_rank:  # doctest: +SKIP
    ...     subprocess.Popen(command, pass_fds=(end_of_rank,))
    >>> signs.check({0})  # raises RankDied when rank 0 has been silent for too long  # doctest: +SKIP
    """

    def __init__(
        self, ranks: int, beats: Callable[[], dict[int, str | None]], silent_s: float, first_s: float
    ) -> None:
        self.silent_s, self.first_s, self._beats = silent_s, first_s, beats
        self._pipes: dict[int, int] = {}
        self._since = dict.fromkeys(range(ranks), time.monotonic())
        self._last: dict[int, str | None] = dict.fromkeys(range(ranks))
        self._heard: set[int] = set()
        self._next = 0.0

    @contextmanager
    def pipe(self, rank: int) -> Iterator[int]:
        """The end of a pipe to start ``rank`` with; this process does not keep it."""
        self._pipes[rank], end_of_rank = os.pipe()
        os.set_blocking(self._pipes[rank], False)
        os.set_blocking(end_of_rank, False)  # so that a rank never waits for who does not read
        self._since[rank] = time.monotonic()
        try:
            yield end_of_rank
        finally:
            os.close(end_of_rank)

    def check(self, running: Collection[int]) -> None:
        """Raise ``RankDied`` if one of ``running`` has given no sign of life for too long."""
        now = time.monotonic()  # before reading: this process may have been stopped itself
        if now < self._next:
            return
        self._next = now + BEAT_S
        beats = self._beats()
        for rank in running:
            if self._wrote(rank) or beats[rank] != self._last[rank]:
                self._heard.add(rank)
                self._since[rank], self._last[rank] = now, beats[rank]
            limit = self.silent_s if rank in self._heard else self.first_s
            if now - self._since[rank] > limit:
                raise RankDied(silent(rank, Told.from_json(beats[rank])))

    def _wrote(self, rank: int) -> bool:
        try:
            return bool(os.read(self._pipes[rank], 65_536))
        except BlockingIOError:
            return False

    def close(self) -> None:
        for pipe in self._pipes.values():
            os.close(pipe)


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
    """End all that still run: politely, then for good."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    for process in processes:
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
