"""The picture by the clock: CPU threads above streams, time to the right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..palette import Theme
from .blocks import Block, blocks, initials, sub_lanes
from .canvas import Canvas, Style
from .errors import paint_errors
from .fonts import clean, width
from .frame import Frame
from .layout import GROUP_SIZE, LANE_SIZE, PAD, SMALL_SIZE, Layout
from .marks import paint_arrows, paint_barriers, paint_clears, paint_diamonds, paint_rings
from .shapes import line
from .streams import paint_block, paint_stream_waits
from .threads import paint_thread, paint_thread_texts
from .ticks import ruler

Done = dict[int, tuple[list[Block], list[int]]]
"""Lane -> its operations, and the sub-row of each."""


def stream_blocks(frame: Frame) -> Done:
    """The operations of every stream."""
    found = {}
    for lane in frame.lanes:
        if lane.group != "threads":
            made = blocks(frame.on(lane, "kernel", "transfer"), frame.on(lane, "wait"))
            found[lane.id] = (made, sub_lanes(made))
    return found


def paint_wall(canvas: Canvas, frame: Frame, layout: Layout, done: Done) -> None:
    """Everything but the legend and the numbers."""
    name_blocks(canvas, [block for made, _ in done.values() for block in made])
    paint_ruler(canvas, layout.ruler_y, [(layout.ruler_y + 8, layout.bottom)])
    paint_lanes(canvas, frame, layout, done)


def name_blocks(canvas: Canvas, found: Sequence[Block]) -> None:
    """Choose initials; from three microbatches on, whose greys are near each other in print, number them too."""
    canvas.short = {name: clean(short) for name, short in initials(block.label for block in found).items()}
    canvas.numbered = len({block.ubatch for block in found} - {None}) > 2


def paint_lanes(canvas: Canvas, frame: Frame, layout: Layout, done: Done) -> None:
    """The lanes of a frame, which begins at the left edge of the ruler, and what happens between them."""
    _paint_ground(canvas, frame, layout)
    threads = [row for row in layout.rows.values() if row.lane.group == "threads"]
    streams = [row for row in layout.rows.values() if row.lane.group != "threads"]
    for row in threads:
        paint_thread(canvas, frame, row)
    paint_barriers(canvas, frame, layout)
    paint_clears(canvas, frame, layout)
    paint_rings(canvas, frame, layout)
    paint_errors(canvas, frame, layout)
    paint_diamonds(canvas, frame, layout)
    paint_arrows(canvas, frame, layout)
    for row in streams:
        for block, sub in zip(*done[row.lane.id]):
            paint_block(canvas, frame, row, block, row.middle(sub))
        paint_stream_waits(canvas, frame, row)
    for row in threads:
        paint_thread_texts(canvas, frame, row)
    _paint_layers(canvas, frame, layout)


def _paint_ground(canvas: Canvas, frame: Frame, layout: Layout) -> None:
    """Names of lanes and groups, and a hairline along each lane, as long as what is shown."""
    theme = canvas.theme
    x0, x1 = (canvas.x(t - frame.start_ns) for t in (frame.begins_ns, frame.ends_ns))
    for title, y in layout.titles:
        canvas.text(PAD, y, title, GROUP_SIZE, theme.soft, weight=600, force=True)
    for row in layout.rows.values():
        canvas.text(
            canvas.left - 10, row.y, row.name, LANE_SIZE, theme.ink, weight=500, at="right", force=True
        )
        for sub in range(row.subs):
            canvas.add(hairline(theme), line((x0, row.middle(sub)), (x1, row.middle(sub))))


def hairline(theme: Theme) -> Style:
    """The style of the grid."""
    return Style(z=1.0, stroke=theme.grid, width=0.8)


def paint_ruler(canvas: Canvas, y: float, stretches: Sequence[tuple[float, float]]) -> None:
    """The marks of time, and a hairline under each, from top to bottom of every stretch."""
    for at, label in ruler(canvas.ns, canvas.right - canvas.left, apart=72):
        x = canvas.x(at)
        for top, bottom in stretches:
            canvas.add(hairline(canvas.theme), line((x, top), (x, bottom)))
        canvas.text(x, y, label, SMALL_SIZE + 0.3, canvas.theme.soft, at="centre")


def _paint_layers(canvas: Canvas, frame: Frame, layout: Layout) -> None:
    """Where each layer begins, on the line of the group's title."""
    y = next((y for title, y in layout.titles if "STREAMS" in title), None)
    begins = layer_starts(frame)
    if y is None or len(begins) < 2 or frame.several_ranks:
        return
    marks = [(canvas.x(start - frame.start_ns), f"layer {layer}") for start, layer in begins
             if frame.begins_ns <= start <= frame.ends_ns]  # fmt: skip
    stride = next((n for n in (1, 2, 5, 10, 20, 50, 100) if _apart(marks[::n])), len(marks))
    tick = Style(z=2.0, stroke=canvas.theme.soft, width=0.7)
    for x, text in marks[::stride]:
        if canvas.text(x + 4, y, text, SMALL_SIZE, canvas.theme.soft):
            canvas.add(tick, line((x, y - 4), (x, y + 4)))


def _apart(marks: list[tuple[float, str]]) -> bool:
    return all(a + width(text, SMALL_SIZE) + 12 <= b for (a, text), (b, _) in pairwise(marks))


def layer_starts(frame: Frame) -> list[tuple[int, int]]:
    """When the first kernel of each layer that is seen starts, and the layer's number.

    On a single stream, kernels of no microbatch pass through the layers once for each (split, one after the
    other): there a layer starts as often as it is come to.
    """
    spans = frame.trace.spans
    seen = [span for span in frame.spans.values() if span.cat == "kernel" and span.layer is not None]
    shown = {(span.step, span.layer) for span in seen}
    again = len({span.lane for span in seen}) == 1 and all(span.ubatch is None for span in seen)
    found: list[tuple[int, int]] = []
    known: set[tuple[int | None, int | None]] = set()
    for span in sorted(spans.rows(spans.mask(cat="kernel")), key=lambda span: span.start_ns):
        key = (span.step, span.layer)
        if key in shown and key not in known:
            known = {key} if again else known | {key}
            found.append((span.start_ns, span.layer))
    return found
