"""``ubviz view``: draw a recording as a picture."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a recording, .json or .json.gz")
    parser.add_argument("--step", type=int, metavar="S", help="which step (default: the last)")
    parser.add_argument("--order", default="wall", help="wall (clock) or logical (default: wall)")
    parser.add_argument("--theme", default="light", help="light or dark (default: light)")
    parser.add_argument(
        "--out", type=Path, metavar="X", help="X.svg, X.png or X.pdf (default: FILE's name, .svg)"
    )


def run(args: argparse.Namespace) -> int:
    """Write the picture, and say where."""
    from ..trace import load
    from ..view import picture

    trace = load(args.file)
    out = args.out or Path(args.file.name.removesuffix(".gz")).with_suffix(".svg")
    drawn = picture(trace, step=args.step, order=args.order, theme=args.theme)
    drawn.save(out)
    print(drawn.alt)
    print(out)
    return 0
