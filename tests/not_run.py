"""``python -m tests.not_run``: one line that says which tests this machine could not run, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which

from tests.browser.chromium import find

ROOT = Path(__file__).resolve().parent.parent


def has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def has_node() -> bool:
    return which("npm") is not None


def has_browser() -> bool:
    return find() is not None


#: What, the path that exists once there are such tests, what is missing, is it here?
KINDS: list[tuple[str, str, str, Callable[[], bool]]] = [
    ("GPU tests", "ubviz/runtime/cuda.py", "no CUDA device", has_gpu),
    ("TypeScript tests", "ubviz/frontend/package.json", "no Node", has_node),
    ("browser tests", "tests/browser", "no Chromium", has_browser),
]


def left_out() -> Iterator[str]:
    for what, path, lacking, here in KINDS:
        if not (ROOT / path).exists():
            yield f"{what} (there are none yet)"
        elif not here():
            yield f"{what} ({lacking})"


if __name__ == "__main__":
    print(f"Not run: {', '.join(left_out()) or 'nothing was left out'}.")
