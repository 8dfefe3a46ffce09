"""The picture by the clock: CPU threads above streams, time to the right."""

from __future__ import annotations

from itertools import pairwise

from ..palette import Theme
from .blocks import Block, blocks, initials, sub_lanes
from .canvas import Canvas, Style
from .fonts import width
from .frame import Frame
from .layout import GROUP_SIZE, LANE_SIZE, PAD, SMALL_SIZE, Layout
from .marks import paint_arrows, paint_barriers, paint_diamonds, paint_rings
from .shapes import line
from .streams import paint_block, paint_stream_waits
from .threads import paint_thread, paint_thread_texts
from .ticks import ruler


def stream_blocks(frame: Frame) -> dict[int, tuple[list[Block], list[int]]]:
    """Lane -> its operations, and the sub-row of each."""
    found = {}
    for lane in frame.lanes:
        if lane.group != "threads":
            made = blocks(frame.on(lane, "kernel", "transfer"), frame.on(lane, "wait"))
            found[lane.id] = (made, sub_lanes(made))
    return found


def paint_wall(
    canvas: Canvas, frame: Frame, layout: Layout, done: dict[int, tuple[list[Block], list[int]]]
) -> None:
    """Everything but the legend and the numbers."""
    canvas.short = initials(block.label for made, _ in done.values() for block in made)
    paint_ground(canvas, layout)
    _paint_ruler(canvas, layout)
    threads = [row for row in layout.rows.values() if row.lane.group == "threads"]
    streams = [row for row in layout.rows.values() if row.lane.group != "threads"]
    for row in threads:
        paint_thread(canvas, frame, row)
    paint_barriers(canvas, frame, layout)
    paint_rings(canvas, frame, layout)
    paint_diamonds(canvas, frame, layout)
    paint_arrows(canvas, frame, layout)
    for row in streams:
        for block, sub in zip(*done[row.lane.id]):
            paint_block(canvas, frame, row, block, row.middle(sub))
        paint_stream_waits(canvas, frame, row)
    for row in threads:
        paint_thread_texts(canvas, frame, row)
    _paint_layers(canvas, frame, layout)


def paint_ground(canvas: Canvas, layout: Layout) -> None:
    """Names of lanes and groups, and a hairline along each lane."""
    theme = canvas.theme
    for title, y in layout.titles:
        canvas.text(PAD, y, title, GROUP_SIZE, theme.soft, weight=600, force=True)
    for row in layout.rows.values():
        canvas.text(
            canvas.left - 10, row.y, row.name, LANE_SIZE, theme.ink, weight=500, at="right", force=True
        )
        for sub in range(row.subs):
            y = row.middle(sub)
            canvas.add(hairline(theme), line((canvas.left, y), (canvas.right, y)))


def hairline(theme: Theme) -> Style:
    """The style of the grid."""
    return Style(z=1.0, stroke=theme.grid, width=0.8)


def _paint_ruler(canvas: Canvas, layout: Layout) -> None:
    marks = ruler(canvas.ns, canvas.right - canvas.left, apart=72)
    for at, label in marks:
        x = canvas.x(at)
        canvas.add(hairline(canvas.theme), line((x, layout.ruler_y + 8), (x, layout.bottom)))
        canvas.text(x, layout.ruler_y, label, SMALL_SIZE + 0.3, canvas.theme.soft, at="centre")


def _paint_layers(canvas: Canvas, frame: Frame, layout: Layout) -> None:
    """Where each layer begins, on the line of the group's title."""
    y = next((y for title, y in layout.titles if "STREAMS" in title), None)
    begins = layer_starts(frame)
    if y is None or len(begins) < 2 or frame.several_ranks:
        return
    marks = [(canvas.x(begins[key] - frame.start_ns), f"layer {key[1]}") for key in sorted(begins)]
    stride = next((n for n in (1, 2, 5, 10, 20, 50, 100) if _apart(marks[::n])), len(marks))
    tick = Style(z=2.0, stroke=canvas.theme.soft, width=0.7)
    for x, text in marks[::stride]:
        if x >= canvas.left and canvas.text(x + 4, y, text, SMALL_SIZE, canvas.theme.soft):
            canvas.add(tick, line((x, y - 4), (x, y + 4)))


def _apart(marks: list[tuple[float, str]]) -> bool:
    return all(a + width(text, SMALL_SIZE) + 12 <= b for (a, text), (b, _) in pairwise(marks))


def layer_starts(frame: Frame) -> dict[tuple[int, int], int]:
    """(step, layer) -> when the first kernel of it starts, for those that are seen in the frame."""
    spans = frame.trace.spans
    shown = {(s.step, s.layer) for s in frame.spans.values() if s.cat == "kernel" and s.layer is not None}
    found = {}
    for step, layer in shown:
        mask = spans.mask(cat="kernel", step=step, layer=layer)
        found[-1 if step is None else step, layer] = int(spans["start_ns"][mask].min())
    return found
