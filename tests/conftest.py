"""What holds for every test."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "agg")

# No test judges time, hypothesis' deadline included; in CI a failure must come again by itself.
settings.register_profile("ubviz", deadline=None, derandomize=os.environ.get("CI") == "true")
settings.load_profile("ubviz")
