"""A stream's lane: an operation is a block, its kernels are seen in it; waiting is a dotted line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .blocks import Block, Interval
from .canvas import Canvas, Style, first_fit, text_box
from .fonts import clean, width
from .frame import Frame
from .layout import LABEL_SIZE, SMALL_SIZE, Row
from .shapes import Box, dots, line, rectangle, stripes
from .threads import dotted

RADIUS = 2.0
Pieces = Sequence[tuple[float, float]]
Whole = tuple[bool, bool]
"""Whether a block begins, and ends, within the picture: there it is rounded, else cut square."""
LABEL_WEIGHT = 600
GAPPED = ("compute", "comm", "other")
"""Kinds whose gaps between kernels are seen; text keeps to where the kernels are."""
LEAST_KERNEL = 5.0
"""Points: kernels that are narrower on average are not told apart."""


def paint_block(canvas: Canvas, frame: Frame, row: Row, block: Block, y: float) -> None:
    """One operation, cut off at the edges of the picture."""
    pieces = _pieces(canvas, frame, block.kernels)
    if not pieces:
        return
    box = (pieces[0][0], y - row.half, max(pieces[-1][1], pieces[0][0] + 0.8), y + row.half)
    canvas.seen.add("main" if block.ubatch is None else f"ubatch {block.ubatch}")
    canvas.seen.add(block.cls)
    whole = block.start_ns >= frame.start_ns, block.end_ns <= frame.end_ns
    colour = canvas.theme.ubatch(block.ubatch)
    ground = fill(canvas, block.cls, colour, box, pieces, whole)
    a, b = max(_runs(pieces), key=lambda run: run[1] - run[0]) if block.cls in GAPPED else (box[0], box[2])
    label = _label(canvas, block, (a, box[1], b, box[3]), ground)
    _separators(canvas, box, pieces, label)


def _pieces(canvas: Canvas, frame: Frame, kernels: Sequence[Interval]) -> list[tuple[float, float]]:
    """Where its kernels are, in points, within the picture; gaps too narrow to be seen are closed."""
    found: list[tuple[float, float]] = []
    for start, end in kernels:
        if end < frame.start_ns or start > frame.end_ns:
            continue
        a = canvas.x(max(start, frame.start_ns) - frame.start_ns)
        b = canvas.x(min(end, frame.end_ns) - frame.start_ns)
        if found and (b - found[-1][0] < 0.7):
            found[-1] = (found[-1][0], max(b, found[-1][1]))
        else:
            found.append((a, b))
    return found


def _runs(pieces: Pieces) -> list[tuple[float, float]]:
    """Pieces that touch, as one."""
    runs: list[tuple[float, float]] = []
    for a, b in pieces:
        if runs and a - runs[-1][1] < 0.35:
            runs[-1] = (runs[-1][0], max(b, runs[-1][1]))
        else:
            runs.append((a, b))
    return runs


def _plain(canvas: Canvas, colour: str, box: Box, pieces: Pieces, whole: Whole) -> str:
    runs = _runs(pieces)
    if any(c - b > 2.0 for (_, b), (c, _) in pairwise(runs)):
        canvas.seen.add("gap")
    if len(runs) > 1:
        canvas.add(Style(z=4.0, fill=canvas.theme.tint(colour, 0.3)), rectangle(box, RADIUS, *whole))
    for i, (a, b) in enumerate(runs):
        ends = (whole[0] and i == 0, whole[1] and i == len(runs) - 1)
        canvas.add(Style(z=4.1, fill=colour), rectangle((a, box[1], max(b, a + 0.5), box[3]), RADIUS, *ends))
    return colour


def _hatched(canvas: Canvas, colour: str, box: Box, pieces: Pieces, whole: Whole) -> str:
    _plain(canvas, colour, box, pieces, whole)
    for a, b in _runs(pieces):
        hatch(canvas, (a, box[1], b, box[3]))
    return colour


def hatch(canvas: Canvas, box: Box, z: float = 4.2) -> None:
    """Stripes over a filled box: communication."""
    over = canvas.theme.on_dark if canvas.theme.name == "light" else canvas.theme.background
    canvas.add(Style(z=z, fill=over, alpha=0.36), *stripes(box, 5.6, 2.0))


def _copied(canvas: Canvas, colour: str, box: Box, pieces: Pieces, whole: Whole) -> str:
    """Pale, outlined, with fine level lines: it moves bytes and computes nothing."""
    pale = canvas.theme.tint(colour, 0.16)
    x0, y0, x1, y1 = outlined(canvas, colour, box, 0.16, whole)
    lines = round((y1 - y0) / 5.5)
    for i in range(1, lines):
        y = y0 + (y1 - y0) * i / lines
        canvas.add(Style(z=4.2, stroke=colour, width=0.5, alpha=0.55), line((x0, y), (x1, y)))
    return pale


def _flying(canvas: Canvas, colour: str, box: Box, pieces: Pieces, whole: Whole) -> str:
    inner = outlined(canvas, colour, box, 0.0, whole)
    canvas.add(Style(z=4.2, fill=colour, alpha=0.75), *dots(_inset(inner), 3.6, 0.75))
    return canvas.theme.background


def _unclassified(canvas: Canvas, colour: str, box: Box, pieces: Pieces, whole: Whole) -> str:
    """Pale, with a dashed edge: it is not known what it does, and it counts as nothing."""
    runs, pale = _runs(pieces), canvas.theme.tint(colour, 0.16)
    if any(c - b > 2.0 for (_, b), (c, _) in pairwise(runs)):
        canvas.seen.add("gap")
    style = Style(z=4.1, fill=pale, stroke=colour, width=0.9, dash=(2.6, 1.8))
    for i, (a, b) in enumerate(runs):
        ends = (whole[0] and i == 0, whole[1] and i == len(runs) - 1)
        canvas.add(style, rectangle(_inset((a, box[1], b, box[3])), RADIUS, *ends))
    return pale


def outlined(canvas: Canvas, colour: str, box: Box, share: float, whole: Whole = (True, True)) -> Box:
    """A box with an edge of the colour and as much of it inside as ``share`` says."""
    inner = _inset(box)
    style = Style(z=4.1, fill=canvas.theme.tint(colour, share), stroke=colour, width=0.9)
    canvas.add(style, rectangle(inner, RADIUS, *whole))
    return inner


_FILLS = {"compute": _plain, "comm": _hatched, "copy": _copied, "transfer": _flying, "other": _unclassified}


def fill(
    canvas: Canvas, cls: str, colour: str, box: Box, pieces: Pieces = (), whole: Whole = (True, True)
) -> str:
    """Fill a box in the manner of a kind of work; the colour that text on it stands on."""
    return _FILLS.get(cls, _plain)(canvas, colour, box, pieces or [(box[0], box[2])], whole)


def _inset(box: Box) -> Box:
    x0, y0, x1, y1 = box
    return x0 + 0.45, y0 + 0.45, max(x1 - 0.45, x0 + 0.8), y1 - 0.45


def _separators(canvas: Canvas, box: Box, pieces: Pieces, label: Box | None) -> None:
    """A fine line where one kernel follows another, unless that would be a comb; and the end of the block."""
    joints = [b for (_, b), (c, _) in pairwise(pieces) if c - b < 0.35]
    if joints and (box[2] - box[0]) / len(pieces) >= LEAST_KERNEL:
        style = Style(z=4.3, stroke=canvas.theme.background, width=0.5, alpha=0.4)
        clear = (x for x in joints if label is None or not label[0] - 1.5 < x < label[2] + 1.5)
        canvas.add(style, *(line((x, box[1]), (x, box[3])) for x in clear))
    edge = Style(z=4.4, stroke=canvas.theme.background, width=0.7)
    canvas.add(edge, line((box[2], box[1]), (box[2], box[3])))


def _label(canvas: Canvas, block: Block, box: Box, ground: str) -> Box | None:
    """The operation's name: on one line, on two, its initial, or nothing."""
    wide = box[2] - box[0]
    middle, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    for size, lines, pad in _settings(canvas, block, box[3] - box[1]):
        if all(width(text, size, LABEL_WEIGHT) + 2 * pad <= wide for text in lines):
            break
    else:
        return None
    if lines in _initials(canvas, block):
        canvas.shortened.add(block.label)
    pitch = size * 1.28
    first = y - pitch * (len(lines) - 1) / 2
    boxes = []
    for i, text in enumerate(lines):
        boxes.append(text_box(middle, first + i * pitch, text, size, LABEL_WEIGHT, "centre"))
        if block.cls in ("comm", "copy", "transfer"):  # calm ground for text on a pattern
            x0, y0, x1, y1 = boxes[-1]
            grow = min(2.2, pad - 0.5)
            canvas.add(Style(z=4.5, fill=ground), rectangle((x0 - grow, y0 - 0.2, x1 + grow, y1 + 0.2), 2.0))
        canvas.text(middle, first + i * pitch, text, size, canvas.theme.on(ground), weight=LABEL_WEIGHT, at="centre",
                    force=True)  # fmt: skip
    return min(b[0] for b in boxes), boxes[0][1], max(b[2] for b in boxes), boxes[-1][3]


def _settings(canvas: Canvas, block: Block, high: float) -> list[tuple[float, list[str], float]]:
    """Ways to write a name, the best first: size, lines, and the margin to either side."""
    name = clean(block.label) + (f" {block.ubatch}" if _is_numbered(canvas, block) else "")
    words = clean(block.label).split(" ")
    found = [(LABEL_SIZE, [name], 3.5)] if high >= LABEL_SIZE + 2 else []
    if len(words) == 2 and high >= 2 * SMALL_SIZE + 6:
        found.append((SMALL_SIZE, [words[0], name[len(words[0]) + 1 :]], 3.0))
    if high >= SMALL_SIZE:
        found.append((SMALL_SIZE, [name], 2.5))
        found += [(SMALL_SIZE, lines, 1.6) for lines in _initials(canvas, block)]
    return found


def _is_numbered(canvas: Canvas, block: Block) -> bool:
    return canvas.numbered and block.ubatch is not None


def _initials(canvas: Canvas, block: Block) -> list[list[str]]:
    """The initial of a name with its microbatch, where they are numbered, and without."""
    short = canvas.short.get(block.label)
    if short is None:
        return []
    return [[f"{short}{block.ubatch}"], [short]] if _is_numbered(canvas, block) else [[short]]


def paint_stream_waits(canvas: Canvas, frame: Frame, row: Row) -> None:
    """The stream waits for an event: a dotted line, and for which, where there is room."""
    style = Style(z=3.0, stroke=canvas.theme.waiting, width=1.1, dash=(1.6, 1.6))
    for span in frame.on(row.lane, "wait"):
        a, b = max(span.start_ns, frame.begins_ns), min(span.end_ns, frame.ends_ns)
        if b <= a:
            continue
        canvas.seen.add("waiting")
        name = str(span.args.get("event", span.name))
        texts = [f"waits for {name}", name, "waits"]
        x0, x1 = canvas.x(a - frame.start_ns), canvas.x(b - frame.start_ns)
        fitting = first_fit(texts, SMALL_SIZE, 400, x1 - x0 - 28)
        dotted(canvas, style, row.y, x0, x1, texts[texts.index(fitting) :] if fitting else [])
