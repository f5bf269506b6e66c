"""Numbers as colours."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray


def heat(values: NDArray[np.float32], most: float) -> NDArray[np.uint8]:
    """The colours of values, whose shape is followed by RGB: from 0, almost black, to ``most``, almost white."""
    share = np.clip(values / most if most > 0 else np.zeros_like(values), 0, 1)
    return _heat_colours()[(share * 255).astype(np.uint8)]


@cache
def _heat_colours() -> NDArray[np.uint8]:
    """Inferno (van der Walt and Smith 2015): evenly rising lightness, for any sight; its black is lit a little."""
    table = np.asarray(colormaps["inferno"](np.linspace(0.04, 1, 256)))[:, :3]
    return (255 * table).round().astype(np.uint8)
