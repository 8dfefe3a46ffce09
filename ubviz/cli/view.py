"""``ubviz view``: show a recording, as an interactive page or as a picture."""

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
    parser.add_argument("--step", type=int, metavar="S", help="which step is shown (default: the last)")
    parser.add_argument(
        "--steps",
        type=steps,
        metavar="A:B",
        help="keep only the steps A to B of the recording (default: all)",
    )
    parser.add_argument(
        "--window",
        type=milliseconds,
        metavar="A:B",
        help="from A to B milliseconds after the step begins, as in 0:12.5 (default: the whole step)",
    )
    parser.add_argument("--order", default="wall", help="wall (clock) or logical (default: wall)")
    parser.add_argument("--theme", help="light or dark (default: the reader's in a page, light in a picture)")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="X",
        help="X.html, interactive, or X.svg, X.png, X.pdf (default: FILE's name, .html)",
    )


def steps(text: str) -> tuple[int, int]:
    """The first and the last of some steps.

    >>> steps("3:5")
    (3, 5)
    """
    found = re.fullmatch("([0-9]{1,9}):([0-9]{1,9})", text, re.ASCII)
    if not found:
        raise argparse.ArgumentTypeError(f"steps are A:B, the first and the last, as in 3:5, not {text!r}")
    first, last = (int(part) for part in found.groups())
    if last < first:
        raise argparse.ArgumentTypeError(f"the last step does not come before the first, as in {text!r}")
    return first, last


def only(trace: Trace, chosen: tuple[int, int]) -> Trace:
    """The steps from the first to the last; a sentence where there is none."""
    first, last = chosen
    found = [step for step in trace.steps if first <= step <= last]
    if not found:
        known = f"the steps {trace.steps[0]} to {trace.steps[-1]}" if trace.steps else "no steps"
        raise BadArgument(f"--steps {first}:{last}: this recording has {known}")
    return trace.only(*found)


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
    """Write the page or the picture, and say where."""
    from ..trace import load
    from ..view.paint.frame import last_complete_step

    trace = load(args.file)
    if args.steps:
        trace = only(trace, args.steps)
    out = args.out or Path(args.file.name.removesuffix(".gz")).with_suffix(".html")
    step = last_complete_step(trace) if args.step is None else args.step
    window = args.window and window_of(trace, step, args.window)
    write = write_page if out.suffix.lower() == ".html" else write_picture
    print(write(trace, step, window, args.order, args.theme, out))
    print(out)
    return 0


def write_page(
    trace: Trace, step: int | None, window: tuple[int, int] | None, order: str, theme: str | None, out: Path
) -> str:
    """An interactive page; what it shows, in words."""
    from ..view import Timeline

    timeline = Timeline(trace, step=step, window=window, order=order, theme=theme or "auto")
    timeline.to_html(out)
    return timeline.alt


def write_picture(
    trace: Trace, step: int | None, window: tuple[int, int] | None, order: str, theme: str | None, out: Path
) -> str:
    """A picture; what it shows, in words."""
    from ..view import picture

    drawn = picture(trace, step=step, window=window, order=order, theme=theme or "light")
    drawn.save(out)
    return drawn.alt
