"""A run that hangs in a notebook's cell: told in the cell, with the recording so far, and the kernel goes on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

jupyter_client = pytest.importorskip("jupyter_client", reason="needs jupyter_client")
pytest.importorskip("ipykernel", reason="needs ipykernel")

PATIENCE_S = 120
"""How long a kernel may take, which is started on a machine that may be busy."""

PROGRAM = """
import ubviz
rt = ubviz.get_runtime("host")
turn, back = rt.HostEvent("turn"), rt.HostEvent("back")
def peer():
    turn.wait()
    back.set()
def hang():
    thread = rt.Thread(peer, name="peer")
    thread.start()
    back.wait()          # nobody sets turn
"""


class Cells:
    """A kernel, and what the cells that run in it show."""

    def __init__(self, client: Any, manager: Any) -> None:
        self.client, self.manager = client, manager

    def run(self, code: str, interrupt_when: str | None = None) -> tuple[str, str]:
        """What a cell prints, and its error, if it ends by one; interrupted once it has printed something."""
        sent = self.client.execute(code)
        printed, error = "", ""
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE_S)
            if message["parent_header"].get("msg_id") != sent:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                printed += content["text"]
                if interrupt_when is not None and interrupt_when in printed:
                    interrupt_when = None
                    self.manager.interrupt_kernel()
            elif kind == "error":
                error = f"{content['ename']}: {content['evalue']}"
            elif kind == "status" and content["execution_state"] == "idle":
                return printed, error


@pytest.fixture(scope="module")
def cells() -> Iterator[Cells]:
    manager = jupyter_client.KernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    manager.start_kernel()
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=PATIENCE_S)
        made = Cells(client, manager)
        assert made.run(PROGRAM) == ("", "")
        yield made
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_the_cell_says_who_waits_for_what_and_the_recording_is_there(cells: Cells) -> None:
    _, error = cells.run("with ubviz.record(rt, watchdog_s=0.5) as rec:\n    hang()")
    head, *lines = error.splitlines()
    assert head == "Stalled: nothing has moved for 0.5 s: every thread waits and every stream is idle"
    assert [line.split(" is in ")[0].strip() for line in lines] == ["main", "peer"]
    assert "host_event.wait of <host event back: clear>, at cell[" in lines[0]
    assert "; nobody has ever set it; peer waits in host_event.wait of turn at cell[" in lines[0]
    assert lines[1].endswith("; before it, peer did thread.start")
    kinds = "print([e.kind for e in rec.trace.events if e.kind in ('host_event.wait', 'error')])"
    assert cells.run(kinds) == ("['host_event.wait', 'host_event.wait', 'error']\n", "")


def test_what_it_shows_is_found_in_the_recording_too(cells: Cells) -> None:
    cells.run("with ubviz.record(rt, watchdog_s=0.5) as rec:\n    hang()")
    printed, error = cells.run("print([f.kind for f in ubviz.analyze(rec.trace).findings])")
    assert (printed, error) == ("['deadlock', 'deadlock']\n", "")


def test_a_report_alone_is_printed_in_the_cell_and_an_interrupt_ends_it(cells: Cells) -> None:
    code = "with ubviz.record(rt, watchdog_s=0.5, on_stall='report') as rec:\n    hang()"
    printed, error = cells.run(code, interrupt_when="nothing has moved")
    assert printed.startswith(
        "nothing has moved for 0.5 s: every thread waits and every stream is idle\n  main is in"
    )
    assert error.startswith("KeyboardInterrupt")
    assert cells.run("print(rec.trace.events['kind'][-1])") == ("error\n", "")
    assert cells.run("turn.set(); print('goes on')") == ("goes on\n", "")


def test_an_interrupt_before_the_watchdog_keeps_the_recording(cells: Cells) -> None:
    cells.run("turn.clear(); back.clear()")
    code = "with ubviz.record(rt, watchdog_s=60) as rec:\n    print('begins', flush=True)\n    hang()"
    printed, error = cells.run(code, interrupt_when="begins")
    assert (printed, error.split(":")[0]) == ("begins\n", "KeyboardInterrupt")
    assert cells.run("print(len(rec.trace.events) > 0); turn.set()") == ("True\n", "")
