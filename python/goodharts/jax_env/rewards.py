"""What a step is rewarded with (G9, G12), in hundred-thousandths."""

from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from goodharts.jax_env.observation import look
from goodharts.jax_env.state import State
from goodharts.jax_env.tables import NUMBERS, POTENTIALS, PRICES, Variant
from goodharts.rules import COMPONENT_UNIT, REACH
from worldkit.jaxkit.exact import divided
from worldkit.jaxkit.marks import mark

_UNITS = round(1 / COMPONENT_UNIT)


class Deed(NamedTuple):
    """What happened in a step, bool (n,)."""

    ate_food: Array
    ate_poison: Array
    died: Array


def components(variant: Variant, before: State, after: State, deed: Deed) -> Array:
    """Step, food, poison, death and shaping (G12): int32 (n, 5)."""
    prices = PRICES[variant.mode.rewarded_for]
    mark("G12.reward", lambda: jnp.ones(deed.died.shape, bool))
    paid = [
        jnp.full(deed.died.shape, prices.step, jnp.int32),
        *(price * happened.astype(jnp.int32) for price, happened in zip(prices[1:], deed, strict=True)),
        _shaping(before, after, deed.died) if variant.is_shaped else jnp.zeros(deed.died.shape, jnp.int32),
    ]
    return jnp.stack(paid, axis=1)


def total(parts: Array) -> Array:
    """The reward of components (…, 5): their sum, clipped, as float32, divided by 100,000 and rounded once."""
    return divided(jnp.clip(parts.sum(axis=-1), -NUMBERS.reward_clip, NUMBERS.reward_clip), _UNITS)


def potential(state: State) -> Array:
    """Φ in thousandths: how near the nearest food in view is (G9); int32 (n,)."""
    food = look(state).food
    nearest = jnp.zeros(state.x.shape, jnp.int32)
    for distance in range(REACH, 0, -1):
        # the agent's own cell is blank, so a square holds food where one of its rings does
        square = np.uint32((1 << 2 * distance + 1) - 1 << REACH - distance)
        lines = food[:, REACH - distance : REACH + distance + 1]
        nearest = jnp.where(jnp.any(lines & square != 0, axis=1), POTENTIALS[distance - 1], nearest)
    return nearest


def _shaping(before: State, after: State, died: Array) -> Array:
    """0.99 of the potential after the step, 0 for whoever died, less that of before (G9)."""
    then, now = potential(before), potential(after)
    mark("G9.no_food_in_view", lambda: then == 0)
    for distance, worth in enumerate(POTENTIALS, start=1):
        mark(f"G9.food_at_{distance}", partial(jnp.equal, then, worth))
    mark("G9.none_on_termination", lambda: died)
    return 99 * jnp.where(died, 0, now) - 100 * then
