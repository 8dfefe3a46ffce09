"""A still picture of a recording, drawn with matplotlib: for pages, talks, print, and where no script runs.

``order="wall"`` draws by the clock, ``order="logical"`` one column for each event in the order recorded. Nothing
of matplotlib's global state is used or changed: a figure of our own, or the axes that the caller hands in.

Saved SVG holds text as outlines, not as text: every label was measured in the font it is drawn in, and must fit
its span wherever the file is opened, with or without that font. What it says can be read in its description, the
alt text, which every format carries. Saving twice gives the same bytes.
"""

from __future__ import annotations

import base64
import io
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from ..errors import BadArgument
from ..trace.model import Trace
from .paint.compose import compose
from .paint.ticks import plain
from .palette import theme_of

SUFFIXES = ("svg", "png", "pdf")
ORDERS = ("wall", "logical")
INCHES = 10.0
"""As wide as a notebook's cell, where a wider picture would be shrunk and its text with it."""
DPI = 100
STEADY: Any = {"svg.hashsalt": "ubviz", "svg.fonttype": "path", "path.sketch": None, "path.simplify": True}
"""Settings of matplotlib that the bytes of a saved picture depend on."""


class Picture:
    """A drawn recording: save it, show it in a notebook, or go on with its figure and axes."""

    def __init__(self, figure: Figure | SubFigure, axes: Axes, alt: str, words: str) -> None:
        self.figure = figure
        self.axes = axes
        self.alt = whole_text(alt)
        self._words = whole_text(words)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write ``.svg``, ``.png`` (twice the size on screen) or ``.pdf``, by the suffix of the path.

        >>> picture(trace).save("overlapped.svg")  # doctest: +SKIP
        """
        suffix = FilePath(path).suffix.lower().lstrip(".")
        if suffix not in SUFFIXES:
            raise BadArgument(f"a picture is saved as .svg, .png or .pdf, not as {os.fspath(path)!r}")
        FilePath(path).write_bytes(self._bytes(suffix))

    def _bytes(self, suffix: str, dpi: float = 2 * DPI) -> bytes:
        figure = self.figure.get_figure(root=True) if isinstance(self.figure, SubFigure) else self.figure
        out = io.BytesIO()
        with matplotlib.rc_context(STEADY):
            figure.savefig(out, format=suffix, dpi=dpi, metadata=_metadata(suffix, self.alt),
                           facecolor=figure.get_facecolor(), bbox_inches=None)  # fmt: skip
        return _rounded(out.getvalue()) if suffix == "svg" else out.getvalue()

    def small_png(self, dpi: float = 2 * DPI) -> bytes:
        """A PNG of 256 colours: a third of the bytes, since it is saved with every notebook that shows it."""
        from PIL import Image

        out = io.BytesIO()
        with Image.open(io.BytesIO(self._bytes("png", dpi))) as image:
            image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(out, "png", optimize=True)
        return out.getvalue()

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """A PNG with its alt text. No HTML: pages that show saved notebooks prefer it and may drop data in it."""
        figure = self.figure.get_figure(root=True) if isinstance(self.figure, SubFigure) else self.figure
        wide, high = (round(inches * DPI) for inches in figure.get_size_inches())
        png = base64.b64encode(self.small_png()).decode("ascii")
        metadata = {"image/png": {"alt": self.alt, "width": wide, "height": high}}
        return {"text/plain": repr(self), "image/png": png}, metadata

    def __repr__(self) -> str:
        return f"<Picture: {self._words}>"


def whole_text(text: str) -> str:
    """The text; half of a pair of surrogates, which no file and no page can hold, as a question mark.

    >>> whole_text("half \\ud800 pair")
    'half ? pair'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def _rounded(svg: bytes) -> bytes:
    """Outlines to a hundredth of a point: less to load, and nothing that could be seen."""
    return re.sub(
        rb' d="[^"]*"', lambda outline: re.sub(rb"-?[0-9]+\.[0-9]{3,}", _hundredth, outline[0]), svg
    )


def _hundredth(number: re.Match[bytes]) -> bytes:
    return plain(round(float(number[0]), 2) + 0.0).encode()


def _metadata(suffix: str, alt: str) -> dict[str, Any]:
    """What each format says about itself: the alt text, and no date or version."""
    if suffix == "svg":
        return {"Title": alt, "Description": alt, "Date": None, "Creator": None}
    if suffix == "png":
        return {"Description": alt, "Software": None}
    return {"Subject": alt, "CreationDate": None, "Creator": None, "Producer": None}


def picture(
    trace: Trace,
    axes: Axes | None = None,
    *,
    step: int | None = None,
    window: tuple[int, int] | None = None,
    order: str = "wall",
    theme: str = "light",
    lanes: Sequence[str | int] | None = None,
    title: str | None = None,
    width: float | None = None,
    numbers: bool = True,
    legend: bool = True,
) -> Picture:
    """Draw a recording.

    >>> picture(trace)  # doctest: +SKIP
    <Picture: step 2, 5 lanes, 28 operations, makespan 422 µs>

    axes: draw here and touch nothing else (give the figure its size first: text is set where it fits now).
    step: which step; the last complete one unless given. window: ``(start_ns, end_ns)`` in the time of the
    recording. order: "wall" or "logical". lanes: which, by role ("compute") or number. width: in inches, 10 unless
    given. numbers, legend: whether these lines are drawn. Raises BadArgument when an argument cannot be used.
    """
    must_be_trace(trace, "picture draws")
    if order not in ORDERS:
        raise BadArgument(f'order must be "wall" or "logical", not {order!r}')
    if axes is not None and width is not None:
        raise BadArgument("width is that of a figure of its own; with axes= the axes have theirs")
    options: Mapping[str, Any] = {"title": title, "numbers": numbers, "legend": legend}
    made = compose(trace, axes, points_of(width), order, theme_of(theme), (step, window, lanes), options)
    return Picture(made.figure, made.axes, made.alt, made.words)


def must_be_trace(value: object, who: str) -> None:
    """Refuse what is no Trace, in a sentence that begins with ``who``."""
    if not isinstance(value, Trace):
        raise BadArgument(f"{who} a Trace, not {type(value).__name__}; ubviz.load reads one from a file")


def points_of(width: float | None) -> float:
    """The width of a picture in points; it is given in inches.

    >>> points_of(None), points_of(7)
    (720.0, 504.0)
    """
    inches = INCHES if width is None else width
    if not 3 <= inches <= 100:
        raise BadArgument(f"width is in inches, from 3 to 100, not {width!r}")
    return inches * 72.0
