"""``ubviz demo --ranks R``: one process a rank, one table.

``RANK`` and ``WORLD_SIZE`` in the environment, as ``torchrun`` sets them, make this process one of the ranks.

As a program, this module is a rank that ``exploration.launch`` has started. It gives signs of life from here on,
before PyTorch is loaded and the ranks have met, and ends when who started it is gone.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
import traceback
from typing import Any

from ubviz.errors import BadArgument, MissedCollective, RankError, RuntimeUnavailable

from . import INTERRUPTED, WRONG, complain, main
from .demo import OPTIONS, table, write

BEAT_S = 0.2
LAUNCHED = "UBVIZ_LAUNCHED"  # as ``exploration.launch`` sets it, which loads PyTorch
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def this_rank(asked: int | None) -> int | None:
    """The rank that this process is by its environment; None when it is no rank."""
    size = os.environ.get("WORLD_SIZE", "1")
    if "RANK" not in os.environ or not size.isdecimal() or int(size) < 2:
        return None
    if asked is not None and asked != int(size):
        raise BadArgument(
            f"--ranks {asked}, but this process is one of {size} (WORLD_SIZE); leave --ranks out"
        )
    if not os.environ["RANK"].isdecimal():
        raise BadArgument(f"RANK is a whole number from 0 on, not {os.environ['RANK']!r}")
    return int(os.environ["RANK"])


def start(args: argparse.Namespace) -> int:
    """Start the ranks; the exit code is theirs, or 1 with one sentence when something went wrong between them."""
    from ..exploration.launch import launch
    from ..exploration.signs import Limits

    names = [*OPTIONS, "out", "ranks", "timeout"]
    given = [(name, getattr(args, name)) for name in names]
    command = [sys.executable, "-m", "ubviz.cli.demo_ranks", "demo"]
    command += [f"--{name}={value}" for name, value in given if value is not None]
    command += [word for word, on in (("--json", args.json), ("--no-html", args.no_html)) if on]
    usual = Limits()
    limits = Limits(first_s=usual.silent_s, stopped_s=min(args.timeout, usual.silent_s))
    try:
        return launch(command, args.ranks, limits)  # they beat from their first line on
    except RankError as error:
        return complain(str(error), WRONG)


def run_rank(args: argparse.Namespace, rank: int, options: dict[str, Any]) -> int:
    """Be one rank; the first one prints."""
    from ..engine.ranks import Ranks, rank_error

    try:
        ranks = Ranks.join(args.timeout)
    except RankError as error:
        told = LAUNCHED in os.environ and isinstance(error, MissedCollective)  # through the store
        return WRONG if told else complain(str(error), WRONG)
    try:
        code = _run(args, ranks, options)
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        if rank_error(error) is None and not isinstance(
            error, (KeyboardInterrupt, BadArgument, RuntimeUnavailable)
        ):
            traceback.print_exc()
        said = ranks.fail(error)
        if LAUNCHED not in os.environ:
            complain("interrupted" if interrupted else said)
        # not waiting for queued work, nor for gloo's threads, which may never come back
        sys.stdout.flush()
        os._exit(INTERRUPTED if interrupted else WRONG)
    ranks.close()
    return code


def _run(args: argparse.Namespace, ranks: Any, options: dict[str, Any]) -> int:
    from ..exploration.ranks import demo_of_rank

    def say(text: str) -> None:
        if ranks.rank == 0:
            print(text, "...", file=sys.stderr)

    result = demo_of_rank(ranks, say=say, **options)
    numbers = result.numbers()
    numbers["files"] = write(result, args.out / f"rank{ranks.rank}", page=not args.no_html)
    numbers["pictured_step"] = result.overlapped.median_step
    everyone = ranks.gather(numbers)
    if ranks.rank == 0:
        said = {**everyone[0], "of_each_rank": everyone}
        said["outputs_equal"] = all(n["outputs_equal"] for n in everyone)
        print(json.dumps(said, indent=2) if args.json else rank_table(everyone))
    errors = any(f["severity"] == "error" for n in everyone for f in n["findings"])
    return WRONG if errors or not all(n["outputs_equal"] for n in everyone) else 0


def rank_table(everyone: list[dict[str, Any]]) -> str:
    """The first rank's figures, and a line of each."""
    each = [
        f"  rank {n['rank']}: overlapped {n['overlapped_ns'] / 1e6:.1f} ms, outputs "
        f"{'equal' if n['outputs_equal'] else 'DIFFERENT'}, to a single process within "
        f"{n['max_abs_diff_reference']:.2g}"
        for n in everyone
    ]
    first = table({**everyone[0], "files": [path for n in everyone for path in n["files"]]})
    return "\n".join([f"{len(everyone)} ranks; the figures are those of rank 0", *each, "", first])


# ---- signs of life


def live() -> None:
    """Give signs of life from now on, if who started this process has asked for them; end with it."""
    if (pipe := os.environ.pop("UBVIZ_BEAT", None)) is not None:
        words = (int(pipe), os.getppid())
        _end_with_parent()
        signal.signal(
            signal.SIGTTOU, signal.SIG_IGN
        )  # a group in the background that prints would be stopped by it
        beat(*words)
        threading.Thread(target=_beat_on, args=words, name="ubviz rank beat", daemon=True).start()


def _end_with_parent() -> None:
    """On Linux: ask to be killed when the thread that started this process ends, for then this one may be stopped.

    That thread is in ``launch`` as long as a rank runs. Elsewhere, the group of a stopped rank is orphaned then, and
    the system ends it; here that would fail where who adopts it is in our session, as an init of a container can be.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def beat(pipe: int, parent: int) -> None:
    """Write a byte into ``pipe``; end this process when ``parent``, who reads it, is gone."""
    try:
        os.write(pipe, b".")
    except BlockingIOError:  # it is full: who reads it has been stopped
        pass
    except OSError:
        os._exit(WRONG)
    if os.getppid() != parent:
        os._exit(WRONG)


def _beat_on(pipe: int, parent: int) -> None:
    while True:
        time.sleep(BEAT_S)
        beat(pipe, parent)


if __name__ == "__main__":
    live()
    raise SystemExit(main())
