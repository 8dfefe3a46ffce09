"""``ubviz view``: draw a recording as a picture."""

from __future__ import annotations

import argparse
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from ubviz.errors import BadArgument

if TYPE_CHECKING:
    from ..trace.model import Trace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a recording, .json or .json.gz")
    parser.add_argument("--step", type=int, metavar="S", help="which step (default: the last)")
    parser.add_argument(
        "--window",
        type=milliseconds,
        metavar="A:B",
        help="from A to B milliseconds after the step begins, as in 0:12.5 (default: the whole step)",
    )
    parser.add_argument("--order", default="wall", help="wall (clock) or logical (default: wall)")
    parser.add_argument("--theme", default="light", help="light or dark (default: light)")
    parser.add_argument(
        "--out", type=Path, metavar="X", help="X.svg, X.png or X.pdf (default: FILE's name, .svg)"
    )


def milliseconds(text: str) -> tuple[int, int]:
    """Two times in milliseconds, as nanoseconds.

    >>> milliseconds("0.5:12")
    (500000, 12000000)
    """
    number = r"([0-9]{1,12}(?:\.[0-9]+)?)"
    found = re.fullmatch(f"{number}:{number}", text, re.ASCII)
    if not found:
        raise argparse.ArgumentTypeError(f"a window is A:B in milliseconds, as in 0:12.5, not {text!r}")
    start_ns, end_ns = (round(Decimal(part) * 1_000_000) for part in found.groups())
    if start_ns >= end_ns:
        raise argparse.ArgumentTypeError(f"a window ends after it begins, which {text!r} does not")
    return start_ns, end_ns


def window_of(trace: Trace, step: int | None, window_ns: tuple[int, int]) -> tuple[int, int]:
    """A window that counts from the beginning of its step, in the time of the recording."""
    from ..view.paint.frame import frame_of

    whole = frame_of(trace, step)
    if window_ns[0] >= whole.length_ns:
        what = "the recording" if whole.step is None else f"step {whole.step}"
        raise BadArgument(
            f"the window begins at {window_ns[0] / 1e6:g} ms, but {what} lasts {whole.length_ns / 1e6:g} ms"
        )
    return whole.start_ns + window_ns[0], whole.start_ns + window_ns[1]


def run(args: argparse.Namespace) -> int:
    """Write the picture, and say where."""
    from ..trace import load
    from ..view import picture
    from ..view.paint.frame import last_complete_step

    trace = load(args.file)
    out = args.out or Path(args.file.name.removesuffix(".gz")).with_suffix(".svg")
    step = last_complete_step(trace) if args.step is None else args.step
    window = args.window and window_of(trace, step, args.window)
    drawn = picture(trace, step=step, window=window, order=args.order, theme=args.theme)
    drawn.save(out)
    print(drawn.alt)
    print(out)
    return 0
