"""``ubviz explore``: run the hand-over in every order that matters, as it is or broken, and say what can go wrong."""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING, Any

from ubviz.errors import BadArgument

if TYPE_CHECKING:
    from ..exploration.explorer import Exploration, Found
    from ..exploration.ring_programs import RingProgram


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--variant", default="none", metavar="V", help="how it is broken (default: none)")
    parser.add_argument("--list", action="store_true", help="name the variants, and do nothing")
    parser.add_argument("--ring", help="own, vllm or bare (default: own, vllm for a broken one)")
    parser.add_argument("--ubatches", type=int, default=2, metavar="N", help="microbatches (default: 2)")
    parser.add_argument("--layers", type=int, default=1, metavar="L", help="layers (default: 1)")
    parser.add_argument("--style", help="ht or ll (default: by variant)")
    parser.add_argument("--mode", default="sleep", help="sleep, dfs or random (default: sleep)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="first seed of mode random")
    parser.add_argument("--limit", type=int, metavar="K", help="make at most K executions (default: by mode)")
    parser.add_argument("--first", action="store_true", help="stop at the first error")
    parser.add_argument("--count", action="store_true", help="count all interleavings, exactly")
    parser.add_argument("--replay", metavar="S", help="play one schedule again, as in 0.1x4.2")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of sentences")


def run(args: argparse.Namespace) -> int:
    """0 when no error was found, else 1."""
    from ..exploration.explorer import explore
    from ..exploration.variants import VARIANTS, program_of

    if args.list:
        print("\n".join(f"{v.name:22}{v.sentence}" for v in VARIANTS.values()))
        return 0
    program = program_of(
        args.variant, ubatches=args.ubatches, layers=args.layers, style=args.style, ring=args.ring
    )
    if args.replay is not None:
        return run_replay(args, program)
    found = explore(
        program, args.mode, stop_at_first=args.first, limit=args.limit, seed=args.seed, count=args.count
    )
    if args.json:
        shortest = found.shortest.facts() if found.shortest is not None else None
        print(json.dumps({**asked(args, program), **found.numbers(), "shortest": shortest}, indent=2))
    else:
        print("\n".join(sentences(args, found)))
    return 1 if found.wrong else 0


def asked(args: argparse.Namespace, program: RingProgram) -> dict[str, Any]:
    """What was explored."""
    return {
        "variant": args.variant, "ubatches": program.ubatches, "layers": program.layers, "style": program.style,
    }  # fmt: skip


def sentences(args: argparse.Namespace, found: Exploration) -> list[str]:
    """The exploration for a person to read."""
    from ..exploration.variants import VARIANTS

    lines = [f"{args.variant}: {VARIANTS[args.variant].sentence}", amount(found)]
    if found.interleavings is not None:
        lines.append(f"{found.interleavings:,} interleavings in all")
    elif args.count:
        lines.append("there are too many states to count its interleavings")
    if not found.findings:
        lines.append("nothing wrong was found" + ("" if found.exhaustive else " in these"))
    for one in found.findings:
        lines += ["", *told(one)]
    if found.shortest is not None:
        again = " ".join(["ubviz explore", *options(args), "--replay", found.shortest.replay])
        lines += ["", f"the shortest way there has {found.shortest.steps} steps:", f"  {again}"]
    return lines


def amount(found: Exploration) -> str:
    """How much was looked at."""
    how = "all orders that matter" if found.exhaustive else "not all orders"
    pruned = f", {found.pruned:,} cut short as seen before" if found.pruned else ""
    return f"{found.executions:,} executions, {found.schedules:,} of them inequivalent{pruned}: {how}"


def told(one: Found) -> list[str]:
    """One finding."""
    times = "1 execution" if one.executions == 1 else f"{one.executions:,} executions"
    return [f"{one.severity}: {one.kind}, in {times}", *(f"  {part}" for part in one.sentence.split("; "))]


def options(args: argparse.Namespace) -> list[str]:
    """The options that make the same program again."""
    words = []
    for name, default in (
        ("variant", "none"),
        ("ring", None),
        ("ubatches", 2),
        ("layers", 1),
        ("style", None),
    ):
        if (value := getattr(args, name)) != default:
            words += [f"--{name}", str(value)]
    return words


def run_replay(args: argparse.Namespace, program: RingProgram) -> int:
    """Play one schedule again, and say what happens in it."""
    from ..exploration.replay import play

    if not re.fullmatch(r"[0-9.x]{0,10000}", args.replay):
        raise BadArgument(f"a schedule is thread numbers like 0x3.1.2x14, not {args.replay!r}")
    execution = play(program, args.replay, recorded=True)
    findings = execution.findings()
    facts = [
        {"kind": f.kind, "severity": f.severity, "sentence": f.sentence, "replay": execution.replay} for f in findings
    ]  # fmt: skip
    if args.json:
        print(json.dumps({**asked(args, program), "replay": execution.replay, "findings": facts}, indent=2))
    else:
        print(f"{args.variant}, schedule {execution.replay}: {len(execution.steps)} steps")
        assert execution.trace is not None
        print("\n".join(story(execution.trace)))
        print("\n".join(f"{f.severity}: {f.kind}: {f.sentence}" for f in findings) or "nothing wrong in it")
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def story(trace: Any) -> list[str]:
    """The trace events by which threads wait for each other, one a line."""
    from ..analysis.words import lane_name

    kinds = ("barrier.", "host_event.", "ctx.", "hook.", "kernel.launch", "error")
    lines = []
    for event in trace.events:
        if event.kind.startswith(kinds):
            what = event.args.get("host_event") or event.args.get("barrier") or event.args.get("name") or ""
            lines.append(f"  {lane_name(trace, event):10} {event.kind:18} {what}".rstrip())
    return lines
