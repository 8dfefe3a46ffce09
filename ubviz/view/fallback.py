"""What stands in for a view where no kernel answers or no script runs: a picture with its words, or the words alone."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import BadArgument
from ..trace.model import Trace
from .paint.frame import chosen_lanes, extent, last_complete_step
from .picture import DPI, Picture, picture

MOST_SPANS = 20_000
MOST_LANES = 120
"""A still picture of more says nothing, and takes long."""


@dataclass(frozen=True)
class Still:
    """A picture, if there is one, and what it says."""

    picture: Picture | None
    words: str

    def outputs(self) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
        """Its outputs in a notebook."""
        if self.picture is not None:
            data, metadata = self.picture._repr_mimebundle_()
            yield {"image/png": data["image/png"], "text/plain": self.words}, metadata
        yield (
            {"text/html": f'<p class="ubviz-still">{html.escape(self.words)}</p>', "text/plain": self.words},
            {},
        )

    def img(self) -> str:
        """Its HTML in a page."""
        words = html.escape(self.words, quote=True)
        if self.picture is None:
            return f"<p>{words}</p>"
        data = base64.b64encode(self.picture.small_png(1.5 * DPI)).decode("ascii")
        return f'<img alt="{words}" src="data:image/png;base64,{data}">'


def still(trace: Trace, order: str, shown: Mapping[str, Any], label: str) -> Still:
    """The picture of what a view shows first; too much for a picture is said."""
    if _count(trace, shown) > MOST_SPANS:
        return Still(None, f"{label} There are too many spans for a still picture.")
    if len(chosen_lanes(trace, shown["lanes"])) > MOST_LANES:
        return Still(None, f"{label} There are too many lanes for a still picture.")
    try:
        drawn = picture(trace, order=order, **shown)
    except BadArgument:  # a window in which nothing is
        return Still(None, label)
    return Still(drawn, drawn.alt)


def _count(trace: Trace, shown: Mapping[str, Any]) -> int:
    step = shown["step"]
    start, end = shown["window"] or extent(trace, last_complete_step(trace) if step is None else step)
    spans = trace.spans
    return int(np.count_nonzero((spans["start_ns"] <= end) & (spans["end_ns"] >= start)))
