"""``ubviz compare``: two recordings side by side, as text, and as an interactive page or a picture."""

from __future__ import annotations

import argparse
import re
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("a", type=Path, metavar="A", help="a recording, .json or .json.gz")
    parser.add_argument("b", type=Path, metavar="B", help="the one that it is compared with")
    parser.add_argument(
        "--align",
        choices=("ubatch", "name"),
        help="align operations by microbatch, layer and name, or by layer and name alone (default: by microbatch "
        "where both ran the same ones)",
    )
    parser.add_argument(
        "--steps",
        type=steps,
        metavar="I,J",
        help="step I of A and step J of B (default: the last complete one of each)",
    )
    parser.add_argument("--theme", help="light or dark (default: the reader's in a page, light in a picture)")
    parser.add_argument(
        "--out", type=Path, metavar="X", help="write X.html, interactive, or X.svg, X.png, X.pdf as well"
    )


def steps(text: str) -> tuple[int, int]:
    """A step of each.

    >>> steps("3,5")
    (3, 5)
    """
    found = re.fullmatch("([0-9]{1,9}),([0-9]{1,9})", text, re.ASCII)
    if not found:
        raise argparse.ArgumentTypeError(f"steps are I,J, one of each recording, as in 3,5, not {text!r}")
    return int(found[1]), int(found[2])


def names_of(a: Path, b: Path) -> tuple[str, str] | None:
    """What the two are called: as their files, where these tell them apart.

    >>> names_of(Path("runs/before.json.gz"), Path("runs/after.json"))
    ('before', 'after')
    """
    first, second = (re.sub(r"\.json(\.gz)?$", "", path.name).strip() for path in (a, b))
    return (first, second) if first and second and first != second else None


def run(args: argparse.Namespace) -> int:
    """Say how they compare; write the page or the picture, and say where."""
    from ..trace import load
    from ..view import Compare

    a, b = load(args.a), load(args.b)
    compare = Compare(
        a, b, args.align, steps=args.steps, names=names_of(args.a, args.b), theme=args.theme or "auto"
    )
    print(compare.alt)
    print()
    print(compare.text)
    if args.out:
        write = compare.to_html if args.out.suffix.lower() == ".html" else compare.to_picture
        write(args.out)
        print()
        print(args.out)
    return 0
