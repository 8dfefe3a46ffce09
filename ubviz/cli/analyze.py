"""``ubviz analyze``: measure, explain and judge a recording, as a table or as JSON."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ubviz.errors import BadArgument

if TYPE_CHECKING:
    from ..analysis.analyze import Analysis
    from ..analysis.critical_path import Entry
    from ..trace.model import Trace

SHOWN, STEPS = 5, 10
"""Gaps and pieces of the critical path, and steps, in the table; ``--json`` has all of them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a recording, .json or .json.gz")
    parser.add_argument(
        "--comm",
        type=pattern,
        metavar="REGEX",
        help="kernels whose name matches communicate (default: what the recording says of each)",
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a finding is an error")
    parser.add_argument("--json", action="store_true", help="print one JSON object with every number")


def pattern(text: str) -> str:
    """A regular expression.

    >>> pattern("nccl|all_?to_?all")
    'nccl|all_?to_?all'
    """
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from None
    return text


def run(args: argparse.Namespace) -> int:
    """Print the analysis; with ``--check``, errors are exit code 1."""
    from ..analysis.analyze import analyze
    from ..trace import load

    trace = load(args.file)
    found = analyze(trace, args.comm)
    if args.json:
        print(as_text(found))
    else:
        print("\n".join(table(found, trace)))
    wrong = args.check and any(finding.severity == "error" for finding in found.findings)
    return 1 if wrong else 0


def as_text(found: Analysis) -> str:
    """One JSON object."""
    import msgspec

    try:
        return msgspec.json.format(msgspec.json.encode(found.as_json()), indent=2).decode()
    except (TypeError, ValueError, OverflowError) as error:
        raise BadArgument(f"this analysis cannot be written as JSON: {error}") from None


def table(found: Analysis, trace: Trace) -> Iterator[str]:
    """The analysis in lines."""
    yield from _numbers(found)
    yield from _steps(found)
    yield from _streams(found)
    yield from _gaps(found)
    yield from _path(found, trace)
    yield ""
    yield f"findings  {len(found.findings) or 'none'}"
    for finding in found.findings:
        yield f"  {finding.severity:7}  {finding.kind}: {finding.sentence}"
    for notice in found.notices:
        yield f"notice  {notice.sentence}"


def _numbers(found: Analysis) -> Iterator[str]:
    ratio = "no share" if found.overlap_ratio is None else f"{found.overlap_ratio:.1%}"
    rows = [
        ("makespan", us(found.makespan_ns)),
        ("kernels", f"{found.kernels:,} in {found.operations:,} operations"),
        ("compute busy", us(found.compute_busy_ns)),
        ("comm busy", us(found.comm_busy_ns)),
        ("overlap", us(found.overlap_ns) + ("" if found.overlap_ns is None else f"   {ratio} of comm")),
        ("exposed comm", us(found.exposed_comm_ns)),
    ]
    if found.transfer_ns:
        hidden = f"{us(found.hidden_transfer_ns)} of {us(found.transfer_ns).strip()} in flight"
        rows += [("hidden transfer", hidden), ("receives wait", f"{us(found.recv_spin_ns)}   an estimate")]
    if found.net_gain_ns is not None:
        rows.append(("net gain", us(found.net_gain_ns)))
    if found.unclassified:
        rows.append(("unclassified", ", ".join(found.unclassified)))
    for name, value in rows:
        yield f"{name:16}{value}"


def _steps(found: Analysis) -> Iterator[str]:
    yield ""
    yield "step   ubatches  mode        makespan         overlap"
    longest = sorted(found.steps, key=lambda step: -step.makespan_ns)
    shown, left = {step.step for step in longest[:STEPS]}, longest[STEPS:]
    for step in (step for step in found.steps if step.step in shown):
        ratio = "unknown" if step.overlap_ratio is None else f"{step.overlap_ratio:.1%}"
        name = "-" if step.step is None else str(step.step)
        why = f"   not overlapped: {step.why_not}" if step.why_not else ""
        yield f"{name:5}  {step.ubatches:8}  {step.mode:8}  {us(step.makespan_ns)}  {ratio:>7}{why}"
    if left:
        yield f"{len(left)} more, each of at most {us(left[0].makespan_ns).strip()}"


def _streams(found: Analysis) -> Iterator[str]:
    yield ""
    yield "stream            busy             kernels"
    for name, numbers in found.streams.items():
        yield f"{name:14}  {us(numbers['busy_ns'])}  {numbers['kernels']:7,}"


def _gaps(found: Analysis) -> Iterator[str]:
    from ..analysis.gaps import CAUSES

    yield ""
    some = f", of which the longest {len(found.gaps):,}" if len(found.gaps) < found.gaps_total else ""
    yield f"idle  {us(found.gaps_ns).strip()} in {found.gaps_total:,} gaps{some}:"
    by_cause: Counter[str] = Counter()
    for gap in found.gaps:
        by_cause[gap.cause] += gap.end_ns - gap.start_ns
    for cause, ns in by_cause.most_common():
        yield f"{us(ns)}  {CAUSES[cause]}"
    for gap in sorted(found.gaps, key=lambda gap: gap.start_ns - gap.end_ns)[:SHOWN]:
        yield f"  - {gap.sentence}"


def _path(found: Analysis, trace: Trace) -> Iterator[str]:
    yield ""
    yield f"critical path  {len(found.critical_path):,} pieces, most of it spent on:"
    spent: Counter[str] = Counter()
    for entry in found.critical_path:
        spent[_what(entry, trace)] += entry.ns
    for what, ns in spent.most_common(SHOWN):
        if abs(ns) >= 50:  # else it is shown as 0.0
            yield f"{us(ns)}  {what}"


def _what(entry: Entry, trace: Trace) -> str:
    """A kernel or a transfer by its operation, a thread's work by its lane, anything else by its edge."""
    if entry.row is None or entry.edge not in ("run", "flight", "arrival", "program"):
        return entry.edge
    if entry.table == "events":
        lanes = {lane.id: lane.role for lane in trace.lanes}
        return f"{entry.edge}: {lanes[trace.events[entry.row].lane]}"
    span = trace.spans[entry.row]
    return f"{entry.edge}: {span.operation or span.name}"


def us(ns: int | None) -> str:
    """Nanoseconds as a column of microseconds.

    >>> us(1_234_567), us(None)
    ('     1,234.6 us', '     unknown')
    """
    return f"{ns / 1000:12,.1f} us" if ns is not None else f"{'unknown':>12}"
