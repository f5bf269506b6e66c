"""Purposes of random words, and numbers made of them (G10, G3). The generator is rlworldkit's."""

from enum import IntEnum

import jax.numpy as jnp
from jax import Array

from rlworldkit.jax.threefry import EventDraws, below


class Site(IntEnum):
    """The purposes of draws."""

    FOOD_COUNT = 1
    POISON_COUNT = 2
    PLACE = 3
    REAPPEAR = 4
    RESPAWN = 5


_OTHER_BITS = 18
"""Number of bits of a word below the 14 bits of a cell."""


def drawn_cells(draws: EventDraws, site: Site, count: int, group: Array | int = 0) -> Array:
    """The cells of the ``count`` words of a site from index ``count * group`` on: int32 (n, count)."""
    return (draws.words(site, count, group) >> _OTHER_BITS).astype(jnp.int32).T


def between(draws: EventDraws, site: Site, low: int, high: int) -> Array:
    """A number in low … high from a site's first word, int32 (n,)."""
    return low + below(draws.word(site, 0), high - low + 1)
