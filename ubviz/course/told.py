"""Reports of hangs as a learner reads them: a line for each thread, and no place in code that is not the learner's."""

from __future__ import annotations

import re

_OURS = re.compile(r", at ubviz/[\w/]+\.py:\d+$")


def listed(report: str) -> str:
    """What the threads of a deadlock wait for, one below the other.

    >>> print("It hangs:" + listed("main joins thread ubatch 1, at ubviz/a.py:7; ubatch 1 waits for cpu_event[1]"))
    It hangs:
      main joins thread ubatch 1
      ubatch 1 waits for cpu_event[1]
    """
    return "".join(f"\n  {_OURS.sub('', line)}" for line in report.split("; "))
