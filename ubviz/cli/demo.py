"""``ubviz demo``: run a small model three ways, verify, print a table, write recordings and pictures."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ubviz.errors import BadArgument

if TYPE_CHECKING:
    from ..exploration import Demo


OPTIONS = ("runtime", "ubatches", "layers", "tokens", "style", "steps", "dtype", "seed")
"""What is handed on to the demonstration."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--runtime", default="auto", help="auto, host, cuda or virtual (default: auto)")
    parser.add_argument("--ubatches", type=int, default=2, metavar="N", help="microbatches (default: 2)")
    parser.add_argument("--layers", type=int, default=4, metavar="L", help="layers (default: 4)")
    parser.add_argument("--tokens", type=int, metavar="T", help="tokens a batch (default: by style)")
    parser.add_argument("--style", default="ht", help="ht (prefill) or ll (decode) (default: ht)")
    parser.add_argument("--steps", type=int, default=5, metavar="K", help="recorded steps (default: 5)")
    parser.add_argument(
        "--ranks", type=int, metavar="R", help="processes that share the experts (default: 1)"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=30.0,
        metavar="S",
        help="seconds a rank waits for the others (default: 30)",
    )
    parser.add_argument("--dtype", default="float32", help="float32 or bfloat16 (default: float32)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of weights and tokens")
    parser.add_argument("--out", type=Path, default=Path("ubviz-out"), metavar="DIR", help="where files go")
    parser.add_argument("--no-html", action="store_true", help="write no interactive page")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")


def run(args: argparse.Namespace) -> int:
    """0 when outputs are equal and nothing is found wrong, else 1."""
    from ..exploration import demo
    from ..exploration.demo import Options
    from ..exploration.ranks import check_ranks
    from .demo_ranks import run_rank, start, this_rank

    check_ranks(1 if args.ranks is None else args.ranks, args.timeout)
    options = {name: getattr(args, name) for name in OPTIONS}
    Options(**options)  # what cannot be run is said before anything is made
    rank = this_rank(args.ranks)
    starts = rank is None and args.ranks is not None and args.ranks > 1
    if starts or rank is not None:
        options["runtime"] = args.runtime = runtime_of_ranks(args.runtime)
    make_folder(args.out if rank is None else args.out / f"rank{rank}")
    if args.dtype == "bfloat16" and not rank and not starts:
        print("bfloat16 is slow on most CPUs: a step may take ten seconds", file=sys.stderr)
    if rank is not None:
        return run_rank(args, rank, options)
    if starts:
        return start(args)
    result = demo(**options, say=lambda text: print(text, "...", file=sys.stderr))
    numbers = result.numbers()
    numbers["files"] = write(result, args.out, page=not args.no_html)
    numbers["pictured_step"] = result.overlapped.median_step
    print(json.dumps(numbers, indent=2) if args.json else table(numbers))
    wrong = any(finding["severity"] == "error" for finding in numbers["findings"])
    return 0 if result.outputs_equal and not wrong else 1


def runtime_of_ranks(asked: str) -> str:
    """The runtime for several ranks, whose tokens are exchanged by gloo, between CPUs."""
    if asked not in ("auto", "host"):
        why = {
            "virtual": "models one rank",
            "cuda": "runs one rank: several exchange tokens by gloo, between CPUs",
        }
        raise BadArgument(f"--runtime {asked} {why[asked]}; leave --ranks out, or use --runtime host")
    return "host"


def make_folder(out: Path) -> None:
    """Make the folder, and try to write a file there: before the run, not after it."""
    for folder in (out, *out.parents):
        if folder.exists() and not folder.is_dir():
            raise BadArgument(f"--out {out}: {folder} is not a folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(prefix=".ubviz-", dir=out):
            pass
    except OSError as error:
        raise BadArgument(f"--out {out}: no file can be written there: {error.strerror}") from error


def write(result: Demo, out: Path, *, page: bool) -> list[str]:
    from ..view import Timeline, picture

    files = []
    for mode in ("unsplit", "split", "overlapped"):
        ran = getattr(result, mode)
        path = out / f"{mode}.json.gz"
        ran.trace.save(path)
        files.append(str(path))
    ran = result.overlapped
    for order, name in (("wall", "overlapped.svg"), ("logical", "overlapped_logical.svg")):
        picture(ran.trace, step=ran.median_step, order=order).save(out / name)
        files.append(str(out / name))
    if page:
        Timeline(ran.trace, step=ran.median_step).to_html(out / "overlapped.html")
        files.append(str(out / "overlapped.html"))
    return files


def table(n: dict[str, Any]) -> str:
    """The figures for a person to read."""
    lines = [
        f"{n['ubatches']} microbatches, {_count(n['layers'], 'layer')}, {n['tokens']} tokens, style {n['style']}, "
        f"{n['dtype']}, runtime {n['runtime']}",
        f"link {n['link']}; {_steps(n['steps'])}",
        "",
        f"  unsplit, one after the other   {_ms(n['sequential_ns'])}",
        f"  split, not overlapped          {_ms(n['split_ns'])}",
        f"  overlapped                     {_ms(n['overlapped_ns'])}   speed-up {n['speedup']:.2f}"
        + _at_best(n),
        "",
        f"  compute busy {_ms(n['compute_busy_ns'])}, communication busy {_ms(n['comm_busy_ns'])}",
        "  " + _hidden(n),
        f"  outputs {'equal' if n['outputs_equal'] else 'DIFFERENT'}: overlapped is split bitwise, and unsplit "
        f"within {n['max_abs_diff']:.2g} (allowed {n['tolerance']:.2g})",
        f"  {sum(n['events'].values()):,} trace events of {len(n['events'])} kinds; "
        + (_count(len(n["findings"]), "finding") if n["findings"] else "no findings"),
        *(f"    {finding['severity']}: {finding['sentence']}" for finding in n["findings"]),
        "",
        *(f"  {path}{_shown(path, n['pictured_step'])}" for path in n["files"]),
    ]
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _steps(number: int) -> str:
    return "one step" if number == 1 else f"medians of {number} steps"


def _at_best(n: dict[str, Any]) -> str:
    """In style ll send and receive share the compute stream: the quotient of the busy times bounds nothing."""
    return "" if n["overlap_ratio"] is None else f", at best {n['ideal_speedup']:.2f}"


def _shown(path: str, step: int) -> str:
    return f"  (step {step})" if path.endswith((".svg", ".html")) else ""


def _ms(ns: float) -> str:
    return f"{ns / 1e6:8.1f} ms"


def _hidden(n: dict[str, Any]) -> str:
    if n["overlap_ratio"] is not None:
        return f"hidden communication {100 * n['overlap_ratio']:.0f} %"
    share = n["hidden_transfer_ns"] / n["transfer_ns"] if n["transfer_ns"] else 0.0
    return (
        f"hidden transfer {100 * share:.0f} % of {n['transfer_ns'] / 1e6:.1f} ms in flight "
        "(send and receive are on the compute stream: there is no overlap ratio)"
    )
