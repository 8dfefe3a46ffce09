"""The watchdog: notices when nothing can go on, and says who waits for what.

It fires when every known thread is parked without a time-out and every stream idle for a given time: never for
a long kernel.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING

from .sites import MECHANISM, USER, Levels, Sites

if TYPE_CHECKING:
    from ..runtime.host_sync import Parked
    from .recorder import Recording

_CHECKS = 8  # looks within one time limit


class Watchdog:
    """Watches the runtime of one recording from a thread of its own."""

    def __init__(self, recording: Recording, limit_s: float, on_stall: str) -> None:
        self._recording = recording
        self._limit_s = limit_s
        self._on_stall = on_stall
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="ubviz watchdog", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()
        self._recording.runtime.parking.resume()

    def _watch(self) -> None:
        rt = self._recording.runtime
        reported = False
        while not self._over.wait(self._limit_s / _CHECKS):
            parked = list(rt.parking.waiting.values())
            if reported or not self._stalled(parked):
                continue
            reported = True
            text = report(parked, self._limit_s, self._who_could())
            if self._on_stall == "raise":
                rt.parking.interrupt(text)
            else:
                print(text, file=sys.stderr)

    def _who_could(self) -> dict[str, str]:
        """Thread -> who could end its wait, and what it did before, from what has been recorded so far."""
        from ..analysis.deadlock import who_could_end

        try:
            return who_could_end(self._recording.trace)
        except Exception as error:  # whatever is wrong with the recording, the waits must end
            return {"": f"who could end these waits is not known: {type(error).__name__}: {error}"}

    def _stalled(self, parked: list[Parked]) -> bool:
        rt = self._recording.runtime
        waiting = {p.thread.ident for p in parked}
        if any(p.timed for p in parked):
            return False  # a time-out will wake it
        known = {thread.ident for thread in list(rt.threads)} | {self._recording.main_ident}
        newest = max((p.since_ns for p in parked), default=0)
        old_enough = rt.now_ns() - newest > self._limit_s * 1e9
        return bool(parked) and known <= waiting and old_enough and rt.idle()


def report(parked: list[Parked], limit_s: float, who_could: Mapping[str, str] = MappingProxyType({})) -> str:
    """Who waits for what, where, and who could end it: one line a thread."""
    lines = [f"nothing has moved for {limit_s:g} s: every thread waits and every stream is idle"]
    frames = sys._current_frames()
    for p in sorted(parked, key=lambda p: p.thread.name):
        ident = p.thread.ident
        where = _where(frames.get(ident) if ident is not None else None)
        name = "main" if p.thread is threading.main_thread() else p.thread.name
        more = f"; {who_could[name]}" if name in who_could else ""
        lines.append(f"  {name} is in {p.kind} of {p.obj!r}{where}{more}")
    if "" in who_could:
        lines.append(f"  {who_could['']}")
    return "\n".join(lines)


def _where(frame: FrameType | None) -> str:
    """The line that a thread waits at: in the user's code where there is some, else the innermost that counts."""
    levels = Levels()
    lines = []
    while frame is not None:
        lines.append((levels[frame.f_code.co_filename], frame))
        frame = frame.f_back
    for wanted in (USER, MECHANISM):
        for level, found in lines:
            if level == wanted:
                return f", at {Sites().file(found.f_code.co_filename)}:{found.f_lineno}"
    return ""
