"""Make the plans of ``ubviz.Lab()`` anew: ``python -m tests.make_lab_plans``. The same bytes every time."""

from __future__ import annotations

import gzip
import json

from ubviz.play.lab import PLANS, made


def text() -> bytes:
    """What the file holds."""
    return json.dumps(made(), separators=(",", ":")).encode()


if __name__ == "__main__":
    PLANS.write_bytes(gzip.compress(text(), 9, mtime=0))
    print(f"{PLANS.name}: {PLANS.stat().st_size} bytes")
