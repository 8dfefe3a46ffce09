"""Where the rows of a picture are: all heights in one place, in points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...trace.model import Lane
from . import fonts

LANE_SIZE, LABEL_SIZE, KEY_SIZE, SMALL_SIZE, GROUP_SIZE, TITLE_SIZE = 9.5, 8.5, 8.2, 7.5, 7.6, 12.0
GROUP_TITLES = {"threads": "CPU THREADS", "streams": "STREAMS"}
PAD = 14.0
"""Round the whole picture."""


@dataclass(frozen=True)
class Row:
    """A lane's row: its middle, half the height of what is drawn on it, and how many sub-rows it has."""

    lane: Lane
    y: float
    half: float
    subs: int = 1
    name: str = ""

    @property
    def top(self) -> float:
        return self.y - self.half

    @property
    def bottom(self) -> float:
        return self.y + self.half + (self.subs - 1) * self.pitch

    @property
    def pitch(self) -> float:
        return 2 * self.half + 3

    def middle(self, sub: int = 0) -> float:
        return self.y + sub * self.pitch


@dataclass
class Layout:
    """The rows from top to bottom, the titles of their groups, and where they end."""

    rows: dict[int, Row] = field(default_factory=dict)
    titles: list[tuple[str, float]] = field(default_factory=list)
    ruler_y: float = 0.0
    top: float = 0.0
    bottom: float = 0.0


@dataclass(frozen=True)
class Heights:
    """What a kind of picture gives its rows: half heights, and the way from one row to the next."""

    thread: float = 6.0
    stream: float = 12.5
    between_threads: float = 18.0
    between_streams: float = 22.0
    ruler: float = 20.0
    group: float = 22.0

    def stretched(self, k: float) -> Heights:
        """The same, k times as high (fonts stay)."""
        return Heights(
            self.thread * min(max(k, 0.6), 1.3),
            self.stream * max(k, 0.45),
            self.between_threads * k,
            self.between_streams * k,
            self.ruler * min(max(k, 0.8), 1.0),
            self.group * min(max(k, 0.7), 1.2),
        )


def lay_out(lanes: Sequence[Lane], heights: Heights, top: float, subs: Mapping[int, int]) -> Layout:
    """Place the lanes: CPU threads above streams, for every rank."""
    layout = Layout(ruler_y=top + 5, top=top + heights.ruler)
    y = layout.top
    several = len({lane.rank for lane in lanes}) > 1
    last: tuple[int, str] | None = None
    for lane in lanes:
        group = "threads" if lane.group == "threads" else "streams"
        half, between = (
            (heights.thread, heights.between_threads)
            if group == "threads"
            else (heights.stream, heights.between_streams)
        )
        if (lane.rank, group) != last:
            y += heights.group * (0.45 if last is None else 1.15)
            title = GROUP_TITLES[group]
            layout.titles.append((f"RANK {lane.rank} · {title}" if several else title, y))
            y += heights.group * 0.62
        elif last is not None:
            y += between
        row = Row(lane, y + half, half, subs.get(lane.id, 1), lane.role)
        layout.rows[lane.id] = row
        y = row.bottom
        last = (lane.rank, group)
    layout.bottom = y + 9
    return layout


def gutter(layout: Layout) -> float:
    """How wide the lane names need their column."""
    names = [fonts.width(fonts.clean(row.name), LANE_SIZE, 500) for row in layout.rows.values()]
    titles = [fonts.width(title, GROUP_SIZE, 600) for title, _ in layout.titles]
    return PAD + max([52.0, *names, *titles]) + 12.0
