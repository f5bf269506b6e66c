"""The colours that all worlds share, as RGB of 0 … 255: light signs on a dark background."""

Colour = tuple[int, int, int]

GROUND = (15, 18, 25)
FLOOR = (27, 32, 43)
LINE = (44, 52, 67)
TEXT = (222, 227, 236)
MUTED = (128, 138, 156)
DARK = (16, 18, 24)
OFF = (36, 42, 55)
GOOD = (116, 222, 130)
BAD = (236, 92, 104)
AGENT = (94, 224, 214)
"""The player."""


def mix(colour: Colour, other: Colour, share: float) -> Colour:
    """Mix a colour with this share of another."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(colour, other, strict=True))
    return red, green, blue
