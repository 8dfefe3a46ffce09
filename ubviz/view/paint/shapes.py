"""Outlines in points, as matplotlib paths."""

from __future__ import annotations

import math

from matplotlib.path import Path

Box = tuple[float, float, float, float]
"""left, top, right, bottom; y grows downwards."""

K = 0.5523
"""How far a Bezier's handles reach in a quarter circle."""


def rectangle(box: Box, radius: float = 0.0, left: bool = True, right: bool = True) -> Path:
    """A rectangle, its corners rounded on the sides asked for (a span that is cut off stays square there)."""
    x0, y0, x1, y1 = box
    r = min(radius, (x1 - x0) / 2, (y1 - y0) / 2)
    a, b = (r if left else 0.0), (r if right else 0.0)
    points = [(x0 + a, y0), (x1 - b, y0), (x1 - b + K * b, y0), (x1, y0 + b - K * b), (x1, y0 + b),
              (x1, y1 - b), (x1, y1 - b + K * b), (x1 - b + K * b, y1), (x1 - b, y1),
              (x0 + a, y1), (x0 + a - K * a, y1), (x0, y1 - a + K * a), (x0, y1 - a),
              (x0, y0 + a), (x0, y0 + a - K * a), (x0 + a - K * a, y0), (x0 + a, y0), (x0 + a, y0)]  # fmt: skip
    side = [Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    return Path(points, [Path.MOVETO, *side * 4, Path.CLOSEPOLY])


def diamond(x: float, y: float, r: float) -> Path:
    """A square on its tip."""
    return Path([(x, y - r), (x + r, y), (x, y + r), (x - r, y), (x, y - r)], closed=True)


def ring(x: float, y: float, r: float) -> Path:
    """A circle."""
    return rectangle((x - r, y - r, x + r, y + r), r)


def line(*points: tuple[float, float]) -> Path:
    """A line from point to point."""
    return Path(points)


def head(x: float, y: float, dx: float, dy: float, size: float) -> Path:
    """The head of an arrow whose tip is at (x, y) and which comes along (dx, dy)."""
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    back = (x - ux * size, y - uy * size)
    half = size * 0.42
    left, right = (back[0] - uy * half, back[1] + ux * half), (back[0] + uy * half, back[1] - ux * half)
    return Path([(x, y), left, right, (x, y)], closed=True)


def swing(x0: float, y0: float, x1: float, y1: float, bend: float = 0.55) -> Path:
    """A curve that leaves and arrives upright."""
    dy = (y1 - y0) * bend
    return Path([(x0, y0), (x0, y0 + dy), (x1, y1 - dy), (x1, y1)], [Path.MOVETO] + [Path.CURVE4] * 3)


def along_swing(x0: float, y0: float, x1: float, y1: float, n: int = 6) -> list[tuple[float, float]]:
    """Points on the way of ``swing``, its ends among them."""
    dy = (y1 - y0) * 0.55
    ys, xs = (y0, y0 + dy, y1 - dy, y1), (x0, x0, x1, x1)
    weights = [
        ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3) for t in (i / n for i in range(n + 1))
    ]
    return [(sum(w * x for w, x in zip(ws, xs)), sum(w * y for w, y in zip(ws, ys))) for ws in weights]


def turn(x0: float, y0: float, x1: float, y1: float) -> Path:
    """A curve that leaves upright and arrives level."""
    return Path([(x0, y0), (x0, y1), (x0, y1), (x0 + (x1 - x0) * min(abs(y1 - y0) / (abs(x1 - x0) + 1e-9), 1.0), y1),
                 (x1, y1)], [Path.MOVETO] + [Path.CURVE4] * 3 + [Path.LINETO])  # fmt: skip


def stripes(box: Box, pitch: float, thick: float) -> list[Path]:
    """Stripes at 45 degrees, cut off at a box; they line up from box to box.

    Our own and not matplotlib's hatch, which looks different in every format and has no width in a collection
    before matplotlib 3.10.
    """
    x0, y0, x1, y1 = box
    first = math.floor((x0 + y0) / pitch)
    last = math.ceil((x1 + y1) / pitch)
    found = []
    for k in range(first, last + 1):
        corners = _band(k * pitch, k * pitch + thick, box)
        if len(corners) >= 3:
            found.append(Path([*corners, corners[0]], closed=True))
    return found


def _band(low: float, high: float, box: Box) -> list[tuple[float, float]]:
    """The corners of low <= x + y <= high within a box, around."""
    x0, y0, x1, y1 = box
    corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    for bound, sign in ((low, 1.0), (high, -1.0)):
        corners = _cut(corners, bound, sign)
    return corners


def _cut(corners: list[tuple[float, float]], bound: float, sign: float) -> list[tuple[float, float]]:
    """Sutherland-Hodgman against the half plane sign * (x + y - bound) >= 0."""
    kept: list[tuple[float, float]] = []
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
        a, b = sign * (ax + ay - bound), sign * (bx + by - bound)
        if a >= 0:
            kept.append((ax, ay))
        if (a > 0 > b) or (a < 0 < b):
            share = a / (a - b)
            kept.append((ax + share * (bx - ax), ay + share * (by - ay)))
    return kept


def dots(box: Box, pitch: float, r: float) -> list[Path]:
    """A calm field of dots within a box, on one grid for the whole picture."""
    x0, y0, x1, y1 = box
    found = []
    for j in range(math.ceil((y0 + r) / pitch), math.floor((y1 - r) / pitch) + 1):
        shift = pitch / 2 if j % 2 else 0.0
        for i in range(math.ceil((x0 + r - shift) / pitch), math.floor((x1 - r - shift) / pitch) + 1):
            found.append(diamond(i * pitch + shift, j * pitch, r))
    return found
