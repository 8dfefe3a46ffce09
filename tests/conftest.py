"""What holds for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from ubviz import get_runtime

os.environ.setdefault("MPLBACKEND", "agg")

# No test judges time, hypothesis' deadline included; in CI a failure must come again by itself.
settings.register_profile("ubviz", deadline=None, derandomize=os.environ.get("CI") == "true")
settings.load_profile("ubviz")


@pytest.fixture
def rt() -> Iterator[Any]:
    """A host runtime; ``tests/contract`` has one for each runtime in its place."""
    runtime = get_runtime("host")
    yield runtime
    runtime.close()


@pytest.fixture
def stream(rt: Any) -> Any:
    """A stream of that runtime."""
    return rt.Stream("s")
