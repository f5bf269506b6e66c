"""Start states of the curricula of ``hackmatrix train``."""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
from jax import Array

from hackmatrix import jax_env, rules
from hackmatrix.jax_env.state import BLANK_STATE
from hackmatrix.train_config import GENTLE, PROGRAMS, STAGES

_OWNED_SHARE = 0.25
"""Chance of owning a program, drawn independently for each."""
_CREDITS, _ENERGY = 15, 15
"""Credits and energy that pay for the programs of a curriculum start."""


def _at_any_stage(seed: Array) -> jax_env.State:
    """The first board of a game that begins at a stage drawn evenly from 1-8."""
    number = jax.random.randint(_key(seed), (), 1, rules.WON_STAGE)
    return jax_env.at_stage(seed, number)


def _without_enemies(seed: Array) -> jax_env.State:
    """As ``_at_any_stage``, but without the first enemies of the stage; scheduled enemies and those of siphons come."""
    state = _at_any_stage(seed)
    emptied = {name: getattr(BLANK_STATE.now, name) for name in ("transmissions", "enemy_type", "timer")}
    return state._replace(now=state.now._replace(**jax.tree.map(jnp.asarray, emptied)))


def _with_programs(seed: Array) -> jax_env.State:
    """A new game whose player owns about a quarter of the programs, with credits and energy for some of them."""
    state = jax_env.reset(seed)
    owned = jax.random.bernoulli(_key(seed), _OWNED_SHARE, (rules.NUM_PROGRAMS,))
    bits = jnp.uint32(1) << jnp.arange(rules.NUM_PROGRAMS, dtype=jnp.uint32)
    now = state.now._replace(
        owned_programs=jnp.where(owned, bits, 0).sum(dtype=jnp.uint32),
        credits=state.now.credits + _CREDITS,
        energy=state.now.energy + _ENERGY,
    )
    return state._replace(now=now)


def _key(seed: Array) -> Array:
    """A JAX key from the seed, so that the draws of a start are independent of the random words of the game's rules."""
    low, high = seed
    return jax.random.fold_in(jax.random.key(low), high)


STARTS: Mapping[str, Callable[[Array], jax_env.State]] = {
    STAGES: _at_any_stage,
    GENTLE: _without_enemies,
    PROGRAMS: _with_programs,
}
