"""``python -m tests.virtual_files FOLDER [COUNT]``: virtual recordings of the four programs, and their digests.

Run in a fresh process by ``tests/test_virtual_files.py``.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

from tests.small import Small
from ubviz import get_runtime, record

PROGRAMS = [(style, n) for style in ("ht", "ll") for n in (2, 3)]


def digest(style: str, n: int, folder: Path) -> str:
    """Run two overlapped steps, save the recording, and give the digest of its bytes."""
    small = Small(style, n, rt=get_runtime("virtual"))
    with record(small.rt) as recording:
        for _ in range(2):
            small.runner.execute_model(small.batch, "overlapped")
    small.close()
    path = folder / f"{style}{n}.json"
    recording.trace.save(path)
    return sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for style, n in PROGRAMS:
        print(style, n, *sorted({digest(style, n, folder) for _ in range(count)}))
