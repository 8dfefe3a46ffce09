"""What stands in for a stepper where no script runs: the timeline with a line at the moment, and the state in words."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...analysis.states import States
from ...errors import BadArgument
from ...trace.model import Trace
from ..fallback import Still
from ..paint.frame import frame_of
from ..paint.layout import PAD, TITLE_SIZE, Heights
from ..palette import theme_of
from ..picture import DPI, Picture, picture

MOST_SPANS = 3_000
"""A step of more is shown from some trace events before to some after."""
AROUND = 60
TOP = PAD + TITLE_SIZE + 10 + Heights().ruler
"""Points from the top to where the lanes begin, under title and ruler."""


def picture_at(states: States, at: int, theme: str = "light") -> Picture:
    """The timeline of the step of a trace event, with a line at its time.

    >>> picture_at(states, 46).save("moment.png")  # doctest: +SKIP
    """
    trace, event = states.trace, states.trace.events[at]
    step, window = _shown(trace, at)
    title = f"trace event {at} of {len(states)}: {states.says[at]}"
    made = picture(
        trace, step=step, window=window, theme=theme, title=_short(title), numbers=False, legend=False
    )
    x = event.t_ns - frame_of(trace, step, window).start_ns
    bottom = made.axes.get_ylim()[0] - PAD
    made.axes.plot([x, x], [TOP, bottom], color=theme_of(theme).ink, linewidth=1.2, zorder=9)
    made.alt = f"{title}. {made.alt}"
    return made


def _shown(trace: Trace, at: int) -> tuple[int | None, tuple[int, int] | None]:
    """The step of a trace event, where it is not too long for a picture; else a window round it."""
    event, events, spans = trace.events[at], trace.events, trace.spans
    known = event.step is not None and event.step in trace.steps
    if known and np.count_nonzero(spans["step"] == event.step) <= MOST_SPANS:
        return event.step, None
    times = events["t_ns"][max(at - AROUND, 0) : at + AROUND]
    start, end = int(min(times.min(), event.t_ns)), int(max(times.max(), event.t_ns))
    return None, (start, max(end, start + 1) + (end - start) // 20)


def _short(title: str, most: int = 100) -> str:
    return title if len(title) <= most else title[: most - 1] + "…"


@dataclass(frozen=True)
class Moment(Still):
    """A picture, and words that stand in lines."""

    def outputs(self) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
        if self.picture is not None:
            data, metadata = self.picture._repr_mimebundle_()
            yield {"image/png": data["image/png"], "text/plain": self.words}, metadata
        yield {"text/html": self._lines(' class="ubviz-still"'), "text/plain": self.words}, {}

    def img(self) -> str:
        if self.picture is None:
            return self._lines("")
        data = base64.b64encode(self.picture._bytes("png", 1.5 * DPI)).decode("ascii")
        alt = html.escape(self.picture.alt, quote=True)
        return f'<img alt="{alt}" src="data:image/png;base64,{data}">{self._lines("")}'

    def _lines(self, attributes: str) -> str:
        return f'<pre{attributes} style="white-space:pre-wrap">{html.escape(self.words)}</pre>'


def moment(states: States, at: int, words: str) -> Moment:
    """The picture of a trace event's moment with the state in words; where nothing can be drawn, the words."""
    try:
        return Moment(picture_at(states, at), words)
    except BadArgument:  # nothing is in the window
        return Moment(None, words)
