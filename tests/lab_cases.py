"""Plans and factors for the tests of a Lab, and the page's answers: its script, run by node."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import ubviz
from tests.traces import Traces
from ubviz.trace import Trace
from ubviz.view.lab_flow import Factors
from ubviz.view.lab_numbers import numbers_of
from ubviz.view.lab_plan import Plan

SCRIPT = Path(ubviz.__file__).parent / "static" / "lab.js"
VERBS = ["launch"] * 5 + ["record", "wait", "wait", "block", "synchronize", "read"]
KERNELS = [
    ("attention", "compute"),
    ("experts", "compute"),
    ("dispatch", "comm"),
    ("combine", "comm"),
    ("copy", "copy"),
]

ASK = """
const { planOf, times, numbersOf } = await import(process.argv[1]);
let text = "";
for await (const piece of process.stdin) text += piece;
console.log(JSON.stringify(JSON.parse(text).map(([data, factors]) => {
  const plan = planOf(data);
  const time = times(plan, factors);
  return { time: [...time], numbers: numbersOf(plan, factors, time) };
})));
"""


def program(rng: random.Random) -> Trace:
    """A recording of a random program on up to three streams, which holds at least one kernel."""
    t = Traces()
    main, streams = t.thread("main"), [f"s{i}" for i in range(rng.randrange(1, 4))]
    for verb in ["launch", *rng.choices(VERBS, k=rng.randrange(60))]:
        stream, event = rng.choice(streams), f"e{rng.randrange(2)}"
        if verb in ("launch", "block"):
            name, cls = rng.choice(KERNELS)
            main.launch(
                name, stream, [], [], takes=rng.choice([0, 1, rng.randrange(400)]), cls=cls, host_wait=verb == "block"
            )  # fmt: skip
        elif verb == "record":
            main.record(event, stream)
        elif verb == "wait":
            main.wait_event(stream, event)
        elif verb == "synchronize":
            main.synchronize(stream)
        else:
            main.read(stream)
        t.now += rng.choice([0, 0, rng.randrange(200)])
    return t.finish()


def factors(rng: random.Random, plan: Plan) -> Factors:
    """Some of what can be dragged, far and near."""
    pick = [0, 0.5, 1, 1, 1.05, 1.5, 7 / 3, rng.random() * 3]
    return Factors(
        rng.choice(pick), [rng.choice(pick) for _ in plan.works], rng.choice([0, 0, 3, 50]),
        rng.choice([0, 0, 1, 25, 40, 60]),
    )  # fmt: skip


def in_the_page(cases: list[tuple[Plan, Factors]]) -> list[dict[str, Any]]:
    """What the page's script makes of them."""
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI") == "true":
            pytest.fail("the page's script is checked with node, and there is none")
        pytest.skip("no node here: the page's script is checked with it")
    asked = [
        [
            plan.data(),
            {
                "threads": f.threads,
                "works": list(f.works),
                "kernelNs": f.kernel_ns,
                "contention": f.contention,
            },
        ]
        for plan, f in cases
    ]
    done = subprocess.run(
        [node, "--input-type=module", "-e", ASK, SCRIPT.as_uri()], input=json.dumps(asked), capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def numbers(plan: Plan, given: Factors) -> dict[str, Any]:
    """Python's."""
    return asdict(numbers_of(plan, given))
