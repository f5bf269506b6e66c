"""Picture of a network's activations: feature maps as small boards, other layers as fields of units."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlworldkit.agents.numpy_network import Floats
from rlworldkit.render._pygame import pygame
from rlworldkit.render.colours import GROUND, MUTED, OFF, TEXT
from rlworldkit.render.pen import Pen

_TITLE, _MARGIN = 40, 12
_LARGEST = 14.0
"""Largest side of an activation's square in pixels; sides are multiples of half a pixel."""


def draw_layers(layers: Sequence[tuple[str, Floats]], size: tuple[int, int]) -> pygame.Surface:
    """Draw layers beside each other, each as large as it fits and bright where it is most active.

    layers: name and activations, (1, units) or (1, maps, rows, columns). size: width and height of the picture.
    """
    pen, (width, height) = Pen.on(size, GROUND), size
    each = (width - _MARGIN) / len(layers)
    for number, (name, (values,)) in enumerate(layers):
        here = pen.moved(_MARGIN + number * each, 0)
        count, *sides = values.shape
        shape = "{} maps of {}×{}".format(count, *sides) if sides else f"{count} units"
        active = f"{np.count_nonzero(values) / values.size:.0%} active, at most {values.max():.2f}"
        for line, (text, colour) in enumerate(((f"{name}: {shape}", TEXT), (active, MUTED))):
            here.text(text, (0, 12 + 15 * line), 18, colour, align="left", fit=each - _MARGIN)
        tiles = values if sides else values[:, None, None]
        field, pixel = _arranged(shade(tiles), each - _MARGIN, height - _TITLE - _MARGIN / 2)
        here.image(field, (0, _TITLE), pixel)
    return pen.finished()


def shade(values: Floats) -> NDArray[np.uint8]:
    """Return the colours of values, uint8 (*shape, 3): from 0, dark, to the greatest, light."""
    share = np.clip(values / max(float(values.max()), 1e-12), 0, 1)[..., None]
    return (np.array(OFF) + share * (np.array(TEXT) - OFF)).round().astype(np.uint8)


def _arranged(tiles: NDArray[np.uint8], width: float, height: float) -> tuple[NDArray[np.uint8], float]:
    """Arrange tiles (n, rows, columns, 3) in a grid with gaps; also returns the pixels of a square that fit."""
    count, down, across, _ = tiles.shape
    down, across = down + 1, across + 1

    def size_in(columns: int) -> float:
        return min(width / (columns * across), height / (-(-count // columns) * down), _LARGEST)

    columns = max(range(1, count + 1), key=size_in)
    rows = -(-count // columns)
    field = np.full((rows * columns, down, across, 3), GROUND, np.uint8)
    field[:count, :-1, :-1] = tiles
    field = field.reshape(rows, columns, down, across, 3).swapaxes(1, 2).reshape(rows * down, columns * across, 3)
    return field, max(int(2 * size_in(columns)) / 2, 0.5)
