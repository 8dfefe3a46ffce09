"""``ubviz doctor``: what this machine offers, and how to get the rest.

It needs only the bare install. Torch is imported, since only torch can tell which devices it sees;
everything else is read from the packages' metadata.
"""

from __future__ import annotations

import argparse
import os
import platform
from importlib import metadata
from importlib.util import find_spec
from typing import Any, NamedTuple

from ubviz import __version__
from ubviz.extras import EXTRA_OF, install_command
from ubviz.runtime.choose import missing_for_cuda, why_no_cuda

BARE = ("numpy", "msgspec")
OLDEST_TORCH = (2, 6)


class Row(NamedTuple):
    """One line of the table; ``extra`` is what would bring the missing thing, ``how`` what else to do."""

    what: str
    here: str
    extra: str | None = None
    how: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def run(args: argparse.Namespace) -> int:
    print(report(machine() + packages() + torch_rows()))
    return 0


def report(rows: list[Row]) -> str:
    """The table, and below it one command for each extra that is missing, and what else to do."""
    width = max(len(row.what) for row in rows)
    lines = [f"ubviz {__version__}", *(f"{row.what:{width}}  {row.here}" for row in rows)]
    missing = dict.fromkeys(row.extra for row in rows if row.extra)
    steps = [f"{extra:{width}}  {install_command(extra)}" for extra in missing]
    steps += [f"{row.what:{width}}  {row.how}" for row in rows if row.how]
    if steps:
        lines += ["", "To get what is missing:", *steps]
    return "\n".join(lines)


def machine() -> list[Row]:
    return [
        Row("Python", platform.python_version()),
        Row("system", f"{platform.system()} {platform.machine()}"),
        Row("CPU cores", str(cores())),
    ]


def cores() -> int:
    """The cores that this process may use, which a container may have cut."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def packages() -> list[Row]:
    return [package(name) for name in (*BARE, *EXTRA_OF)]


def package(name: str) -> Row:
    if find_spec(name) is None:
        return Row(name, "not installed", EXTRA_OF.get(name))
    return Row(name, metadata.version(name))


def torch_rows() -> list[Row]:
    """The devices and the runtimes that torch allows."""
    missing = why_no_cuda()
    try:
        import torch
    except ImportError:
        assert missing is not None
        why = missing.why
        return [Row("CUDA devices", f"none: {why}"), Row("runtime host", f"no: {why}"), cuda_runtime(why)]
    names, why = cuda(torch)
    devices = [Row(f"CUDA device {index}", name) for index, name in enumerate(names)]
    devices = devices or [Row("CUDA devices", f"none: {why}", how=missing and missing.how)]
    return [*devices, host_runtime(torch.__version__), cuda_runtime(why)]


def cuda(torch: Any) -> tuple[list[str], str]:
    """The names of the CUDA devices, or the reason why there are none."""
    if (missing := missing_for_cuda(torch)) is not None:
        return [], missing.why
    return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())], ""


def host_runtime(version: str) -> Row:
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_TORCH:
        return Row("runtime host", f"no: torch {version} is older than 2.6", "run")
    return Row("runtime host", "yes")


def cuda_runtime(why: str) -> Row:
    return Row("runtime cuda", f"no: {why}" if why else "yes")
