"""The recordings that ship with the package, for lessons whose figures must be the same everywhere."""

from __future__ import annotations

from importlib.resources import files

from ..errors import BadArgument
from .chrome import load
from .model import Trace


def examples() -> tuple[str, ...]:
    """Names of the shipped recordings."""
    folder = files("ubviz") / "recordings"
    return tuple(
        sorted(
            path.name.removesuffix(".json.gz") for path in folder.iterdir() if path.name.endswith(".json.gz")
        )
    )


def example(name: str) -> Trace:
    """A shipped recording; ``meta["label"]`` says where it was recorded.

    >>> example("whole_game_unsplit").steps
    (0,)

    Raises ``BadArgument`` for an unknown name.
    """
    if name not in examples():
        raise BadArgument(f"no recording {name!r} ships with ubviz; there are {', '.join(examples())}")
    return load((files("ubviz") / "recordings" / f"{name}.json.gz").read_bytes())
