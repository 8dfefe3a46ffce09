"""What happens between lanes: arrivals, barriers, records, waits, and the arrows from one to the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from ...trace.model import Event, Span
from .canvas import Canvas, Style
from .fonts import width
from .frame import Frame
from .layout import SMALL_SIZE, Layout, Row
from .shapes import along_swing, diamond, head, line, rectangle, ring, swing

RING, TIP, HEAD, TICK = 2.9, 3.3, 4.6, 3.2


def paint_rings(canvas: Canvas, frame: Frame, layout: Layout) -> None:
    """A ring where a thread arrives at a barrier."""
    style = Style(z=7.0, fill=canvas.theme.background, stroke=canvas.theme.ink, width=1.1)
    for event in frame.events.values():
        if event.kind == "barrier.arrive" and event.lane in layout.rows and event.t_ns >= frame.start_ns:
            canvas.seen.add("arrives")
            row = layout.rows[event.lane]
            x = canvas.x(event.t_ns - frame.start_ns)
            canvas.add(style, ring(x, row.y, RING))
            canvas.take((x - RING, row.y - RING, x + RING, row.y + RING))


def paint_clears(canvas: Canvas, frame: Frame, layout: Layout) -> None:
    """A tick under the thread that puts a host event's flag down: as a rule its own, right after it wakes."""
    style = Style(z=5.0, stroke=canvas.theme.ink, width=0.9)
    for event in frame.events.values():
        if event.kind == "host_event.clear" and event.lane in layout.rows and event.t_ns >= frame.start_ns:
            canvas.seen.add("clears")
            row, x = layout.rows[event.lane], canvas.x(event.t_ns - frame.start_ns)
            canvas.add(style, line((x, row.bottom), (x, row.bottom + TICK)))


def openings(events: Iterable[Event]) -> list[tuple[int, Event, list[int]]]:
    """When each barrier opens, an arrival at it, and the lanes that it frees."""
    arrived: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    opened: dict[tuple[object, ...], int] = {}
    for event in events:
        key = (event.rank, event.step, event.args.get("barrier"), event.args.get("generation"))
        if event.kind == "barrier.arrive":
            arrived[key].append(event)
        elif event.kind == "barrier.release":
            opened[key] = min(opened.get(key, event.t_ns), event.t_ns)
    return [(opened[key], events[0], [event.lane for event in events])
            for key, events in arrived.items() if key in opened]  # fmt: skip


def paint_barriers(canvas: Canvas, frame: Frame, layout: Layout) -> None:
    """One dashed line over the lanes that are freed, and how many had to come."""
    theme = canvas.theme
    for t, event, lanes in openings(frame.events.values()):
        rows = [layout.rows[lane] for lane in lanes if lane in layout.rows]
        if not rows or not frame.start_ns <= t <= frame.end_ns:
            continue
        x = canvas.x(t - frame.start_ns)
        top, bottom = min(row.top for row in rows) - 7, max(row.bottom for row in rows) + 5
        canvas.add(Style(z=6.0, stroke=theme.ink, width=1.1, dash=(3.0, 2.0)), line((x, top), (x, bottom)))
        parties = event.args.get("parties", len(lanes))
        pill(canvas, x, top - 6.5, f"barrier {parties} of {parties}")


def pill(canvas: Canvas, x: float, y: float, text: str) -> None:
    """A dark label, where it is free."""
    theme = canvas.theme
    half = width(text, SMALL_SIZE, 600) / 2 + 5
    x = min(max(x, canvas.left - 6 + half), canvas.width - half - 2)
    box = (x - half, y - 6.5, x + half, y + 6.5)
    if canvas.free(box):
        canvas.add(Style(z=8.0, fill=theme.ink), rectangle(box, 6.5))
        canvas.text(x, y, text, SMALL_SIZE, theme.background, weight=600, at="centre", force=True)
        canvas.take(box)


@dataclass
class Diamond:
    """A record (filled) or the end of a wait (hollow), at an edge of its lane."""

    x: float
    y: float
    filled: bool
    lane: int
    tip: float = TIP


def paint_diamonds(canvas: Canvas, frame: Frame, layout: Layout) -> None:
    """Filled where an event is recorded, hollow where a stream that waits for it goes on."""
    theme = canvas.theme
    for mark in diamonds(canvas, frame, layout).values():
        canvas.seen.add("record" if mark.filled else "released")
        fill = theme.ink if mark.filled else theme.background
        style = Style(z=7.0 if mark.filled else 7.1, fill=fill, stroke=theme.ink, width=0.27 * mark.tip)
        canvas.add(style, diamond(mark.x, mark.y, mark.tip))
        canvas.take((mark.x - mark.tip, mark.y - mark.tip, mark.x + mark.tip, mark.y + mark.tip))


def diamonds(canvas: Canvas, frame: Frame, layout: Layout) -> dict[int, Diamond]:
    """Row of the span -> its mark; those of both kinds that meet are moved apart."""
    partner = _partners(frame)
    marks: dict[int, Diamond] = {}
    for number, span in frame.spans.items():
        row = layout.rows.get(span.lane)
        at = span.start_ns if span.cat == "record" else span.end_ns
        if row is None or span.cat not in ("record", "wait") or not frame.start_ns <= at <= frame.end_ns:
            continue
        if (span.cat == "wait" and number not in partner) or row.lane.group == "threads":
            continue
        y = _edge(layout, row, layout.rows.get(partner.get(number, -1)))
        marks[number] = Diamond(canvas.x(at - frame.start_ns), y, span.cat == "record", span.lane)
    _part(list(marks.values()), canvas.right - canvas.left)
    return marks


def _partners(frame: Frame) -> dict[int, int]:
    """Row of a record or wait span -> the lane at the other end of its arrow."""
    found: dict[int, int] = {}
    for flow in frame.flows:
        if flow.kind == "record -> wait":
            found[flow.from_row], found[flow.to_row] = flow.to_lane, flow.from_lane
    return found


def _edge(layout: Layout, row: Row, other: Row | None) -> float:
    """The edge that faces the other lane; with none, the one that faces a neighbour."""
    if other is None or other is row:
        streams = [r for r in layout.rows.values() if r.lane.group != "threads"]
        return row.top if row is streams[-1] and len(streams) > 1 else row.bottom
    return row.bottom if other.y > row.y else row.top


def _part(marks: list[Diamond], room: float) -> None:
    """Move a record to the left of a wait that ends at the same moment; where they are many, make them small."""
    by_edge: dict[float, list[Diamond]] = defaultdict(list)
    for mark in marks:
        by_edge[mark.y].append(mark)
    for row in by_edge.values():
        row.sort(key=lambda mark: (mark.x, not mark.filled))
        tip = min(TIP, max(0.55 * room / len(row), 0.8))
        for mark in row:
            mark.tip = tip
        for a, b in pairwise(row):
            gap = b.x - a.x
            if a.filled != b.filled and gap < 2 * tip:
                a.x, b.x = a.x - (2 * tip - gap) / 2, b.x + (2 * tip - gap) / 2


def paint_arrows(canvas: Canvas, frame: Frame, layout: Layout) -> None:
    """set -> wake between threads, record -> wait between streams, a receive hook, a transfer."""
    ends = _arrows(canvas, frame, layout)
    room = canvas.right - canvas.left
    fine = len(ends) > room / 7
    kept = _thinned(ends, 2.0) if len(ends) > room / 2 else ends
    canvas.missing += len(ends) - len(kept)
    for arrow in kept:
        _paint_arrow(canvas, arrow, fine)


@dataclass(frozen=True)
class Arrow:
    """From (x0, y0) to (x1, y1); a hook's is dashed."""

    x0: float
    y0: float
    x1: float
    y1: float
    kind: str


def _arrows(canvas: Canvas, frame: Frame, layout: Layout) -> list[Arrow]:
    marks = diamonds(canvas, frame, layout)
    found: list[Arrow] = []
    for flow in frame.flows:
        a, b = layout.rows.get(flow.from_lane), layout.rows.get(flow.to_lane)
        if a is None or b is None or a is b:
            continue
        if flow.kind in ("set -> wake", "register -> run"):
            down = b.y > a.y
            x0, x1 = (canvas.x(t - frame.start_ns) for t in (flow.from_ns, flow.to_ns))
            ys = (a.bottom, b.top) if down else (a.top, b.bottom)
            found.append(Arrow(x0, ys[0], x1, ys[1], flow.kind))
        elif flow.kind == "record -> wait" and flow.from_row in marks and flow.to_row in marks:
            m, n = marks[flow.from_row], marks[flow.to_row]
            way = m.tip if n.y > m.y else -m.tip
            found.append(Arrow(m.x, m.y + way, n.x, n.y - way, flow.kind))
    return found + _flights(canvas, frame, layout)


def _flights(canvas: Canvas, frame: Frame, layout: Layout) -> list[Arrow]:
    """From a send to its transfer, and from the transfer to the receive."""
    transfers = [span for span in frame.spans.values() if span.cat == "transfer" and span.lane in layout.rows]
    found: list[Arrow] = []
    for flow in frame.flows:
        if flow.kind != "send -> receive":
            continue
        sent, received = frame.spans.get(flow.from_row), frame.spans.get(flow.to_row)
        flight = sent and received and _flight(transfers, sent, received)
        if sent and received and flight:
            air, a, b = (layout.rows[span.lane] for span in (flight, sent, received))
            x = [canvas.x(t - frame.start_ns) for t in
                 (sent.end_ns, flight.start_ns, flight.end_ns, min(flight.end_ns, received.end_ns))]  # fmt: skip
            found.append(Arrow(x[0], a.bottom, x[1], air.top, flow.kind))
            landed = max(x[3], canvas.x(received.start_ns - frame.start_ns))
            found.append(Arrow(x[2], air.top, landed, b.bottom, flow.kind))
    return found


def _flight(transfers: list[Span], sent: Span, received: Span) -> Span | None:
    return next((t for t in transfers if t.ubatch == sent.ubatch and t.start_ns >= sent.start_ns
                 and t.end_ns <= received.end_ns and t.layer in (None, sent.layer)), None)  # fmt: skip


def _thinned(arrows: list[Arrow], apart: float) -> list[Arrow]:
    """At most one arrow of a kind and way in a stretch of the picture, the first that comes."""
    kept: dict[tuple[object, ...], Arrow] = {}
    for arrow in sorted(arrows, key=lambda arrow: arrow.x0):
        kept.setdefault((arrow.kind, arrow.y0, arrow.y1, int(arrow.x0 / apart)), arrow)
    return list(kept.values())


def _paint_arrow(canvas: Canvas, arrow: Arrow, fine: bool) -> None:
    x0, y0, x1, y1, kind = arrow.x0, arrow.y0, arrow.x1, arrow.y1, arrow.kind
    canvas.seen.add(kind)
    colour = canvas.theme.arrow if not fine else canvas.theme.tint(canvas.theme.arrow, 0.6)
    dash = (2.5, 1.6) if kind == "register -> run" else None
    size = HEAD * (0.75 if fine else 1.0)
    size = min(size, abs(y1 - y0) * 0.6)
    back = y1 - size * 0.8 if y1 > y0 else y1 + size * 0.8
    style = Style(z=5.0, stroke=colour, width=0.6 if fine else 0.9, dash=dash)
    canvas.add(style, swing(x0, y0, x1, back))
    canvas.add(Style(z=5.1, fill=colour), head(x1, y1, 0, y1 - y0, size))
    for (ax, ay), (bx, by) in pairwise(along_swing(x0, y0, x1, y1)):
        canvas.take((min(ax, bx) - 1, min(ay, by), max(ax, bx) + 1, max(ay, by)))
