"""Rewards of a step (G9, G12), in hundred-thousandths."""

from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from goodharts.jax_env.observation import look
from goodharts.jax_env.state import State
from goodharts.jax_env.tables import POTENTIALS, Variant
from goodharts.rules import COMPONENT_UNIT, DEFAULT_NUMBERS, REACH
from rlworldkit.jax.exact import divided
from rlworldkit.jax.marks import mark

_UNITS = round(1 / COMPONENT_UNIT)

_MIDDLES = np.array([(1 << 2 * distance + 1) - 1 << REACH - distance for distance in range(REACH + 1)], np.uint32)
_LINES = abs(np.arange(-REACH, REACH + 1, dtype=np.int32))
_BY_DISTANCE = np.array([0, *POTENTIALS, 0], np.int32)
"""Potentials of food at a distance of 0 … 6 cells; 0 does not occur, and 6 is out of view."""


class StepEvents(NamedTuple):
    """Events of a step, bool (n,)."""

    ate_food: Array
    ate_poison: Array
    died: Array


def components(events: StepEvents, shaping: Array, prices: ArrayLike) -> Array:
    """Step, food, poison, death and shaping (G12) of one game, int32 (5,); prices are int32 (4,), as in ``PRICES``."""
    mark("G12.reward", lambda: jnp.bool_(True))
    paid = jnp.asarray(prices) * jnp.stack([jnp.bool_(True), *events])
    return jnp.append(paid, shaping)


def total(parts: Array, most: int = DEFAULT_NUMBERS.reward_clip) -> Array:
    """The reward of components (…, 5): their sum, clipped, as float32, divided by 100,000 and rounded once.

    most: bound of the clipping, in hundred-thousandths.
    """
    return divided(jnp.clip(parts.sum(axis=-1), -most, most), _UNITS)


def potential(variant: Variant, state: State) -> Array:
    """Φ in thousandths: how near the nearest food in view is (G9), 0 where the mode does not pay for it; int32 (n,)."""
    if not variant.is_shaped:
        return jnp.zeros(state.x.shape, jnp.int32)
    lines = look(state).food[:, :, None]
    # a line has food at a column's distance of d or less where it meets the 2 d + 1 columns in the middle
    beside = jnp.sum(lines & _MIDDLES == 0, axis=2, dtype=jnp.int32)
    # all reads end in one reduction, since XLA would recompute a cheaper last operation for each use
    nearest = jnp.min(jnp.maximum(beside, _LINES), axis=1)
    return jnp.asarray(_BY_DISTANCE)[nearest]


def shaping(variant: Variant, promised: Array, reached: Array, died: Array) -> Array:
    """0.99 times the potential after the step, 0 for agents that died, minus the one before it (G9): int32 (n,)."""
    if not variant.is_shaped:
        return jnp.zeros(died.shape, jnp.int32)
    mark("G9.no_food_in_view", lambda: promised == 0)
    for distance, worth in enumerate(POTENTIALS, start=1):
        mark(f"G9.food_at_{distance}", partial(jnp.equal, promised, worth))
    mark("G9.none_on_termination", lambda: died)
    return 99 * jnp.where(died, 0, reached) - 100 * promised
