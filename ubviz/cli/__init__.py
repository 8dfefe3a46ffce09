"""The ``ubviz`` command: reads the arguments, calls one subcommand, says how it ended.

Each subcommand is a module of this package with ``add_arguments(parser)`` and ``run(args) -> int``;
only the one that is asked for is imported. Exit codes:

====  ==========================================================
0     done
1     something was found wrong
2     bad arguments or input; one line on stderr says what, where
130   interrupted
====  ==========================================================
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from ubviz import __version__
from ubviz.errors import UbvizError
from ubviz.extras import explain

#: Subcommand, named as its module -> its one line of help.
COMMANDS = {
    "demo": "run a small model unsplit, split and overlapped; record it and draw it",
    "lab": "start JupyterLab on the course",
    "view": "draw a recording",
    "explore": "run the hand-over in every order, right or broken, and say what can go wrong",
    "analyze": "measure, explain and judge a recording",
    "compare": "two recordings side by side: the same operations, both numbers and the difference",
    "doctor": "say what this machine offers, and how to get the rest",
}

DONE, WRONG, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

#: What a write may meet that is no defect of ours, and that names no file.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, and that guesses no abbreviated option."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {one_line(message)} (see {self.prog} --help)\n")


class CommandParser(OneLineParser):
    """The parser of one subcommand: a word that it does not know is its own error, not that of ``ubviz``."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = call(arguments)
        if sys.stdout is not None:  # None where the shell has closed it
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return complain("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has seen enough
        drop_output()
        return DONE
    except UbvizError as error:
        return complain(str(error))
    except ModuleNotFoundError as error:
        return missing(error)
    except OSError as error:
        if error.filename is not None:
            return complain(f"{error.filename}: {error.strerror}")
        if error.errno not in NO_ROOM:
            raise
        drop_output()
        return complain(f"cannot write: {error.strerror}")


def drop_output() -> None:
    """Send what stdout still holds to nowhere, or Python would fail on it once more at its end."""
    with contextlib.suppress(OSError):  # io.UnsupportedOperation, where stdout is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def call(arguments: list[str]) -> int:
    """Parse the arguments and run the subcommand that they name."""
    try:
        args = parse(arguments)
    except SystemExit as end:  # argparse: help, version, or an error that it has printed
        return end.code if isinstance(end.code, int) else DONE
    return int(import_module(f"ubviz.cli.{args.command}").run(args))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the arguments; only the subcommand that is asked for is imported."""
    chosen = next((word for word in arguments if word in COMMANDS), None)
    parser = OneLineParser(prog="ubviz", description="Micro-batching: run, record, see.")
    parser.add_argument("--version", action="version", version=f"ubviz {__version__}")
    subparsers = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=CommandParser
    )
    for name, summary in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=summary, description=f"{name}: {summary}")
        if name == chosen:
            import_module(f"ubviz.cli.{name}").add_arguments(subparser)
    return parser.parse_args(arguments)


def missing(error: ModuleNotFoundError) -> int:
    """Name the install command for a missing extra; anything else missing is a defect of ours."""
    explained = explain(error, "this command")
    if explained is error:
        raise error
    return complain(str(explained))


def complain(sentence: str, code: int = BAD_INPUT) -> int:
    """Say one line on stderr."""
    with contextlib.suppress(OSError):  # stderr may be full too; the exit code is left
        print(f"ubviz: {one_line(sentence)}", file=sys.stderr)
    return code


def one_line(text: str) -> str:
    return " ".join(text.split())
