"""``python -m tests.bench [NAME ...]``: print the figures beside what is wanted; a slow machine is no failure."""

from __future__ import annotations

import argparse
import pkgutil
from importlib import import_module

from tests import bench


def main() -> int:
    known = [module.name for module in pkgutil.iter_modules(bench.__path__) if module.name != "__main__"]
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure, of {', '.join(known)}")
    names = parser.parse_args().names or known
    if unknown := set(names) - set(known):
        parser.error(f"not known: {', '.join(sorted(unknown))} (of {', '.join(known)})")
    rows = []
    for name in names:
        print(name, flush=True)
        for row in import_module(f"tests.bench.{name}").rows():
            print("  " + line(row), flush=True)
            rows.append(row)
    over = sum(not row.within for row in rows)
    print(f"{len(rows)} figures, {over} over what is wanted")
    return 0


def line(row: bench.Row) -> str:
    bound = "" if row.bound is None else f"  <= {row.bound:g}"
    return f"{row.what:60} {row.value:12.3f} {row.unit:4}{bound}{'' if row.within else '  OVER'}"


if __name__ == "__main__":
    raise SystemExit(main())
