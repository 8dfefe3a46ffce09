"""A sheet of points laid over matplotlib axes: shapes by style, text that is measured before it is set.

x runs from the left edge of the axes and y downwards from the top, both in points. In the axes' own coordinates
x is nanoseconds from the left edge of the ruler and y is points, so that a user can add marks of their own. Shapes
of one style become one artist; text is set where nothing else is, or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Transform

from ..palette import Theme
from . import fonts
from .shapes import Box


class Style(NamedTuple):
    """How shapes are drawn: filled, stroked or both; ``z`` is the layer."""

    z: float
    fill: str | None = None
    stroke: str | None = None
    width: float = 0.0
    dash: tuple[float, ...] | None = None
    alpha: float | None = None


class Canvas:
    """What is drawn on one pair of axes."""

    def __init__(
        self, axes: Axes, theme: Theme, size: tuple[float, float], left: float, right: float, ns: float
    ):
        self.axes, self.theme = axes, theme
        self.width, self.height = size
        self.left, self.right = left, right
        self.ns = ns
        self.seen: set[str] = set()
        self.missing = 0
        self.short: dict[str, str] = {}
        self.shortened: set[str] = set()
        self.numbered = False
        self._shapes: dict[Style, list[Path]] = {}
        self._taken: list[Box] = []

    @property
    def ns_per_point(self) -> float:
        return self.ns / (self.right - self.left)

    def x(self, ns: float) -> float:
        """Where a moment is, in points."""
        return self.left + ns / self.ns_per_point

    def add(self, style: Style, *paths: Path) -> None:
        self._shapes.setdefault(style, []).extend(paths)

    def take(self, box: Box) -> None:
        """Text stays out of this box from now on."""
        self._taken.append(box)

    def free(self, box: Box) -> bool:
        """Whether a box lies on the sheet, and on nothing that was taken."""
        x0, y0, x1, y1 = box
        if x0 < 0 or y0 < 0 or x1 > self.width or y1 > self.height:
            return False
        return not any(x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in self._taken)

    def text(
        self, x: float, y: float, text: str, size: float, colour: str, *, weight: int = 400, at: str = "left",
        z: float = 9.0, force: bool = False,
    ) -> Box | None:  # fmt: skip
        """Set a text, centred on y; the box it fills, or None where there was no room."""
        text = fonts.clean(text)
        box = text_box(x, y, text, size, weight, at)
        if not text or not (force or self.free(box)):
            return None
        properties = fonts.font(text, size, weight)
        artist = Text(box[0], y + size * fonts.CAP, text, color=colour, fontproperties=properties,
                      verticalalignment="baseline", parse_math=False, zorder=z)  # fmt: skip
        artist.set_transform(self._to_axes())
        artist.set_clip_on(False)
        self.axes.add_artist(artist)
        artist.set_clip_path(None)
        self.take(box)
        return box

    def flush(self) -> None:
        """Turn what was drawn into artists, one a style, lowest layer first."""
        to_axes = self._to_axes()
        for style in sorted(self._shapes, key=repr):
            patch = PathPatch(
                Path.make_compound_path(*self._shapes[style]),
                facecolor=style.fill or "none", edgecolor=style.stroke or "none", linewidth=style.width,
                linestyle=(0, style.dash) if style.dash else "-", alpha=style.alpha, zorder=style.z,
                capstyle="butt", joinstyle="miter", transform=to_axes, clip_on=False,
            )  # fmt: skip
            self.axes.add_artist(patch)
            patch.set_clip_path(None)
        self._shapes.clear()

    def cut(self, height: float) -> None:
        """Make the figure, which the axes fill, no higher than this."""
        self.height = height
        self.axes.set_ylim(height, 0)
        figure = self.axes.get_figure()
        if isinstance(figure, Figure):
            figure.set_size_inches(self.width / 72, height / 72)

    def _to_axes(self) -> Transform:
        scale = self.ns_per_point
        return Affine2D().translate(-self.left, 0).scale(scale, 1) + self.axes.transData

    def open(self) -> None:
        """Give the axes the sheet's limits and take its frame away."""
        self.axes.set_xlim(-self.left * self.ns_per_point, (self.width - self.left) * self.ns_per_point)
        self.axes.set_ylim(self.height, 0)
        self.axes.set_facecolor(self.theme.background)
        self.axes.set_autoscale_on(False)
        self.axes.grid(False)
        self.axes.tick_params(axis="both", which="both", length=0, labelsize=0)
        self.axes.set_xticks([])
        self.axes.set_yticks([])
        for spine in self.axes.spines.values():
            spine.set_visible(False)


def text_box(x: float, y: float, text: str, size: float, weight: int, at: str) -> Box:
    """The box of a text centred on y; ``at`` says which part of it is at x."""
    wide = fonts.width(text, size, weight)
    left = x - {"left": 0.0, "centre": wide / 2, "right": wide}[at]
    return left, y - size * 0.62, left + wide, y + size * 0.62


def first_fit(texts: Sequence[str], size: float, weight: int, room: float) -> str | None:
    """The first of some texts that is no wider than the room."""
    return next((text for text in texts if fonts.width(fonts.clean(text), size, weight) <= room), None)
