"""The activations of a network as they are drawn: feature maps as small pictures, other layers as fields of units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray

from goodharts.rules import VIEW
from rlworldkit.render.colours import GROUND, MUTED, OFF, TEXT
from rlworldkit.render.pen import Pen

_TITLE = 18
"""Pixels of the line above a layer."""
_BELOW = 7
_GAP = 1
"""Pixels between tiles: feature maps, or units."""
_UNITS_ACROSS_MAP = 3
"""A feature map is about as wide as so many units of a layer without maps: one size says how large both are."""
_STEP = 0.5
"""Half a pixel: what sizes are multiples of, so that all numbers of a layer are drawn equally large."""
_FINER = _STEP * _UNITS_ACROSS_MAP / VIEW
"""The step in which sizes are tried: units grow by half a pixel with each."""
_LARGEST = 8.0


def draw_layers(pen: Pen, activations: Sequence[tuple[str, NDArray[np.float32]]], width: float, height: float) -> None:
    """Layers one below the other, as large as they all fit into an area; each is bright where it is most active."""

    def fits(size: float) -> bool:
        return sum(_arrangement(values, size, width)[2] for _, values in activations) <= height + _BELOW

    sizes = (steps * _FINER for steps in range(round(_LARGEST / _FINER), 0, -1))
    size = max(next(filter(fits, sizes), 0.0), _STEP)
    top = 0.0
    for name, values in activations:
        used = pen.text(name.removesuffix("_relu"), (0, top + 7), 20, TEXT, align="left")
        count, *sides = values.shape
        shape = "{} maps of {}×{}".format(count, *sides) if sides else f"{count} units"
        pen.text(shape, (used + 8, top + 7.5), 18, MUTED, align="left")
        active = f"{np.count_nonzero(values) / values.size:.0%} active, at most {values.max():.2f}"
        pen.text(active, (width, top + 7.5), 18, MUTED, align="right")
        pixel, columns, used_height = _arrangement(values, size, width)
        pen.image(_arranged(values, columns, round(pixel / _STEP)), (0, top + _TITLE), _STEP)
        top += used_height


def heat(values: NDArray[np.float32], most: float) -> NDArray[np.uint8]:
    """The colours of values, whose shape is followed by RGB: from 0, almost black, to ``most``, almost white."""
    share = np.clip(values / most if most > 0 else np.zeros_like(values), 0, 1)
    return _heat_colours()[(share * 255).astype(np.uint8)]


@cache
def _heat_colours() -> NDArray[np.uint8]:
    """Inferno (van der Walt and Smith 2015): evenly rising lightness, for any sight; its black is lit a little."""
    table = np.asarray(colormaps["inferno"](np.linspace(0.04, 1, 256)))[:, :3]
    return (255 * table).round().astype(np.uint8)


def _arrangement(values: NDArray[np.float32], size: float, width: float) -> tuple[float, int, float]:
    """Pixels of a number, tiles in a row, and pixels of a layer's height.

    size: pixels of a number in a feature map. Tiles are feature maps, or units.
    """
    pixel = math.floor((size if values.ndim == 3 else size * VIEW / _UNITS_ACROSS_MAP) / _STEP) * _STEP
    pitch = pixel * (values.shape[-1] if values.ndim == 3 else 1) + _GAP
    rows = math.ceil(len(values) / max(1, math.floor((width + _GAP) / pitch)))
    columns = math.ceil(len(values) / rows)  # all rows as full as each other, rather than a rest in the last one
    return pixel, columns, _TITLE + math.ceil(len(values) / columns) * pitch + _BELOW


def _arranged(values: NDArray[np.float32], columns: int, side: int) -> NDArray[np.uint8]:
    """The tiles of a layer in rows, each number ``side`` times ``side`` pixels, as RGB: uint8 (h, w, 3)."""
    tiles = heat(values, float(values.max()))
    tiles = tiles[:, None, None] if values.ndim == 1 else tiles
    tiles = tiles.repeat(side, axis=1).repeat(side, axis=2)
    gap, edge = round(_GAP / _STEP), tiles.shape[1]
    rows = math.ceil(len(tiles) / columns)
    spaced = np.full((rows * columns, edge + gap, edge + gap, 3), GROUND, np.uint8)
    spaced[: len(tiles)] = OFF
    spaced[: len(tiles), :edge, :edge] = tiles
    in_rows = spaced.reshape(rows, columns, edge + gap, edge + gap, 3).swapaxes(1, 2)
    return in_rows.reshape(rows * (edge + gap), columns * (edge + gap), 3)
