"""The colours of the pictures: a microbatch is a colour, text on it is chosen for contrast.

Kinds (communication, copy, in flight, waiting) are patterns, never colours, so that a picture can be read
without them. The first four colours and the greys are those of the widget.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import BadArgument

LEAST_CONTRAST = 4.5
"""Of text on its background, after WCAG 2.1."""
DARKER = 0.55
"""How much is left of a colour that is used for the second time."""


@dataclass(frozen=True)
class Theme:
    """One set of colours; ``ubatches`` are those of microbatch 0, 1, 2 and on."""

    name: str
    background: str
    ink: str
    soft: str
    grid: str
    arrow: str
    waiting: str
    main: str
    fails: str
    on_dark: str
    on_light: str
    ubatches: tuple[str, ...]

    def ubatch(self, index: int | None) -> str:
        """The colour of a microbatch; grey for what belongs to none. From the ninth on they are darker: 16 in all.

        >>> LIGHT.ubatch(1), LIGHT.ubatch(9)
        ('#d9780f', '#7e4b14')
        """
        if index is None or index < 0:
            return self.main
        colour = self.ubatches[index % len(self.ubatches)]
        return colour if index // len(self.ubatches) % 2 == 0 else mix(colour, self.on_light, DARKER)

    def on(self, colour: str) -> str:
        """The colour of text on a filled span: whichever of the two reads better.

        >>> LIGHT.on("#2f6fde"), LIGHT.on("#d9780f")
        ('#ffffff', '#0f131b')
        """
        return max(self.on_dark, self.on_light, key=lambda text: contrast(text, colour))

    def tint(self, colour: str, share: float) -> str:
        """The colour, thinned with the background."""
        return mix(colour, self.background, share)


LIGHT = Theme(
    name="light", background="#ffffff", ink="#1f2430", soft="#5b6472", grid="#eceff3", arrow="#7a8494",
    waiting="#a3acba", main="#6b7482", fails="#c62828", on_dark="#ffffff", on_light="#0f131b",
    ubatches=("#2f6fde", "#d9780f", "#1c9a73", "#8b5bc9", "#c2417c", "#4b7f16", "#0e7c9b", "#8a6a3b"),
)  # fmt: skip
DARK = Theme(
    name="dark", background="#15181e", ink="#e7eaf0", soft="#9aa4b3", grid="#232833", arrow="#8b95a6",
    waiting="#667080", main="#8f98a8", fails="#ff7b7b", on_dark="#ffffff", on_light="#0f131b",
    ubatches=("#6ea2ff", "#ffb057", "#4fd1a5", "#c29bff", "#ff8fb8", "#a9d66b", "#5fc8e8", "#d8b98a"),
)  # fmt: skip
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def theme_of(name: str) -> Theme:
    """The theme of a name, or a sentence that says which there are."""
    if name not in THEMES:
        raise BadArgument(f'theme must be "light" or "dark", not {name!r}')
    return THEMES[name]


def _channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def mix(colour: str, other: str, share: float) -> str:
    """``share`` of the first colour, the rest of the other.

    >>> mix("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = zip(_channels(colour), _channels(other))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def luminance(colour: str) -> float:
    """Relative luminance, after WCAG 2.1."""
    parts = [value / 255 for value in _channels(colour)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    """The contrast ratio of two colours, 1 to 21.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)
