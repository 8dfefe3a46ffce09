"""Which font a text is set in, and how wide it is.

Inter where it is installed, else DejaVu Sans, which comes with matplotlib. A text is set whole in the first font
that has all its letters (Chinese ones too, where any font here has them), and a letter that no font has becomes a
white square: matplotlib would warn about it at every draw.
"""

from __future__ import annotations

from functools import cache

from matplotlib.font_manager import FontProperties, fontManager, get_font
from matplotlib.textpath import text_to_path

STACK = ("Inter", "DejaVu Sans", "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "PingFang SC",
         "Microsoft YaHei", "SimHei", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Arial Unicode MS")  # fmt: skip
NAMED_WEIGHTS = {"light": 300, "book": 400, "normal": 400, "regular": 400, "medium": 500, "semibold": 600,
                 "demibold": 600, "bold": 700, "black": 900}  # fmt: skip
UNKNOWN = "\u25a1"
CAP = 0.36
"""Half the height of a letter, as a part of the font's size: text is centred by it, not by its box."""


@cache
def _weights() -> dict[str, tuple[int, ...]]:
    """Family -> the upright weights that are installed."""
    found: dict[str, set[int]] = {}
    for entry in fontManager.ttflist:
        if entry.name in STACK and entry.style == "normal":
            weight = entry.weight
            value = weight if isinstance(weight, int) else NAMED_WEIGHTS.get(str(weight).lower(), 400)
            found.setdefault(entry.name, set()).add(value)
    return {family: tuple(sorted(found[family])) for family in STACK if family in found}


@cache
def _properties(family: str, size: float, weight: int) -> FontProperties:
    nearest = min(_weights()[family], key=lambda have: (abs(have - weight), -have))
    return FontProperties(family=family, size=size, weight=nearest)


@cache
def _letters(family: str) -> frozenset[int]:
    from matplotlib.font_manager import findfont

    return frozenset(get_font(findfont(_properties(family, 10, 400))).get_charmap())


@cache
def font(text: str, size: float, weight: int = 400) -> FontProperties:
    """The font that a text is set in."""
    for family in _weights():
        if all(ord(letter) in _letters(family) for letter in text):
            return _properties(family, size, weight)
    return _properties(next(iter(_weights())), size, weight)


@cache
def clean(text: str) -> str:
    """The text, with a square for each letter that no font at hand has, and no line breaks.

    >>> clean("attention")
    'attention'
    """
    text = " ".join(text.split())
    if all(ord(letter) in _letters(family) for family in [next(iter(_weights()))] for letter in text):
        return text
    if any(all(ord(letter) in _letters(family) for letter in text) for family in _weights()):
        return text
    first = _letters("DejaVu Sans")
    return "".join(letter if ord(letter) in first else UNKNOWN for letter in text)


@cache
def width(text: str, size: float, weight: int = 400) -> float:
    """How wide a text is, in points.

    >>> 30 < width("attention", 8.5, 600) < 60
    True
    """
    if not text:
        return 0.0
    wide, _, _ = text_to_path.get_text_width_height_descent(text, font(text, size, weight), False)
    return float(wide) * 1.01 + 0.4
